#include "feeders/text/definition_words.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/text.h"
#include "core/base/unit_factor.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/strict_words.h"
#include "core/statistics/definition/unread_words.h"
#include "feeders/text/number.h"

namespace tallyfs {
namespace {

template <typename S>
tally::Type to_public(const S& settings, tally::Range range) {
  if constexpr (std::is_same_v<S, statistics::ValueSettings>) {
    return tally::Value{range, settings.mode == statistics::Mode::kProducts
                                   ? tally::Mode::kProducts
                                   : tally::Mode::kIncrements};
  } else if constexpr (std::is_same_v<S, statistics::RangeSettings>) {
    return tally::MinMax{range};
  } else if constexpr (std::is_same_v<S, statistics::ListSettings>) {
    return tally::List{range, settings.entries_max, static_cast<std::uint8_t>(settings.base)};
  } else if constexpr (std::is_same_v<S, statistics::ArraySettings>) {
    return tally::Array{
        range, settings.base_interval,
        settings.scale == statistics::Scale::kLog2 ? tally::Scale::kLog2 : tally::Scale::kLin};
  } else if constexpr (std::is_same_v<S, statistics::RawSettings>) {
    return tally::Raw{range, settings.entries_max};
  } else if constexpr (std::is_same_v<S, statistics::QuantilesSettings>) {
    return tally::Quantiles{range, settings.precision, std::string(settings.quantiles.text())};
  } else if constexpr (std::is_same_v<S, statistics::LastSettings>) {
    return tally::Last{range};
  } else {
    static_assert(std::is_same_v<S, statistics::HistorySettings>);
    if (settings.mode == statistics::Mode::kQuantiles) {
      return tally::QuantileHistory{range, settings.entries_max, settings.period,
                                    settings.precision, std::string(settings.quantiles.text())};
    }
    const auto mode = settings.mode == statistics::Mode::kRange      ? tally::Mode::kRange
                      : settings.mode == statistics::Mode::kProducts ? tally::Mode::kProducts
                                                                     : tally::Mode::kIncrements;
    return tally::History{range, settings.entries_max, settings.period, mode};
  }
}

const std::vector<std::string>& keys() {
  static const std::vector<std::string> kKeys{
      "type", "range_min", "range_max", "entries_max", "base",      "base_interval", "scale",
      "mode", "units",     "period",    "precision",   "quantiles", "decimals",      "on"};
  return kKeys;
}

bool is_bound(std::string_view key) {
  return key == "range_min" || key == "range_max" || key == "base_interval";
}

// True if X is a time, bytes or bits by the words of units=.
bool is_from_zero(std::string_view units) {
  constexpr std::array<std::string_view, 12> kUnits{
      "seconds", "milliseconds", "microseconds", "nanoseconds", "s",       "ms",
      "us",      "ns",           "bytes",        "bits",        "minutes", "hours"};
  return std::ranges::find(kUnits, units.substr(0, units.find('/'))) != kUnits.end();
}

struct TimeUnit {
  std::string_view word;
  std::string_view symbol;
  unsigned decimals;  // of a second
};
constexpr std::array<TimeUnit, 4> kTimes{{{"seconds", "s", 0},
                                          {"milliseconds", "ms", 3},
                                          {"microseconds", "us", 6},
                                          {"nanoseconds", "ns", 9}}};

// The time unit of X in units=; nullptr: X has none.
const TimeUnit* time_unit_of(std::string_view units) {
  const std::string_view x = units.substr(0, units.find('/'));
  const auto found = std::ranges::find_if(
      kTimes, [&](const TimeUnit& each) { return x == each.word || x == each.symbol; });
  return found == kTimes.end() ? nullptr : &*found;
}

// The words, those of decimals taken out, with bounds as stored integers.
class Words {
 public:
  Words(std::string_view text, NumberUnit unit) : text_(text), unit_(unit) {}

  Result<DefinitionWords> parse() {
    if (auto done = read_tokens(); !done) return done.error();
    if (auto done = scale_number(); !done) return done.error();
    words_.units = units_;
    if (auto done = read_definition(); !done) return place(done.error());
    return words_;
  }

 private:
  struct Word {
    std::string_view key;
    std::string_view value;
    std::size_t at;
  };

  Result<void> read_tokens() {
    std::vector<Word> words;
    Tokens tokens(text_);
    while (const auto token = tokens.next()) {
      if (auto done = strict_.take(*token); !done) return done.error();
      const std::size_t equals = token->text.find('=');
      words.push_back({token->text.substr(0, equals), token->text.substr(equals + 1), token->at});
      if (auto done = read_own(words.back()); !done) return done.error();
    }
    if (auto done = assume_unit(); !done) return done;
    for (const Word& word : words) {
      if (auto done = add(word); !done) return done.error();
    }
    return {};
  }

  Result<void> assume_unit() {
    if (unit_ == NumberUnit::kBytes) return assume_bytes();
    return unit_ == NumberUnit::kSeconds ? assume_seconds() : Result<void>();
  }

