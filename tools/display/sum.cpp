#include "tools/display/sum.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tallyfs::view {
namespace {

// A name at its braces.
struct Split {
  std::string family;
  std::string_view tags;
};

Split split(std::string_view name) {
  const std::size_t open = name.find('{');
  const std::size_t close = name.rfind('}');
  if (open == name.npos || close == name.npos || close < open) return {std::string(name), {}};
  return {std::string(name.substr(0, open)).append(name.substr(close + 1)),
          name.substr(open + 1, close - open - 1)};
}

// Calls visit(key, whole tag); commas within values are escaped.
template <typename Visit>
void each_tag(std::string_view tags, Visit visit) {
  while (!tags.empty()) {
    const std::string_view tag = tags.substr(0, tags.find(','));
    visit(tag.substr(0, tag.find(':')), tag);
    tags.remove_prefix(std::min(tag.size() + 1, tags.size()));
  }
}

std::string name_of_sum(const Split& name, std::string_view label) {
  std::string text = name.family;
  each_tag(name.tags, [&](std::string_view key, std::string_view tag) {
    if (key == label) text = name.family + "{" + std::string(tag) + "}";
  });
  return text;
}

std::optional<std::int64_t> chosen(const std::optional<std::int64_t>& a,
                                   const std::optional<std::int64_t>& b, bool is_a) {
  return !b || (a && is_a) ? a : b;
}

Range sum_of(const Range& a, const Range& b) {
  Range made{.number = a.number + b.number};
  made.min = chosen(a.min, b.min, a.min && b.min && *a.min <= *b.min);
  made.max = chosen(a.max, b.max, a.max && b.max && *a.max >= *b.max);
  made.sum = a.sum + b.sum;
  if (made.number != 0) made.avg = static_cast<double>(made.sum) / static_cast<double>(made.number);
  return made;
}

Buckets sum_of(const Buckets& a, const Buckets& b) {
  std::map<std::int32_t, Int128> counts;
  for (const Buckets* each : {&a, &b}) {
    for (std::size_t i = 0; i < each->indexes.size(); ++i) {
      counts[each->indexes[i]] += each->counts[i];
    }
  }
  Buckets made;
  for (const auto& [index, count] : counts) {
    made.indexes.push_back(index);
    made.counts.push_back(count);
  }
  return made;
}

std::optional<Values> sum_of_values(const Value& a, const Value& b) {
  return Value{a.total + b.total};
}
std::optional<Values> sum_of_values(const Range& a, const Range& b) { return sum_of(a, b); }
std::optional<Values> sum_of_values(const Array& a, const Array& b) {
  if (a.bounds != b.bounds || a.counts.size() != b.counts.size()) return std::nullopt;
  Array made = a;
  for (std::size_t i = 0; i < made.counts.size(); ++i) made.counts[i] += b.counts[i];
  made.below += b.below;
  made.above += b.above;
  return made;
}
std::optional<Values> sum_of_values(const Quantiles& a, const Quantiles& b) {
  Quantiles made{.all = sum_of(a.all, b.all), .shown = a.shown, .zero = a.zero + b.zero};
  for (ShownQuantile& each : made.shown) each.value.reset();
  made.positive = sum_of(a.positive, b.positive);
  made.negative = sum_of(a.negative, b.negative);
  return made;
}
template <typename T>
std::optional<Values> sum_of_values(const T&, const T&) {
  return std::nullopt;
}

std::string differing(std::string_view what, std::string_view is, std::string_view wanted) {
  const auto shown = [](std::string_view text) { return text.empty() ? "none" : text; };
  return std::string("its ").append(what).append(" ").append(shown(is)).append(", not ").append(
      shown(wanted));
}

// The first difference that gives the numbers of the two another meaning; empty: there is none.
std::string difference_of(const Statistic& to, const Statistic& more) {
  if (to.type != more.type) return differing("type is", more.type, to.type);
  if (to.units != more.units) return differing("units are", more.units, to.units);
  for (const char* key : {"decimals", "mode", "precision"}) {
    if (to.key(key) == more.key(key)) continue;
    return differing(std::string(key).append("= is"), more.key(key), to.key(key));
  }
  return {};
}

// Empty: it does.
std::string why_not(const Statistic& statistic) {
  if (sum(statistic.values, statistic.values)) return {};
  return std::string("type=").append(statistic.type).append(" does not add up");
}

// Why it is not added; empty: it is.
std::string add(Statistic& to, const Statistic& more, Begin begin) {
  if (std::string reason = difference_of(to, more); !reason.empty()) return reason;
  auto values = sum(to.values, more.values);
  if (!values) return "it has other bounds";
  to.values = *std::move(values);
  std::erase_if(to.definition, [&](const Key& key) { return more.key(key.name) != key.value; });
  to.on = to.on || more.on;
  to.hits_out_of_range += more.hits_out_of_range;
  to.hits_missed += more.hits_missed;
  to.samples += more.samples;
  const bool is_of_newest = begin == Begin::kOfNewest;
  to.data_us = is_of_newest ? std::max(to.data_us, more.data_us)
                            : std::min(to.data_us, more.data_us);
  to.started_us = std::max(to.started_us, more.started_us);
  to.stopped_us = std::max(to.stopped_us, more.stopped_us);
  return {};
}

}  // namespace

std::optional<Values> sum(const Values& a, const Values& b) {
  if (a.index() != b.index()) return std::nullopt;
  return std::visit(
      [&](const auto& one) {
        return sum_of_values(one, std::get<std::remove_cvref_t<decltype(one)>>(b));
      },
      a);
}

std::vector<std::string> labels_of(const std::vector<const Statistic*>& statistics) {
  std::vector<std::string> labels;
  for (const Statistic* const each : statistics) {
    each_tag(split(each->name).tags, [&](std::string_view key, std::string_view) {
      if (std::ranges::find(labels, key) == labels.end()) labels.emplace_back(key);
    });
  }
  return labels;
}

std::string no_label_text(const std::string& label, const std::vector<std::string>& labels) {
  std::string text = "there is no label '" + label + "'";
  if (labels.empty()) return text + ", nor another one";
  text.append("; the labels are");
  for (const std::string& each : labels) text.append(" ").append(each);
  return text;
}

bool has_lost_part(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  auto part = now.begin();
  return !std::ranges::all_of(before, [&](const std::string& each) {
    part = std::find(part, now.end(), each);
    return part != now.end();
  });
}

Sums sums_by(std::string_view label, const std::vector<const Statistic*>& statistics,
             Begin begin) {
  Sums made;
  std::unordered_map<std::string, std::size_t> places;
  for (const Statistic* const each : statistics) {
    const std::string name = name_of_sum(split(each->name), label);
    const auto found = places.find(name);
    const bool is_new = found == places.end();
    std::string reason =
        is_new ? why_not(*each) : add(made.statistics[found->second], *each, begin);
    if (!reason.empty()) {
      made.left_out.push_back({each->name, name, std::move(reason)});
      continue;
    }
    const std::size_t at = is_new ? made.statistics.size() : found->second;
    if (is_new) {
      places.emplace(name, at);
      made.statistics.push_back(*each);
      made.statistics.back().name = name;
      made.parts.emplace_back();
    }
    made.parts[at].push_back(each->name);
  }
  return made;
}

}  // namespace tallyfs::view
