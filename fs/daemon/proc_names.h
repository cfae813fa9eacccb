// The names of processes as /proc has them. Thread-safe: it keeps nothing.
#pragma once

#include "core/branch/process_names.h"

namespace tallyfs {

class ProcNames final : public ProcessNames {
 public:
  // Cut to one line; empty: the process is not visible in this mount of /proc.
  std::string name_of(pid_t process) const override;
  pid_t group_of(pid_t thread) const override;
};

}  // namespace tallyfs
