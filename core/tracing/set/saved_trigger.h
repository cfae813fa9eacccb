// A trigger as it outlives the daemon (core/state/FORMAT.md, kind 10): as it was written, and what
// has changed since. The entries of a histogram are saved beside it (core/tracing/hist/
// hist_contents.h).
//
// Values. Reading checks lengths and ranges; TriggerCommands::restore() checks the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/tracing/command/trigger_line.h"
#include "core/tracing/hist/hist_command.h"

namespace tallyfs::tracing {

struct SavedTrigger {
  // Serial numbers count up from 1; a daemon that lives for centuries does not come near it.
  static constexpr std::uint64_t kSerialMax = std::uint64_t{1} << 62;
  static constexpr std::int64_t kLeftMax = 0x7fffffff;
  // One for each parameter of its actions at most.
  static constexpr std::size_t kHiddenMax = HistCommand::kActionsMax * HistCommand::kParamsMax;

  std::uint64_t serial = 0;  // Trigger::serial
  std::string system, event;
  TriggerKind kind = TriggerKind::kHist;
  std::string parameters;  // of kHist: as they were written; else the target
  std::string filter;
  std::int64_t left = TriggerLine::kUnlimited;
  bool paused = false;
  // These are of the histogram, which may have come with an earlier trigger of its name.
  std::uint32_t entries_max = 0;
  std::uint64_t expiry_ns = 0;
  // The hidden histograms that belong to the trigger, in the order in which they were made.
  std::vector<SavedTrigger> hidden;

  // The least serial number: those of hidden histograms precede that of their trigger.
  std::uint64_t first_serial() const { return hidden.empty() ? serial : hidden.front().serial; }

  void save(ByteWriter& out) const;
  // Fails the reader on what save() does not write.
  static SavedTrigger load(ByteReader& in);

 private:
  void save_one(ByteWriter& out) const;
  static SavedTrigger load_one(ByteReader& in);
};

}  // namespace tallyfs::tracing
