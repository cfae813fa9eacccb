// A port: the names of the system's tasks. The daemon gives it an implementation that reads them
// where the system has them.
#pragma once

#include <sys/types.h>

#include <string>

namespace tallyfs {

// Called from any thread, with no lock of the caller's held.
class TaskNames {
 public:
  virtual ~TaskNames() = default;

  // Empty: the task is not visible from here.
  virtual std::string name_of(pid_t task) const = 0;
};

}  // namespace tallyfs
