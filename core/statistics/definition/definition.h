// How one statistic counts and shows its samples: its line of the definition file without the name,
// the state and the time stamps. Plain values, without threads; the grammar of the line is in
// GRAMMAR.md, reading one in change.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/quantile_list.h"
#include "core/base/statistic_types.h"
#include "core/base/unit_factor.h"

namespace tallyfs::statistics {

inline constexpr std::uint32_t kEntriesMaxBound = 1'048'576;
inline constexpr std::uint64_t kIntervalsBound = 65'536;
inline constexpr std::chrono::microseconds kPeriodMin{1};
// A hundred years: the end of a period, reckoned from any time since boot, fits into 63 bits of
// nanoseconds, so that no later computation overflows.
inline constexpr std::chrono::microseconds kPeriodMax = std::chrono::hours(100 * 365 * 24);

inline constexpr std::uint8_t kPrecisionMax = 8;

enum class Mode : std::uint8_t { kIncrements, kProducts, kRange, kQuantiles };
enum class Scale : std::uint8_t { kLin, kLog2 };
// In which the data file shows X of a list; JSON and metrics are decimal always.
enum class Base : std::uint8_t { kDecimal = 10, kHexadecimal = 16 };

// The type-specific attributes by their keys. Parsing, printing and merging go by what each type
// shows of them in each_attribute(), so that a type states its attributes once. One that has a
// kDefault may be missing in a line, and is printed behind hits_missed where it is another.
namespace attribute {

struct EntriesMax {
  static constexpr std::string_view kKey = "entries_max";
};
struct BaseNumber {
  static constexpr std::string_view kKey = "base";
  static constexpr Base kDefault = Base::kHexadecimal;
};
struct BaseInterval {
  static constexpr std::string_view kKey = "base_interval";
};
struct ScaleWord {
  static constexpr std::string_view kKey = "scale";
};
struct ModeWord {
  static constexpr std::string_view kKey = "mode";
};
struct Period {
  static constexpr std::string_view kKey = "period";
};
struct Precision {
  static constexpr std::string_view kKey = "precision";
};
struct Quantiles {
  static constexpr std::string_view kKey = "quantiles";
};

}  // namespace attribute

// Settings of each type: what is the type's own. each_attribute() shows `visit` the attributes, in
// the order of the file; Self is the settings, const or not.

struct ValueSettings {
  static constexpr std::string_view kType = "value";
  Mode mode = Mode::kIncrements;  // or kProducts
  bool operator==(const ValueSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::ModeWord{}, self.mode);
  }
};

struct RangeSettings {
  static constexpr std::string_view kType = "range";
  bool operator==(const RangeSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self&, Visit) {}
};

struct ListSettings {
  static constexpr std::string_view kType = "list";
  std::uint32_t entries_max = 1;
  Base base = attribute::BaseNumber::kDefault;
  bool operator==(const ListSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::EntriesMax{}, self.entries_max);
    visit(attribute::BaseNumber{}, self.base);
  }
};

struct ArraySettings {
  static constexpr std::string_view kType = "array";
  std::uint64_t base_interval = 1;
  Scale scale = Scale::kLin;
  bool operator==(const ArraySettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::BaseInterval{}, self.base_interval);
    visit(attribute::ScaleWord{}, self.scale);
  }
};

struct HistorySettings {
  static constexpr std::string_view kType = "history";
  static constexpr std::uint8_t kNoPrecision = 0xff;
  std::uint32_t entries_max = 1;
  Mode mode = Mode::kIncrements;
  std::uint8_t precision = kNoPrecision;  // of mode=quantiles only
  std::chrono::microseconds period{1};
  QuantileList quantiles{};  // the same
  bool operator==(const HistorySettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::EntriesMax{}, self.entries_max);
    visit(attribute::ModeWord{}, self.mode);
    visit(attribute::Period{}, self.period);
    if (self.mode != Mode::kQuantiles) return;
    visit(attribute::Precision{}, self.precision);
    visit(attribute::Quantiles{}, self.quantiles);
  }
};

struct RawSettings {
  static constexpr std::string_view kType = "raw";
  std::uint32_t entries_max = 1;
  bool operator==(const RawSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::EntriesMax{}, self.entries_max);
  }
};

