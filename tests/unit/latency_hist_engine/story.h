// Replays scheduling stories written as tables, a line for each event:
//
//   MICROSECONDS cpu=N EVENT ...
//     wakeup TASK [by PID]        sched_wakeup; cpu is where the task is to run; by: in that task
//     ran PID                     raw_syscalls:sys_exit
//     switch TASK -> TASK         sched_switch
//     migrate TASK to N           sched_migrate_task
//     start TIMER expires=US by PID, expire TIMER at=US during PID, cancel TIMER
//     irqs_off, irqs_on, preempt_off, preempt_on
//     lost N
//
// A TASK is NAME:PID:PRIORITY, where the priority is the kernel's: 0 to 99 real-time, 120 usual.
// What was measured is told as `DIRECTORY CPUn US US ...`, a line for each histogram that is not
// empty, with as many latencies as there were.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/latency_hist/engine/kernel_latencies.h"

namespace tallyfs::latency_hist {

inline Task task_of(const std::string& text) {
  Task task;
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  std::ranges::copy(text.substr(0, first), task.name.begin());
  task.pid = std::stoi(text.substr(first + 1, second - first - 1));
  task.priority = std::stoi(text.substr(second + 1));
  return task;
}

inline KernelEvent event_of(const std::string& line) {
  std::istringstream in(line);
  std::string kind, a, b, c, d, skipped;
  std::int64_t us = 0;
  KernelEvent event;
  in >> us;
  event.time_ns = us * 1000;
  const auto value = [](const std::string& text) {
    return std::stoll(text.substr(text.find('=') + 1));
  };
  in >> a >> kind;
  event.cpu = static_cast<unsigned>(value(a));
  if (kind == "wakeup") {
    in >> a;
    event.kind = KernelEventKind::kWakeup;
    event.task = task_of(a);
    if (!(in >> skipped >> event.previous.pid)) in.clear();
  } else if (kind == "ran") {
    in >> event.task.pid;
    event.kind = KernelEventKind::kTaskRan;
  } else if (kind == "switch") {
    in >> a >> skipped >> b;
    event.kind = KernelEventKind::kSwitch;
    event.previous = task_of(a);
    event.task = task_of(b);
  } else if (kind == "migrate") {
    in >> a >> skipped >> event.destination;
    event.kind = KernelEventKind::kMigrate;
    event.task = task_of(a);
  } else if (kind == "start" || kind == "expire") {
    in >> std::hex >> event.number >> std::dec >> b >> skipped >> event.task.pid;
    event.kind = kind == "start" ? KernelEventKind::kTimerStart : KernelEventKind::kTimerExpire;
    event.clock_ns = value(b) * 1000;
  } else if (kind == "cancel") {
    in >> std::hex >> event.number;
    event.kind = KernelEventKind::kTimerCancel;
  } else if (kind == "lost") {
    in >> event.number;
    event.kind = KernelEventKind::kLost;
  } else {
    event.kind = kind == "irqs_off"      ? KernelEventKind::kIrqsOff
                 : kind == "irqs_on"     ? KernelEventKind::kIrqsOn
                 : kind == "preempt_off" ? KernelEventKind::kPreemptOff
                                         : KernelEventKind::kPreemptOn;
  }
  EXPECT_FALSE(in.fail()) << "in the story: " << line;
  return event;
}

class StoryTest : public testing::Test {
 protected:
  static constexpr unsigned kCpus = 2;

  void on(Measuring what) { ASSERT_TRUE(latencies_.enable(what, 1)); }
  void off(Measuring what) { ASSERT_TRUE(latencies_.enable(what, 0)); }

  void replay(const std::string& story) {
    std::vector<KernelEvent> events;
    std::istringstream in(story);
    for (std::string line; std::getline(in, line);) {
      if (line.find_first_not_of(' ') != std::string::npos) events.push_back(event_of(line));
    }
    const auto last = std::chrono::nanoseconds(events.back().time_ns);
    latencies_.take(events, {.monotonic = last});
  }

  std::string measured() {
    static constexpr const char* kNames[] = {"irqsoff",       "preemptoff", "preemptirqsoff",
                                             "wakeup",        "sharedprio", "missed_timer_offsets",
                                             "timerandwakeup"};
    std::string out;
    for (std::size_t i = 0; i < kLatencies; ++i) {
      for (unsigned cpu = 0; cpu < kCpus; ++cpu) {
        const auto histogram = latencies_.set(static_cast<Latencies>(i)).histogram(cpu);
        if (histogram.total() == 0) continue;
        out += std::string(kNames[i]) + " CPU" + std::to_string(cpu);
        for (std::size_t us = 0; us < Histogram::kRows; ++us) {
          for (std::uint64_t n = 0; n < histogram.row(us); ++n) out += " " + std::to_string(us);
        }
        out += "\n";
      }
    }
    return out;
  }
  std::uint64_t unmatched(Latencies which) { return latencies_.set(which).snapshot().unmatched(); }
  std::uint64_t lost(Latencies which) { return latencies_.set(which).snapshot().lost(); }
  std::uint64_t bounded(Latencies which) { return latencies_.set(which).snapshot().bounded(); }

  KernelLatencies latencies_{kCpus, Timestamp()};
};

}  // namespace tallyfs::latency_hist
