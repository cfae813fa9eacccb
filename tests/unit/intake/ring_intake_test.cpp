// Rings of several feeders, as the intake takes them.
// Longer than most: all cases stand on one feeder with a ring, and on one intake.
#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/ring_intake_fixture.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

TEST_F(RingIntakeTest, ALaneThatStaysFullDelaysAnotherByATurn) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number) && two.bind(*lanes_, number));
  for (int turn = 0; turn < 4; ++turn) {
    one.fill();
    two.fill();
    lanes_->note_heads();
    EXPECT_FALSE(lanes_->take(ticks_.now().monotonic).all);
  }
  EXPECT_EQ(one.taken(), two.taken());
  EXPECT_NE(one.taken(), 0u);
}

TEST_F(RingIntakeTest, WhatAKilledFeederLeftIsTakenInPiecesBetweenOthers) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder killed(*lanes_, other()), lives(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(killed.bind(*lanes_, number) && lives.bind(*lanes_, number));
  killed.fill();
  const std::uint64_t left = killed.entry().head / 2;
  std::uint64_t pieces = 0;
  ticks_.is_slow = true;
  for (bool ends = false; !ends; ++pieces) {
    EXPECT_EQ(lanes_->is_ending(kOther), pieces != 0);
    const auto begun = ticks_.passed;
    ends = lanes_->process_ended(kOther, ticks_.now(), begun + 1ms);
    EXPECT_LE(ticks_.passed - begun, 2ms);
    // Another process that has the memory writes more.
    killed.fill();
    lives.put(1);
    EXPECT_EQ(lanes_->take_of(lives.sender, 1h).records, 1u);
  }
  EXPECT_GT(pieces, 2u);
  EXPECT_EQ(killed.taken(), left);
  EXPECT_FALSE(lanes_->is_ending(kOther));
}

// The socket is drained once for it: what it has sent before its end is in that.
TEST_F(RingIntakeTest, TheSocketIsDrainedOnceForAnEndThatIsCut) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder killed(*lanes_, other()), second(*lanes_, other());
  ASSERT_TRUE(killed.bind(*lanes_, number) && second.bind(*lanes_, number));
  killed.fill();
  second.fill();
  Feeder lives(path_);
  ticks_.is_slow = true;
  ticks_.each = 1ms;  // drain_feeders() takes a part of the rings only
  const auto datagrams = [&] { return own("datagrams"); };
  lives.send("web/t 1");
  EXPECT_EQ(intake.take_lanes_of(kOther), Intake::Ended::kCut);
  EXPECT_EQ(datagrams(), 1u);
  int calls = 1;
  for (auto ended = Intake::Ended::kCut; ended == Intake::Ended::kCut; ++calls) {
    lives.send("web/t 1");
    ended = intake.take_lanes_of(kOther);
    EXPECT_EQ(datagrams(), 1u) << calls;
  }
  EXPECT_GT(calls, 2);
  intake.drain_feeders();
  EXPECT_EQ(datagrams(), static_cast<std::uint64_t>(calls));
}

// What they leave takes the time of this thread, and the clock stands still.
TEST_F(RingIntakeTest, EndsOfSendersBeyondTheirShareWaitWhenTheirTimeIsUsedUp) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  hold(intake, loop, other());
  ticks_.is_slow = true;
  ticks_.each = 10us;
  auto ended = Intake::Ended::kTaken;
  for (int ends = 0; ended == Intake::Ended::kTaken && ends < 10'000; ++ends) {
    RingFeeder held(*lanes_, other());
    ASSERT_TRUE(held.bind(*lanes_, number));
    held.fill();
    ended = intake.take_lanes_of(kOther);
  }
  EXPECT_EQ(ended, Intake::Ended::kLater);
  EXPECT_EQ(intake.take_lanes_of(kOther), Intake::Ended::kLater);
  EXPECT_TRUE(lanes_->uid_of(kOther));
  {
    RingFeeder prompt(*lanes_, {::geteuid(), kOther + 1});
    ASSERT_TRUE(prompt.bind(*lanes_, number));
    prompt.fill();
    EXPECT_EQ(intake.take_lanes_of(kOther + 1), Intake::Ended::kTaken);
  }
  ticks_.passed += 1h;
  EXPECT_EQ(intake.take_lanes_of(kOther), Intake::Ended::kTaken);
  EXPECT_FALSE(lanes_->uid_of(kOther));
}

