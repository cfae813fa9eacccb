#include "exporters/web/heat_json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "tools/display/heat_axis.h"

namespace tallyfs::web {
namespace {

constexpr int kLevels = 16;

// The first of the newest columns that cover at most so many seconds.
std::size_t first_within(const std::deque<PastColumn>& columns, std::uint64_t seconds) {
  std::size_t first = columns.size();
  while (first > 0 && columns[first - 1].interval.seconds <= seconds) {
    seconds -= columns[--first].interval.seconds;
  }
  return first;
}

// All bins that a column or the statistic has hit.
view::Statistic all_of(const view::Statistic& statistic, const HeatColumns& shown) {
  std::vector<Hit> hits = hits_of(statistic.values);
  for (const PastColumn& column : shown.columns) {
    hits.insert(hits.end(), column.hits.begin(), column.hits.end());
  }
  return with_hits(statistic, summed(std::move(hits)));
}

std::string hex_of(const view::Rgb& colour) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour.red, colour.green, colour.blue);
  return text.data();
}

void write_colours(JsonWriter& writer, const char* name, view::Theme theme) {
  writer.key(name).begin_array();
  for (int level = 1; level <= kLevels; ++level) writer.string(hex_of(view::rgb_of(level, theme)));
  writer.end_array();
}

void write_bins(JsonWriter& writer, const view::Distribution& bins,
                const view::Quantity& quantity) {
  writer.key("bins").begin_array();
  for (const view::Bin& bin : bins.bins) {
    writer.begin_object().key("text");
    writer.string(view::bin_text(bin, quantity, false, view::Charset::kUtf8)).key("end");
    writer.string(view::end_text(bin, quantity, view::Charset::kUtf8)).end_object();
  }
  writer.end_array();
}

char letter_of(PastColumn::State state) {
  switch (state) {
    case PastColumn::State::kCounted:
      return 'c';
    case PastColumn::State::kGap:
      return 'g';
    case PastColumn::State::kUnknown:
      return 'u';
    case PastColumn::State::kMissing:
      return 'n';
  }
  return 'u';
}

// The count that a column of usual length would have: colours compare such counts.
Int128 in_each(Int128 count, const HeatColumns& shown, const PastColumn& column) {
  const Int128 seconds = column.interval.seconds;
  return (count * shown.seconds_each + seconds - 1) / seconds;
}

// Writes the counts of each column; returns the largest, as the colours are compared.
Int128 write_counts(JsonWriter& writer, const view::Statistic& all, const HeatColumns& shown,
                    std::size_t bins_max) {
  Int128 largest = 0;
  writer.key("counts").begin_array();
  for (const PastColumn& column : shown.columns) {
    writer.begin_array();
    if (!column.hits.empty()) {
      const view::Statistic counted = with_hits(all, column.hits);
      for (const view::Bin& bin : view::binned(all, &counted, bins_max).bins) {
        writer.number(bin.count);
        largest = std::max(largest, in_each(bin.count, shown, column));
      }
    }
    writer.end_array();
  }
  writer.end_array();
  return largest;
}

// Long unknown times are columns of their own, and there may be many.
HeatColumns divided(const Past& past, const HeatOrder& order, std::uint64_t seconds_each) {
  HeatColumns made;
  made.seconds_each = seconds_each;
  const std::deque<PastColumn>& columns = past.columns();
  std::size_t first = first_within(columns, order.seconds);
  // The seconds of a column do not depend on the time of the request: a page that draws a later
  // response keeps its columns.
  const auto share_of = [&](std::size_t column) {
    return columns[column].interval.end_us / 1'000'000 / made.seconds_each;
  };
  // A long gap is a column of its own, so that the counts of the seconds next to it are not spread
  // over it.
  const auto is_long_gap = [&](std::size_t column) {
    return columns[column].state == PastColumn::State::kMissing &&
           columns[column].interval.seconds > made.seconds_each;
  };
  while (first < columns.size()) {
    std::size_t last = first + 1;
    while (last < columns.size() && share_of(last) == share_of(first) && !is_long_gap(first) &&
           !is_long_gap(last)) {
      ++last;
    }
    made.columns.push_back(joined(columns, first, last));
    first = last;
  }
  return made;
}

}  // namespace

HeatColumns columns_of(const Past& past, const HeatOrder& order) {
  HeatColumns made =
      divided(past, order, (order.seconds + order.columns_max - 1) / order.columns_max);
  // A share that the begin of the time cuts is one more.
  while (made.columns.size() > order.columns_max + 1) {
    made = divided(past, order, 2 * made.seconds_each);
  }
  return made;
}

void write_heat(JsonWriter& writer, const view::Statistic& statistic, const HeatColumns& shown,
                const HeatOrder& order) {
  const view::Statistic all = all_of(statistic, shown);
  writer.key("statistic").string(statistic.name).key("units").string(statistic.units);
  writer.key("counts_of").string(view::quantity_of_counts(statistic.units).name);
  writer.key("seconds_each").number(shown.seconds_each);
  write_bins(writer, view::binned(all, nullptr, order.bins_max), view::quantity_of_x(statistic));
  std::string states;
  writer.key("end_us").begin_array();
  for (const PastColumn& column : shown.columns) {
    writer.number(column.interval.end_us);
    states.push_back(letter_of(column.state));
  }
  writer.end_array().key("seconds").begin_array();
  for (const PastColumn& column : shown.columns) writer.number(column.interval.seconds);
  writer.end_array().key("states").string(states);
  const Int128 top = view::top_of(write_counts(writer, all, shown, order.bins_max));
  writer.key("top").number(top).key("least").begin_array();
  for (const Int128 least : view::least_counts(top, kLevels, order.steps)) writer.number(least);
  writer.end_array();
  write_colours(writer, "dark", view::Theme::kDark);
  write_colours(writer, "light", view::Theme::kLight);
  writer.key("window_s").number(order.seconds);
}

void write_what_lacks(JsonWriter& writer, const PastReading& reading) {
  const PastReading::Parts& parts = reading.parts;
  writer.key("parts").number(parts.all).key("parts_read").number(parts.read);
  writer.key("parts_left_out").number(parts.left_out);
  writer.key("damaged").begin_array();
  const std::size_t written = std::min(reading.damaged.size(), kFactsMax);
  for (std::size_t i = 0; i < written; ++i) write_fact(writer, reading.damaged[i]);
  writer.end_array().key("damaged_more");
  writer.number(static_cast<std::uint64_t>(reading.damaged.size() - written));
}

std::string heat_json(const std::string& interface, const PastReading& reading,
                      const HeatOrder& order) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("interface").string(interface);
  write_what_lacks(writer, reading);
  write_heat(writer, reading.statistic, columns_of(reading.past, order), order);
  writer.end_object();
  return text;
}

}  // namespace tallyfs::web
