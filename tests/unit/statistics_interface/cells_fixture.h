// An interface whose statistics feeders count in cells of lane files that a test plays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/statistics/interface/interface.h"
#include "fixture.h"

namespace tallyfs::statistics {

inline constexpr uid_t kDaemon = 77;
inline constexpr uid_t kStranger = kUid + 1;

// Increments of one cell, as many as samples.
class FakeSource final : public CellSource {
 public:
  explicit FakeSource(uid_t uid, std::shared_ptr<CellCredit> credit = nullptr)
      : uid_(uid), credit_(std::move(credit)) {
    static std::uint64_t last = 0;
    lane_ = ++last;
  }

  uid_t uid() const override { return uid_; }
  std::uint64_t lane() const override { return lane_; }
  bool is_trusted() const override { return uid_ == 0 || uid_ == kDaemon; }
  std::shared_ptr<CellCredit> credit() const override { return credit_; }
  CellsRead add_up(const CellKey& key, CellPlaces&, CellsPart& part, CellSums& sums,
                   CellBudget& budget, const CellParty& party) const override {
    ++reads;
    if (clock) clock->advance(time);
    if (looks != 0) budget.charge_looks(party, looks);
    const std::size_t some = std::min(cells - part.next, cells_at_once);
    const bool is_first = part.next == 0;
    part.next += some;
    if (is_first && key.era == era) {
      sums.samples += total;
      sums.number += total;
      total += grows_by;
    }
    return {.cells = some, .all = part.next == cells};
  }
  void prefetch(const CellKey&, const CellPlaces&, const CellBudget&) const override {}
  void note_not_read() const override { ++not_read; }

  // Samples are added in the era that the shape shows.
  void add(const Shape& shape, std::uint64_t count) {
    if (std::exchange(era, shape.era.load()) != shape.era.load()) total = 0;
    total += count;
  }

  mutable std::uint64_t total = 0;
  std::uint32_t era = 0;
  std::size_t cells = 1;
  std::size_t cells_at_once = SIZE_MAX;
  std::size_t looks = 0;
  FakeClock* clock = nullptr;  // nullptr: a look takes no time
  std::chrono::nanoseconds time{0};
  std::uint64_t grows_by = 0;  // with each read, as beside a feeder that goes on
  mutable std::size_t reads = 0;
  mutable std::size_t not_read = 0;

 private:
  const uid_t uid_;
  const std::shared_ptr<CellCredit> credit_;
  std::uint64_t lane_ = 0;
};

struct CellsFixture {
  explicit CellsFixture(std::size_t statistics = 1) : shapes(statistics), switches(statistics) {
    for (std::size_t i = 0; i < statistics; ++i) {
      Statistic* const made = fixture.create(numbered(i), "on=1");
      fixture.interface->publish_at(made, published(i));
    }
  }
  Published published(std::size_t i) { return {&switches[i], &shapes[i], i + 1}; }
  Statistic* statistic(std::size_t i) { return fixture.interface->find(numbered(i)); }

  std::shared_ptr<FakeSource> bind(uid_t uid, std::size_t i = 0, std::uint32_t id = 0) {
    auto source = std::make_shared<FakeSource>(uid);
    bind(source, i, id);
    return source;
  }
  void bind(const std::shared_ptr<FakeSource>& source, std::size_t i, std::uint32_t id) {
    source->era = shapes[i].era;
    ASSERT_TRUE(fixture.interface->bind_cells(statistic(i), source, id));
  }
  void end(const std::shared_ptr<FakeSource>& source, std::size_t i = 0) {
    EXPECT_TRUE(end(
        source, [] { return false; }, i));
  }
  bool end(const std::shared_ptr<FakeSource>& source, const IsLate& is_late, std::size_t i = 0) {
    return fixture.interface->absorb_cells(statistic(i), source.get(), fixture.clock.now(),
                                           is_late);
  }
  // Another server goes on with the same files.
  void hand_over(CellBudget some, const std::vector<std::shared_ptr<FakeSource>>& sources) {
    std::string bytes;
    ByteWriter out(bytes);
    fixture.interface->save_for_successor(out, fixture.clock.now(), some);
    resume(bytes, sources);
  }
  // The same after a kill, with what was saved some time before.
  std::string save(CellBudget some) {
    std::string bytes;
    ByteWriter out(bytes);
    fixture.interface->save_for_successor(out, some);
    return bytes;
  }
  void resume(const std::string& bytes, const std::vector<std::shared_ptr<FakeSource>>& sources) {
    ByteReader in(bytes);
    auto next = Interface::load_transferred(in, fixture.ledger);
    ASSERT_TRUE(next);
    fixture.interface = std::move(next.value());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      fixture.interface->resume_at(statistic(i), published(i));
    }
    for (const auto& each : sources) {
      ASSERT_TRUE(fixture.interface->bind_cells(statistic(0), each, 0));
    }
  }
  std::uint64_t samples() { return samples(budget); }
  std::uint64_t samples(CellBudget some) {
    return fixture.interface->overview(fixture.clock.now(), some).samples;
  }
  // Without a look at the cells.
  std::uint64_t data(std::size_t i = 0) {
    const auto text =
        fixture.interface->render_data(fixture.clock.now(), kAnyLength, Interface::Look::kDone);
    const std::string head = "\n" + numbered(i) + " ";
    const std::string lines = "\n" + text.value();
    return std::stoull(lines.substr(lines.find(head) + head.size()));
  }

  Fixture fixture;
  std::vector<Shape> shapes;
  std::vector<Switch> switches;
  CellBudget budget{CellBudget::Of::kAll};
};

inline CellBudget cells_for(CellBudget::Of of, std::size_t trusted, std::size_t others) {
  return {of, {trusted, others}, {SIZE_MAX, SIZE_MAX}};
}

}  // namespace tallyfs::statistics
