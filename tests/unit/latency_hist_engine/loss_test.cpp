// Events that go missing, on purpose and at random: what is measured all the same was measured with
// all events too, and nothing absurd comes of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/latency_hist/engine/kernel_latencies.h"

namespace tallyfs::latency_hist {
namespace {

constexpr std::size_t kEvents = 20'000;
constexpr std::int64_t kStepMaxNs = 50'000;
// Now and then nothing happens for so long: longer than a wakeup may be pending.
constexpr std::int64_t kPauseNs = 2'000'000'000;
constexpr unsigned kStepsBetweenPauses = 500;

unsigned seed() {
  const char* const given = std::getenv("TALLY_SEED");
  const unsigned value = given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  std::printf("TALLY_SEED=%u\n", value);
  return value;
}

// One CPU, with tasks of four priorities, of which the most urgent that is awake always runs.
class Scheduler {
 public:
  explicit Scheduler(unsigned seed) : random_(seed) {
    for (int pid = 1; pid <= 6; ++pid) tasks_.push_back({.pid = pid, .priority = 10 + pid % 4});
  }

  std::vector<KernelEvent> run() {
    while (events_.size() < kEvents) {
      const Task& task = tasks_[random_() % tasks_.size()];
      pass();
      if (task.pid == running_.pid) {
        awake_.erase(task.pid);
        reschedule();
      } else if (awake_.emplace(task.pid, task).second) {
        events_.push_back({.time_ns = now_ns_, .kind = KernelEventKind::kWakeup, .task = task});
        if (task.outranks(running_)) reschedule();
      }
    }
    return std::move(events_);
  }

 private:
  void pass() {
    now_ns_ += 1 + static_cast<std::int64_t>(random_() % kStepMaxNs);
    if (random_() % kStepsBetweenPauses == 0) now_ns_ += kPauseNs;
  }
  void reschedule() {
    Task next;
    for (const auto& [pid, task] : awake_) {
      if (task.outranks(next)) next = task;
    }
    if (next.pid == running_.pid) return;
    pass();
    events_.push_back(
        {.time_ns = now_ns_, .kind = KernelEventKind::kSwitch, .task = next, .previous = running_});
    running_ = next;
  }

  std::mt19937 random_;
  std::vector<Task> tasks_;
  std::map<pid_t, Task> awake_;
  Task running_;
  std::int64_t now_ns_ = 0;
  std::vector<KernelEvent> events_;
};

// Runs of events are missing; a notice stands in the place of each, or does not.
enum class Notices { kThere, kMissing };
std::vector<KernelEvent> with_gaps(const std::vector<KernelEvent>& events, Notices notices,
                                   unsigned seed) {
  std::mt19937 random(seed);
  std::vector<KernelEvent> kept;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (random() % 50 != 0) {
      kept.push_back(events[i]);
      continue;
    }
    const std::size_t gap = 1 + random() % 9;
    if (notices == Notices::kThere) {
      kept.push_back({.time_ns = events[i].time_ns, .kind = KernelEventKind::kLost, .number = gap});
    }
    i += gap - 1;
  }
  return kept;
}

struct Measured {
  Histogram wakeup;
  Histogram shared;
  std::uint64_t lost = 0;
};
Measured measure(const std::vector<KernelEvent>& events) {
  KernelLatencies latencies(1, Timestamp());
  EXPECT_TRUE(latencies.enable(Measuring::kWakeup, 1));
  latencies.take(events, Timestamp());
  return {latencies.set(Latencies::kWakeup).histogram(0),
          latencies.set(Latencies::kWakeupShared).histogram(0),
          latencies.set(Latencies::kWakeup).snapshot().lost()};
}

void expect_part(const Histogram& part, const Histogram& whole) {
  EXPECT_GT(part.total(), 0u);
  EXPECT_LT(part.total(), whole.total());
  for (std::size_t us = 0; us < Histogram::kRows; ++us) {
    ASSERT_LE(part.row(us), whole.row(us)) << us << " us";
  }
  EXPECT_LE(part.max_us(), whole.max_us());
}

TEST(LossTest, WhatIsMeasuredBetweenLossesIsPartOfWhatThereIs) {
  const unsigned drawn = seed();
  for (unsigned round = 0; round < 10; ++round) {
    const auto events = Scheduler(drawn + round).run();
    const Measured whole = measure(events);
    const Measured part = measure(with_gaps(events, Notices::kThere, drawn + round));
    expect_part(part.wakeup, whole.wakeup);
    expect_part(part.shared, whole.shared);
    EXPECT_EQ(whole.lost, 0u);
    EXPECT_GT(part.lost, 0u);
  }
}

TEST(LossTest, WithoutNoticesNothingIsLongerThanAWakeupMayBePending) {
  const unsigned drawn = seed();
  for (unsigned round = 0; round < 10; ++round) {
    const auto events = Scheduler(drawn + round).run();
    const Measured part = measure(with_gaps(events, Notices::kMissing, drawn + round));
    EXPECT_LT(part.wakeup.max_us(), 1'000'000);
    EXPECT_GE(part.wakeup.min_us(), 0);
  }
}

}  // namespace
}  // namespace tallyfs::latency_hist
