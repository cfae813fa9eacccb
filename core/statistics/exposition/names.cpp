#include "core/statistics/exposition/names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/encoded_name.h"
#include "core/base/text.h"
#include "core/base/unit_factor.h"

namespace tallyfs::statistics {
namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The bytes of the character at the start of a text; 1 for what is none.
std::size_t character_bytes(std::string_view text) {
  char32_t point = 0;
  return std::max<std::size_t>(utf8_length(text, point), 1);
}

// Each character that names do not have becomes `_`.
std::string in_ascii(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const char c = text.front();
    name.push_back(is_letter(c) || is_digit(c) ? c : '_');
    text.remove_prefix(character_bytes(text));
  }
  return name;
}

void guard_first(std::string& name) {
  if (name.empty() || is_digit(name.front())) name.insert(0, 1, '_');
}

// Bytes that are no UTF-8 become U+FFFD.
std::string in_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    valid.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

// As it is, but no byte that is no UTF-8, and never empty.
std::string whole_name(std::string_view text) { return text.empty() ? "_" : in_utf8(text); }

std::string label_name(std::string_view key, NameCharacters characters) {
  static constexpr std::array kTaken = {"interface", "statistic", "le",  "quantile",
                                        "value",     "overflow",  "job", "instance"};
  std::string name = characters == NameCharacters::kUtf8 ? whole_name(key) : in_ascii(key);
  if (characters == NameCharacters::kAscii) guard_first(name);
  const bool is_taken = std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
  return is_taken || name.starts_with("__") ? name.insert(0, "tag_") : name;
}

void add_label(std::vector<Label>& labels, Label label) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), label,
                                   [](const Label& a, const Label& b) { return a.name < b.name; });
  if (at != labels.end() && at->name == label.name) {
    at->value.append(";").append(label.value);
  } else {
    labels.insert(at, std::move(label));
  }
}

Label label_of(std::string_view tag, NameCharacters characters) {
  if (tag == "*") return {"overflow", "true"};
  const std::size_t colon = tag.find(':');
  const std::string key = without_escapes(tag.substr(0, colon));
  if (colon == std::string_view::npos) return {label_name(key, characters), "true"};
  return {label_name(key, characters), in_utf8(without_escapes(tag.substr(colon + 1)))};
}

// Where the tags of a name stand: the places of `{` and `}`. Behind them may only stand `~` and a
// letter.
std::optional<std::pair<std::size_t, std::size_t>> find_tags(std::string_view name) {
  const std::size_t open = name.find('{');
  const std::size_t close = name.find('}');
  if (open == 0 || close == std::string_view::npos || open > close || close == open + 1) {
    return std::nullopt;
  }
  if (name.find_first_of("{}", open + 1) != close) return std::nullopt;
  const std::string_view behind = name.substr(close + 1);
  const bool is_kind = behind.size() == 2 && behind[0] == '~' && is_letter(behind[1]);
  if (!behind.empty() && !is_kind) return std::nullopt;
  return std::pair{open, close};
}

// ---- units

struct Abbreviations {
  std::string_view unit;
  std::array<std::string_view, 4> ends;
};
constexpr std::array kAbbreviations = {
    Abbreviations{"nanoseconds", {"ns", "nsec", "nsecs", "nanos"}},
    Abbreviations{"microseconds", {"us", "usec", "usecs", "micros"}},
    Abbreviations{"milliseconds", {"ms", "msec", "msecs", "millis"}},
    Abbreviations{"seconds", {"s", "sec", "secs", ""}},
    Abbreviations{"minutes", {"min", "mins", "", ""}},
    Abbreviations{"hours", {"h", "hrs", "", ""}},
    Abbreviations{"bytes", {"b", "byte", "", ""}},
    Abbreviations{"bits", {"bit", "", "", ""}},
    Abbreviations{"KiB", {"kb", "kib", "kbytes", ""}},
    Abbreviations{"MiB", {"mb", "mib", "mbytes", ""}},
    Abbreviations{"GiB", {"gb", "gib", "gbytes", ""}},
    Abbreviations{"kilobytes", {"kb", "kbytes", "", ""}},
    Abbreviations{"megabytes", {"mb", "mbytes", "", ""}},
    Abbreviations{"gigabytes", {"gb", "gbytes", "", ""}},
    Abbreviations{"percent", {"pct", "perc", "", ""}},
};

bool ends_with_word(std::string_view name, std::string_view word) {
  return !word.empty() && name.size() > word.size() + 1 && name.ends_with(word) &&
         name[name.size() - word.size() - 1] == '_';
}

bool cut_word(std::string& name, std::string_view word) {
  if (!ends_with_word(name, word)) return false;
  name.resize(name.size() - word.size() - 1);
  return true;
}

