// The file of --rules, read as a whole. Any thread.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// kInvalid: it cannot be read; kTooBig: it has more bytes than all rules may have.
Result<std::string> read_rules(const std::string& path);

}  // namespace tallyfs
