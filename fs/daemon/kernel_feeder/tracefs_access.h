// Whether the feeder of the kernel's events will be able to read them. Stateless.
#pragma once

#include "core/base/result.h"

namespace tallyfs {

// kNotPermitted, kNotFound: no, with the reason and with what is missing.
Result<void> check_tracefs();

}  // namespace tallyfs
