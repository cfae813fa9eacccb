// Samples that are counted in cells, and what becomes of them when their daemon ends.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "client_fixture.h"
#include "core/lane/cell_writer.h"
#include "core/model/shape.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kCell = kSwitchOn | kRouteCell;

class ClientCellsTest : public ClientTest {
 protected:
  void start_with_lane(std::uint64_t epoch = FakeDaemon::kEpoch) {
    start_daemon(epoch);
    daemon_->page = std::make_unique<SwitchPage>(4096);
    daemon_->lane = std::make_unique<FakeLane>();
  }
  // web/s, whose samples go into cells from now on, of which there has been one.
  FedStatistic& in_cell(Feeder& feeder, const CellForm& form = {.kind = CellKind::kIncrements,
                                                                .range_min = INT64_MIN,
                                                                .range_max = INT64_MAX}) {
    FedStatistic& made = feeder.started(feeder.interface("web"), "s");
    exchange(feeder);
    const std::uint64_t slot = daemon_->number_of("web/s") & UINT32_MAX;
    Shape& shape = daemon_->lane->shapes.as<Shape>()[slot];
    shape.kind = static_cast<std::uint32_t>(form.kind);
    shape.range_min = form.range_min;
    shape.range_max = form.range_max;
    shape.intervals = form.intervals;
    shape.base_interval = form.base_interval;
    shape.era = 1;
    daemon_->set_route("web/s", kCell);
    for (int i = 0; i < 10 && feeder.buffer->counted() == 0; ++i) {
      feeder.add(made, 0);
      exchange(feeder);
    }
    EXPECT_EQ(feeder.buffer->counted(), 1u);
    return made;
  }
  // Another daemon takes over the socket.
  void replace_daemon(Feeder& feeder) {
    daemon_->epoch += 1;
    daemon_->lane = std::make_unique<FakeLane>();
    daemon_->respond({{.sequence = 0, .error = ESTALE}});
    exchange(feeder);
    exchange(feeder);
  }
  std::ptrdiff_t reports_of(std::string_view text) const {
    return std::ranges::count_if(
        reports_, [&](const auto& each) { return each.find(text) != std::string::npos; });
  }
};

// A handler has ended it between the commit of a sample and the store of its interval's count.
TEST_F(ClientCellsTest, AThreadThatEndsWithinACallLeavesItsArrayWhole) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_cell(feeder, {.kind = CellKind::kArrayLin,
                                     .intervals = 12,
                                     .range_min = 0,
                                     .range_max = 100,
                                     .base_interval = 10});
  feeder.add(s, 5);
  auto* const file = daemon_->lane->file->as<std::byte>();
  const std::uint64_t index = daemon_->lane->entry().index & UINT32_MAX;
  const std::uint32_t cell = reinterpret_cast<std::uint32_t*>(file + index)[s.id];
  auto& count = reinterpret_cast<std::uint64_t*>(file + cell + sizeof(LaneCell))[1];
  EXPECT_EQ(count, 1u);
  count = 0;
  feeder.buffer->enter();
  feeder.client.samples().give_back(*feeder.buffer);
  EXPECT_EQ(count, 1u);
}

TEST_F(ClientCellsTest, WhatCellsHeldOfAKilledDaemonMayBeLost) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_cell(feeder);
  for (int x = 1; x <= 4; ++x) feeder.add(s, x);
  const auto before = feeder.counts();
  EXPECT_EQ(before.lost, 0u);
  EXPECT_EQ(before.confirmed, before.sent);
  feeder.add(s, 5);
  replace_daemon(feeder);
  const auto after = feeder.counts();
  EXPECT_EQ(after.lost, 6u);
  EXPECT_EQ(after.confirmed, before.confirmed - 5);
  EXPECT_EQ(after.added, before.added + 1);
  feeder.client.run_round();
  EXPECT_EQ(reports_of("6 samples may be lost: the daemon that could have counted them"), 1);
  // And no more than once, nor those that go to the next daemon.
  feeder.add(s, 6);
  exchange(feeder);
  EXPECT_EQ(feeder.counts().lost, 6u);
  EXPECT_EQ(daemon_->xs("web/s").back(), 6);
}

