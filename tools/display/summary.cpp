#include "tools/display/summary.h"

#include <algorithm>
#include <iterator>

#include "core/base/counted.h"
#include "core/base/labels.h"
#include "core/base/quantile_list.h"
#include "core/base/text.h"
#include "tools/display/grid.h"

namespace tallyfs::view {
namespace {

std::string joined_by(std::string text, std::string_view gap, std::string_view more) {
  if (!text.empty() && !more.empty()) text.append(gap);
  return text.append(more);
}

std::string type_text(const Statistic& statistic) {
  std::string text = statistic.type;
  for (const char* key : {"scale", "mode"}) {
    text = joined_by(std::move(text), " ", statistic.key(key));
  }
  if (const auto of = statistic.key("of"); !of.empty()) text.append(" of ").append(of);
  return text;
}

// The time in which the data was gathered. One that is off has none since it stopped.
std::uint64_t gathered_us(const Statistic& statistic, std::uint64_t now_us) {
  const std::uint64_t until =
      statistic.on ? now_us : std::clamp(statistic.stopped_us, statistic.data_us, now_us);
  return until > statistic.data_us ? until - statistic.data_us : 0;
}

std::string x_text(std::int64_t x, const Statistic& statistic, const Look& look) {
  return number_text(static_cast<double>(x), quantity_of_x(statistic),
                     look.exact ? Digits::kAll : Digits::kThree, look.charset);
}

std::string average_text(const std::optional<double>& avg, const Statistic& statistic,
                         const Look& look) {
  if (!avg) return "-";
  return number_text(*avg, quantity_of_x(statistic), look.exact ? Digits::kAll : Digits::kThree,
                     look.charset);
}

std::string optional_x_text(const std::optional<std::int64_t>& x, const Statistic& statistic,
                            const Look& look) {
  return x ? x_text(*x, statistic, look) : "-";
}

std::string range_text(const Range& range, const Statistic& statistic, const Look& look) {
  if (range.number == 0) return "empty";
  return std::string("min ")
      .append(optional_x_text(range.min, statistic, look))
      .append("  avg ")
      .append(average_text(range.avg, statistic, look))
      .append("  max ")
      .append(optional_x_text(range.max, statistic, look));
}

std::string list_text(const List& list) {
  return counted(grouped_text(Int128(list.x.size())), "value");
}

// In a row there is room for one: the 99th, or the highest. Nothing in other modes.
const QuantileColumn* percentile_in_rows(const History& history) {
  if (history.quantiles.empty()) return nullptr;
  const auto found = std::ranges::find(history.quantiles, "99", &QuantileColumn::q);
  return found == history.quantiles.end() ? &history.quantiles.back() : &*found;
}

// The number of periods, the newest one with samples, and how long ago that was.
std::string history_text(const History& history, const Statistic& statistic, const Look& look) {
  if (history.end_us.empty()) return "no period yet";
  std::string text = grouped_text(Int128(history.end_us.size())).append(" periods, ");
  if (!history.totals.empty()) {
    return text.append("last ").append(number_text(static_cast<double>(history.totals.back()),
                                                   quantity_of_totals(statistic), Digits::kThree,
                                                   look.charset));
  }
  const auto newest = std::ranges::find_if(history.number.rbegin(), history.number.rend(),
                                           [](std::uint64_t number) { return number > 0; });
  if (newest == history.number.rend()) return text.append("all empty");
  const auto ago = static_cast<std::size_t>(newest - history.number.rbegin());
  const std::size_t at = history.number.size() - 1 - ago;
  if (ago == 0) text.append("last ");
  if (const auto* percentile = percentile_in_rows(history)) {
    text.append("p").append(percentile->q).append(" ");
    text.append(optional_x_text(percentile->values[at], statistic, look));
  } else {
    text.append("avg ").append(average_text(history.avg[at], statistic, look));
  }
  if (ago == 0) return text;
  return text.append(" ")
      .append(counted(grouped_text(Int128(ago)), "period"))
      .append(" ago");
}

std::string text_of(const std::vector<NamedPercentile>& percentiles, const Statistic& statistic,
                    const Look& look) {
  const auto distribution = distribution_of(statistic, Detail::kFine);
  if (!distribution) return "";
  std::string text;
  for (const NamedPercentile& each : percentiles) {
    const auto found = percentile(*distribution, each.millionths);
    if (!found) return "";
    text = joined_by(std::move(text), "   ", std::string("p").append(each.label));
    text.append(" ").append(
        percentile_text(*found, quantity_of_x(statistic), look.exact, look.charset));
  }
  return text;
}

// In a row there is room for two: the 50th and the 99th, or the first two.
std::vector<NamedPercentile> two_of(std::vector<NamedPercentile> all) {
  std::vector<NamedPercentile> made;
  std::ranges::copy_if(all, std::back_inserter(made), [](const NamedPercentile& each) {
    return each.millionths == 500'000 || each.millionths == 990'000;
  });
  if (made.size() == 2) return made;
  if (all.size() > 2) all.resize(2);
  return all;
}

struct ValuesText {
  const Statistic& statistic;
  const Look& look;

