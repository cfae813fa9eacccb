#include "core/tracing/branch/excluded_threads.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

std::uint64_t mask_of(pid_t pid) { return std::uint64_t{1} << (static_cast<unsigned>(pid) % 64); }

bool is_in_interrupt(const TaskFields& fields, const EventRecord& record) {
  if (fields.flags >= record.bytes.size()) return false;
  return (static_cast<unsigned char>(record.bytes[fields.flags]) & kInterruptFlags) != 0;
}

}  // namespace

ExcludedThreads::ExcludedThreads(std::vector<pid_t> threads) : threads_(std::move(threads)) {
  std::ranges::sort(threads_);
  for (const pid_t thread : threads_) mask_ |= mask_of(thread);
}

bool ExcludedThreads::is_one(std::uint32_t at, const EventRecord& record) const {
  if (at == TaskFields::kNone || record.bytes.size() < at + sizeof(pid_t)) return false;
  const auto task = read_raw<pid_t>(record.bytes.data() + at);
  return (mask_ & mask_of(task)) != 0 && std::ranges::binary_search(threads_, task);
}

std::optional<SwitchSide> ExcludedThreads::side_of(const TaskFields& fields,
                                                   const EventRecord& record) const {
  if (mask_ == 0) return SwitchSide::kNone;
  const bool is_about = is_one(fields.task, record);
  if (fields.is_switch()) {
    const bool is_previous = is_one(fields.previous, record);
    if (is_about && is_previous) return std::nullopt;
    if (is_about) return SwitchSide::kNext;
    return is_previous ? SwitchSide::kPrevious : SwitchSide::kNone;
  }
  const bool is_doing = is_one(fields.current, record) && !is_in_interrupt(fields, record);
  if (is_about || is_doing) return std::nullopt;
  return SwitchSide::kNone;
}

}  // namespace tallyfs::tracing
