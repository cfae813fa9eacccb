// Processes that a test lets end.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "core/branch/process_watch.h"

namespace tallyfs {

class FakeProcesses final : public ProcessWatch {
 public:
  Result<void> watch(pid_t process, uid_t) override {
    if (at_watch) at_watch();
    if (refusal) return *refusal;
    if (!ends_at_once) watched.insert(process);
    return {};
  }
  bool watches(pid_t process) const override { return watched.contains(process); }

  std::optional<Error> refusal;
  std::function<void()> at_watch;
  bool ends_at_once = false;
  std::set<pid_t> watched;
};

}  // namespace tallyfs
