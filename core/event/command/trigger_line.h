// The line that shows a trigger in events/SYSTEM/EVENT/trigger: its parts, copied under the lock of
// the EventSet, and the text made of them outside of it.
// Values, without threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
// Whether triggers of this kind name another event.
bool has_target(TriggerKind kind);

struct TriggerLine {
  static constexpr std::int64_t kUnlimited = -1;

  TriggerKind kind = TriggerKind::kHist;
  std::string filter_text;
  std::int64_t left = kUnlimited;  // how many times the trigger still acts
  std::string target_name;         // has_target(): "sched:sched_switch"
  // kHist
  std::string name;                              // of a named histogram
  std::shared_ptr<const std::string> hist_text;  // part of the plan, which lives as long
  bool paused = false;

  // With its newline.
  std::string text() const;
};

}  // namespace tallyfs
