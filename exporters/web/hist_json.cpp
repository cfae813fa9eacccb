#include "exporters/web/hist_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/text.h"
#include "tools/display/quantity.h"

namespace tallyfs::web {
namespace {

constexpr std::string_view kHits = "hitcount";

std::string text_of(const Json* json) { return json ? json->text : std::string(); }

Int128 number_of(const Json* json) {
  const auto number = json ? parse_signed(json->text) : std::nullopt;
  return number ? Int128{*number} : 0;
}

std::string span_text(Int128 first, Int128 last) {
  std::string text = view::grouped_text(first);
  if (last != first) text.append(" - ").append(view::grouped_text(last));
  return text;
}

// `.log2`: the exponent e stands for values above 2^(e-1), up to 2^e; -1-e mirrors it below zero.
std::string octave_text(Int128 exponent) {
  const bool is_negative = exponent < 0;
  const Int128 e = is_negative ? -1 - exponent : exponent;
  if (e > 64) return view::exact_text(exponent);
  const Int128 last = Int128{1} << static_cast<int>(e);
  const Int128 first = e == 0 ? (is_negative ? 1 : 0) : last / 2 + 1;
  return is_negative ? span_text(-last, -first) : span_text(first, last);
}

// `.log2=K`: 2^K groups to each octave; the key is the end that is closest to 0.
std::string part_text(Int128 end, Int128 groups_log2) {
  const bool is_negative = end < 0;
  const auto from = static_cast<std::uint64_t>(is_negative ? -end : end);
  const int octave = from == 0 ? 0 : static_cast<int>(std::bit_width(from)) - 1;
  const auto groups = static_cast<int>(std::clamp<Int128>(groups_log2, 0, 64));
  const Int128 width = Int128{1} << std::max(0, octave - groups);
  const Int128 last = Int128{from} + width - 1;
  return is_negative ? span_text(-last, end) : span_text(from, last);
}

std::string bucket_text(Int128 end, Int128 width) {
  return end < 0 ? span_text(end - width + 1, end) : span_text(end, end + width - 1);
}

std::string hex_text(std::string_view number) {
  const auto value = parse_unsigned(number);
  if (!value) return std::string(number);
  std::string digits;
  for (std::uint64_t rest = *value; rest != 0 || digits.empty(); rest /= 16) {
    digits.push_back("0123456789abcdef"[rest % 16]);
  }
  return std::string("0x").append(digits.rbegin(), digits.rend());
}

// The unit that the end of a field's name has: "lat_us" and "us.avg" are microseconds.
std::string unit_of(std::string_view field) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kEnds = {
      {{"ns", "ns"},
       {"nsec", "ns"},
       {"nsecs", "ns"},
       {"us", "µs"},
       {"usec", "µs"},
       {"usecs", "µs"},
       {"ms", "ms"},
       {"msec", "ms"},
       {"msecs", "ms"},
       {"secs", "s"},
       {"bytes", "B"}}};
  field = field.substr(0, field.find('.'));
  const std::string_view end = field.substr(field.rfind('_') + 1);
  const auto found = std::ranges::find(kEnds, end, &decltype(kEnds)::value_type::first);
  return found == kEnds.end() ? std::string() : std::string(found->second);
}

// A key as its modifier shows it. Stacks are their lines, joined.
std::string key_text(const Json& value, const Json* how) {
  if (value.kind == Json::Kind::kArray) {
    std::string text;
    for (const Json& each : value.items) text.append(text.empty() ? "" : " < ").append(each.text);
    return text;
  }
  const std::string modifier = how ? text_of(how->find("modifier")) : std::string();
  const Json* const size = how ? how->find("size") : nullptr;
  const bool has_size = size && size->kind == Json::Kind::kNumber;
  // Beyond 2^63 they are shown as they are counted.
  const auto number = value.kind == Json::Kind::kNumber ? parse_signed(value.text) : std::nullopt;
  if (number && modifier == "log2" && !has_size) return octave_text(*number);
  if (number && modifier == "log2") return part_text(*number, number_of(size));
  if (number && modifier == "buckets" && has_size) return bucket_text(*number, number_of(size));
  if (modifier == "hex" || modifier.starts_with("sym")) return hex_text(value.text);
  return value.text;
}

struct Column {
  std::string name;
  bool is_key = false;
  const Json* how = nullptr;  // a key's modifier and size
  std::string unit{};

