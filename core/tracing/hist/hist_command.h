// A hist command split into the parts between its colons and its actions (TRIGGERS.md). Its names
// are not looked up yet. The parts are views of the command's text, which must outlive it.
// Values, without threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {

// The values of `clock=` and trace_clock. All records carry CLOCK_MONOTONIC, so no value changes
// their order or their unit.
inline constexpr std::array<std::string_view, 4> kTraceClocks = {"local", "global", "mono", "perf"};

enum class Handler : std::uint8_t { kOnMatch, kOnMax, kOnChange };
enum class ActionKind : std::uint8_t { kTrace, kSave, kSnapshot };

struct ActionCommand {
  Handler handler = Handler::kOnMatch;
  std::string_view matched;  // of onmatch: "sched.sched_waking"
  std::string_view tracked;  // of the others: "$wakeup_lat"
  ActionKind kind = ActionKind::kTrace;
  bool trace_keyword = false;  // trace(synth,...), not synth(...)
  std::string_view synthetic;  // of kTrace
  std::vector<std::string_view> params;

  std::string_view system() const { return matched.substr(0, matched.find('.')); }
  std::string_view event() const { return matched.substr(matched.find('.') + 1); }
  // The action as `trigger` shows it, without the colon before it.
  std::string text() const;
};

struct HistCommand {
  static constexpr std::size_t kVariablesMax = 16;
  static constexpr std::size_t kActionsMax = 8;
  static constexpr std::size_t kParamsMax = 64;
  static constexpr std::uint32_t kEntriesMax = 131'072;

  struct Variable {
    std::string_view name;
    std::string_view expression;
  };
  std::string_view keys;    // behind keys=
  std::string_view values;  // behind vals=; empty: hitcount alone
  std::string_view sort;
  std::string_view name;
  std::string_view clock = "global";
  std::vector<Variable> variables;
  std::vector<ActionCommand> actions;
  std::uint32_t entries_max = 2048;
  std::uint64_t limit = 0;      // 0: all entries are shown
  std::uint64_t expiry_ns = 0;  // 0: variables keep their values until they are read
  bool pause = false, resume = false, clear = false, no_hitcount = false;

  // text: the part behind `hist:`, without the filter.
  static Checked<HistCommand> parse(std::string_view text);
};

}  // namespace tallyfs::tracing
