// A lane file (core/lane/FORMAT.md) that a hostile feeder fills with anything, while the daemon
// reads, takes from rings, defines and saves: nothing breaks, no other statistic is touched, and
// what is saved loads.
//
// The input is steps: a byte that says which, and what the step takes from the bytes behind it.
// Honest cells are written apart and copied in, so that the feeder itself stays whole.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/lane/cell_writer.h"
#include "core/lane/layout.h"
#include "core/wire/line.h"
#include "feeders/intake/lanes.h"
#include "program/log.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/intake/mapped_lane.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs::fuzz {
namespace {

constexpr uid_t kOwner = 500;
constexpr uid_t kFeederUid = 1000;
constexpr pid_t kFeederPid = 7;
constexpr std::size_t kTextBytes = 64u << 20;
constexpr std::size_t kStepsMax = 256;

constexpr std::array kDefinitions = {
    "type=value mode=increments",
    "type=value mode=products range_min=-9 range_max=9",
    "type=range",
    "type=range range_max=99",
    "type=array scale=lin base_interval=3 range_min=0 range_max=60",
    "type=array scale=log2 base_interval=1 range_min=-4 range_max=1000",
    "type=list entries_max=4",
    "data=reset",
    "on=0",
    "on=1",
    "type=raw entries_max=4",
    "type=last",
    "type=history mode=range entries_max=3 period=1000000",
};
constexpr std::size_t kStatistics = 5;
constexpr std::uint32_t kIdsAt = kLaneHeapAt;
constexpr std::uint32_t kIds = 64;
constexpr std::uint32_t kCellsAt = kLaneHeapAt + 256;
constexpr std::uint32_t kCellRoom = 1024;
constexpr std::uint32_t kRingAt = kLaneHeapAt + kRingBytesMin;

// As the input says: also one that cannot be trusted, so that cycles mean nothing.
class AnyCounter final : public CounterTimes {
 public:
  CounterLine line() override { return now; }
  void check() override {}

