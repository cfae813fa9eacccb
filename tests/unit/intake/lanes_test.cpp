#include "feeders/intake/lanes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

#include "core/lane/cell_writer.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {
namespace {

constexpr uid_t kLaneOwner = 77;
constexpr pid_t kFeeder = 4711;
constexpr std::uint32_t kIdOfS = 5;

// A daemon's side with one statistic, web/s, and a feeder that maps its lane as libtally does.
class LanesStand {
 public:
  explicit LanesStand(const std::string& text) : shapes_(64), switches_(64), errors_(clock_.now()) {
    start();
    number_ = execute("create web/s on=1 " + text).value().number;
  }
  void start() {
    Ports ports;
    ports.switches = {.switches = switches_};
    ports.shapes = shapes_;
    statistics_.emplace(tree_, ledger_, kLaneOwner, clock_.now(), std::move(ports));
    lanes_.emplace(Lanes::Ports{*statistics_, ledger_, processes_, errors_}, kLaneOwner);
  }
  // Another server goes on.
  void hand_over() {
    SavedObjects objects;
    HandedDescriptors sent;
    statistics_->hand_on(objects, clock_.now());
    lanes_->hand_on(objects, sent);
    std::vector<Fd> received;
    for (const int fd : sent.sent()) received.emplace_back(::dup(fd));
    HandedDescriptors descriptors(std::move(received));
    lanes_.reset();
    statistics_.reset();
    EXPECT_EQ(ledger_.total().bytes, 0u);
    start();
    const Loading loading{.now = clock_.now(), .has_pages = true};
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const SavedObject each = objects.at(i);
      const auto loaded = is_of(each, SavedKind::kLanes)
                              ? lanes_->load(each, loading, descriptors)
                              : statistics_->load(each, loading);
      EXPECT_TRUE(loaded) << each.label << ": " << loaded.error().reason;
    }
  }
  ~LanesStand() {
    if (memory_) ::munmap(memory_, kLaneBytesMin);
  }
  LanesStand(const LanesStand&) = delete;
  LanesStand& operator=(const LanesStand&) = delete;