  Result<void> assume_bytes() {
    if (units_.empty()) units_ = "bytes/samples";
    const Unit unit = unit_of_x(units_);
    const bool is_other = unit.base == "bytes" && !(unit.factor == UnitFactor{});
    return is_other ? invalid("|bytes makes bytes: units=bytes/...", units_at_) : Result<void>();
  }

  // They are kept as units= say, and seconds are not rounded to whole ones.
  Result<void> assume_seconds() {
    if (units_.empty()) units_ = "seconds/samples";
    const TimeUnit* const stored = time_unit_of(units_);
    if (!stored && unit_of_x(units_).base == "seconds") {
      return invalid("|duration makes seconds: units=seconds/... or a part of them", units_at_);
    }
    if (!stored) return {};
    const std::size_t end = std::min(units_.find('/'), units_.size());
    const std::string samples = end == units_.size() ? "/samples" : units_.substr(end);
    units_ = std::string(stored->word) + samples;
    unit_decimals_ = stored->decimals;
    if (!has_decimals_ && stored->decimals == 0) words_.decimals = 6;
    return {};
  }

  Result<void> scale_number() {
    words_.number_scale = words_.decimals + unit_decimals_;
    if (words_.number_scale <= kDecimalsMax) return {};
    return invalid("a duration has at most 9 decimals of a second: decimals must be 0 to " +
                       std::to_string(kDecimalsMax - unit_decimals_),
                   decimals_at_);
  }

  // decimals= counts for words on both sides of it.
  Result<void> read_own(const Word& word) {
    if (word.key == "decimals") {
      const auto decimals = parse_unsigned(word.value);
      if (!decimals || *decimals > kDecimalsMax) return invalid("decimals must be 0 to 9", word.at);
      words_.decimals = static_cast<unsigned>(*decimals);
      decimals_at_ = word.at;
      has_decimals_ = true;
    } else if (word.key == "units") {
      units_ = word.value;
      units_at_ = word.at;
    }
    has_range_min_ = has_range_min_ || word.key == "range_min";
    return {};
  }

  Result<void> add(const Word& word) {
    if (word.key == "decimals") return {};
    std::string value(word.value);
    if (is_bound(word.key) && words_.decimals != 0) {
      const auto number = parse_number(word.value);
      const auto x = number ? to_integer(*number, words_.decimals) : std::nullopt;
      if (!x || x->is_rounded) {
        return invalid(std::string(word.key) + " must be a number of at most " +
                           std::to_string(words_.decimals) + " decimals",
                       word.at);
      }
      value = std::to_string(x->value);
    }
    places_.emplace_back(line_.size(), word.at);
    line_.append(word.key).append("=").append(value).append(" ");
    return {};
  }

  Result<void> read_definition() {
    if (!has_range_min_ && line_.find("scale=log2") != line_.npos && is_from_zero(words_.units)) {
      line_.append("range_min=0");
    }
    const auto change = statistics::parse_new_statistic(line_, statistics::Strictness::kStrict);
    if (!change) return change.error();
    if (change.value().on && !change.value().on->value) words_.begin = tally::Begin::kOff;
    const auto definition = statistics::apply(change.value(), statistics::Definition{});
    if (!definition) return definition.error();
    const statistics::Attributes attributes =
        statistics::attributes_of(definition.value().settings);
    if (auto read = statistics::check_all_read(line_, attributes); !read) return read.error();
    if (!change.value().type) return refuse_without_type(change.value());
    const tally::Range range{definition.value().range_min, definition.value().range_max};
    words_.type = std::visit([&](const auto& settings) { return to_public(settings, range); },
                             definition.value().settings);
    return {};
  }

  // Without type= a sample and a count have types of their own, which read none of these.
  static Result<void> refuse_without_type(const statistics::Change& change) {
    if (change.mode) return invalid("mode= needs type=, as type=value", change.mode->at);
    if (change.range_min) return invalid("range_min= needs type=", change.range_min->at);
    if (change.range_max) return invalid("range_max= needs type=", change.range_max->at);
    return {};
  }

  // An error in line_, where the word is in the text.
  Error place(Error error) const {
    for (const auto& [in_line, in_text] : places_) {
      if (in_line == error.token_at) error.token_at = in_text;
    }
    return error;
  }

  const std::string_view text_;
  const NumberUnit unit_;
  statistics::StrictWords strict_{keys()};
  DefinitionWords words_;
  std::string units_;
  std::size_t units_at_ = 0;
  unsigned unit_decimals_ = 0;  // of a second, which the units of a duration say
  std::size_t decimals_at_ = 0;
  bool has_decimals_ = false;
  bool has_range_min_ = false;
  std::string line_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // of the words, in line_ and text_
};

}  // namespace

Result<DefinitionWords> parse_definition_words(std::string_view text, NumberUnit unit) {
  return Words(text, unit).parse();
}

}  // namespace tallyfs
