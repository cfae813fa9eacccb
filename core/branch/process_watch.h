// Tells when a process has ended: what an interface with lifetime=feeder lives by.
#pragma once

#include <sys/types.h>

#include "core/base/result.h"

namespace tallyfs {

// Called from any thread, with no lock of the caller's held in watch().
class ProcessWatch {
 public:
  virtual ~ProcessWatch() = default;

  // Whoever made the watch hears of the end of this process, once. kNotFound: there is none of that
  // number (any more); kNoSpace: too many are watched, in all or for this uid.
  virtual Result<void> watch(pid_t process, uid_t uid) = 0;
  // It is watched, and runs: false at once when it has ended, before anybody hears of it.
  virtual bool watches(pid_t process) const = 0;
};

}  // namespace tallyfs