  Result<Done> execute(const std::string& line) {
    const auto parsed = wire::parse_line(line);
    return statistics_->execute(std::get<wire::CommandLine>(parsed.value()), sender(),
                                clock_.now());
  }
  static Sender sender() { return {0, kFeeder}; }
  // The feeder gets a lane and binds web/s.
  void make_lane() {
    const auto made = lanes_->make(sender(), kLaneBytesMin, clock_.now());
    ASSERT_TRUE(made) << made.error().reason;
    lane_ = made.value().number;
    void* const mapped = ::mmap(nullptr, kLaneBytesMin, PROT_READ | PROT_WRITE, MAP_SHARED,
                                made.value().file->fd(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    memory_ = static_cast<char*>(mapped);
    ASSERT_TRUE(bind());
  }
  Result<void> bind() {
    return lanes_->bind(sender(), {.sequence = 1, .id = kIdOfS, .lane = lane_, .number = number_});
  }
  // One thread's cell of web/s, as its shape has it now.
  LaneCell& begin_cell() {
    const Shape& shape = shapes_[slot()];
    auto& entry = *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt);
    auto* const index = reinterpret_cast<std::atomic<std::uint32_t>*>(memory_ + kLaneHeapAt);
    auto& cell = *reinterpret_cast<LaneCell*>(memory_ + kLaneHeapAt + 256);
    CellWriter(cell).begin(number_, kIdOfS, shape.era,
                           {.kind = static_cast<CellKind>(shape.kind.load()),
                            .intervals = shape.intervals,
                            .range_min = shape.range_min,
                            .range_max = shape.range_max,
                            .base_interval = shape.base_interval});
    index[kIdOfS] = kLaneHeapAt + 256;
    entry.thread = 1;
    entry.index = std::uint64_t{64} << 32 | kLaneHeapAt;
    reinterpret_cast<LaneHeader*>(memory_)->changes += 1;
    return cell;
  }
  std::uint32_t slot() const { return static_cast<std::uint32_t>(number_); }
  std::uint32_t on() { return switches_[slot()].on; }
  std::uint32_t era() { return shapes_[slot()].era; }
  std::string read(const std::string& name) {
    const auto web = tree_.lookup(tree_.lookup(Tree::kRoot, "statistics").value().id, "web");
    const auto file = tree_.lookup(web.value().id, name);
    return tree_.file(file.value().id).value()->render(clock_.now(), 1 << 20).value();
  }
  void define(const std::string& line) { ASSERT_TRUE(execute("define web name=s " + line)); }
  void end_feeder() { lanes_->process_ended(kFeeder, clock_.now()); }

  FakeClock clock_;
  std::vector<Shape> shapes_;
  std::vector<Switch> switches_;
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  FakeProcesses processes_;
  ErrorLog errors_;
  std::optional<StatisticsBranch> statistics_;
  std::optional<Lanes> lanes_;
  std::uint64_t number_ = 0;
  std::uint64_t lane_ = 0;
  char* memory_ = nullptr;
};

TEST(LanesTest, WhatCellsHoldIsRead) {
  LanesStand stand("type=range");
  EXPECT_EQ(stand.on() & kWayMask, kWayCell);
  stand.make_lane();
  LaneCell& cell = stand.begin_cell();
  CellWriter(cell).add(3, 1);
  CellWriter(cell).add(5, 3);
  EXPECT_EQ(stand.read("data"), "s 4 3 4.500 5\n");
  EXPECT_NE(stand.read("data.json").find("\"samples\":2"), std::string::npos);
  stand.end_feeder();
  EXPECT_EQ(stand.read("data"), "s 4 3 4.500 5\n");
  EXPECT_NE(stand.read("data.json").find("\"samples\":2"), std::string::npos);
  CellWriter(cell).add(5, 3);  // of a descriptor that another process still has
  EXPECT_EQ(stand.read("data"), "s 4 3 4.500 5\n");
}

TEST(LanesTest, ABindingThatIsRepeatedCountsOnce) {
  LanesStand stand("");
  stand.make_lane();
  EXPECT_TRUE(stand.bind());
  CellWriter(stand.begin_cell()).add(3, 7);
  EXPECT_EQ(stand.read("data"), "s 7\n");
  stand.end_feeder();
  EXPECT_EQ(stand.read("data"), "s 7\n");
}

TEST(LanesTest, AResetBeginsAnEra) {
  LanesStand stand("");
  stand.make_lane();
  LaneCell& cell = stand.begin_cell();
  CellWriter(cell).add(3, 7);
  const std::uint32_t before = stand.era();
  stand.define("data=reset");
  EXPECT_NE(stand.era(), before);
  CellWriter(cell).add(3, 7);
  EXPECT_EQ(stand.read("data"), "s 0\n");
  EXPECT_NE(stand.read("data.json").find("\"samples\":1"), std::string::npos);
  CellWriter(stand.begin_cell()).add(3, 2);
  EXPECT_EQ(stand.read("data"), "s 2\n");
}

TEST(LanesTest, AChangeThatKeepsTheDataKeepsThoseOfCells) {
  LanesStand stand("type=range");
  stand.make_lane();
  CellWriter(stand.begin_cell()).add(3, 7);
  stand.define("range_max=10");
  EXPECT_EQ(stand.read("data"), "s 7 3 3.000 3\n");
  CellWriter(stand.begin_cell()).add(11, 1);
  CellWriter(stand.begin_cell()).add(4, 1);
  EXPECT_EQ(stand.read("data"), "s 8 3 3.125 4\n");
}

TEST(LanesTest, ViewsAndOtherTypesTakeTheSocket) {
  LanesStand stand("type=array base_interval=1 scale=lin range_min=0 range_max=1022");
  EXPECT_EQ(stand.on() & kWayMask, kWayCell);
  stand.define("range_max=1023");
  EXPECT_EQ(stand.on(), kSwitchOn);
  stand.define("type=list entries_max=9");
  EXPECT_EQ(stand.on(), kSwitchOn);
  stand.define("type=value mode=products");
  EXPECT_EQ(stand.on() & kWayMask, kWayCell);
  ASSERT_TRUE(stand.execute("create web/v of=s"));
  EXPECT_EQ(stand.on(), kSwitchOn);
  ASSERT_TRUE(stand.execute("remove web/v"));
  EXPECT_EQ(stand.on() & kWayMask, kWayCell);
  stand.define("on=0");
  EXPECT_EQ(stand.on(), 0u);
}

TEST(LanesTest, AnEndKeepsWhatCellsHold) {
  LanesStand stand("");
  stand.make_lane();
  CellWriter(stand.begin_cell()).add(3, 7);
  stand.statistics_->end_cells(stand.clock_.now());
  EXPECT_EQ(stand.on(), kSwitchOn);
  EXPECT_EQ(stand.read("data"), "s 7\n");
}

TEST(LanesTest, TheNextServerReadsTheSameCells) {
  const char* const array = "type=array base_interval=1 scale=log2 range_min=0 range_max=99";
  for (const char* const text : {"", "type=value mode=products", "type=range", array}) {
    SCOPED_TRACE(text);
    LanesStand stand(text), other(text);
    for (LanesStand* const each : {&stand, &other}) {
      each->make_lane();
      LaneCell& cell = each->begin_cell();
      CellWriter(cell).add(3, 7);
      if (each == &stand) each->read("data");  // as of some read before
      CellWriter(cell).add(5, 1);
      const auto before = std::pair(each->on(), each->era());
      if (each == &stand) {
        each->hand_over();
        each->hand_over();
      }
      EXPECT_EQ(std::pair(each->on(), each->era()), before);
      CellWriter(cell).add(200, 2);
    }
    EXPECT_EQ(stand.read("data"), other.read("data"));
    EXPECT_EQ(stand.read("definition"), other.read("definition"));
    EXPECT_NE(stand.read("data.json").find("\"samples\":3"), std::string::npos);
    for (LanesStand* const each : {&stand, &other}) each->end_feeder();
    EXPECT_EQ(stand.read("data"), other.read("data"));
    EXPECT_NE(stand.read("data.json").find("\"samples\":3"), std::string::npos);
    stand.hand_over();
    EXPECT_EQ(stand.read("data"), other.read("data"));
  }
}

TEST(LanesTest, ANewDefinitionInTheNextServerBeginsAnew) {
  LanesStand stand("");
  stand.make_lane();
  LaneCell& cell = stand.begin_cell();
  CellWriter(cell).add(3, 7);
  stand.hand_over();
  const std::uint32_t before = stand.era();
  stand.define("data=reset");
  EXPECT_NE(stand.era(), before);
  CellWriter(cell).add(3, 7);
  EXPECT_EQ(stand.read("data"), "s 0\n");
  CellWriter(stand.begin_cell()).add(3, 2);
  EXPECT_EQ(stand.read("data"), "s 2\n");
}

TEST(LanesTest, RefusesOtherSizesProcessesAndIds) {
  LanesStand stand("");
  const Moment now = stand.clock_.now();
  EXPECT_FALSE(stand.lanes_->make(LanesStand::sender(), kLaneBytesMin - 4096, now));
  EXPECT_FALSE(stand.lanes_->make(LanesStand::sender(), kLaneBytesMin + 1, now));
  EXPECT_FALSE(stand.lanes_->make(LanesStand::sender(), UINT64_MAX, now));
  stand.make_lane();
  const wire::Binding good{.sequence = 1, .id = 1, .lane = stand.lane_, .number = stand.number_};
  EXPECT_FALSE(stand.lanes_->bind({0, kFeeder + 1}, good));
  wire::Binding bad = good;
  bad.id = kLaneIdsMax;
  EXPECT_FALSE(stand.lanes_->bind(LanesStand::sender(), bad));
  bad = good;
  bad.number += std::uint64_t{1} << 32;
  EXPECT_FALSE(stand.lanes_->bind(LanesStand::sender(), bad));
}

TEST(LanesTest, AUidHasABoundOfLanes) {
  LanesStand stand("");
  const Sender other{1234, kFeeder};
  for (std::size_t i = 0; i < Lanes::kLanesOfUidMax; ++i) {
    ASSERT_TRUE(stand.lanes_->make(other, kLaneBytesMin, stand.clock_.now()));
  }
  EXPECT_FALSE(stand.lanes_->make(other, kLaneBytesMin, stand.clock_.now()));
  stand.end_feeder();
  EXPECT_LT(stand.ledger_.total().bytes, kLaneBytesMin);
  EXPECT_TRUE(stand.lanes_->make(other, kLaneBytesMin, stand.clock_.now()));
}

TEST(LanesTest, LooksForCellsAreBounded) {
  LanesStand stand("");
  const auto made = stand.lanes_->make(LanesStand::sender(), kLaneBytesMin, stand.clock_.now());
  ASSERT_TRUE(made);
  const LaneFile& file = *made.value().file;
  CellPlaces places;
  CellSums sums;
  LookBudget none{0};
  file.add_up({}, places, sums, none);
  LookBudget one{1};
  file.add_up({}, places, sums, one);
  EXPECT_EQ(one.left, 0u);
  LookBudget two{2};
  file.add_up({}, places, sums, two);  // nothing has changed
  EXPECT_EQ(two.left, 2u);
}

// No read came before the feeder ended.
TEST(LanesTest, TheLastLookFindsAllThreads) {
  constexpr std::uint32_t kOtherIndexAt = kLaneHeapAt + 1024;
  constexpr std::uint32_t kOtherCellAt = kLaneHeapAt + 2048;
  LanesStand stand("");
  stand.make_lane();
  CellWriter(stand.begin_cell()).add(3, 7);
  auto& cell = *reinterpret_cast<LaneCell*>(stand.memory_ + kOtherCellAt);
  CellWriter(cell).begin(stand.number_, kIdOfS, stand.era(),
                         {.kind = CellKind::kIncrements, .range_max = 9});
  CellWriter(cell).add(3, 5);
  auto* const index = reinterpret_cast<std::atomic<std::uint32_t>*>(stand.memory_ + kOtherIndexAt);
  index[kIdOfS] = kOtherCellAt;
  auto& entry = reinterpret_cast<LaneEntry*>(stand.memory_ + kLaneEntriesAt)[1];
  entry.thread = 2;
  entry.index = std::uint64_t{64} << 32 | kOtherIndexAt;
  stand.end_feeder();
  EXPECT_EQ(stand.read("data"), "s 12\n");
}

// Anything may stand in the file, and change while it is read: no other statistic is touched.
TEST(LanesTest, AHostileFileHarmsItsOwnStatisticOnlyConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  LanesStand stand("type=array base_interval=1 scale=log2 range_min=0 range_max=1000");
  ASSERT_TRUE(stand.execute("create web/t on=1"));
  stand.make_lane();
  std::atomic<bool> ends{false};
  std::thread hostile([&] {
    std::mt19937_64 random(seed);
    while (!ends) {
      stand.begin_cell();
      for (int i = 0; i < 64; ++i) {
        // Header, the first entries, the index and the cell.
        const std::size_t from = random() % 2 == 0 ? kLaneEntriesAt : kLaneHeapAt;
        const std::size_t at = from + random() % 512 / 8 * 8;
        const std::uint64_t word = random() % 2 == 0 ? random() : random() % kLaneBytesMin;
        reinterpret_cast<std::atomic<std::uint64_t>*>(stand.memory_ + at)->store(word);
        reinterpret_cast<LaneHeader*>(stand.memory_)->changes.store(random());
      }
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const std::string text = stand.read("data");
    ASSERT_NE(text.find("t 0\n"), std::string::npos) << text;
    if (i % 100 == 0) stand.define("data=reset");
  }
  ends = true;
  hostile.join();
  stand.lanes_->publish_counts(stand.clock_.now());
  stand.end_feeder();
  EXPECT_NE(stand.read("data").find("t 0\n"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs
