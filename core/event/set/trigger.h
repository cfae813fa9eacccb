// A trigger that is set on an event: what it does, for which records, and how often still.
// Confined to its EventSet's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/event/command/faults.h"
#include "core/event/filter/filter.h"
#include "core/event/hist/hist_plan.h"

namespace tallyfs {

enum class TriggerKind : std::uint8_t {
  kHist,
  kTraceOn,
  kTraceOff,
  kStacktrace,
  kSnapshot,
  kEnableEvent,
  kDisableEvent,
  kEnableHist,
  kDisableHist,
};

// "hist", "enable_event".
std::string_view name_of(TriggerKind kind);
// Those that name another event.
bool has_target(TriggerKind kind);

struct Trigger {
  static constexpr std::int64_t kUnlimited = -1;

  TriggerKind kind = TriggerKind::kHist;
  EventNumber event = 0;
  std::string filter_text;
  std::optional<Filter> filter = {};
  std::int64_t left = kUnlimited;  // how often it still does it
  // has_target()
  EventNumber target = 0;
  std::string target_name;  // "sched:sched_switch"
  // kHist
  std::string name;
  std::shared_ptr<const HistPlan> plan;  // shared with copies that are being rendered
  std::shared_ptr<HistTable> table;      // shared by triggers of one name; the last one frees it
  bool paused = false;
  const Trigger* owner = nullptr;  // of a hidden one: who needs its variable

  // Its line in the trigger file.
  std::string text() const;
};

// A command taken apart: `NAME:PARAMETERS if FILTER`. Views of the text.
struct TriggerCommand {
  bool remove = false;  // it began with '!'
  TriggerKind kind = TriggerKind::kHist;
  std::string_view parameters;  // behind the first colon, without the filter
  std::string_view filter;      // empty: there is none
  std::string_view rest;        // behind the first colon, the filter included

  static Checked<TriggerCommand> parse(std::string_view text);
};

}  // namespace tallyfs
