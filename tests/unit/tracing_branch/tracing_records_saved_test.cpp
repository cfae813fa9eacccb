// Traced records on their way from one server to the next.
#include <string>

#include "core/branch/state.h"
#include "tests/unit/golden_state.h"
#include "tests/unit/random.h"
#include "tests/unit/tracing_branch/tracing_daemon.h"

namespace tallyfs::tracing {
namespace {

class TracingRecordsSavedTest : public testing::Test {
 protected:
  TracingRecordsSavedTest() {
    EXPECT_TRUE(daemon_.tell("event define web/request u64 us"));
    EXPECT_TRUE(daemon_.write("events/web/request/enable", "1"));
    EXPECT_TRUE(daemon_.make_directory("instances/deep"));
    EXPECT_TRUE(daemon_.write("trace_marker", "first\n"));
    EXPECT_TRUE(daemon_.tell("event web/request us=7"));
    EXPECT_TRUE(daemon_.write("snapshot", "1"));
    EXPECT_TRUE(daemon_.write("trace_marker", "second\n"));
    EXPECT_TRUE(daemon_.tell("event web/request us=8"));
    EXPECT_TRUE(daemon_.write("trace_marker", "third\n"));
    EXPECT_TRUE(daemon_.write("instances/deep/trace_marker", "below\n"));
  }
  static std::string pipe(TracingDaemon& daemon) {
    const auto found = daemon.node("trace_pipe");
    return daemon.file(found.value().id)->stream()->next(daemon.now());
  }
  static SavedObjects records_of(TracingDaemon& daemon) {
    SavedObjects saved;
    daemon.branch().tracing().save_records(saved);
    return saved;
  }

  FakeClock clock_;
  TracingDaemon daemon_{clock_};
  TracingDaemon next_{clock_};
};

TEST_F(TracingRecordsSavedTest, ASuccessorShowsTheSameAndGoesOn) {
  ASSERT_TRUE(next_.load(daemon_.saved()));
  ASSERT_TRUE(next_.load(records_of(daemon_)));
  for (const char* const path : {"trace", "snapshot", "per_cpu/cpu0/stats", "saved_cmdlines",
                                 "instances/deep/trace", "per_cpu/cpu0/trace"}) {
    EXPECT_EQ(next_.read(path), daemon_.read(path)) << path;
  }
  EXPECT_NE(next_.read("trace").find("us=8"), std::string::npos);
  EXPECT_TRUE(next_.write("trace_marker", "fourth\n"));
  const std::string text = pipe(next_);
  EXPECT_LT(text.find("second"), text.find("third"));
  EXPECT_LT(text.find("third"), text.find("fourth"));
}

// Records, events with their feeders, and the numbers of these.
TEST_F(TracingRecordsSavedTest, TheFirstFormatsOfWhatIsHandedOnAreTaken) {
  ASSERT_TRUE(daemon_.tell("event define web/short lifetime=feeder u64 us"));
  ASSERT_TRUE(daemon_.offer("sched_waking", kWaking));
  SavedObjects left;
  daemon_.branch().save_for_successor(left, clock_.now());
  daemon_.branch().tracing().save_records(left);
  const SavedObjects kept = golden::kept_as("tracing_handed.1.hex", left, clock_.now());
  next_.branch().tracing().expect(next_.kernel());
  const Loading loading{.now = clock_.now(), .has_pages = true};
  ASSERT_TRUE(kept.load_into(next_.branch(), loading));
  for (const char* const path : {"trace", "snapshot", "events/web/short/format",
                                 "events/sched/sched_waking/format", "instances/deep/trace"}) {
    EXPECT_EQ(next_.read(path), daemon_.read(path)) << path;
  }
  SavedObjects again;
  next_.branch().save_for_successor(again, clock_.now());
  next_.branch().tracing().save_records(again);
  EXPECT_EQ(again, kept);
}

TEST_F(TracingRecordsSavedTest, WhatWasReadIsNotReadAgain) {
  EXPECT_NE(pipe(daemon_), "");
  EXPECT_TRUE(daemon_.write("trace_marker", "fourth\n"));
  ASSERT_TRUE(next_.load(daemon_.saved()));
  ASSERT_TRUE(next_.load(records_of(daemon_)));
  EXPECT_EQ(next_.read("per_cpu/cpu0/stats"), daemon_.read("per_cpu/cpu0/stats"));
  const std::string text = pipe(next_);
  EXPECT_EQ(text.find("third"), std::string::npos);
  EXPECT_NE(text.find("fourth"), std::string::npos);
}

TEST_F(TracingRecordsSavedTest, RecordsOfAnEventThatIsGoneStay) {
  const SavedObjects records = records_of(daemon_);
  const SavedObject top = records.at(0);
  ASSERT_TRUE(next_.branch().load(top, {.now = clock_.now()}));
  EXPECT_NE(next_.read("trace").find("third"), std::string::npos);
}

TEST_F(TracingRecordsSavedTest, BrokenOnesAreRefusedAndNothingIsThere) {
  const SavedObjects records = records_of(daemon_);
  const SavedObject top = records.at(0);
  const std::string empty = next_.read("trace");
  Random random;
  SCOPED_TRACE(random.seed());
  for (std::size_t size = 0; size < top.bytes.size(); ++size) {
    SavedObject cut = top;
    cut.bytes = top.bytes.substr(0, size);
    ASSERT_FALSE(next_.branch().load(cut, {.now = clock_.now()})) << size;
    ASSERT_EQ(next_.read("trace"), empty) << size;
  }
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes(top.bytes);
    for (auto flips = random.below(3) + 1; flips != 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    SavedObject broken = top;
    broken.bytes = bytes;
    (void)next_.branch().load(broken, {.now = clock_.now()});
    (void)next_.read("trace");
    (void)next_.read("snapshot");
    ASSERT_TRUE(next_.write("snapshot", "0"));
    ASSERT_TRUE(next_.clear("trace"));
  }
}

}  // namespace
}  // namespace tallyfs::tracing
