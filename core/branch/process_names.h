// A port: the names of processes, and the processes of threads. The daemon gives an implementation
// that reads them where the system has them.
#pragma once

#include <sys/types.h>

#include <string>

namespace tallyfs {

// Called from any thread, with no lock of the caller's held.
class ProcessNames {
 public:
  virtual ~ProcessNames() = default;

  // Empty: the process is not visible from here.
  virtual std::string name_of(pid_t process) const = 0;
  // The process that the thread belongs to. 0: it is not visible from here.
  virtual pid_t group_of(pid_t thread) const = 0;
};

}  // namespace tallyfs
