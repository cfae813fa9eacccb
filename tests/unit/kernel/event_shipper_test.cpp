#include "feeders/kernel/event_shipper.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/unit/kernel_formats.h"
#include "tests/unit/receiving_socket.h"

namespace tallyfs {
namespace {

using std::chrono::nanoseconds;

// The events that arrived at the daemon's socket.
std::vector<KernelEvent> take_events(ReceivingSocket& daemon) {
  std::vector<KernelEvent> taken;
  daemon.receive([&](wire::Message& message) {
    const auto& events = std::get<wire::KernelEvents>(message).events;
    taken.insert(taken.end(), events.begin(), events.end());
  });
  return taken;
}

class EventShipperTest : public testing::Test {
 protected:
  EventShipperTest() {
    EventDecoder decoder;
    for (const char* const text : {kHrtimerStart, kHrtimerCancel, kSchedWakeup, kSysExit}) {
      formats_.push_back(tracing::parse_event_format(text).value());
      EXPECT_TRUE(decoder.add(formats_.back()));
    }
    shipper_.begin({0, 5});
    shipper_.decode_by(std::move(decoder));
  }
  void timer(const tracing::EventFormat& format, std::int64_t time, std::uint64_t address,
             std::size_t pipe = 0) {
    std::string payload(64, '\0');
    std::memcpy(payload.data(), &format.id, sizeof format.id);
    const auto field = format.field("hrtimer").value();
    std::memcpy(payload.data() + field.offset, &address, sizeof address);
    shipper_.event(nanoseconds(time), pipe, payload);
  }
  void start(std::int64_t time, std::uint64_t address, std::size_t pipe = 0) {
    timer(formats_[0], time, address, pipe);
  }
  void cancel(std::int64_t time, std::uint64_t address) { timer(formats_[1], time, address); }
  void put(const tracing::EventFormat& format, const char* name, std::int64_t time,
           std::int32_t value) {
    std::string payload(64, '\0');
    std::memcpy(payload.data(), &format.id, sizeof format.id);
    std::memcpy(payload.data() + format.field(name).value().offset, &value, sizeof value);
    shipper_.event(nanoseconds(time), 0, payload);
  }
  void wake(std::int64_t time, pid_t task) { put(formats_[2], "pid", time, task); }
  // Of system calls of task 10.
  void exits(const std::vector<std::int64_t>& times) {
    for (const std::int64_t time : times) put(formats_[3], "common_pid", time, 10);
  }
  // Of what arrived, without the notice that every instance begins with.
  std::vector<KernelEvent> take() {
    auto events = take_events(daemon_);
    if (!events.empty() && events.front().kind == KernelEventKind::kLost &&
        events.front().number == 0) {
      events.erase(events.begin());
    }
    return events;
  }

  ReceivingSocket daemon_;
  Link link_{daemon_.path()};
  EventShipper shipper_{link_};
  std::vector<tracing::EventFormat> formats_;
};

TEST_F(EventShipperTest, SendsWhatItDecodesWithTheCpuOfItsPipe) {
  start(10, 0xa0);
  start(11, 0xb0, 1);
  EXPECT_TRUE(take().empty()) << "until it is told to";
  shipper_.flush();
  const auto events = take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].number, 0xa0u);
  EXPECT_EQ(events[0].time_ns, 10);
  EXPECT_EQ(events[0].cpu, 0u);
  EXPECT_EQ(events[1].cpu, 5u);
}

TEST_F(EventShipperTest, KeepsCancellationsOfTimersThatItHasNotSeen) {
  cancel(9, 0xa0);
  start(10, 0xa0);
  cancel(11, 0xa0);
  cancel(12, 0xa0);
  shipper_.flush();
  EXPECT_EQ(take().size(), 2u);
}

TEST_F(EventShipperTest, SendsABatchAsSoonAsItIsFull) {
  for (std::size_t i = 0; i < EventShipper::kBatchMax; ++i) start(10, i);
  EXPECT_EQ(take().size(), EventShipper::kBatchMax - 1) << "beside the first notice";
}

TEST_F(EventShipperTest, TellsOfALossInItsPlace) {
  start(10, 0xa0);
  shipper_.lost(1, 17);
  start(20, 0xb0);
  shipper_.flush();
  const auto events = take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].kind, KernelEventKind::kLost);
  EXPECT_EQ(events[1].number, 17u);
  EXPECT_EQ(events[1].cpu, 5u) << "the CPU of its pipe";
}

TEST_F(EventShipperTest, SendsOfWhatATaskDoesOnlyTheFirstSignAfterAWakeup) {
  exits({10});
  shipper_.flush();
  EXPECT_TRUE(take().empty()) << "nothing was woken";
  wake(11, 10);
  exits({12, 13, 14});
  shipper_.flush();
  const auto events = take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].kind, KernelEventKind::kTaskRan);
  EXPECT_EQ(events[1].time_ns, 12);
  EXPECT_EQ(shipper_.unseen_tasks(), std::vector<pid_t>{10});
}

TEST_F(EventShipperTest, WhatTheDaemonDoesNotTakeIsToldOfAsLostWithTheNextThatGoes) {
  std::uint64_t sent = 0;
  // Until the queue is full, and one batch more: that one is dropped.
  while (!link_.full()) {
    start(10, 0xa0);
    shipper_.lost(0, 2);
    shipper_.flush();
    sent += 3;
  }
  std::uint64_t arrived = 0;
  for (const KernelEvent& each : take()) {
    arrived += each.kind == KernelEventKind::kLost ? each.number : 1;
  }
  start(20, 0xb0);
  shipper_.flush();
  const auto events = take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, KernelEventKind::kLost);
  EXPECT_EQ(events[0].number, sent - arrived);
  EXPECT_GT(events[0].number, 0u);
  EXPECT_EQ(events[1].number, 0xb0u);
}

TEST_F(EventShipperTest, WithoutADaemonNothingIsKeptButTheCount) {
  Link nowhere("/nowhere/socket");
  EventShipper shipper(nowhere);
  shipper.begin({0});
  for (int i = 0; i < 1'000; ++i) shipper.lost(0, 1);
  shipper.flush();
}

}  // namespace
}  // namespace tallyfs
