#include "core/tracing/format/task_fields.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint32_t kPidBytes = 4;

std::uint32_t offset_of(const EventFormat& format, std::string_view name, std::uint32_t size) {
  const auto field = format.field(name);
  return field && field.value().size == size ? field.value().offset : TaskFields::kNone;
}

}  // namespace

TaskFields TaskFields::of(std::string_view system, const EventFormat& format) {
  TaskFields fields{.flags = offset_of(format, "common_flags", 1),
                    .current = offset_of(format, "common_pid", kPidBytes)};
  const std::uint32_t next = offset_of(format, "next_pid", kPidBytes);
  const std::uint32_t previous = offset_of(format, "prev_pid", kPidBytes);
  if (next != kNone && previous != kNone) {
    fields.task = next;
    fields.previous = previous;
  } else if (system == "sched" || system == "task" || system == "signal") {
    fields.task = offset_of(format, "pid", kPidBytes);
  }
  return fields;
}

TaskFields TaskFields::of_uprobe(const EventFormat& format) {
  return {.current = offset_of(format, "common_pid", kPidBytes)};
}

TaskFields TaskFields::of_kprobe(const EventFormat& format) {
  return {.flags = offset_of(format, "common_flags", 1),
          .current = offset_of(format, "common_pid", kPidBytes)};
}

}  // namespace tallyfs::tracing
