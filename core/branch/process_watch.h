// Notifies when a watched process has ended, for lifetime=feeder.
#pragma once

#include <sys/types.h>

#include "core/base/result.h"

namespace tallyfs {

// Called from any thread, with no lock of the caller's held in watch().
class ProcessWatch {
 public:
  virtual ~ProcessWatch() = default;

  // Branch::process_ended() is called after the end of this process, until all is done. kNotFound:
  // there is no process of that number (any more); kNoSpace: too many are watched, in all or for
  // this uid; kBusy: the end of another process that had this number is not over yet.
  virtual Result<void> watch(pid_t process, uid_t uid) = 0;
  // The process is watched and runs: false as soon as it has ended, even before the notification.
  virtual bool watches(pid_t process) const = 0;
};

}  // namespace tallyfs