  CounterLine now{.cycles = 1000, .ns = 5'000'000'000, .rate = std::int64_t{1} << 31};
};

struct alignas(64) CellRoom {
  std::array<std::byte, kCellRoom> bytes;
};

class Fixture {
 public:
  Fixture() {
    BranchDependencies dependencies;
    dependencies.switches = {.switches = switches_};
    dependencies.shapes = shapes_;
    dependencies.processes = &processes_;
    statistics_.emplace(tree_, ledger_, kOwner, clock_.now(), std::move(dependencies));
    lanes_.emplace(
        Lanes::Dependencies{*statistics_, ledger_, processes_, errors_, clock_, &counter_}, kOwner);
    for (std::size_t i = 0; i < kStatistics; ++i) {
      numbers_[i] =
          execute("create web/" + name_of(i) + " on=1 " + kDefinitions[i == 0 ? 0 : i + 1]);
    }
    (void)execute("create web/near on=1");
    (void)execute("create far/t on=1 type=range");
    far_ = text("far", "data");
    make_lane();
  }
  ~Fixture() { forget_memory(); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void step(Input& input) {
    const std::size_t i = input.byte() % kStatistics;
    switch (input.byte() % 15) {
      case 0:
        return count_honestly(i, input);
      case 1:
        return poke(kLaneEntriesAt, 8, input);
      case 2:
        return poke(kIdsAt, kIds / 2, input);
      case 3:
        return poke(kCellsAt + static_cast<std::uint32_t>(i) * kCellRoom, 64, input);
      case 4:
        return poke(0, kLaneBytesMin / 8, input);
      case 5:
        return (void)text("web", input.byte() % 2 == 0 ? "data" : "data.json");
      case 6:
        return define(i, kDefinitions[input.byte() % kDefinitions.size()]);
      case 7:
        return read_while_it_is_written(input);
      case 8:
        clock_.advance(std::chrono::seconds(1));
        return lanes_->publish_counts(clock_.now(), claims_);
      case 9:
        end_feeder();
        return make_lane();
      case 10:
        return put_honestly(i, input);
      case 11:
        return poke(kRingAt, 64, input);
      case 12:
        return take_from_rings(input.byte() % 2 == 0 ? std::chrono::hours(1)
                                                     : std::chrono::hours(0));
      case 13:
        return take_while_it_is_written(input);
      case 14:
        counter_.now = {.cycles = input.number(8),
                        .ns = clock_.now().monotonic.count(),
                        .rate = static_cast<std::int64_t>(input.number(1)) << 28};
        return;
    }
  }
  void check_end() {
    must(text("far", "data") == far_, "another interface is as it was");
    must(text("web", "data").find("near 0\n") != std::string::npos, "so is another statistic");
    statistics_->end_cells(clock_.now());
    take_from_rings(std::chrono::hours(1));
    const std::string data = text("web", "data");
    end_feeder();
    must(text("web", "data") == data, "what was ended does not change");
    check_saved();
    must(statistics_->remove_interface("web", clock_.now()).has_value(), "it can be removed");
    must(statistics_->remove_interface("far", clock_.now()).has_value(), "it can be removed");
    must(ledger_.total().interfaces == 1, "the own interface is left");
  }

 private:
  static std::string name_of(std::size_t i) { return {static_cast<char>('a' + i)}; }

  std::uint64_t execute(const std::string& line) {
    const auto parsed = wire::parse_line(line);
    const auto done =
        statistics_->execute(std::get<wire::CommandLine>(parsed.value()), sender(), clock_.now());
    must(done.has_value(), "the command is carried out");
    return done.value().number;
  }
  static Sender sender() { return {kFeederUid, kFeederPid}; }
  void define(std::size_t i, const std::string& text) {
    (void)execute("define web name=" + name_of(i) + ' ' + text);
  }
  std::string text(const char* interface, const char* file) {
    const auto branch = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto directory = tree_.lookup(branch.id, interface).value();
    const auto node = tree_.lookup(directory.id, file).value();
    return tree_.file(node.id).value()->render(clock_.now(), kTextBytes).value();
  }

  // ---- the feeder

  void make_lane() {
    const auto made = lanes_->make(sender(), kLaneBytesMin, clock_.now());
    must(made.has_value(), "there is room for a lane");
    void* const mapped = map_lane(made.value().file->fd(), kLaneBytesMin);
    must(mapped != MAP_FAILED, "memory");
    memory_ = static_cast<std::byte*>(mapped);
    head_ = 0;
    must(lanes_->tails(sender(), made.value().number).has_value(), "there are tails");
    for (std::size_t i = 0; i < kStatistics; ++i) {
      const wire::Binding binding{.sequence = 1,
                                  .id = static_cast<std::uint32_t>(i),
                                  .lane = made.value().number,
                                  .number = numbers_[i]};
      must(lanes_->bind(sender(), binding).has_value(), "it can be bound");
    }
  }
  void end_feeder() {
    processes_.watched.clear();
    while (!lanes_->process_ended(kFeederPid, clock_.now(), clock_.now().monotonic)) {
    }
    forget_memory();
  }
  void forget_memory() {
    if (memory_) ::munmap(memory_, kLaneBytesMin);
    memory_ = nullptr;
  }
  std::atomic<std::uint64_t>& word(std::size_t at) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + at);
  }
  void note_change() { reinterpret_cast<LaneHeader*>(memory_)->changes.fetch_add(1); }

