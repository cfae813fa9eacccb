// Rings of several feeders, as the intake takes them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <vector>

#include "core/lane/ring_writer.h"
#include "feeders/intake/lanes.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/intake/intake_stand.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Each look at it takes a while, if it is told so.
class CostlyClock final : public Clock {
 public:
  Moment now() const override {
    if (is_slow) passed += 200us;
    return {.monotonic = passed, .realtime = passed};
  }

  bool is_slow = false;
  mutable std::chrono::nanoseconds passed{0};
};

// A process with a lane, in which one thread has a ring.
class RingFeeder {
 public:
  static constexpr std::uint32_t kId = 5;
  static constexpr std::uint32_t kRingAt = kLaneHeapAt + 64 * 1024;

  RingFeeder(Lanes& lanes, const Sender& its) : sender(its) {
    const auto made = lanes.make(sender, kLaneBytesMin, {});
    EXPECT_TRUE(made);
    lane = made.value().number;
    memory_ = map(made.value().file->fd(), kLaneBytesMin, PROT_READ | PROT_WRITE);
    const auto page = lanes.tails(sender, lane);
    EXPECT_TRUE(page);
    tails_ = reinterpret_cast<const LaneTails*>(map(page.value().fd, sizeof(LaneTails), PROT_READ));
    entry().thread = 1;
    entry().ring = std::uint64_t{kRingBytesMin} << 32 | kRingAt;
    reinterpret_cast<LaneHeader*>(memory_)->changes += 1;
    ring.emplace(RingWriter({.begin = memory_ + kRingAt,
                             .bytes = kRingBytesMin,
                             .entry = &entry(),
                             .tail = &tails_->tails[0]}));
  }
  ~RingFeeder() {
    ::munmap(memory_, kLaneBytesMin);
    ::munmap(const_cast<LaneTails*>(tails_), sizeof(LaneTails));
  }
  RingFeeder(const RingFeeder&) = delete;
  RingFeeder& operator=(const RingFeeder&) = delete;

  Result<void> bind(Lanes& lanes, std::uint64_t number) const {
    return lanes.bind(sender, {.sequence = 1, .id = kId, .lane = lane, .number = number});
  }
  LaneEntry& entry() { return *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt); }
  bool put(std::int64_t x) {
    if (!ring->has_room(4) && ring->look() == RingWriter::Room::kNone) return false;
    ring->put(kId, 0, x, 1, 0);
    return true;
  }
  void fill() {
    while (put(1)) {
    }
  }
  std::uint64_t taken() const { return tails_->tails[0].samples; }

  const Sender sender;
  std::uint64_t lane = 0;
  std::optional<RingWriter> ring;

 private:
  static std::byte* map(int fd, std::size_t bytes, int protection) {
    void* const mapped = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    return static_cast<std::byte*>(mapped);
  }

  std::byte* memory_ = nullptr;
  const LaneTails* tails_ = nullptr;
};

struct SharedPages {
  Ports ports_of_pages() {
    Ports all;
    all.switches = {.switches = switches};
    all.shapes = shapes;
    return all;
  }

  std::vector<Shape> shapes = std::vector<Shape>(64);
  std::vector<Switch> switches = std::vector<Switch>(64);
};

class RingIntakeTest : private SharedPages, public IntakeTest {
 protected:
  static constexpr pid_t kOther = 4711;

