// An interface on a test stand: with a ledger, a clock that the test moves, and short words for
// what feeders and readers do.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/statistics/interface/interface.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/random.h"

namespace tallyfs {

inline bool operator==(const Timestamp& a, const Timestamp& b) {
  return a.monotonic == b.monotonic && a.realtime == b.realtime;
}

inline bool operator==(const Holdings& a, const Holdings& b) {
  return a.interfaces == b.interfaces && a.statistics == b.statistics && a.bytes == b.bytes;
}

}  // namespace tallyfs

namespace tallyfs::statistics {

constexpr uid_t kUid = 1000;
constexpr std::size_t kAnyLength = static_cast<std::size_t>(-1);

struct Fixture {
  Fixture() : Fixture(Ledger::Limits{}) {}
  explicit Fixture(const Ledger::Limits& limits)
      : ledger(limits), interface(Interface::create(ledger, kUid, clock.now()).value()) {}
  // With one statistic `s`.
  explicit Fixture(std::string_view text) : Fixture() { create("s", text); }

  Statistic* create(std::string_view name, std::string_view text) {
    return interface->create_statistic(name, text, clock.now()).value();
  }
  // To `s` or another; returns how many counters reached their end.
  std::size_t add(const std::vector<Sample>& samples) { return add(interface->find("s"), samples); }
  std::size_t add(Statistic* statistic, const std::vector<Sample>& samples) {
    const Run run{statistic, samples};
    return interface->add({&run, 1}, clock.now());
  }
  std::size_t add(std::int64_t x, std::uint64_t y = 1) {
    return add({{.x = x, .y = y, .time = clock.now().monotonic}});
  }
  // The reason of a refusal, or nothing.
  std::string define(std::string_view line) {
    const auto done = interface->define(line, clock.now());
    return done ? "" : done.error().reason;
  }
  std::string data() { return interface->render_data(clock.now(), kAnyLength).value(); }
  std::string definition() const { return interface->render_definition(kAnyLength).value(); }
  // The value of a key in the first line of the definition file.
  std::string attribute(const std::string& key) const {
    const std::string text = definition();
    const auto at = text.find(key + "=");
    if (at == std::string::npos) return "no " + key;
    const auto start = at + key.size() + 1;
    return text.substr(start, text.find_first_of(" \n", start) - start);
  }
  Interface::Overview overview() {
    CellBudget budget(CellBudget::Of::kAll);
    return interface->overview(clock.now(), budget);
  }
  Timestamp last_change() { return interface->last_change(clock.now()); }
  std::string saved() const {
    std::string bytes;
    ByteWriter out(bytes);
    CellBudget budget;
    interface->save(out, budget);
    return bytes;
  }

  FakeClock clock;
  Ledger ledger;
  std::unique_ptr<Interface> interface;
};

// s0, s1, ... (not "s" + to_string(n), in which g++ 12 sees an overlap: its bug 105651)
inline std::string numbered(std::size_t n) { return std::string("s").append(std::to_string(n)); }

#define TRACE_SEED(random) SCOPED_TRACE((random).seed())

}  // namespace tallyfs::statistics