TEST_F(RingIntakeTest, ATurnThatAReaderWantsIsOverSoon) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  feeder.fill();
  lanes_->note_heads();
  const std::atomic<int> readers{1};
  const auto done = lanes_->read_rings(feeder.lane, 1h, &readers);
  EXPECT_FALSE(done.all);
  EXPECT_LT(done.records, 1000u);
  EXPECT_NE(done.records, 0u);
}

// What is called before a reader waits lets another thread serve others meanwhile.
TEST_F(RingIntakeTest, AReaderThatTakesAFullRingSaysSoBefore) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  std::vector<std::uint64_t> told;
  const auto note = [&] { told.push_back(feeder.taken()); };
  feeder.put(1);
  intake_with_rings_.drain_feeders(nullptr, note);
  EXPECT_EQ(told.size(), 0u);
  feeder.fill();
  intake_with_rings_.drain_feeders(nullptr, note);
  EXPECT_EQ(told, std::vector<std::uint64_t>{1});
  EXPECT_GT(feeder.taken(), 1000u);
}

// What opens spend on rings that are full each time.
TEST_F(RingIntakeTest, AThousandOpensDoNotWaitForARingThatStaysFull) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder full(*lanes_, other()), prompt(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(full.bind(*lanes_, number) && prompt.bind(*lanes_, number));
  ticks_.is_slow = true;
  for (int open = 0; open < 100; ++open) {
    full.fill();
    intake.drain_feeders();
  }
  const auto taken = full.taken();
  const auto begun = ticks_.passed;
  for (std::uint64_t open = 1; open <= 1000; ++open) {
    full.fill();
    ASSERT_TRUE(prompt.put(1));
    intake.drain_feeders();
    ASSERT_EQ(prompt.taken(), open);
  }
  const auto passed = ticks_.passed - begun;
  // All records of each would take more than 6 ms of 8; within its share are half of the time.
  EXPECT_LT(passed, 1000 * 6ms);
  EXPECT_LT((full.taken() - taken) / 256, 8000u);
  EXPECT_EQ(own("ring_samples"), full.taken() + prompt.taken());
}

// Each has no more than its share.
TEST_F(RingIntakeTest, AThousandOpensDoNotWaitForRingsOfTwoThatStayFull) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  RingFeeder prompt(*lanes_, {::geteuid(), kOther + 2});
  for (RingFeeder* const each : {&one, &two, &prompt}) ASSERT_TRUE(each->bind(*lanes_, number));
  ticks_.is_slow = true;
  ticks_.each = 10us;
  std::uint64_t opens = 0;
  const auto thousand_opens = [&](bool are_full) {
    const auto begun = ticks_.passed;
    for (int i = 0; i < 1000; ++i) {
      if (are_full) one.fill();
      if (are_full) two.fill();
      EXPECT_TRUE(prompt.put(1));
      intake.drain_feeders();
      EXPECT_EQ(prompt.taken(), ++opens);
    }
    return ticks_.passed - begun;
  };
  const auto alone = thousand_opens(false);
  const auto beside = thousand_opens(true);
  EXPECT_LT(beside, alone + alone / 2 + 100ms);
  EXPECT_GT(one.taken(), 1000u);
  EXPECT_GT(two.taken(), 1000u);
  EXPECT_GT(own("drains_cut"), 500u);
}

TEST_F(RingIntakeTest, AFloodOfOneDoesNotDelayALongRingOfAnother) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder flood(*lanes_, other()), other_one(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(flood.bind(*lanes_, number) && other_one.bind(*lanes_, number));
  ticks_.is_slow = true;
  ticks_.each = 10us;
  for (int i = 0; i < 200; ++i) {
    flood.fill();
    intake.drain_feeders();
  }
  EXPECT_NE(own("drains_cut"), 0u);
  flood.fill();
  other_one.fill();
  intake.drain_feeders();
  EXPECT_EQ(other_one.taken(), other_one.entry().head / 2);
}

