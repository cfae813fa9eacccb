// The units and decimals of the samples of a name. Sums of samples of two scales would have no
// meaning. Plain values, without threads.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tallyfs::logs {

struct SampleScale {
  unsigned decimals = 0;
  std::string units{};
};

// Indexed by names INTERFACE/STATISTIC as rules write them, without labels.
using NameScales = std::map<std::string, SampleScale>;

// The parts of the scale that `other` has differently: "decimals=3", "units=milliseconds/requests",
// "no units", or both. Empty: samples of the two can be added.
std::string difference(const SampleScale& scale, const SampleScale& other);

}  // namespace tallyfs::logs