  std::string operator()(const Value& value) const {
    const Quantity quantity = quantity_of_totals(statistic);
    if (look.exact || quantity.kind == Quantity::Kind::kNumber)
      return grouped_text(value.total, quantity);
    return number_text(static_cast<double>(value.total), quantity, Digits::kThree, look.charset);
  }
  std::string operator()(const Range& range) const { return range_text(range, statistic, look); }
  std::string operator()(const List& list) const { return list_text(list); }
  std::string operator()(const Array&) const {
    const std::string text = text_of(two_of(percentiles_of(statistic)), statistic, look);
    return text.empty() ? "empty" : text;
  }
  std::string operator()(const Raw& raw) const {
    return counted(grouped_text(Int128(raw.x.size())), "sample");
  }
  std::string operator()(const Quantiles&) const { return operator()(Array{}); }
  std::string operator()(const Last& last) const {
    return last.time_us ? x_text(last.x, statistic, look) : "empty";
  }
  std::string operator()(const History& history) const {
    return history_text(history, statistic, look);
  }
};

// How many, and how fast: "573,437 requests in 10 min 14 s, 934/s".
std::string counted_text(const Statistic& statistic, std::uint64_t now_us) {
  const std::uint64_t micros = gathered_us(statistic, now_us);
  const auto count = count_of(statistic);
  if (!count) return std::string("for ").append(duration_text(micros));
  std::string text = samples_text(*count, statistic.units);
  if (micros == 0) return text;
  text.append(" in ").append(duration_text(micros));
  if (!statistic.on) return text;
  const double rate = static_cast<double>(*count) * 1e6 / static_cast<double>(micros);
  return text.append(", ").append(rate_text(rate));
}

std::vector<std::string> heading_parts(const std::string& interface, const Statistic& statistic,
                                       std::uint64_t now_us) {
  return {shown_name(interface, statistic.name), type_text(statistic),
          std::string(shown_units(statistic.units)), statistic.on ? "on" : "off",
          counted_text(statistic, now_us)};
}

std::string joined(const std::vector<std::string>& parts, std::string_view gap) {
  std::string text;
  for (const std::string& part : parts) text = joined_by(std::move(text), gap, part);
  return text;
}

std::vector<std::string> left_out_parts(const Statistic& statistic, const Look& look) {
  std::vector<std::string> parts;
  const auto add = [&](Int128 count, const std::string& what) {
    if (count > 0) parts.push_back(grouped_text(count).append(what));
  };
  if (const auto* array = std::get_if<Array>(&statistic.values);
      array && !array->bounds.empty() && array->counts.size() > array->bounds.size()) {
    const double bound = static_cast<double>(array->bounds.back());
    add(array->counts.back(), std::string(" above ").append(number_text(
                                  bound, quantity_of_x(statistic), Digits::kThree, look.charset,
                                  Rounding::kDown)));
    add(array->below, " below the range");
    add(array->above, " above the range");
  }
  // An array counts them in its first and last bins as well.
  const bool is_array = std::holds_alternative<Array>(statistic.values);
  add(statistic.hits_out_of_range, is_array ? " out of range (in the end rows)" : " out of range");
  add(statistic.hits_missed, " missed");
  return parts;
}

}  // namespace

std::vector<NamedPercentile> percentiles_of(const Statistic& statistic) {
  if (const auto list = QuantileList::parse(statistic.key("quantiles"))) {
    std::vector<NamedPercentile> made;
    for (std::size_t i = 0; i < list->size(); ++i) {
      made.push_back({std::string(list->label(i)), list->millionths(i)});
    }
    return made;
  }
  return {{"50", 500'000}, {"90", 900'000}, {"99", 990'000}, {"99.9", 999'000}};
}

std::vector<NamedPercentile> two_percentiles_of(const Statistic& statistic) {
  return two_of(percentiles_of(statistic));
}

std::optional<Int128> count_of(const Statistic& statistic) {
  if (const auto* range = std::get_if<Range>(&statistic.values)) return range->number;
  if (const auto* quantiles = std::get_if<Quantiles>(&statistic.values)) {
    return quantiles->all.number;
  }
  if (const auto* array = std::get_if<Array>(&statistic.values)) {
    Int128 sum = Int128{array->below} + array->above;
    for (const Int128 count : array->counts) sum += count;
    return sum;
  }
  return std::nullopt;
}

std::string samples_text(Int128 count, std::string_view units) {
  const std::string what = quantity_of_counts(units).name;
  std::string number = grouped_text(count);
  return what.empty() ? counted(std::move(number), "sample") : number.append(" ").append(what);
}

std::string shown_name(const std::string& interface, const std::string& statistic) {
  return interface + "/" + shown_labels(statistic);
}

std::string help_text(const Statistic& statistic) {
  std::string text(statistic.key("help"));
  for (std::size_t at = 0; (at = text.find('%', at)) != text.npos; ++at) {
    const auto code = parse_unsigned("0x" + text.substr(at + 1, 2));
    if (code && *code >= ' ' && *code <= '~') text.replace(at, 3, 1, static_cast<char>(*code));
  }
  return text;
}

std::string heading_of(const std::string& interface, const Statistic& statistic,
                       std::uint64_t now_us) {
  return joined(heading_parts(interface, statistic, now_us), "  ");
}

std::string short_heading_of(const std::string& interface, const Statistic& statistic,
                             std::uint64_t now_us, int width, Charset charset) {
  auto parts = heading_parts(interface, statistic, now_us);
  while (parts.size() > 1 && width_of(joined(parts, "  "), charset) > width) parts.pop_back();
  return cut_middle(joined(parts, "  "), width, charset);
}

std::string percentiles_text(const Statistic& statistic, const Look& look) {
  return text_of(percentiles_of(statistic), statistic, look);
}

std::string left_out_text(const Statistic& statistic, const Look& look) {
  return joined(left_out_parts(statistic, look), "   ");
}

std::string short_summary_of(const Statistic& statistic, int width, const Look& look) {
  auto percentiles = percentiles_of(statistic);
  auto left_out = left_out_parts(statistic, look);
  for (;;) {
    const std::string text =
        joined_by(text_of(percentiles, statistic, look), "   ", joined(left_out, "   "));
    if (width_of(text, look.charset) <= width) return text;
    if (percentiles.size() > 2) {
      percentiles = two_of(std::move(percentiles));
    } else if (left_out.size() > 1) {
      left_out.pop_back();
    } else if (percentiles.size() > 1) {
      percentiles.pop_back();
    } else {
      return text;
    }
  }
}

std::string values_text(const Statistic& statistic, const Look& look) {
  return std::visit(ValuesText{statistic, look}, statistic.values);
}

std::string row_text(const Statistic& statistic, const Look& look) {
  return joined_by(values_text(statistic, look), "   ", left_out_text(statistic, look));
}

}  // namespace tallyfs::view
