// options/ and trace_options: the kernel's options for taking and showing a trace. Few options can
// be changed here; the others have a fixed value, and a write of the opposite is refused.
// Values; the table is immutable.
#pragma once

#include <array>
#include <string_view>

#include "core/branch/tracing/instance_files.h"

namespace tallyfs {

struct TraceOption {
  std::string_view name;
  bool is_on = false;  // the value, unless it can be changed
  // nullptr: it cannot be changed.
  bool TracingInstance::*setting = nullptr;

  bool value(const TracingInstance& instance) const { return setting ? instance.*setting : is_on; }
};

inline constexpr std::array kTraceOptions = {
    TraceOption{"annotate", true},
    TraceOption{"bin"},
    TraceOption{"block"},
    TraceOption{"context-info", true},
    TraceOption{"disable_on_free"},
    TraceOption{"event-fork"},
    TraceOption{"fields", false, &TracingInstance::shows_fields},
    TraceOption{"function-fork"},
    TraceOption{"hex"},
    TraceOption{"irq-info", true},
    TraceOption{"latency-format"},
    TraceOption{"markers", true, &TracingInstance::markers},
    TraceOption{"overwrite", true},
    TraceOption{"pause-on-trace"},
    TraceOption{"print-parent", true},
    TraceOption{"printk-msg-only"},
    TraceOption{"raw"},
    TraceOption{"record-cmd", true},
    TraceOption{"record-tgid"},
    TraceOption{"stacktrace"},
    TraceOption{"sym-addr"},
    TraceOption{"sym-offset"},
    TraceOption{"sym-userobj"},
    TraceOption{"trace_printk", true},
    TraceOption{"userstacktrace"},
    TraceOption{"verbose"},
};

// options/NAME, which is read and written as 0 or 1.
TextFile::Parts option_file(const SharedView& view, const TraceOption& option);
// trace_options: a line for each option, with `no` before its name if it is off; takes those words.
TextFile::Parts trace_options_file(const SharedView& view);

}  // namespace tallyfs
