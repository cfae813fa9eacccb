// The names of the tasks whose records were taken out of the trace, for saved_cmdlines: programs
// that read pages of records find names nowhere else.
// Confined to the EventSet's lock. Holds at most kNamesMax names; the tasks seen longest ago go.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tallyfs::tracing {

class TaskNames {
 public:
  static constexpr std::size_t kNamesMax = 16'384;

  struct Named {
    std::int32_t pid = 0;
    std::string name;
  };

  TaskNames() = default;
  TaskNames(const TaskNames&) = delete;
  TaskNames& operator=(const TaskNames&) = delete;

  // An empty name is not known, and is passed over.
  void note(std::int32_t pid, std::string_view name);
  // All names, the newest last.
  std::vector<Named> all() const { return {by_age_.begin(), by_age_.end()}; }

 private:
  std::list<Named> by_age_;
  std::unordered_map<std::int32_t, std::list<Named>::iterator> by_pid_;
};

}  // namespace tallyfs::tracing
