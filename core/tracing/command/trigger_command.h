// A command that was written into events/SYSTEM/EVENT/trigger, split into its parts:
// `[!]NAME:PARAMETERS if FILTER`. The parts are views of the text that was written.
// Values, without threads.
#pragma once

#include <string_view>

#include "core/tracing/command/faults.h"
#include "core/tracing/command/trigger_line.h"

namespace tallyfs::tracing {

struct TriggerCommand {
  bool remove = false;  // the command began with '!'
  TriggerKind kind = TriggerKind::kHist;
  std::string_view parameters;  // behind the first colon, without the filter
  std::string_view filter;      // empty: there is none
  std::string_view rest;        // behind the first colon, the filter included

  static Checked<TriggerCommand> parse(std::string_view text);
};

}  // namespace tallyfs::tracing
