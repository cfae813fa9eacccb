// Whether the feeder of the kernel's events will be able to read them. Stateless.
#pragma once

#include "core/base/result.h"
#include "core/tracing/branch/probe_source.h"

namespace tallyfs {

// kNotPermitted, kNotFound: no, with the reason and with what is missing.
Result<void> check_tracefs();

// Which probes this kernel has. Any user may ask: a server that has dropped its rights cannot look
// into tracefs. The kernel has such a source of perf's events with them alone.
tracing::ProbeTargets kernel_probes();

}  // namespace tallyfs
