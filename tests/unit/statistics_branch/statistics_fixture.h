// The statistics/ branch on a test stand: a tree, a ledger, a clock that the test moves, and short
// words for what arrives on the socket and what is read.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "core/statistics/branch/statistics_branch.h"
#include "core/wire/line.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/saved_objects.h"
#include "tests/unit/senders.h"

namespace tallyfs::statistics {

class StatisticsTest : public testing::Test {
 protected:
  explicit StatisticsTest(BranchDependencies dependencies = {})
      : statistics_(tree_, ledger_, kDaemon, clock_.now(), dependencies) {}

  Result<Done> execute(std::string_view line, const Sender& sender = kAlice) {
    const auto parsed = wire::parse_line(line);
    return statistics_.execute(std::get<wire::CommandLine>(parsed.value()), sender, clock_.now());
  }
  Taken send(std::string_view path, std::int64_t x, std::uint64_t y = 1, uid_t sender = kAlice) {
    NamedSamples samples;
    samples.push(path, {.x = x, .y = y, .time = clock_.now().monotonic});
    return statistics_.add(samples, sender, clock_.now());
  }
  Result<Taken> send(std::uint64_t number, std::int64_t x) {
    alignas(8) std::array<char, 8> record;
    std::memcpy(record.data(), &x, sizeof x);
    return statistics_.add(wire::PackedSamples(number, wire::kXOnly, record), kAlice,
                           clock_.now());
  }
  std::string read(std::string_view interface, std::string_view file) {
    const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto found = tree_.lookup(directory.id, interface);
    if (!found) return "(no interface)";
    const auto node = tree_.lookup(found.value().id, file);
    if (!node) return "(removed meanwhile)";
    const auto opened = tree_.file(node.value().id);
    return opened ? opened.value()->render(clock_.now(), 1 << 20).value() : "(removed meanwhile)";
  }

  FakeClock clock_;
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  StatisticsBranch statistics_;
};

}  // namespace tallyfs::statistics
