#include "exporters/web/cpus_json.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"

namespace tallyfs::web {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  line = trimmed(line);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

// "#There are 3 samples lower than 0 microseconds.": 3, if it has the words.
std::uint64_t outside(std::string_view line, std::string_view words) {
  constexpr std::string_view kBegin = "#There are ";
  if (!line.starts_with(kBegin) || line.find(words) == line.npos) return 0;
  line.remove_prefix(kBegin.size());
  return parse_unsigned(take_word(line)).value_or(0);
}

}  // namespace

std::vector<Hit> hits_of_cpu(std::string_view text, const view::Array& bins) {
  std::vector<Hit> made;
  const auto add = [&](std::size_t place, std::uint64_t count) {
    if (count == 0) return;
    made.push_back({.index = static_cast<std::int32_t>(place), .count = count});
  };
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.starts_with('#')) {
      add(0, outside(line, " lower than "));
      add(bins.bounds.size(), outside(line, " greater or equal than "));
      continue;
    }
    const auto x = parse_signed(take_word(line));
    const auto count = parse_unsigned(take_word(line));
    if (!x || !count) continue;
    const auto bound = std::ranges::lower_bound(bins.bounds, Int128{*x});
    add(static_cast<std::size_t>(bound - bins.bounds.begin()), *count);
  }
  return summed(std::move(made));
}

std::string cpus_json(const std::string& interface, const view::Statistic& statistic,
                      const std::vector<CpuHits>& cpus, const HeatOrder& order) {
  std::vector<PastColumn> columns;
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("interface").string(interface).key("names").begin_array();
  for (const CpuHits& each : cpus) {
    writer.string("CPU " + std::to_string(each.cpu));
    columns.push_back({.interval = {each.cpu}, .hits = each.hits});
  }
  writer.end_array();
  write_heat(writer, statistic, {std::move(columns)}, order);
  writer.end_object();
  return text;
}

}  // namespace tallyfs::web
