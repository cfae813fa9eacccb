#include "tools/display/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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

// Cells of which are texts.
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

// In octaves, up or down; of what is new or silent as many as there are.
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

void sort(std::vector<StatisticRow>& rows, SortKey key) {
  struct Keyed {
    int place;
    double number;
    StatisticRow row;
  };
  std::vector<Keyed> keyed;
  for (StatisticRow& row : rows) {
    const auto number = key == SortKey::kName ? std::optional(0.0) : sorted_by(row, key);
    if (number) keyed.push_back({place_of_unit(row, key), *number, std::move(row)});
  }
  const auto before = [](const Keyed& each) {
    return std::tuple<int, double, std::string_view, std::string_view>(
        each.place, -each.number, each.row.interface->name, each.row.statistic->name);
  };
  std::ranges::sort(keyed, {}, before);
  rows.clear();
  for (Keyed& each : keyed) rows.push_back(std::move(each.row));
}

std::string unit_of(const Statistic& statistic) {
  const bool is_value = std::holds_alternative<Value>(statistic.values);
  const Quantity quantity = is_value ? quantity_of_totals(statistic) : quantity_of_x(statistic);
  if (quantity.kind == Quantity::Kind::kTime) return "seconds";
  return quantity.kind == Quantity::Kind::kBytes ? "bytes" : quantity.name;
}

std::string number_cell(const std::optional<double>& number) {
  if (!number) return {};
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.15g", *number);
  return text.data();
}

// Spreadsheets carry out a cell that begins so; behind an apostrophe they show it.
std::string text_cell(const std::string& text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@").find(text[0]) != text.npos;
  return is_formula ? "'" + text : text;
}

std::vector<std::string> cells_of(const StatisticRow& row) {
  const auto samples = samples_of(row);
  const double time = static_cast<double>(row.interface->realtime_us) / 1e6;
  std::vector<std::string> cells = {number_cell(time),
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

void put_cell(std::string& text, const std::string& cell, Separator separator) {
  const bool is_quoted = separator == Separator::kComma && cell.find_first_of(",\"") != cell.npos;
  if (!is_quoted) {
    text.append(cell);
    return;
  }
  text.push_back('"');
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text.push_back('"');
}

template <typename Cells>
void put_line(std::string& text, const Cells& cells, Separator separator) {
  bool is_first = true;
  for (const auto& cell : cells) {
    if (!std::exchange(is_first, false)) text.push_back(static_cast<char>(separator));
    put_cell(text, cell, separator);
  }
  text.append(separator == Separator::kComma ? "\r\n" : "\n");
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
  if (choice.sort) sort(rows, *choice.sort);
  if (choice.top != 0 && rows.size() > choice.top) rows.resize(choice.top);
}

std::string rows_text(const std::vector<StatisticRow>& rows, Separator separator, bool header) {
  std::string text;
  if (header) put_line(text, kColumns, separator);
  for (const StatisticRow& row : rows) {
    std::vector<std::string> cells = cells_of(row);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (is_text(kColumns[i])) cells[i] = text_cell(cells[i]);
    }
    put_line(text, cells, separator);
  }
  return text;
}

void write_rows(JsonWriter& writer, const std::vector<StatisticRow>& rows) {
  writer.begin_array();
  for (const StatisticRow& row : rows) {
    writer.begin_object();
    const std::vector<std::string> cells = cells_of(row);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      writer.key(kColumns[i]);
      if (is_text(kColumns[i]))
        writer.string(cells[i]);
      else if (cells[i].empty())
        writer.null();
      else
        writer.number_text(cells[i]);
    }
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace tallyfs::view
