#include "core/tracing/branch/kernel_feed.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

class KernelFeedTest : public TracingTest {
 protected:
  static constexpr uid_t kOwner = 500;

  void offered(std::uint32_t id, const std::string& name, uid_t sender = 0) {
    const std::string format = format_of(name, static_cast<int>(id));
    EXPECT_TRUE(feed_.offer({.id = id, .system = "sched", .format = format}, sender));
  }
  // A record of kWaking about this pid, in a message.
  wire::PackedEvents packed(std::int32_t pid) {
    std::string fields(16, '\0');
    std::memcpy(fields.data() + 8, &pid, 4);
    text_.clear();
    wire::append_record(text_, {.event = kWaking, .time_ns = 5, .bytes = fields});
    words_.assign(text_.size() / 8, 0);
    std::memcpy(words_.data(), text_.data(), text_.size());
    return {std::nullopt, {reinterpret_cast<const char*>(words_.data()), text_.size()}};
  }

  // The kernel's sched_waking is offered, and instances/other wants an event of these only.
  void let_another_instance_ask(FakeSource& programs) {
    offered(kWaking, "sched_waking");
    feed_.take_offers(clock_.now());
    const auto instances = tree_.rules(node("instances").value().id).value();
    ASSERT_TRUE(instances->make_directory("other", clock_.now()));
    ASSERT_TRUE(offer(programs, "request", 1, "web"));
    ASSERT_TRUE(write("instances/other/events/web/request/enable", "1"));
  }

  KernelFeed feed_{tracing_, kernel_, kOwner};

 private:
  std::string text_;
  std::vector<std::uint64_t> words_;
};

TEST_F(KernelFeedTest, WhatIsOfferedIsThereWhenAllOfItWasOffered) {
  offered(kWaking, "sched_waking");
  offered(kSwitch, "sched_switch", kOwner);
  EXPECT_EQ(read("available_events").find("sched"), std::string::npos);
  EXPECT_EQ(feed_.take_offers(clock_.now()), 2u);
  EXPECT_NE(read("available_events").find("sched:sched_waking\n"), std::string::npos);
  EXPECT_EQ(feed_.take_offers(clock_.now()), 0u);
}

TEST_F(KernelFeedTest, RecordsReachTheEventsThatWereOffered) {
  offered(kWaking, "sched_waking");
  feed_.take_offers(clock_.now());
  EXPECT_TRUE(write("events/sched/sched_waking/trigger", "hist:keys=pid"));
  EXPECT_TRUE(feed_.feed(packed(7), 0, clock_.now()));
  EXPECT_NE(read("events/sched/sched_waking/hist").find("pid:          7"), std::string::npos);
}

TEST_F(KernelFeedTest, StrangersMayNotFeed) {
  EXPECT_EQ(feed_.offer({.id = 1, .system = "sched", .format = ""}, 1000).error().code,
            ErrorCode::kNotPermitted);
  EXPECT_EQ(feed_.feed(packed(7), 1000, clock_.now()).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(feed_.lost({3}, 1000, clock_.now()).error().code, ErrorCode::kNotPermitted);
}

TEST_F(KernelFeedTest, BytesThatAreNoRecordAreRefused) {
  const std::vector<std::uint64_t> words(2);
  const std::span<const char> bytes(reinterpret_cast<const char*>(words.data()), 16);
  EXPECT_EQ(feed_.feed({std::nullopt, bytes}, 0, clock_.now()).error().code, ErrorCode::kInvalid);
}

TEST_F(KernelFeedTest, WhatANewFeederOffersIsAskedOfItIfTriggersWait) {
  offered(kWaking, "sched_waking");
  offered(kSwitch, "sched_switch");
  feed_.take_offers(clock_.now());
  EXPECT_TRUE(write("events/sched/sched_waking/trigger", "hist:keys=pid if pid > 3"));
  feed_.withdraw(clock_.now());
  kernel_.is_wanted.clear();
  offered(kWaking, "sched_waking");
  offered(kSwitch, "sched_switch");
  EXPECT_EQ(feed_.take_offers(clock_.now()), 2u);
  ASSERT_EQ(kernel_.is_wanted.size(), 1u);
  EXPECT_EQ(kernel_.is_wanted[0].source_id, kWaking);
  EXPECT_EQ(kernel_.is_wanted[0].demand.filter, "pid > 3");
}

TEST_F(KernelFeedTest, AFeederThatBreaksOffLeavesAMarkWhereItsRecordsAreMissed) {
  FakeSource programs;
  let_another_instance_ask(programs);
  EXPECT_TRUE(write("events/sched/sched_waking/enable", "1"));
  EXPECT_TRUE(feed_.feed(packed(7), 0, clock_.now()));
  EXPECT_TRUE(feed_.withdraw(clock_.now()));
  const std::string trace = read("trace");
  EXPECT_NE(trace.find("pid=7 prio=0\nCPU:0 [LOST EVENTS]\n"), std::string::npos) << trace;
  EXPECT_NE(trace.find("# records lost on their way: 1 in all"), std::string::npos) << trace;
  EXPECT_NE(read("per_cpu/cpu0/trace").find("CPU:0 [LOST EVENTS]\n"), std::string::npos);
  EXPECT_NE(read("per_cpu/cpu0/stats").find("entries: 1\n"), std::string::npos);
  const std::string other = read("instances/other/trace");
  EXPECT_EQ(other.find("[LOST EVENTS]"), std::string::npos) << other;
  EXPECT_EQ(other.find("lost"), std::string::npos) << "it asked the kernel for nothing\n" << other;
  tracing_.withdraw(programs, clock_.now());
}

TEST_F(KernelFeedTest, WhatAFeederHasLostIsMissedOnlyByThoseThatAskedIt) {
  FakeSource programs;
  let_another_instance_ask(programs);
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  EXPECT_TRUE(feed_.lost({3}, 0, clock_.now()));
  EXPECT_NE(read("trace").find("# records lost on their way: 3 in all"), std::string::npos);
  EXPECT_EQ(read("instances/other/trace").find("lost"), std::string::npos);
  tracing_.withdraw(programs, clock_.now());
}

TEST_F(KernelFeedTest, AFeederWithoutOrdersIsNotMissed) {
  offered(kWaking, "sched_waking");
  feed_.take_offers(clock_.now());
  EXPECT_FALSE(feed_.withdraw(clock_.now()));
  EXPECT_EQ(read("trace").find("lost"), std::string::npos);
}

TEST_F(KernelFeedTest, OffersThatWereNotFinishedGoWithTheirFeeder) {
  offered(kWaking, "sched_waking");
  feed_.withdraw(clock_.now());
  EXPECT_EQ(feed_.take_offers(clock_.now()), 0u);
}

TEST_F(KernelFeedTest, WhatWaitsIsBounded) {
  const std::string format(60'000, 'x');
  std::size_t taken = 0;
  while (feed_.offer({.id = 1, .system = "sched", .format = format}, 0)) ++taken;
  EXPECT_GT(taken, 1'000u);
  EXPECT_LT(taken * format.size(), KernelFeed::kOfferedBytesMax);
}

}  // namespace
}  // namespace tallyfs::tracing
