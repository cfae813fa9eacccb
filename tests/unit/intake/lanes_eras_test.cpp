// Threads that count in cells as libtally does, while their statistic is defined anew.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "feeders/client/cell_file.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/thread_cells.h"
#include "lanes_fixture.h"

namespace tallyfs {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kXs = 6;  // from 0 on
constexpr std::uint64_t kCalls = 200;

// A process with web/s in a lane, and threads that add to it until it ends.
class CountingProcess {
 public:
  explicit CountingProcess(LanesFixture& fixture) : fixture_(fixture) {
    const auto made =
        fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
    fixture.lane_ = made.value().number;
    const Fd file(::dup(made.value().file->fd()));
    EXPECT_TRUE(files_.adopt(file, {.number = fixture.lane_, .epoch = 1}));
    EXPECT_TRUE(fixture.bind());
    statistic_.id = kIdOfS;
    statistic_.number = fixture.number_;
    statistic_.shape = &fixture.shapes_[fixture.slot()];
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { count(); });
  }
  ~CountingProcess() { end(); }
  CountingProcess(const CountingProcess&) = delete;
  CountingProcess& operator=(const CountingProcess&) = delete;

  void end() {
    ends_ = true;
    for (std::thread& each : std::exchange(threads_, {})) each.join();
  }

  // X of the calls that count from now on.
  void set_x(std::size_t x) {
    x_ = x;
    // A call that is under way may have the X before.
    for (const auto& each : turns_) {
      const std::uint64_t before = each;
      while (each == before) std::this_thread::yield();
    }
  }
  // Calls with that X that have counted.
  std::uint64_t counted(std::size_t x) const { return counted_[x]; }
  void await(std::size_t x, std::uint64_t more) const {
    const std::uint64_t until = counted(x) + more;
    while (counted(x) < until) std::this_thread::yield();
  }

 private:
  // As Client::count_in_cell() has it. What would go over the socket is not added.
  void count() {
    ThreadCells cells;
    std::atomic<std::uint64_t>& turns = turns_[next_turn_.fetch_add(1)];
    while (!ends_) {
      // There are more threads than CPUs.
      if (turns % 64 == 0) std::this_thread::yield();
      const std::size_t x = x_;
      const std::uint32_t way =
          fixture_.switches_[fixture_.slot()].on.load(std::memory_order_relaxed);
      LaneCell* cell = nullptr;
      if (FedStatistic::is_cell(way)) cell = cells.find(statistic_, files_);
      if (FedStatistic::is_cell(way) && !cell) cell = cells.prepare(statistic_, files_);
      if (cell) {
        CellWriter(*cell).add(static_cast<std::int64_t>(x), 1);
        counted_[x].fetch_add(1);
      }
      turns.fetch_add(1);
    }
  }

  LanesFixture& fixture_;
  CellFiles files_;
  FedStatistic statistic_;
  std::atomic<bool> ends_{false};
  std::atomic<std::size_t> x_{0};
  std::array<std::atomic<std::uint64_t>, kXs> counted_{};
  std::atomic<std::size_t> next_turn_{0};
  std::array<std::atomic<std::uint64_t>, kThreads> turns_{};
  std::vector<std::thread> threads_;
};

// Of `s <=X N`.
std::array<std::uint64_t, kXs> counts_in(const std::string& data) {
  std::array<std::uint64_t, kXs> counts{};
  for (std::size_t x = 0; x < counts.size(); ++x) {
    const std::string line = "s <=" + std::to_string(x) + " ";
    const std::size_t at = data.find(line);
    EXPECT_NE(at, std::string::npos) << data;
    if (at != std::string::npos) counts[x] = std::stoull(data.substr(at + line.size()));
  }
  return counts;
}

TEST(LanesErasTest, AResetHasWhatWasAddedBehindItOnceConcurrently) {
  LanesFixture fixture("type=array base_interval=1 scale=lin range_min=0 range_max=5");
  CountingProcess process(fixture);
  for (std::size_t round = 0; round < 40; ++round) {
    const std::size_t before = 3 * round % kXs;
    const std::size_t during = before + 1;
    const std::size_t behind = before + 2;
    const std::uint64_t counted_during = process.counted(during);
    const std::uint64_t counted_behind = process.counted(behind);
    process.await(before, kCalls);
    process.set_x(during);
    fixture.define("data=reset");
    process.set_x(behind);
    process.await(behind, kCalls);
    process.set_x((before + 3) % kXs);
    const auto counts = counts_in(fixture.read("data"));
    ASSERT_EQ(counts[before], 0u) << "round " << round;
    ASSERT_LE(counts[during], process.counted(during) - counted_during) << "round " << round;
    ASSERT_EQ(counts[behind], process.counted(behind) - counted_behind) << "round " << round;
  }
}

TEST(LanesErasTest, ARangeThatKeepsTheDataCountsEachOnceConcurrently) {
  constexpr std::uint64_t kDefinitions = 100;
  LanesFixture fixture("");
  CountingProcess process(fixture);
  for (std::uint64_t i = 0; i < kDefinitions; ++i) {
    process.await(0, kCalls);
    fixture.define(i % 2 == 0 ? "range_max=10" : "range_max=11");
  }
  process.end();
  const std::uint64_t added = process.counted(0);
  const std::string data = fixture.read("data");
  ASSERT_TRUE(data.starts_with("s ")) << data;
  const std::uint64_t shown = std::stoull(data.substr(2));
  EXPECT_LE(shown, added);
  // During a definition a call of each thread may count nowhere.
  EXPECT_GE(shown + kThreads * kDefinitions, added);
}

}  // namespace
}  // namespace tallyfs
