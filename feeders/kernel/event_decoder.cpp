#include "feeders/kernel/event_decoder.h"

#include <algorithm>
#include <cstring>

#include "core/tracing/format/task_fields.h"

namespace tallyfs {

// For each event: its fields, and where their values go.
struct EventDecoder::Plan {
  struct NumberPlan {
    const char* field;
    void (*put)(KernelEvent& event, std::uint64_t value);
  };
  struct NamePlan {
    const char* field;
    Task KernelEvent::*task;
  };

  const char* event;
  KernelEventKind kind;
  std::vector<NumberPlan> numbers;
  std::vector<NamePlan> names = {};
};

namespace {

using Event = KernelEvent;

std::int32_t small(std::uint64_t value) { return static_cast<std::int32_t>(value); }
void put_pid(Event& event, std::uint64_t value) { event.task.pid = small(value); }
void put_priority(Event& event, std::uint64_t value) { event.task.priority = small(value); }
void put_cpu(Event& event, std::uint64_t value) { event.cpu = static_cast<std::uint32_t>(value); }
void put_destination(Event& event, std::uint64_t value) {
  event.destination = static_cast<std::uint32_t>(value);
}
void put_previous_pid(Event& event, std::uint64_t value) { event.previous.pid = small(value); }
void put_previous_priority(Event& event, std::uint64_t value) {
  event.previous.priority = small(value);
}
// The context of an interrupt, hard or soft: the running task has nothing to do with the event.
void leave_interrupts_out(Event& event, std::uint64_t flags) {
  if ((flags & tracing::kInterruptFlags) != 0) event.previous.pid = 0;
}
void put_number(Event& event, std::uint64_t value) { event.number = value; }
void put_clock(Event& event, std::uint64_t value) {
  event.clock_ns = static_cast<std::int64_t>(value);
}

}  // namespace

const std::vector<EventDecoder::Plan>& EventDecoder::plans() {
  using Kind = KernelEventKind;
  static const std::vector<Plan::NumberPlan> woken = {{"pid", put_pid},
                                                      {"prio", put_priority},
                                                      {"target_cpu", put_cpu},
                                                      {"common_pid", put_previous_pid},
                                                      {"common_flags", leave_interrupts_out}};
  static const std::vector<Plan::NumberPlan> current = {{"common_pid", put_pid}};
  static const std::vector<Plan> all = {
      {"sched_wakeup", Kind::kWakeup, woken, {{"comm", &Event::task}}},
      {"sched_wakeup_new", Kind::kWakeup, woken, {{"comm", &Event::task}}},
      {"sched_switch",
       Kind::kSwitch,
       {{"next_pid", put_pid},
        {"next_prio", put_priority},
        {"prev_pid", put_previous_pid},
        {"prev_prio", put_previous_priority}},
       {{"next_comm", &Event::task}, {"prev_comm", &Event::previous}}},
      {"sched_migrate_task",
       Kind::kMigrate,
       {{"pid", put_pid},
        {"prio", put_priority},
        {"orig_cpu", put_cpu},
        {"dest_cpu", put_destination}}},
      {"hrtimer_start",
       Kind::kTimerStart,
       {{"common_pid", put_pid}, {"hrtimer", put_number}, {"expires", put_clock}}},
      {"hrtimer_expire_entry",
       Kind::kTimerExpire,
       {{"common_pid", put_pid}, {"hrtimer", put_number}, {"now", put_clock}}},
      {"hrtimer_cancel", Kind::kTimerCancel, {{"common_pid", put_pid}, {"hrtimer", put_number}}},
      {"sys_exit", Kind::kTaskRan, current},
      {"irq_disable", Kind::kIrqsOff, current},
      {"irq_enable", Kind::kIrqsOn, current},
      {"preempt_disable", Kind::kPreemptOff, current},
      {"preempt_enable", Kind::kPreemptOn, current}};
  return all;
}

Result<void> EventDecoder::add(const tracing::EventFormat& format) {
  const auto plan = std::ranges::find(plans(), format.name, &Plan::event);
  if (plan == plans().end()) {
    return Error{ErrorCode::kInvalid, "unknown event " + format.name};
  }
  Layout layout{.id = format.id, .kind = plan->kind, .bytes_min = sizeof format.id};
  for (const auto& number : plan->numbers) {
    auto found = tracing::TraceNumber::find(format, number.field);
    if (!found) return found.error();
    layout.bytes_min = std::max(layout.bytes_min, found.value().end());
    layout.numbers.push_back({std::move(found.value()), number.put});
  }
  for (const auto& name : plan->names) {
    auto found = format.field(name.field);
    if (!found) return found.error();
    layout.bytes_min = std::max<std::size_t>(layout.bytes_min, found.value().end());
    layout.names.push_back({std::move(found.value()), name.task});
  }
  layouts_.push_back(std::move(layout));
  return {};
}

std::optional<KernelEvent> EventDecoder::decode(std::chrono::nanoseconds time, unsigned cpu,
                                                std::span<const char> payload) const {
  std::uint16_t id = 0;
  if (payload.size() < sizeof id) return std::nullopt;
  std::memcpy(&id, payload.data(), sizeof id);
  const auto layout = std::ranges::find(layouts_, id, &Layout::id);
  if (layout == layouts_.end() || payload.size() < layout->bytes_min) return std::nullopt;
  KernelEvent event{.time_ns = time.count(), .kind = layout->kind, .cpu = cpu};
  for (const Number& number : layout->numbers) number.put(event, number.from.read(payload));
  for (const Name& name : layout->names) {
    auto& to = (event.*name.task).name;
    const std::size_t size = std::min<std::size_t>(to.size(), name.field.size);
    std::memcpy(to.data(), payload.data() + name.field.offset, size);
  }
  return event;
}

}  // namespace tallyfs
