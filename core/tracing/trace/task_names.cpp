#include "core/tracing/trace/task_names.h"

#include <iterator>

namespace tallyfs::tracing {

void TaskNames::note(std::int32_t pid, std::string_view name) {
  if (name.empty()) return;
  const auto known = by_pid_.find(pid);
  if (known != by_pid_.end()) {
    if (known->second->name != name) known->second->name = name;
    by_age_.splice(by_age_.end(), by_age_, known->second);
    return;
  }
  by_age_.push_back({pid, std::string(name)});
  by_pid_.emplace(pid, std::prev(by_age_.end()));
  if (by_age_.size() <= kNamesMax) return;
  by_pid_.erase(by_age_.front().pid);
  by_age_.pop_front();
}

}  // namespace tallyfs::tracing
