// How one statistic counts and shows its samples: its line of the definition file without the name,
// the state and the time stamps. Plain values, without threads; the grammar of the line is in
// GRAMMAR.md, reading one in change.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace tallyfs {

inline constexpr std::uint32_t kEntriesMaxBound = 1'048'576;
inline constexpr std::uint64_t kIntervalsBound = 65'536;
inline constexpr std::chrono::microseconds kPeriodMin{1};
// A hundred years: the end of a period, reckoned from any time since boot, fits into 63 bits of
// nanoseconds, so that no later computation overflows.
inline constexpr std::chrono::microseconds kPeriodMax = std::chrono::hours(100 * 365 * 24);

enum class Mode : std::uint8_t { kIncrements, kProducts, kRange };
enum class Scale : std::uint8_t { kLin, kLog2 };

struct ValueSettings {
  static constexpr std::string_view kType = "value";
  Mode mode = Mode::kIncrements;  // not kRange
  bool operator==(const ValueSettings&) const = default;
};

struct RangeSettings {
  static constexpr std::string_view kType = "range";
  bool operator==(const RangeSettings&) const = default;
};

struct ListSettings {
  static constexpr std::string_view kType = "list";
  std::uint32_t entries_max = 1;
  bool operator==(const ListSettings&) const = default;
};

struct ArraySettings {
  static constexpr std::string_view kType = "array";
  std::uint64_t base_interval = 1;
  Scale scale = Scale::kLin;
  bool operator==(const ArraySettings&) const = default;
};

struct HistorySettings {
  static constexpr std::string_view kType = "history";
  std::uint32_t entries_max = 1;
  Mode mode = Mode::kIncrements;
  std::chrono::microseconds period{1};
  bool operator==(const HistorySettings&) const = default;
};

struct RawSettings {
  static constexpr std::string_view kType = "raw";
  std::uint32_t entries_max = 1;
  bool operator==(const RawSettings&) const = default;
};

// The type of a statistic is the alternative that is held.
using Settings = std::variant<ValueSettings, RangeSettings, ListSettings, ArraySettings,
                              HistorySettings, RawSettings>;

struct Definition {
  std::int64_t range_min = std::numeric_limits<std::int64_t>::min();
  std::int64_t range_max = std::numeric_limits<std::int64_t>::max();
  Settings settings;
  std::string units;

  bool operator==(const Definition&) const = default;
  bool has_full_range() const {
    return range_min == std::numeric_limits<std::int64_t>::min() &&
           range_max == std::numeric_limits<std::int64_t>::max();
  }
};

// Whether data gathered under `before` means nothing any more under `after`: a changed type or
// type-specific attribute, and for an array a changed range, which moves its bounds.
bool discards_data(const Definition& before, const Definition& after);

// What a line of the definition file says beyond the definition.
struct LineState {
  bool on = false;
  std::uint64_t hits_out_of_range = 0;
  std::uint64_t hits_missed = 0;  // printed for a list only
  std::chrono::nanoseconds data{0};
  std::chrono::nanoseconds started{0};
  std::chrono::nanoseconds stopped{0};
};

// No line is shorter than this, and than the name and the units that come on top.
inline constexpr std::string_view kShortestDefinitionLine =
    "name= on=0 type=range range_min=0 range_max=0 hits_out_of_range=0 data=[0.000000] "
    "started=[0.000000] stopped=[0.000000] units=\n";

// One line of the definition file, with its newline.
void append_line(std::string& out, std::string_view name, const Definition& definition,
                 const LineState& state);
// The definition alone, so that parse_new_statistic() gives it back: what is saved.
void append_definition(std::string& out, const Definition& definition);

}  // namespace tallyfs