// What readers have for long rings, and what they have for senders beyond their share.
TEST_F(RingIntakeTest, ALongRingTakesNothingFromWhatIsForSendersBeyondTheirShare) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder held(*lanes_, {::geteuid() + 1000, kOther}), long_one(*lanes_, other());
  ASSERT_TRUE(held.bind(*lanes_, number) && long_one.bind(*lanes_, number));
  hold(intake, loop, held.sender);
  held.put(1);
  long_one.fill();
  ticks_.is_slow = true;
  ticks_.each = 700us;
  intake.drain_feeders();
  ASSERT_EQ(held.taken(), 0u);
  EXPECT_GT(long_one.taken(), 1000u);
  ticks_.each = 1us;
  intake.drain_feeders();
  EXPECT_EQ(held.taken(), 1u);
}

TEST_F(RingIntakeTest, WhatAnOpenLeavesInRingsIsTakenSoon) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder feeder(*lanes_, {::geteuid(), ::getpid()});
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  ticks_.is_slow = true;
  feeder.put(1);
  intake.drain_feeders();
  loop.context().poll();  // looks at rings by a timer from now on
  while (own("drains_cut") == 0) {
    feeder.fill();
    const auto rings = bell(kEpoch, feeder.lane);
    Feeder(path_).send({rings.data(), rings.size()});
    intake.drain_feeders();
  }
  ASSERT_LT(feeder.taken(), feeder.entry().head / 2);
  loop.context().poll();
  EXPECT_EQ(feeder.taken(), feeder.entry().head / 2);
}

// It is the timer's to take. The loop's timers count real time, and the daemon's clock stands.
TEST_F(RingIntakeTest, WhatAnOpenLeavesOfASenderBeyondItsShareWakesNoLoop) {
  using std::chrono::steady_clock;
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  const auto open_behind = [&](std::size_t records) {
    while (records-- != 0) feeder.put(1);
    intake.drain_feeders();
    return feeder.taken() == feeder.entry().head / 2;
  };
  ticks_.is_slow = true;
  ticks_.each = 100us;
  for (int i = 0; i < 1000 && open_behind(2000); ++i) {
  }
  ticks_.is_slow = false;
  loop.context().poll();
  constexpr int kOpens = 1000;
  const auto begun = steady_clock::now();
  int taken_at_once = 0;
  for (int i = 0; i < kOpens; ++i) {
    ASSERT_FALSE(open_behind(1));
    loop.context().poll();
    taken_at_once += feeder.taken() == feeder.entry().head / 2 ? 1 : 0;
  }
  EXPECT_LE(taken_at_once, (steady_clock::now() - begun) / Intake::kRingPause + 1);
  EXPECT_GE(own("drains_cut"), std::uint64_t{kOpens});
}

TEST_F(RingIntakeTest, ABellThatCameWhileRingsWereTakenIsHeard) {
  Dispatcher dispatcher(-1, dependencies_with_rings());
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  dispatcher.note_ring_heads();
  feeder.fill();
  take(dispatcher, bell(dispatcher.epoch(), feeder.lane), other());
  EXPECT_EQ(dispatcher.take_rings(1h).records, 0u);
  EXPECT_TRUE(dispatcher.has_rung());
  dispatcher.note_ring_heads();
  EXPECT_FALSE(dispatcher.has_rung());
  EXPECT_NE(dispatcher.take_rings(1h).records, 0u);
}

TEST_F(RingIntakeTest, ABellWhoseLaneADefinitionCutsRingsAgain) {
  using enum Lanes::Which;
  Dispatcher dispatcher(-1, ports_with_ticks());
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  feeder.fill();
  take(dispatcher, bell(kEpoch, feeder.lane), other());
  dispatcher.note_ring_heads(kRung);
  ticks_.is_slow = true;
  ticks_.each = 2ms;
  take(dispatcher, std::string_view("define web name=s data=reset"), {::geteuid(), kOther + 1});
  ticks_.is_slow = false;
  EXPECT_NE(feeder.taken(), 0u);
  EXPECT_LT(feeder.taken(), feeder.entry().head / 2);
  EXPECT_TRUE(dispatcher.has_rung());
  dispatcher.note_ring_heads(kRung);
  EXPECT_NE(dispatcher.take_rings(1h, kRung).records, 0u);
  EXPECT_EQ(feeder.taken(), feeder.entry().head / 2);
}

