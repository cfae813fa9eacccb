// Why a write was refused, as tracing/error_log shows it: the kernel's error log names a place and
// repeats a command of its own making, which need not be the text that was written.
// Values, without threads.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace tallyfs {

struct Refusal {
  Error error;  // token_at counts in `command`
  std::string
      location;         // "hist:sched:sched_waking", "synthetic_events", "event filter parse error"
  std::string command;  // "hist:keys=pid:vals=junk"
};

// See throw_exception_from_error(const Error&): a broken invariant.
[[noreturn]] inline void throw_exception_from_error(const Refusal& refusal,
                                                    const boost::source_location& where) {
  throw_exception_from_error(refusal.error, where);
}

// The same for a log that shows location and text beside the reason.
Error to_error(const Refusal& refusal);

// A T, or why not.
template <typename T>
using Reply = boost::system::result<T, Refusal>;

}  // namespace tallyfs