  RingIntakeTest()
      : IntakeTest(ports_of_pages()),
        intake_with_rings_(loop_with_rings_, socket_, ports_with_rings()) {}
  Dispatcher::Ports ports_with_rings() {
    auto all = ports();
    all.lanes = &*lanes_;
    return all;
  }
  Lanes::Ports lane_ports() { return {statistics_, ledger_, processes_, errors_, ticks_}; }
  std::uint64_t create(const std::string& line) {
    const std::string whole = "create " + line;
    const auto parsed = wire::parse_line(whole);
    const auto done = statistics_.execute(std::get<wire::CommandLine>(parsed.value()),
                                          Sender(::geteuid()), ticks_.now());
    return done.value().number;
  }
  void take(Dispatcher& dispatcher, std::span<const char> bytes, const Sender& sender) {
    std::vector<char> copy(bytes.begin(), bytes.end());
    const Datagram datagram{.bytes = copy, .origin = {.pid = sender.pid, .uid = sender.uid}};
    dispatcher.begin(datagram, ticks_.now());
    while (!dispatcher.go_on({std::chrono::nanoseconds::max()})) {
    }
  }
  static std::array<char, wire::kDoorbellBytes> bell(std::uint64_t epoch, std::uint64_t lane) {
    std::array<char, wire::kDoorbellBytes> bytes;
    wire::write_doorbell(epoch, lane, bytes);
    return bytes;
  }

  static Sender other() { return {::geteuid(), kOther}; }

  CostlyClock ticks_;
  FakeProcesses processes_;
  std::optional<Lanes> lanes_{std::in_place, lane_ports(), ::geteuid()};
  EventLoop loop_with_rings_;
  Intake intake_with_rings_;
};

TEST_F(RingIntakeTest, ALaneThatStaysFullDelaysAnotherByATurn) {
  const auto number = create("web/s on=1 type=list entries_max=9");
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

TEST_F(RingIntakeTest, RingsOfSendersBeyondTheirShareComeLast) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  RingFeeder held(*lanes_, other()), prompt(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(held.bind(*lanes_, number) && prompt.bind(*lanes_, number));
  std::vector<pid_t> charged;
  RingShares shares{.is_held = [](const Sender& sender) { return sender.pid == kOther; },
                    .charge =
                        [&](const Sender& sender, std::uint64_t records, std::chrono::nanoseconds) {
                          charged.insert(charged.end(), records, sender.pid);
                        }};
  held.put(1);
  prompt.put(1);
  lanes_->note_heads();
  EXPECT_FALSE(lanes_->take(1h, shares).all);
  EXPECT_EQ(charged, std::vector<pid_t>{kOther + 1});
  EXPECT_EQ(held.taken(), 0u);
  shares.held_until = 1h;
  prompt.put(1);
  lanes_->note_heads();
  EXPECT_TRUE(lanes_->take(1h, shares).all);
  EXPECT_EQ(charged, (std::vector<pid_t>{kOther + 1, kOther + 1, kOther}));
}

// What opens spend on rings that are full each time.
TEST_F(RingIntakeTest, AThousandOpensDoNotWaitForARingThatStaysFull) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  EventLoop loop;
  Intake intake(loop, socket_,
                {.statistics = statistics_,
                 .branches = branches_,
                 .errors = errors_,
                 .clock = ticks_,
                 .lanes = &*lanes_});
  RingFeeder full(*lanes_, other()), prompt(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(full.bind(*lanes_, number) && prompt.bind(*lanes_, number));
  ticks_.is_slow = true;
  for (int open = 0; open < 100; ++open) {
    full.fill();
    intake.settle();
  }
  const auto taken = full.taken();
  const auto begun = ticks_.passed;
  for (std::uint64_t open = 1; open <= 1000; ++open) {
    full.fill();
    ASSERT_TRUE(prompt.put(1));
    intake.settle();
    ASSERT_EQ(prompt.taken(), open);
  }
  const auto passed = ticks_.passed - begun;
  // All records of each would take more than 6 ms of 8; within its share are half of the time.
  EXPECT_LT(passed, 1000 * 6ms);
  EXPECT_LT((full.taken() - taken) / 256, 8000u);
}

TEST_F(RingIntakeTest, ABellThatCameWhileRingsWereTakenIsHeard) {
  Dispatcher dispatcher(-1, ports_with_rings());
  const auto number = create("web/s on=1 type=list entries_max=9");
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

TEST_F(RingIntakeTest, ABellIsForALaneOfItsSender) {
  Dispatcher dispatcher(-1, ports_with_rings());
  const RingFeeder feeder(*lanes_, other());
  take(dispatcher, bell(dispatcher.epoch(), feeder.lane + 1), other());
  take(dispatcher, bell(dispatcher.epoch(), feeder.lane), {::geteuid(), kOther + 1});
  EXPECT_FALSE(dispatcher.has_rung());
  dispatcher.publish_counts(ticks_.now());
  EXPECT_EQ(own("rejects"), 2u);
}

TEST_F(RingIntakeTest, ABellOfAnotherEpochIsAnsweredAsSamplesAre) {
  Feeder feeder(path_);
  const auto bytes = bell(12345, 1);
  feeder.send({bytes.data(), bytes.size()});
  intake_with_rings_.settle();
  const auto responses = feeder.responses();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].sequence, 0u);
  EXPECT_EQ(responses[0].error, static_cast<std::uint32_t>(ESTALE));
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(RingIntakeTest, SamplesOfAllRingsCountBeforeADefinitionOfAnotherProcess) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number));
  feeder.put(1);
  Feeder(path_).send("define web name=s data=reset");
  intake_with_rings_.settle();
  EXPECT_EQ(read("web"), "");
  EXPECT_EQ(feeder.taken(), 1u);
  feeder.put(2);
  wire::DatagramWriter writer(0);
  writer.request(1, "define web name=s data=reset");
  Feeder(path_).send(writer.bytes());
  intake_with_rings_.settle();
  EXPECT_EQ(read("web"), "");
  feeder.put(3);
  intake_with_rings_.settle();
  EXPECT_EQ(read("web"), "s 0x3 1\n");
}

