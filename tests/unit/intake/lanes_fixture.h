// The daemon's side of lanes on a test stand, with a feeder that the test plays.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lane/cell_writer.h"
#include "feeders/intake/lanes.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/mapped_lane.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {

inline constexpr uid_t kLaneOwner = 77;
inline constexpr pid_t kFeeder = 4711;
inline constexpr std::uint32_t kIdOfS = 5;

// A daemon's side with one statistic, web/s, and a feeder that maps its lane as libtally does.
class LanesFixture {
 public:
  explicit LanesFixture(const std::string& text, CounterTimes* counter = nullptr)
      : counter_(counter), shapes_(64), switches_(64), errors_(clock_.now()) {
    start();
    number_ = execute("create web/s on=1 " + text).value().number;
  }
  void start() {
    BranchDependencies dependencies;
    dependencies.switches = {.switches = switches_};
    dependencies.shapes = shapes_;
    statistics_.emplace(tree_, *ledger_, kLaneOwner, clock_.now(), std::move(dependencies));
    lanes_.emplace(
        Lanes::Dependencies{*statistics_, *ledger_, processes_, errors_, clock_, counter_},
        kLaneOwner);
  }
  // Another server goes on.
  void hand_over(const Ledger::Limits& limits = {}) {
    SavedObjects objects;
    HeldDescriptors held;
    TransferredFds sent(&held);
    statistics_->save_for_successor(objects, clock_.now());
    lanes_->save_for_successor(objects, sent);
    TransferredFds descriptors(nullptr, held.received());
    lanes_.reset();
    statistics_.reset();
    EXPECT_EQ(ledger_->total().bytes, 0u);
    ledger_.emplace(limits);
    start();
    const Loading loading{.now = clock_.now(), .has_pages = true};
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const SavedObject each = objects.at(i);
      const auto loaded = (kind_bit(each.kind) & lanes_->objects()) != 0
                              ? lanes_->load(each, loading, descriptors)
                              : statistics_->load(each, loading);
      EXPECT_TRUE(loaded) << each.label << ": " << loaded.error().reason;
    }
    EXPECT_TRUE(statistics_->end_loading(loading));
  }
  ~LanesFixture() {
    if (memory_) ::munmap(memory_, kLaneBytesMin);
  }
  LanesFixture(const LanesFixture&) = delete;
  LanesFixture& operator=(const LanesFixture&) = delete;

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
    void* const mapped = map_lane(made.value().file->fd(), kLaneBytesMin);
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
  // All of the daemon's own numbers.
  std::string read_own() {
    const auto own = tree_.lookup(tree_.lookup(Tree::kRoot, "statistics").value().id, "tallyfs");
    const auto file = tree_.lookup(own.value().id, "data");
    return "\n" + tree_.file(file.value().id).value()->render(clock_.now(), 1 << 20).value();
  }
  // One of them.
  std::uint64_t own(const std::string& name) {
    lanes_->publish_counts(clock_.now(), claims_);
    const std::string all = read_own();
    const auto line = all.find("\n" + name + " ");
    if (line == std::string::npos) return 0;
    const std::string said = all.substr(line + 1, all.find('\n', line + 1) - line - 1);
    return std::stoull(said.substr(said.rfind(' ') + 1));
  }
  std::string read_errors() { return errors_.render(clock_.now(), 1 << 20).value(); }
  bool has_error(const std::string& reason) {
    return read_errors().find(reason + "\n") != std::string::npos;
  }
  void define(const std::string& line) { ASSERT_TRUE(execute("define web name=s " + line)); }
  void end_feeder() {
    EXPECT_TRUE(lanes_->process_ended(kFeeder, clock_.now(), std::chrono::hours(1)));
  }

  FakeClock clock_;
  CounterTimes* const counter_;
  std::vector<Shape> shapes_;
  std::vector<Switch> switches_;
  Tree tree_{clock_.now()};
  std::optional<Ledger> ledger_{Ledger::Limits{}};
  FakeProcesses processes_;
  ErrorLog errors_;
  DropClaims claims_;
  std::optional<statistics::StatisticsBranch> statistics_;
  std::optional<Lanes> lanes_;
  std::uint64_t number_ = 0;
  std::uint64_t lane_ = 0;
  char* memory_ = nullptr;
};

// All cells of one id, a part after the other. Returns how many they were.
inline std::size_t add_up_all(const CellSource& file, const CellKey& key, CellPlaces& places,
                              CellSums& sums, CellBudget& budget, const CellParty& party) {
  CellsPart part;
  std::size_t cells = 0;
  for (bool all = false; !all;) {
    const CellsRead read = file.add_up(key, places, part, sums, budget, party);
    cells += read.cells;
    all = read.all;
  }
  return cells;
}

}  // namespace tallyfs