TEST_F(RingIntakeTest, ABellIsForALaneOfItsSender) {
  Dispatcher dispatcher(-1, dependencies_with_rings());
  const RingFeeder feeder(*lanes_, other());
  take(dispatcher, bell(dispatcher.epoch(), feeder.lane + 1), other());
  take(dispatcher, bell(dispatcher.epoch(), feeder.lane), {::geteuid(), kOther + 1});
  EXPECT_FALSE(dispatcher.has_rung());
  dispatcher.publish_counts(ticks_.now());
  EXPECT_EQ(own("rejects"), 2u);
}

TEST_F(RingIntakeTest, ABellHasItsOwnLaneLookedAtOnly) {
  using enum Lanes::Which;
  Dispatcher dispatcher(-1, dependencies_with_rings());
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder silent(*lanes_, other()), rings(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(silent.bind(*lanes_, number) && rings.bind(*lanes_, number));
  silent.put(1);
  rings.put(1);
  take(dispatcher, bell(dispatcher.epoch(), rings.lane), rings.sender);
  take(dispatcher, bell(dispatcher.epoch(), rings.lane), rings.sender);
  dispatcher.note_ring_heads(kRung);
  EXPECT_EQ(dispatcher.take_rings(1h, kRung).records, 1u);
  EXPECT_EQ(silent.taken(), 0u);
  EXPECT_EQ(rings.taken(), 1u);
  EXPECT_FALSE(dispatcher.has_rung());
  rings.put(1);
  dispatcher.note_ring_heads(kRung);
  EXPECT_EQ(dispatcher.take_rings(1h, kRung).records, 0u);  // it was heard
  dispatcher.note_ring_heads();
  EXPECT_EQ(dispatcher.take_rings(1h).records, 2u);
}

TEST_F(RingIntakeTest, ALaneThatIsCutAfterItsBellIsGoneOnWithBehindTheOthers) {
  using enum Lanes::Which;
  Dispatcher dispatcher(-1, dependencies_with_rings());
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number) && two.bind(*lanes_, number));
  one.fill();
  two.fill();
  take(dispatcher, bell(dispatcher.epoch(), one.lane), one.sender);
  take(dispatcher, bell(dispatcher.epoch(), two.lane), two.sender);
  std::uint64_t in_turn = 0;
  for (int turn = 1; dispatcher.has_rung(); ++turn) {
    dispatcher.note_ring_heads(kRung);
    ASSERT_NE(dispatcher.take_rings(ticks_.now().monotonic, kRung).records, 0u);
    if (turn % 2 != 0) continue;
    EXPECT_EQ(one.taken(), two.taken());
    EXPECT_GT(one.taken(), std::exchange(in_turn, one.taken()));
  }
  EXPECT_EQ(one.taken(), two.taken());
  EXPECT_GT(one.taken(), 1000u);
}

TEST_F(RingIntakeTest, ABellOfALaneThatIsGoneIsForgotten) {
  using enum Lanes::Which;
  Dispatcher dispatcher(-1, dependencies_with_rings());
  const RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  take(dispatcher, bell(dispatcher.epoch(), one.lane), one.sender);
  ASSERT_TRUE(lanes_->process_ended(kOther, ticks_.now(), 1h));
  dispatcher.note_ring_heads(kRung);
  take(dispatcher, bell(dispatcher.epoch(), two.lane), two.sender);
  dispatcher.note_ring_heads(kRung);
  ASSERT_TRUE(lanes_->process_ended(kOther + 1, ticks_.now(), 1h));
  EXPECT_TRUE(dispatcher.take_rings(1h, kRung).all);
}

TEST_F(RingIntakeTest, ABellOfAnotherEpochIsAnsweredAsSamplesAre) {
  Feeder feeder(path_);
  const auto bytes = bell(12345, 1);
  feeder.send({bytes.data(), bytes.size()});
  intake_with_rings_.drain_feeders();
  feeder.expect_stale();
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(RingIntakeTest, SamplesOfAllRingsCountBeforeADefinitionOfAnotherProcess) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  feeder.put(1);
  Feeder(path_).send("define web name=s data=reset");
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(read("web"), "");
  EXPECT_EQ(feeder.taken(), 1u);
  feeder.put(2);
  wire::DatagramWriter writer(0);
  writer.request(1, "define web name=s data=reset");
  Feeder(path_).send(writer.bytes());
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(read("web"), "");
  feeder.put(3);
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(read("web"), "s 0x3 1\n");
}

TEST_F(RingIntakeTest, WhatRingsHoldOfAStatisticThatGoesWithItsFeederIsCountedAsLost) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number) && two.bind(*lanes_, number));
  one.put(1);
  one.ring->count_dropped();
  two.fill();
  const std::uint64_t left = two.entry().head / 2;
  ASSERT_TRUE(statistics_.remove_interface("web", ticks_.now()));
  EXPECT_TRUE(lanes_->process_ended(kOther, ticks_.now(), 1h));
  EXPECT_TRUE(lanes_->process_ended(kOther + 1, ticks_.now(), 1h));
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(own("rejects"), 1 + left);
  EXPECT_EQ(own("lane_dropped"), 1u);
}

TEST_F(RingIntakeTest, AnIdWhoseBindingFailedIsNotBound) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder feeder(*lanes_, other());
  EXPECT_FALSE(feeder.bind(*lanes_, number + 1));
  feeder.put(1);
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(own("lane_bad"), 1u);
}

// All are answered, and the error log has one.
TEST_F(RingIntakeTest, ALaneWithoutRoomForMoreCellsIsToldOnce) {
  RingFeeder feeder(*lanes_, other());
  Dispatcher dispatcher(-1, dependencies_with_rings());
  wire::Binding next{.sequence = 1, .id = 0, .lane = feeder.lane, .number = 0};
  const auto rejects_of_two = [&] {
    wire::DatagramWriter writer(dispatcher.epoch());
    for (int i = 0; i < 2; ++i) writer.bind(next);
    const auto before = own("rejects");
    take(dispatcher, writer.bytes(), other());
    dispatcher.publish_counts(ticks_.now());
    return own("rejects") - before;
  };
  // A statistic with too many lanes is not what is told once.
  for (std::uint32_t before = 1; before != next.id;) {
    before = next.id;
    next.number = create("web/s" + std::to_string(next.id) + " on=1 type=list entries_max=9");
    while (lanes_->bind(other(), next)) ++next.id;
    EXPECT_EQ(before == 0 ? rejects_of_two() : 2u, 2u);
  }
  EXPECT_EQ(rejects_of_two(), 1u);
  EXPECT_EQ(rejects_of_two(), 0u);
}

TEST_F(RingIntakeTest, WhatAClosedLaneDropsIsCounted) {
  RingFeeder feeder(*lanes_, other());
  for (int i = 0; i < 3; ++i) {
    feeder.put(1);  // not bound
    intake_with_rings_.drain_feeders();
  }
  EXPECT_EQ(own("lane_bad"), 3u);
  feeder.fill();
  feeder.ring->count_dropped();
  intake_with_rings_.drain_feeders();
  EXPECT_EQ(own("lane_dropped"), 1u);
}

// Whichever of two lanes it is that cannot be had.
TEST_F(RingIntakeTest, TheNextServerGoesOnWithLanesBesideOneThatIsSpoilt) {
  const auto number = create("web/s on=1 type=list entries_max=9 base=16");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number) && two.bind(*lanes_, number));
  SavedObjects objects;
  HeldDescriptors held;
  TransferredFds sent(&held);
  lanes_->save_for_successor(objects, sent);
  for (const std::size_t spoilt : {0u, 1u}) {
    auto received = held.received();
    received[spoilt].second.reset();
    TransferredFds descriptors(nullptr, std::move(received));
    Lanes next(lane_ports(), ::geteuid());
    bool all = true;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      all &= bool(next.load(objects.at(i), {.now = {}, .has_pages = true}, descriptors));
    }
    EXPECT_FALSE(all);
    EXPECT_TRUE(next.has_rings());
    one.put(1);
    two.put(1);
    next.note_heads();
    EXPECT_NE(next.take(1h).records, 0u);
  }
}

}  // namespace
}  // namespace tallyfs
