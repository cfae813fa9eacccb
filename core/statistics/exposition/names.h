// Names of metrics: families and labels, made of what a statistic is called and of its units.
//
// A family's name depends on the statistic's name, units and type alone, so that no redefinition of
// one interface disturbs the families of others. Names have only characters that every version of
// every scraper takes; all others become `_`, unless the caller wants UTF-8. Pure functions;
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/statistics/exposition/number.h"
#include "core/statistics/exposition/options.h"

namespace tallyfs::statistics {

struct Label {
  std::string name;
  std::string value;
};

// `latency{route:checkout,k2}~t`: the name without its tags, `latency~t`, and the tags as labels,
// with %XX undone.
struct TaggedName {
  std::string name;
  std::vector<Label> labels;  // by name; values of one key are joined with `;`
};
TaggedName split_tags(std::string_view statistic,
                      NameCharacters characters = NameCharacters::kAscii);

// The text of help=: UTF-8 with the escapes undone, but those of control bytes.
std::string plain_help(std::string_view help);

// Whether a name has ASCII letters, digits and `_` alone, none of the digits first.
bool is_plain_name(std::string_view name);

// Whether it can begin the name of a metric.
bool is_metric_prefix(std::string_view text);

enum class MetricKind { kCounter, kGauge, kHistogram };

// The meaning of a series for its statistic.
enum class Role {
  kTotal,
  kSummed,
  kNet,
  kDistribution,
  kMin,
  kMax,
  kLast,
  kTotalPerPeriod,
  kSumPerPeriod,
  kSamplesOfPeriod,
  kMinOfPeriod,
  kAvgOfPeriod,
  kMaxOfPeriod,
  kQuantileOfPeriod,
};
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::kQuantileOfPeriod) + 1;

// Whether its values are X, or else counts.
constexpr bool is_of_x(Role role) {
  return role != Role::kTotal && role != Role::kTotalPerPeriod && role != Role::kSamplesOfPeriod;
}

struct FamilyName {
  std::string name;
  std::string unit;  // with which the name ends; empty: with none
  MetricKind kind = MetricKind::kGauge;
  UnitScale scale{};  // of its values, where X has no decimals
};

class FamilyNames {
 public:
  // name: of a TaggedName.
  FamilyNames(std::string_view prefix, std::string_view name, std::string_view units,
              NameCharacters characters = NameCharacters::kAscii);

  FamilyName of(Role role) const;

 private:
  FamilyName with_x(std::string_view middle, MetricKind kind) const;
  FamilyName with_y() const;
  static void guard_end(FamilyName& family);

  std::string stem_;    // prefix and name, without ends that say the unit of X
  std::string y_stem_;  // of counters: nor, if X has none, the unit of Y
  bool has_units_;
  std::string x_unit_;  // empty: none
  UnitScale x_scale_;
  std::string y_unit_;
  UnitScale y_scale_;
};

}  // namespace tallyfs::statistics
