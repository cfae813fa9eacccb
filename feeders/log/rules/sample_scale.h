// What the samples of a name are in: those of two scales in one statistic would add up to nothing
// that has a meaning. Plain values, without threads.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tallyfs::logs {

struct SampleScale {
  unsigned decimals = 0;
  std::string units{};
};

// By names INTERFACE/STATISTIC as rules write them, without labels.
using NameScales = std::map<std::string, SampleScale>;

// What of the scale other samples have otherwise: "decimals=3", "units=milliseconds/requests", "no
// units", or both. Empty: they add up.
std::string difference(const SampleScale& scale, const SampleScale& other);

}  // namespace tallyfs::logs
