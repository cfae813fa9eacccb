// The line that shows a trigger in events/SYSTEM/EVENT/trigger. Its parts are copied under the lock
// of the EventSet; the text is made of them outside of that lock.
// Values, without threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tallyfs::tracing {

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
  std::int64_t left = kUnlimited;  // how many more times the trigger acts
  std::string target_name;         // has_target(): "sched:sched_switch"
  // kHist
  std::string name;                              // of a named histogram
  std::shared_ptr<const std::string> hist_text;  // part of the plan, and keeps it alive
  bool paused = false;

  // The line, with its newline.
  std::string text() const;
};

}  // namespace tallyfs::tracing