struct QuantilesSettings {
  static constexpr std::string_view kType = "quantiles";
  std::uint8_t precision = 0;  // at most kPrecisionMax
  QuantileList quantiles{};
  bool operator==(const QuantilesSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self& self, Visit visit) {
    visit(attribute::Precision{}, self.precision);
    visit(attribute::Quantiles{}, self.quantiles);
  }
};

struct LastSettings {
  static constexpr std::string_view kType = "last";
  bool operator==(const LastSettings&) const = default;

  template <typename Self, typename Visit>
  static void each_attribute(Self&, Visit) {}
};

// The list of types, and its owner: the type of a statistic is the alternative that is held. A new
// type is a line here, its settings above, its name in core/base/statistic_types.h, and a file pair
// of core/statistics/types with its class. What must know of it does not compile before that, or
// fails a test that goes by this list (tests/unit/statistics_interface/types_test.cpp: man page,
// documents, fuzz targets, clients).
using Settings = std::variant<ValueSettings, RangeSettings, ListSettings, ArraySettings,
                              HistorySettings, RawSettings, QuantilesSettings, LastSettings>;
static_assert(has_each_type(static_cast<const Settings*>(nullptr)));

// Calls visit.operator()<S>() for the settings of each type, in the order of the list.
template <typename Visit>
void each_type(Visit visit) {
  [&]<typename... S>(const std::variant<S...>*) {
    (visit.template operator()<S>(), ...);
  }(static_cast<const Settings*>(nullptr));
}

struct Definition {
  std::int64_t range_min = std::numeric_limits<std::int64_t>::min();
  std::int64_t range_max = std::numeric_limits<std::int64_t>::max();
  // Decimals lie in what the settings leave of their last word: a statistic without them takes not
  // a byte more.
  [[no_unique_address]] Settings settings;
  std::uint8_t decimals = 0;  // X, range and base_interval are integers of so many decimal places
  std::string units;

  bool operator==(const Definition&) const = default;
  bool has_full_range() const {
    return range_min == std::numeric_limits<std::int64_t>::min() &&
           range_max == std::numeric_limits<std::int64_t>::max();
  }
};

// That takes X, as it is kept, to the base unit of its units.
inline UnitFactor factor_of_x(const Definition& definition) {
  return with_decimals(unit_of_x(definition.units).factor, definition.decimals);
}

// Whether data gathered under `before` means nothing any more under `after`: a changed type,
// decimals or type-specific attribute, and for an array a changed range, which moves its bounds.
// Buckets of percentiles are those of the base unit that the units name, and move with it. Which
// percentiles type=quantiles shows, and in which base a list shows X, is no matter of its data.
bool discards_data(const Definition& before, const Definition& after);

// The words of a line of the definition file beyond the definition.
struct LineState {
  std::string_view of{};  // the source of a view
  bool on = false;
  std::uint64_t hits_out_of_range = 0;
  std::optional<std::uint64_t> hits_missed = std::nullopt;  // of types that can miss samples
  std::chrono::nanoseconds data{0};
  std::chrono::nanoseconds started{0};
  std::chrono::nanoseconds stopped{0};
  std::string_view help{};  // what it is, for people, with escapes as in URLs; "": not said
};

// No line is shorter than this, and than the name and the units that come on top.
inline constexpr std::string_view kShortestDefinitionLine =
    "name= on=0 type=last range_min=0 range_max=0 hits_out_of_range=0 data=[0.000000] "
    "started=[0.000000] stopped=[0.000000] units=\n";

// One line of the definition file, with its newline.
void append_line(std::string& out, std::string_view name, const Definition& definition,
                 const LineState& state);
// Writes the line as members of a JSON object: keys and order are those of the line. Times are
// integers in microseconds, and their keys end in `_us`.
void write_members(JsonWriter& json, std::string_view name, const Definition& definition,
                   const LineState& state);
// As a line has a bound of the range: a decimal, but the end of 64 bits is a whole number, which
// means that there is none.
std::string bound_text(std::int64_t bound, unsigned decimals);
// The definition alone, so that parse_new_statistic() gives it back: what is saved.
void append_definition(std::string& out, const Definition& definition);

}  // namespace tallyfs::statistics
