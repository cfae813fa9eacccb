// The intake on a test stand, with feeders that have rings.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "feeders/intake/lanes.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/intake/intake_fixture.h"
#include "tests/unit/intake/ring_feeder.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {

// Each look at it takes a while, if it is told so.
class CostlyClock final : public Clock {
 public:
  Timestamp now() const override {
    if (is_slow) passed += each;
    return {.monotonic = passed, .realtime = passed};
  }

  bool is_slow = false;
  std::chrono::nanoseconds each{std::chrono::microseconds(200)};
  mutable std::chrono::nanoseconds passed{0};
};

struct SharedPages {
  BranchDependencies dependencies_of_pages() {
    BranchDependencies all;
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
      : IntakeTest(dependencies_of_pages()),
        intake_with_rings_(loop_with_rings_, socket_, dependencies_with_rings()) {}
  Dispatcher::Dependencies dependencies_with_rings() {
    auto all = dependencies();
    all.lanes = &*lanes_;
    return all;
  }
  static constexpr std::uint64_t kEpoch = 9;
  Dispatcher::Dependencies ports_with_ticks() {
    return {.statistics = statistics_,
            .branches = branches_,
            .errors = errors_,
            .clock = ticks_,
            .lanes = &*lanes_,
            .epoch = kEpoch};
  }
  Lanes::Dependencies lane_ports() { return {statistics_, ledger_, processes_, errors_, ticks_}; }
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
    while (!dispatcher.resume({std::chrono::nanoseconds::max()})) {
    }
  }
  static std::array<char, wire::kDoorbellBytes> bell(std::uint64_t epoch, std::uint64_t lane) {
    std::array<char, wire::kDoorbellBytes> bytes;
    wire::write_doorbell(epoch, lane, bytes);
    return bytes;
  }

  static Sender other() { return {::geteuid(), kOther}; }
  // The sender is beyond its share: the server before has put a datagram of its off.
  void hold(Intake& intake, EventLoop& loop, const Sender& sender) {
    std::string bytes;
    ByteWriter out(bytes);
    out.put(std::int32_t{sender.pid});
    out.put(std::uint32_t{sender.uid});
    out.put_text({});  // its address
    for (int flag = 0; flag < 3; ++flag) out.put(std::uint8_t{0});
    out.put_text("web/s 1");
    TransferredFds none;
    const Loading loading{.now = ticks_.now(), .has_pages = true};
    ASSERT_TRUE(intake.load(saved_object(SavedKind::kLateDatagram, 1, "0", bytes), loading, none));
    intake.start();
    loop.context().poll();
  }

  CostlyClock ticks_;
  FakeProcesses processes_;
  std::optional<Lanes> lanes_{std::in_place, lane_ports(), ::geteuid()};
  EventLoop loop_with_rings_;
  Intake intake_with_rings_;
};

}  // namespace tallyfs