TEST_F(RingIntakeTest, AnIdWhoseBindingFailedIsNotBound) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  RingFeeder feeder(*lanes_, other());
  EXPECT_FALSE(feeder.bind(*lanes_, number + 1));
  feeder.put(1);
  intake_with_rings_.settle();
  EXPECT_EQ(own("lane_bad"), 1u);
}

// All are answered, and the error log has one.
TEST_F(RingIntakeTest, ALaneWithoutRoomForMoreCellsIsToldOnce) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  RingFeeder feeder(*lanes_, other());
  Dispatcher dispatcher(-1, ports_with_rings());
  wire::DatagramWriter writer(dispatcher.epoch());
  std::uint32_t id = 0;
  while (lanes_->bind(other(), {.sequence = 1, .id = id, .lane = feeder.lane, .number = number})) {
    ++id;
  }
  EXPECT_GT(id, 0u);
  for (std::uint32_t i = 1; i <= 5; ++i) {
    writer.bind({.sequence = i, .id = id + i, .lane = feeder.lane, .number = number});
  }
  take(dispatcher, writer.bytes(), other());
  dispatcher.publish_counts(ticks_.now());
  EXPECT_EQ(own("rejects"), 1u);
}

TEST_F(RingIntakeTest, WhatAClosedLaneDropsIsCounted) {
  RingFeeder feeder(*lanes_, other());
  for (int i = 0; i < 3; ++i) {
    feeder.put(1);  // not bound
    intake_with_rings_.settle();
  }
  EXPECT_EQ(own("lane_bad"), 3u);
  feeder.fill();
  feeder.ring->count_dropped();
  intake_with_rings_.settle();
  EXPECT_EQ(own("lane_dropped"), 1u);
}

// Whichever of two lanes it is that cannot be had.
TEST_F(RingIntakeTest, TheNextServerGoesOnWithLanesBesideOneThatIsSpoilt) {
  const auto number = create("web/s on=1 type=list entries_max=9");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number) && two.bind(*lanes_, number));
  SavedObjects objects;
  HandedDescriptors sent;
  lanes_->hand_on(objects, sent);
  for (const std::size_t spoilt : {0u, 1u}) {
    std::vector<Fd> received;
    for (const int fd : sent.sent()) received.emplace_back(::dup(fd));
    received[spoilt].reset();
    HandedDescriptors descriptors(std::move(received));
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
