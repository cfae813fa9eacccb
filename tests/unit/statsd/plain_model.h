// The grammar of a metric's line again, slow and plain: texts are split into lists of texts, and
// numbers are texts of digits. What the fast parser is compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tallyfs::statsd {

struct PlainSample {
  std::string type;   // c g t h s
  std::string value;  // a member, or X at the type's scale
  std::uint64_t y = 1;
  bool operator==(const PlainSample&) const = default;
};

struct PlainMetric {
  std::string name;
  std::string tags;
  std::vector<PlainSample> samples;
  bool operator==(const PlainMetric&) const = default;
};

// Nothing: the line is refused. Rates have at most 9 decimals.
std::optional<PlainMetric> plain_parse(const std::string& line);

}  // namespace tallyfs::statsd
