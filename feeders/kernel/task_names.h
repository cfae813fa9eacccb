// What tasks are called, as the kernel's events tell it, which carry a pid and no name: what /proc
// said first, then every task_newtask and task_rename, in the order in which they are told.
//
// Confined to one thread. At most kTasksMax names; with one more all are forgotten, and asked for
// again.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tallyfs {

class TaskNames {
 public:
  static constexpr std::size_t kTasksMax = 65'536;
  static constexpr std::size_t kNameBytes = 16;  // of the kernel's, the NUL included

  // Of a task that nothing was told of; empty: there is none any more.
  using Look = std::function<std::string(std::int32_t pid)>;
  explicit TaskNames(Look look) : look_(std::move(look)) {}

  // The view lasts until the next call.
  std::string_view name(std::int32_t pid);
  void tell(std::int32_t pid, std::string_view name);
  void forget() { names_.clear(); }

 private:
  using Name = std::array<char, kNameBytes>;

  const Look look_;
  boost::unordered_flat_map<std::int32_t, Name> names_;
};

// What /proc/PID/comm says, without what it adds to the name of a kernel's worker.
std::string name_in_proc(std::int32_t pid);
// The same of what was read there.
std::string task_name(std::string_view comm);

}  // namespace tallyfs