  std::string modifier() const { return how ? text_of(how->find("modifier")) : std::string(); }
  // Whether its numbers are amounts, not names.
  bool is_group() const { return modifier() == "log2" || modifier() == "buckets"; }
};

// The keys, then the values of the first entry: all have the same.
std::vector<Column> columns_of(const Json& hist) {
  std::vector<Column> made;
  if (const Json* const keys = hist.find("keys")) {
    for (const Json& key : keys->items) {
      made.push_back({text_of(key.find("field")), true, &key});
      Column& column = made.back();
      if (column.modifier() == "usecs") column.unit = "µs";
      if (column.is_group()) column.unit = unit_of(column.name);
    }
  }
  const Json* const entries = hist.find("entries");
  if (!entries || entries->items.empty()) return made;
  const Json& first = entries->items[0];
  for (std::size_t i = 0; i < first.keys.size(); ++i) {
    const auto kind = first.items[i].kind;
    const bool is_plain = kind == Json::Kind::kNumber || kind == Json::Kind::kString;
    if (!is_plain || first.keys[i] == kHits) continue;
    made.push_back({first.keys[i], false, nullptr, unit_of(first.keys[i])});
  }
  return made;
}

std::string value_text(const Json& value) {
  const auto number = value.kind == Json::Kind::kNumber ? parse_signed(value.text) : std::nullopt;
  return number ? view::grouped_text(*number) : value.text;
}

std::string cell_text(const Json& entry, const Column& column) {
  const Json* const from = column.is_key ? entry.find("key") : &entry;
  const Json* const value = from ? from->find(column.name) : nullptr;
  if (!value) return {};
  std::string text = column.is_key ? key_text(*value, column.how) : value_text(*value);
  const Json* const names = column.is_key ? entry.find("names") : nullptr;
  const Json* const name = names ? names->find(column.name) : nullptr;
  if (name) text = name->text + " [" + text + "]";
  if (!column.unit.empty()) text.append(" ").append(column.unit);
  return text;
}

// The order that the trigger asks for. Without a sort= the kernel orders by hits, the fewest first.
std::string_view sort_of(std::string_view trigger) {
  constexpr std::string_view kSort = ":sort=";
  const std::size_t at = trigger.find(kSort);
  if (at == trigger.npos) return {};
  trigger.remove_prefix(at + kSort.size());
  return trigger.substr(0, trigger.find_first_of(": "));
}

// The entries as they are shown: in the order that the trigger asks for, else groups of numbers by
// their size, and all else by hits, the most first.
struct Order {
  std::vector<const Json*> entries;
  std::string text;
};

Order order_of(const Json& hist, const std::vector<Column>& columns) {
  Order made;
  if (const Json* const entries = hist.find("entries")) {
    for (const Json& each : entries->items) made.entries.push_back(&each);
  }
  const std::string trigger = text_of(hist.find("trigger"));
  const std::string_view asked = sort_of(trigger);
  if (!asked.empty() && asked != kHits) {
    made.text = std::string("sorted by ").append(asked);
    return made;
  }
  const bool has_one_key = std::ranges::count(columns, true, &Column::is_key) == 1;
  if (has_one_key && columns[0].is_group()) {
    std::ranges::stable_sort(made.entries, {}, [&](const Json* each) {
      const Json* const key = each->find("key");
      return number_of(key ? key->find(columns[0].name) : nullptr);
    });
    made.text = std::string("by ").append(columns[0].name);
    return made;
  }
  std::ranges::stable_sort(made.entries, std::greater<>(),
                           [](const Json* each) { return number_of(each->find(kHits)); });
  made.text = "the most hits first";
  return made;
}

void write_rows(JsonWriter& writer, const std::vector<const Json*>& all,
                const std::vector<Column>& columns) {
  Int128 sum = 0;
  Int128 largest = 1;
  for (const Json* entry : all) {
    sum += number_of(entry->find(kHits));
    largest = std::max(largest, number_of(entry->find(kHits)));
  }
  writer.key("rows").begin_array();
  for (std::size_t i = 0; i < std::min(all.size(), kHistRowsMax); ++i) {
    const Int128 hits = number_of(all[i]->find(kHits));
    writer.begin_object().key("cells").begin_array();
    for (const Column& column : columns) writer.string(cell_text(*all[i], column));
    writer.end_array().key("text").string(view::grouped_text(hits));
    writer.key("share").string(view::share_text(hits, sum)).key("part");
    writer.decimals(static_cast<double>(hits) / static_cast<double>(largest), 4).end_object();
  }
  writer.end_array().key("matching").number(all.size());
}

void write_trigger(JsonWriter& writer, const Json& hist) {
  const std::vector<Column> columns = columns_of(hist);
  writer.begin_object().key("trigger").string(text_of(hist.find("trigger")));
  writer.key("hits_text").string(view::grouped_text(number_of(hist.find("hits"))));
  writer.key("dropped_text").string(view::grouped_text(number_of(hist.find("dropped"))));
  const Order order = order_of(hist, columns);
  writer.key("order").string(order.text).key("columns").begin_array();
  for (const Column& column : columns) {
    const std::string modifier = column.modifier();
    writer.begin_object().key("name");
    writer.string(modifier.empty() ? column.name : column.name + "." + modifier);
    writer.key("is_key").boolean(column.is_key).end_object();
  }
  writer.end_array();
  write_rows(writer, order.entries, columns);
  writer.end_object();
}

}  // namespace

Result<std::string> hist_json(const std::string& name, const Json& hists) {
  if (hists.kind != Json::Kind::kArray) return invalid(name + ": no hist.json");
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("hist").string(name).key("triggers").begin_array();
  for (const Json& hist : hists.items) write_trigger(writer, hist);
  writer.end_array().end_object();
  return text;
}

}  // namespace tallyfs::web