  // A cell as libtally would have it after some samples.
  void count_honestly(std::size_t i, Input& input) {
    const Shape& shape = shapes_[static_cast<std::uint32_t>(numbers_[i])];
    const CellForm form{.kind = static_cast<CellKind>(shape.kind.load()),
                        .intervals = shape.intervals,
                        .range_min = shape.range_min,
                        .range_max = shape.range_max,
                        .base_interval = shape.base_interval};
    must(cell_bytes(form.intervals) <= kCellRoom, "a cell has room");
    CellRoom room{};
    auto& cell = *reinterpret_cast<LaneCell*>(room.bytes.data());
    CellWriter(cell).begin(numbers_[i], static_cast<std::uint32_t>(i), shape.era, form);
    for (unsigned left = input.byte() % 8; left != 0; --left) {
      CellWriter(cell).add(static_cast<std::int64_t>(input.number(2)) - 64, input.number(1));
    }
    const std::uint32_t at = kCellsAt + static_cast<std::uint32_t>(i) * kCellRoom;
    for (std::size_t k = 0; k < kCellRoom; k += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, room.bytes.data() + k, sizeof value);
      word(at + k) = value;
    }
    reinterpret_cast<std::atomic<std::uint32_t>*>(memory_ + kIdsAt)[i] = at;
    auto& entry = *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt);
    entry.thread = 1;
    entry.index = std::uint64_t{kIds} << 32 | kIdsAt;
    note_change();
  }
  // Records as libtally would have put them, wherever the head is now.
  void put_honestly(std::size_t i, Input& input) {
    for (unsigned left = 1 + input.byte() % 8; left != 0; --left) {
      constexpr std::array kFollows = {0u, kRecordY | kRecordNs, kRecordY | kRecordCycles};
      const std::uint32_t follows = kFollows[input.byte() % kFollows.size()];
      const std::uint32_t words = follows == 0 ? 2 : 4;
      put_word(record_head(static_cast<std::uint32_t>(i), words, follows));
      put_word(input.number(2));
      if (follows == 0) continue;
      put_word(input.number(1));
      put_word(input.number(8));
    }
    auto& entry = *reinterpret_cast<LaneEntry*>(memory_ + kLaneEntriesAt);
    entry.thread = 1;
    entry.ring = std::uint64_t{kRingBytesMin} << 32 | kRingAt;
    entry.head = head_;
    note_change();
  }
  void put_word(std::uint64_t value) { word(kRingAt + head_++ * 8 % kRingBytesMin) = value; }
  void take_from_rings(std::chrono::nanoseconds at_most) {
    lanes_->note_heads();
    (void)lanes_->take(clock_.now().monotonic + at_most);
  }
  void take_while_it_is_written(Input& input) {
    const std::uint64_t value = input.number(8);
    std::atomic<bool> ends{false};
    std::thread writer([&] {
      for (std::size_t k = 0; !ends; ++k) {
        word(k % 5 == 0 ? kLaneEntriesAt + k % 8 * 8 : kRingAt + k * 8 % 512) = value * k;
        note_change();
      }
    });
    for (int k = 0; k < 4; ++k) take_from_rings(std::chrono::hours(1));
    ends = true;
    writer.join();
  }
  // One word of some that begin there.
  void poke(std::uint32_t from, std::uint64_t words, Input& input) {
    const std::uint64_t at = from + input.number(words > 256 ? 3 : 1) % words * 8;
    const unsigned how = input.byte();
    if (how & 8) {
      word(at) ^= std::uint64_t{1} << (how >> 4 & 15);
    } else {
      word(at) = input.number(how & 7) << (how >> 4 & 3) * 8;
    }
    note_change();
  }
  // A second thread writes what follows in the input all over the entries, indexes and cells.
  void read_while_it_is_written(Input& input) {
    std::vector<std::uint64_t> words;
    for (unsigned left = 1 + input.byte() % 16; left != 0; --left) words.push_back(input.number(8));
    std::atomic<bool> ends{false};
    std::thread writer([&] {
      for (std::size_t i = 0; !ends; ++i) {
        const std::size_t at = (i * 8 * (1 + i % 7)) % (kStatistics * kCellRoom + 320);
        word(i % 5 == 0 ? kLaneEntriesAt + at % 128 : kIdsAt + at) = words[i % words.size()];
        note_change();
      }
    });
    for (int i = 0; i < 4; ++i) (void)text("web", "data");
    ends = true;
    writer.join();
  }

  // ---- promises

  void check_saved() {
    const SavedObjects saved(*statistics_);
    FakeClock clock{std::chrono::seconds(10)};
    Tree tree{clock.now()};
    Ledger ledger{Ledger::Limits{}};
    statistics::StatisticsBranch other(tree, ledger, kOwner, clock.now());
    must(saved.load_into(other, {.now = clock.now()}).has_value(), "what is saved loads");
    must(SavedObjects(other) == saved, "and saves as it was");
  }

  FakeClock clock_{std::chrono::seconds(10)};
  std::vector<Shape> shapes_ = std::vector<Shape>(64);
  std::vector<Switch> switches_ = std::vector<Switch>(64);
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  FakeProcesses processes_;
  DropClaims claims_;
  AnyCounter counter_;
  ErrorLog errors_{clock_.now()};
  std::optional<statistics::StatisticsBranch> statistics_;
  std::optional<Lanes> lanes_;
  std::array<std::uint64_t, kStatistics> numbers_{};
  std::string far_;
  std::byte* memory_ = nullptr;
  std::uint64_t head_ = 0;  // of the honest ring
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tallyfs::set_log_level("off");  // of faults
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::fuzz;
  Input input(bytes, size);
  Fixture fixture;
  for (std::size_t steps = 0; !input.empty() && steps < kStepsMax; ++steps) fixture.step(input);
  fixture.check_end();
  return 0;
}
