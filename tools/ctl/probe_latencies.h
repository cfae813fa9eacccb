// Latencies of functions as a histogram with `keys=f[,X],lat.log2=6` has them: sums, and the
// percentiles of each function. Values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/tree/json.h"

namespace tallyfs {

inline constexpr const char* kLatencyGroups = "lat.log2=6";

class ProbeLatencies {
 public:
  // The number of the function, and the value of X.
  using Key = std::pair<std::uint64_t, std::string>;

  // Times in nanoseconds, with a counted share of each octave.
  struct Group {
    std::uint64_t count = 0, sum = 0, max = 0;
  };
  struct Row {
    std::uint64_t count = 0, sum = 0;
    std::map<std::uint64_t, Group> groups = {};  // by their smallest values

    // The middle of its group: less than 1 % from the true one, and never beyond the maximum.
    std::uint64_t percentile(double share) const;
    std::uint64_t max() const { return groups.empty() ? 0 : groups.rbegin()->second.max; }
  };

  // by: the name of X, or empty.
  static ProbeLatencies read(const Json& histogram, const std::string& by);
  // What came after the other reading.
  ProbeLatencies since(const ProbeLatencies& before) const;

  const std::map<Key, Row>& rows() const { return rows_; }
  std::uint64_t count() const;
  // When it was read, in microseconds.
  std::uint64_t time_us() const { return time_us_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  explicit ProbeLatencies(std::uint64_t time_us) : time_us_(time_us) {}

  std::map<Key, Row> rows_;
  std::uint64_t time_us_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace tallyfs
