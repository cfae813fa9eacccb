#include "feeders/statsd/series/series_definition.h"

#include <array>
#include <string>

namespace tallyfs::statsd {
namespace {

// The unit of X and its decimal places.
struct Shown {
  std::string units;
  unsigned decimals = 0;
};

// Milliseconds with so many decimals have a word of their own, most often.
Shown of_timer(unsigned scale) {
  constexpr std::array<const char*, 3> kTimes{"milliseconds", "microseconds", "nanoseconds"};
  const bool has_word = scale % 3 == 0 && scale / 3 < kTimes.size();
  return {std::string(kTimes[has_word ? scale / 3 : 0]) + "/timings", has_word ? 0 : scale};
}

Shown shown_of(Kind kind, unsigned scale) {
  switch (kind) {
    case Kind::kCounter:
      return {scale == 0 ? "" : "counts", scale};
    case Kind::kGauge:
      return {scale == 0 ? "units/updates" : "updates", scale};
    case Kind::kTimer:
      return of_timer(scale);
    case Kind::kHistogram:
      return {scale == 0 ? "units/samples" : "samples", scale};
    case Kind::kSet:
      break;
  }
  return {"values/windows", 0};
}

tally::Type type_of(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return tally::Value{.mode = tally::Mode::kProducts};
    case Kind::kTimer:
      return tally::Quantiles{.range = {.min = 0}, .precision = 4};
    case Kind::kHistogram:
      return tally::Quantiles{.precision = 4};
    case Kind::kGauge:
    case Kind::kSet:
      break;
  }
  return tally::Last{};
}

}  // namespace

unsigned scale_of(Kind kind, const MapRule* rule) {
  if (kind == Kind::kSet) return 0;
  if (rule && rule->scale) return *rule->scale;
  switch (kind) {
    case Kind::kCounter:
    case Kind::kSet:
      return 0;
    case Kind::kGauge:
    case Kind::kTimer:
      return 3;
    case Kind::kHistogram:
      break;
  }
  return 6;
}

tally::Definition definition_of(Kind kind, const MapRule* rule) {
  const unsigned scale = scale_of(kind, rule);
  const Shown shown = rule && rule->units ? Shown{*rule->units, scale} : shown_of(kind, scale);
  tally::Definition definition{.units = shown.units,
                               .type = type_of(kind),
                               .begin = tally::Begin::kOn,
                               .decimals = shown.decimals};
  if (rule && rule->type) definition.type = *rule->type;
  return definition;
}

tally::Definition definition_of_check() {
  return {.units = "status/checks", .type = tally::Last{}, .begin = tally::Begin::kOn};
}

}  // namespace tallyfs::statsd