// Takes an end off that says the unit, if that has a base unit. Others may tell statistics apart:
// `dropped_by_uid`, of uids.
void cut_unit(std::string& name, std::string_view unit) {
  for (const Abbreviations& known : kAbbreviations) {
    if (known.unit != unit || cut_word(name, unit)) continue;
    for (const std::string_view end : known.ends) {
      if (cut_word(name, end)) return;
    }
  }
}

// A word that the name ends with is not repeated.
void add_word(std::string& name, std::string_view word) {
  if (word.empty() || ends_with_word(name, word)) return;
  name.append("_").append(word);
}

// Ends by which scrapers know the parts of a metric.
void cut_reserved(std::string& name) {
  while (cut_word(name, "total")) {
  }
  for (const std::string_view end :
       {"created", "count", "sum", "bucket", "gcount", "gsum", "info"}) {
    if (ends_with_word(name, end)) {
      name.append("_stat");
      return;
    }
  }
}

}  // namespace

std::string plain_help(std::string_view help) {
  return in_utf8(without_escapes(help, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }));
}

TaggedName split_tags(std::string_view statistic, NameCharacters characters) {
  const auto tags = find_tags(statistic);
  if (!tags) return {std::string(statistic), {}};
  const auto [open, close] = *tags;
  TaggedName split{without_escapes(statistic.substr(0, open)).append(statistic.substr(close + 1)),
                   {}};
  std::string_view rest = statistic.substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end != 0) add_label(split.labels, label_of(rest.substr(0, end), characters));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return split;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_metric_prefix(std::string_view text) {
  if (!text.empty() && is_digit(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == ':'; });
}

FamilyNames::FamilyNames(std::string_view prefix, std::string_view name, std::string_view units,
                         NameCharacters characters) {
  const Unit x = unit_of_x(units);
  const Unit y = unit_of_y(units);
  const std::size_t slash = units.find('/');
  const auto stem_without = [&](std::string_view unit) {
    std::string stem = characters == NameCharacters::kUtf8 ? whole_name(name) : in_ascii(name);
    cut_unit(stem, unit);
    cut_reserved(stem);
    stem.insert(0, prefix);
    if (characters == NameCharacters::kAscii) guard_first(stem);
    return stem;
  };
  // One word alone is that of Y.
  stem_ =
      stem_without(slash == std::string_view::npos ? std::string_view() : units.substr(0, slash));
  y_stem_ = stem_without(units.substr(0, slash));
  x_unit_ = in_ascii(x.base);
  x_scale_ = scale_of(x.factor);
  y_unit_ = in_ascii(y.base);
  y_scale_ = scale_of(y.factor);
  has_units_ = !units.empty();
}

// A unit may be called as the parts of a metric are.
void FamilyNames::guard_end(FamilyName& family) {
  const std::size_t size = family.name.size();
  cut_reserved(family.name);
  if (family.name.size() != size) family.unit.clear();
}

FamilyName FamilyNames::with_x(std::string_view middle, MetricKind kind) const {
  FamilyName family{.name = stem_, .unit = x_unit_, .kind = kind, .scale = x_scale_};
  if (!middle.empty()) family.name.append("_").append(middle);
  add_word(family.name, x_unit_);
  guard_end(family);
  return family;
}

FamilyName FamilyNames::with_y() const {
  FamilyName family{
      .name = y_stem_, .unit = y_unit_, .kind = MetricKind::kCounter, .scale = y_scale_};
  add_word(family.name, y_unit_.empty() && has_units_ ? std::string_view("samples") : y_unit_);
  guard_end(family);
  return family;
}

FamilyName FamilyNames::of(Role role) const {
  const auto gauge = [&](std::string_view middle) { return with_x(middle, MetricKind::kGauge); };
  const auto plain = [&](std::string_view end) {
    FamilyName family{.name = stem_};
    family.name.append("_").append(end);
    return family;
  };
  const auto per_period = [](FamilyName family) {
    family.name.append("_per_period");
    family.unit.clear();
    family.kind = MetricKind::kGauge;
    return family;
  };
  switch (role) {
    case Role::kTotal:
      return with_y();
    case Role::kSummed:
      return with_x(has_units_ ? "summed" : "", MetricKind::kCounter);
    case Role::kNet:
      return gauge("net");
    case Role::kDistribution:
      return with_x(x_unit_.empty() ? "value" : "", MetricKind::kHistogram);
    case Role::kMin:
      return gauge("min");
    case Role::kMax:
      return gauge("max");
    case Role::kLast:
      return gauge("last");
    case Role::kTotalPerPeriod:
      return per_period(with_y());
    case Role::kSumPerPeriod:
      return per_period(gauge(""));
    case Role::kSamplesOfPeriod:
      return plain("period_samples");
    case Role::kMinOfPeriod:
      return gauge("period_min");
    case Role::kAvgOfPeriod:
      return gauge("period_avg");
    case Role::kMaxOfPeriod:
      return gauge("period_max");
    case Role::kQuantileOfPeriod:
      return gauge("period_quantile");
  }
  return {};
}

}  // namespace tallyfs::statistics
