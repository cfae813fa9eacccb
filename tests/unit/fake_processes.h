// Processes that a test lets end.
#pragma once

#include <optional>
#include <set>

#include "core/branch/process_watch.h"

namespace tallyfs {

class FakeProcesses final : public ProcessWatch {
 public:
  Result<void> watch(pid_t process, uid_t) override {
    if (refusal) return *refusal;
    if (!ends_at_once) watched.insert(process);
    return {};
  }
  bool watches(pid_t process) const override { return watched.contains(process); }

  std::optional<Error> refusal;
  bool ends_at_once = false;
  std::set<pid_t> watched;
};

}  // namespace tallyfs
