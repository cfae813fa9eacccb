#include "tools/display/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/base/nearest.h"
#include "tools/display/distribution.h"
#include "tools/display/quantity.h"
#include "tools/display/summary.h"

namespace tallyfs::view {
namespace {

constexpr std::array kSortKeys = {
    std::pair{"name", SortKey::kName}, std::pair{"samples", SortKey::kSamples},
    std::pair{"rate", SortKey::kRate}, std::pair{"p50", SortKey::kP50},
    std::pair{"p99", SortKey::kP99},   std::pair{"max", SortKey::kMax},
    std::pair{"change", SortKey::kChange}};
constexpr std::array kColumns = {"time",   "interface", "statistic", "type", "on",
                                 "unit",   "samples",   "count",     "rate", "out_of_range",
                                 "missed", "total",     "last",      "min",  "avg",
                                 "max",    "p50",       "p90",       "p99"};

bool is_text(std::string_view column) {
  return column == "interface" || column == "statistic" || column == "type" || column == "unit";
}

// The statistic of the row's interval; nullptr: what was counted in it is not known.
const Statistic* shown(const StatisticRow& row) {
  if (!row.change) return row.statistic;
  return row.change->counted ? &*row.change->counted : nullptr;
}

std::optional<std::uint64_t> samples_of(const StatisticRow& row) {
  return row.change ? row.change->samples : std::optional(row.statistic->samples);
}

// The number of samples of the data since they began. (`samples` is not reset.)
std::optional<double> count_in(const StatisticRow& row) {
  const Statistic* const statistic = shown(row);
  if (!statistic) return std::nullopt;
  auto count = count_of(*statistic);
  const auto* const value = std::get_if<Value>(&statistic->values);
  if (value && !has_products(*statistic)) count = value->total;
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

std::optional<double> rate_of(const StatisticRow& row) {
  if (row.change) return row.change->rate();
  const auto count = count_in(row);
  const std::uint64_t begun = row.statistic->data_us, now = row.interface->time_us;
  if (!count || now <= begun) return std::nullopt;
  return *count * 1e6 / static_cast<double>(now - begun);
}

bool has_samples(const StatisticRow& row) {
  if (row.other && row.other->samples.value_or(0) != 0) return true;
  const auto count = count_in(row);
  return count ? *count != 0 : samples_of(row).value_or(0) != 0;
}

std::optional<Percentile> percentile_in(const Statistic& statistic, std::uint32_t millionths) {
  const auto distribution = distribution_of(statistic, Detail::kFine);
  return distribution ? percentile(*distribution, millionths) : std::nullopt;
}

// nullopt also for a percentile beyond an end of the scale: how far beyond is unknown.
std::optional<double> percentile_of(const Statistic& statistic, std::uint32_t millionths) {
  const auto found = percentile_in(statistic, millionths);
  if (!found || found->ends != Bin::Ends::kBoth) return std::nullopt;
  return in_base_unit(found->estimate, quantity_of_x(statistic));
}

// A percentile above the scale sorts as the largest, and one below it as the end of the scale.
std::optional<double> sorted_percentile(const Statistic& statistic, std::uint32_t millionths) {
  const auto found = percentile_in(statistic, millionths);
  if (!found) return std::nullopt;
  if (found->ends == Bin::Ends::kNoLast) return std::numeric_limits<double>::infinity();
  return in_base_unit(found->estimate, quantity_of_x(statistic));
}

const Range* range_of(const Statistic& statistic) {
  if (const auto* quantiles = std::get_if<Quantiles>(&statistic.values)) return &quantiles->all;
  return std::get_if<Range>(&statistic.values);
}

template <typename Number>
std::optional<double> base_of(const std::optional<Number>& value, const Statistic& statistic) {
  if (!value) return std::nullopt;
  return in_base_unit(static_cast<double>(*value), quantity_of_x(statistic));
}

// Types without a maximum sort by their percentile 99.9999, which is near the end of their highest
// bin.
std::optional<double> sorted_max(const Statistic& statistic) {
  const Range* const range = range_of(statistic);
  const auto max = range ? base_of(range->max, statistic) : std::nullopt;
  return max ? max : sorted_percentile(statistic, 999'999);
}

std::optional<double> total_of(const Statistic& statistic) {
  if (const Range* const range = range_of(statistic)) {
    return in_base_unit(static_cast<double>(range->sum), quantity_of_x(statistic));
  }
  const auto* const value = std::get_if<Value>(&statistic.values);
  if (!value) return std::nullopt;
  return in_base_unit(static_cast<double>(value->total), quantity_of_totals(statistic));
}

std::optional<double> last_of(const Statistic& statistic) {
  const auto* const last = std::get_if<Last>(&statistic.values);
  if (!last || !last->time_us) return std::nullopt;
  return in_base_unit(static_cast<double>(last->x), quantity_of_x(statistic));
}

// Returns the octaves between the rates of the two spans, up or down. They are infinite for what is
// new or silent, so that it comes first.
std::optional<double> octaves_changed(const StatisticRow& row) {
  const auto now = rate_of(row);
  const auto other = row.other ? row.other->rate() : std::nullopt;
  if (!now || !other || (*now == 0 && *other == 0)) return std::nullopt;
  return std::abs(std::log2(*now / *other));
}

std::optional<double> sorted_by(const StatisticRow& row, SortKey key) {
  if (key == SortKey::kChange) return octaves_changed(row);
  if (key == SortKey::kSamples) return samples_of(row);
  if (key == SortKey::kRate) return rate_of(row);
  const Statistic* const statistic = shown(row);
  if (!statistic) return std::nullopt;
  if (key == SortKey::kMax) return sorted_max(*statistic);
  return sorted_percentile(*statistic, key == SortKey::kP50 ? 500'000 : 990'000);
}

// Numbers of different units have no common order: times come first, since what is slowest is
// asked most, then bytes, then the rest.
int place_of_unit(const StatisticRow& row, SortKey key) {
  if (key != SortKey::kP50 && key != SortKey::kP99 && key != SortKey::kMax) return 0;
  switch (quantity_of_x(*row.statistic).kind) {
    case Quantity::Kind::kTime:
      return 0;
    case Quantity::Kind::kBytes:
      return 1;
    case Quantity::Kind::kNumber:
      return 2;
  }
  return 2;
}

// Sorts rows by their keys and leaves out rows without a key. The texts of keys are parts of what
// the rows point to.
using SortPlace = std::tuple<int, double, std::string_view, std::string_view>;
template <typename Row, typename KeyOf>
void sort_by(std::vector<Row>& rows, const KeyOf& key_of) {
  std::vector<std::pair<SortPlace, Row>> keyed;
  for (Row& row : rows) {
    const std::optional<SortPlace> place = key_of(row);
    if (place) keyed.emplace_back(*place, std::move(row));
  }
  std::ranges::sort(keyed, {}, [](const auto& each) -> const SortPlace& { return each.first; });
  rows.clear();
  for (auto& each : keyed) rows.push_back(std::move(each.second));
}

template <typename Row>
void keep_first(std::vector<Row>& rows, const RowChoice& choice) {
  if (choice.top != 0 && rows.size() > choice.top) rows.resize(choice.top);
}

std::string unit_of(const Statistic& statistic) {
  const bool is_value = std::holds_alternative<Value>(statistic.values);
  const Quantity quantity = is_value ? quantity_of_totals(statistic) : quantity_of_x(statistic);
  if (quantity.kind == Quantity::Kind::kTime) return "seconds";
  return quantity.kind == Quantity::Kind::kBytes ? "bytes" : quantity.name;
}

std::string number_cell(const std::optional<double>& number) {
  return number ? view::number_cell(*number) : std::string();
}

std::vector<std::string> cells_of(const StatisticRow& row) {
  const auto samples = samples_of(row);
  const double time = static_cast<double>(row.interface->realtime_us) / 1e6;
  std::vector<std::string> cells = {view::number_cell(time),
                                    row.interface->name,
                                    row.statistic->name,
                                    row.statistic->type,
                                    row.statistic->on ? "1" : "0",
                                    unit_of(*row.statistic),
                                    samples ? std::to_string(*samples) : "",
                                    number_cell(count_in(row)),
                                    number_cell(rate_of(row))};
  if (const Statistic* const statistic = shown(row)) {
    const Range* const range = range_of(*statistic);
    cells.push_back(std::to_string(statistic->hits_out_of_range));
    cells.push_back(std::to_string(statistic->hits_missed));
    cells.push_back(number_cell(total_of(*statistic)));
    cells.push_back(number_cell(last_of(*statistic)));
    cells.push_back(number_cell(range ? base_of(range->min, *statistic) : std::nullopt));
    cells.push_back(number_cell(range ? base_of(range->avg, *statistic) : std::nullopt));
    cells.push_back(number_cell(range ? base_of(range->max, *statistic) : std::nullopt));
    for (const std::uint32_t millionths : {500'000u, 900'000u, 990'000u}) {
      cells.push_back(number_cell(percentile_of(*statistic, millionths)));
    }
  }
  cells.resize(kColumns.size());
  return cells;
}

}  // namespace

std::optional<SortKey> sort_key_of(std::string_view word) {
  for (const auto& [name, key] : kSortKeys) {
    if (word == name) return key;
  }
  return std::nullopt;
}

std::string listed_sort_keys() {
  std::vector<std::string> words;
  for (const auto& [name, key] : kSortKeys) words.emplace_back(name);
  return listed(words);
}

void choose(std::vector<StatisticRow>& rows, const RowChoice& choice) {
  if (choice.nonzero) {
    std::erase_if(rows, [](const StatisticRow& row) { return !has_samples(row); });
  }
  if (choice.sort) {
    sort_by(rows, [key = *choice.sort](const StatisticRow& row) -> std::optional<SortPlace> {
      const auto number = key == SortKey::kName ? std::optional(0.0) : sorted_by(row, key);
      if (!number) return std::nullopt;
      return SortPlace(place_of_unit(row, key), -*number, row.interface->name, row.statistic->name);
    });
  }
  keep_first(rows, choice);
}

bool sorts_interfaces(SortKey key) { return key == SortKey::kName || key == SortKey::kSamples; }

void choose(std::vector<const InterfaceSummary*>& interfaces, const RowChoice& choice) {
  if (choice.nonzero) {
    std::erase_if(interfaces, [](const InterfaceSummary* each) { return each->samples == 0; });
  }
  if (choice.sort) {
    sort_by(interfaces,
            [key = *choice.sort](const InterfaceSummary* each) -> std::optional<SortPlace> {
              if (!sorts_interfaces(key)) return std::nullopt;
              const double samples = key == SortKey::kName ? 0 : static_cast<double>(each->samples);
              return SortPlace(0, -samples, each->name, "");
            });
  }
  keep_first(interfaces, choice);
}

Exported exported(const std::vector<StatisticRow>& rows) {
  Exported made;
  for (const char* name : kColumns) {
    using enum Exported::Cells;
    made.columns.push_back({name, is_text(name) ? kTexts : kNumbers});
  }
  for (const StatisticRow& row : rows) made.rows.push_back(cells_of(row));
  return made;
}

Exported exported(const std::vector<const InterfaceSummary*>& interfaces) {
  constexpr auto kTexts = Exported::Cells::kTexts;
  Exported made{
      {{"interface", kTexts}, {"statistics"}, {"on"}, {"samples"}, {"uid"}, {"feed", kTexts}}};
  for (const InterfaceSummary* each : interfaces) {
    made.rows.push_back({each->name, std::to_string(each->statistics), std::to_string(each->on),
                         std::to_string(each->samples), each->uid, each->feed});
  }
  return made;
}

}  // namespace tallyfs::view
