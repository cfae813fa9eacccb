// A task as the scheduler's events tell of it. 24 bytes, laid out as on the wire
// (core/wire/FORMAT.md, "A task").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace tallyfs {

struct Task {
  // The kernel's priorities: 0 is the most urgent, below 100 are real-time tasks, 120 is nice 0.
  static constexpr std::int32_t kRealTimeEnd = 100;
  static constexpr std::int32_t kUsual = 120;
  // As people are shown it, a priority is so much minus the kernel's: the most urgent one is 99.
  static constexpr std::int32_t kShownMax = kRealTimeEnd - 1;

  std::int32_t pid = 0;
  std::int32_t priority = kUsual;
  std::array<char, 16> name{};  // what the kernel calls comm, ended by a zero if there is room

  bool is_real_time() const { return priority < kRealTimeEnd; }
  bool outranks(const Task& other) const { return priority < other.priority; }
  std::string_view command() const {
    return {name.data(), static_cast<std::size_t>(std::ranges::find(name, '\0') - name.begin())};
  }
};
static_assert(sizeof(Task) == 24);

// Cuts the name as the kernel does: 15 bytes, and a zero.
inline Task make_task(std::int32_t pid, std::int32_t shown_priority, std::string_view name) {
  Task task{.pid = pid, .priority = Task::kShownMax - shown_priority};
  std::ranges::copy(name.substr(0, task.name.size() - 1), task.name.begin());
  return task;
}

}  // namespace tallyfs
