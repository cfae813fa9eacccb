// Where records of the kernel name tasks: the task that ran, and the tasks that the event is about.
//
// An event is the doing of a task only if no interrupt came in between: in an interrupt the task
// that ran is the one that happened to be current. A waking in a timer's interrupt is about the
// woken task alone.
// Values.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/tracing/format/format.h"

namespace tallyfs::tracing {

// The bits of common_flags of a record that was made in a hard (0x08) or soft (0x10) interrupt.
inline constexpr std::uint64_t kInterruptFlags = 0x18;

// The tasks of a switch; kNone for other events.
enum class SwitchSide : std::uint8_t { kNone, kPrevious, kNext };

// Offsets in the records of one event; kNone: the event has no such field.
struct TaskFields {
  static constexpr std::uint32_t kNone = ~0u;

  std::uint32_t flags = kNone;     // common_flags, one byte
  std::uint32_t current = kNone;   // common_pid; of four bytes, as the others are
  std::uint32_t task = kNone;      // pid of an event about a task; of a switch, next_pid
  std::uint32_t previous = kNone;  // of a switch, prev_pid

  bool is_switch() const { return previous != kNone; }

  // In the systems sched, task and signal the field pid is the task that the event is about.
  static TaskFields of(std::string_view system, const EventFormat& format);
  // The fields of a uprobe. It never comes from an interrupt, though its flags are all ones. Its
  // arguments are the program's, whatever their names are.
  static TaskFields of_uprobe(const EventFormat& format);
  // The fields of a kprobe: an interrupt may run it, and its arguments are no tasks either.
  static TaskFields of_kprobe(const EventFormat& format);
};

}  // namespace tallyfs::tracing