// The daemon has read them when the way changed, and nothing has it any more.
TEST_F(ClientCellsTest, WhatCellsHeldThatRingsFollowedIsLostWithAKilledDaemon) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_cell(feeder);
  for (int x = 1; x <= 4; ++x) feeder.add(s, x);
  daemon_->set_route("web/s", kSwitchOn | kRouteRing | kRouteNeedsY);
  replace_daemon(feeder);
  EXPECT_EQ(feeder.counts().lost, 5u);
  feeder.client.run_round();
  EXPECT_EQ(reports_of("5 samples may be lost"), 1);
}

TEST_F(ClientCellsTest, ADaemonThatEndedInOrderHasReadTheCells) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_cell(feeder);
  for (int x = 1; x <= 4; ++x) feeder.add(s, x);
  daemon_->set_route("web/s", kSwitchOn);
  replace_daemon(feeder);
  const auto counts = feeder.counts();
  EXPECT_EQ(counts.lost, 0u);
  EXPECT_EQ(counts.confirmed, counts.added);
  feeder.client.run_round();
  EXPECT_EQ(reports_of("may be lost"), 0);
}

TEST_F(ClientCellsTest, WhatIsInCellsOfADaemonThatIsFoundAgainIsNotLost) {
  start_with_lane();
  Feeder feeder(settings());
  FedStatistic& s = in_cell(feeder);
  for (int x = 1; x <= 4; ++x) feeder.add(s, x);
  const std::unique_ptr<FakeLane> old = std::move(daemon_->lane);
  daemon_->end();
  feeder.client.sync(0ms);
  feeder.client.flush();
  start_with_lane();
  exchange(feeder);
  exchange(feeder);
  EXPECT_EQ(feeder.counts().lost, 0u);
  EXPECT_EQ(reports_of("may be lost"), 0);
}

// A call that a handler has interrupted, which forks, has found its cell.
TEST_F(ClientCellsTest, ACallThatAForkInterruptedGoesOnInBothAndCountsInTheParent) {
  start_with_lane();
  Feeder feeder(settings());
  in_cell(feeder);
  ThreadBuffer& buffer = *feeder.buffer;
  std::byte* const base = buffer.cells().file().base();
  const std::uint64_t index = buffer.cells().entry().index & UINT32_MAX;
  const auto* const places = reinterpret_cast<const std::uint32_t*>(base + index);
  const std::uint32_t* const place = std::find_if(places, places + 64, [](auto at) { return at; });
  auto& cell = *reinterpret_cast<LaneCell*>(base + *place);
  const auto samples = [&] {
    return std::max(cell.slots[0].samples.load(), cell.slots[1].samples.load());
  };
  EXPECT_EQ(samples(), 1u);
  buffer.enter();
  feeder.client.forking().before(&buffer);
  const pid_t child = ::fork();
  if (child == 0) {
    feeder.client.forking().after_in_child(&buffer);
    CellWriter(cell).add(0, 1);
    buffer.count_cell();
    feeder.client.samples().leave(buffer);
    ::_exit(samples() == 2 && feeder.counts().added == 0 ? 0 : 1);
  }
  feeder.client.forking().after_in_parent(&buffer);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(samples(), 1u);
  CellWriter(cell).add(0, 1);
  buffer.leave();
  EXPECT_EQ(samples(), 2u);
}

// The same over the socket.
TEST_F(ClientCellsTest, ACallThatAForkInterruptedIsNotSentByTheChild) {
  start_daemon(FakeDaemon::kEpoch);
  Feeder feeder(settings());
  FedStatistic& s = feeder.started(feeder.interface("web"), "s");
  exchange(feeder);
  feeder.add(s, 1);
  ThreadBuffer& buffer = *feeder.buffer;
  const std::uint64_t held = buffer.held();
  buffer.enter();
  feeder.client.forking().before(&buffer);
  const pid_t child = ::fork();
  if (child == 0) {
    feeder.client.forking().after_in_child(&buffer);
    buffer.append(UnsentSample(s, 2, 1, {}));
    feeder.client.samples().leave(buffer);
    ::_exit(buffer.held() == 0 && feeder.counts().added == 0 ? 0 : 1);
  }
  feeder.client.forking().after_in_parent(&buffer);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  buffer.append(UnsentSample(s, 2, 1, {}));
  buffer.leave();
  EXPECT_EQ(buffer.held(), held + 1);
}

}  // namespace
}  // namespace tallyfs
