#include "feeders/statsd/series/series_definition.h"

#include <array>
#include <string>

namespace tallyfs::statsd {
namespace {

// What X counts, by its decimals: 0, 3 and 6. The file of --map names the unit of others.
constexpr std::array<const char*, 3> kParts{"units", "thousandths", "millionths"};
constexpr std::array<const char*, 3> kTimes{"milliseconds", "microseconds", "nanoseconds"};

std::string units_of(Kind kind, unsigned scale) {
  const auto& parts = kind == Kind::kTimer ? kTimes : kParts;
  const std::string part = parts[scale / 3];
  switch (kind) {
    case Kind::kCounter:
      return scale == 0 ? "" : part + "/counts";
    case Kind::kGauge:
      return part + "/updates";
    case Kind::kTimer:
      return part + "/timings";
    case Kind::kHistogram:
      return part + "/samples";
    case Kind::kSet:
      return "values/windows";
  }
  return "";
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
  tally::Definition definition{.type = type_of(kind), .begin = tally::Begin::kOn};
  definition.units = rule && rule->units ? *rule->units : units_of(kind, scale_of(kind, rule));
  if (rule && rule->type) definition.type = *rule->type;
  return definition;
}

tally::Definition definition_of_check() {
  return {.units = "status/checks", .type = tally::Last{}, .begin = tally::Begin::kOn};
}

}  // namespace tallyfs::statsd
