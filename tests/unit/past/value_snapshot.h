// A snapshot of an interface `web` with one value `x`, as the daemon has it in data.json. A pure
// function.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/past/second.h"
#include "tools/display/statistic.h"
#include "tools/tree/json.h"

namespace tallyfs::past {

// The wall clock of the monotonic clock's 0.
inline constexpr std::uint64_t kWall = 1'795'737'600 * kSecondUs;

struct ValueSnapshot {
  std::uint64_t total = 0;
  std::uint64_t samples = 0;
  std::uint64_t data_us = 0;
  std::string units = "hits";
  bool on = true;
};

// tree: has the epoch and the times.
inline Json json_of(const ValueSnapshot& now, const view::Tree& tree) {
  const std::string text =
      R"({"format":1,"interface":"web","epoch":")" + tree.epoch + R"(","serial":1,"time_us":)" +
      std::to_string(tree.time_us) + R"(,"realtime_us":)" + std::to_string(tree.realtime_us) +
      R"(,"statistics":[{"name":"x","on":)" + (now.on ? "1" : "0") +
      R"(,"type":"value","units":")" + now.units + R"(","data_us":)" +
      std::to_string(now.data_us) + R"(,"samples":)" + std::to_string(now.samples) +
      R"(,"values":{"total":)" + std::to_string(now.total) + "}}]}";
  return parse_json(text).value();
}

}  // namespace tallyfs::past
