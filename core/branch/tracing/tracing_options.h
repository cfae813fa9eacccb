// options/ and trace_options: the kernel's names for how a trace is taken and shown. Few of them
// can be changed here; the others say how it is, take that, and refuse the opposite.
//
// As TracingFile.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/branch/tracing/tracing_files.h"

namespace tallyfs {

struct TraceOption {
  std::string_view name;
  bool is_on = false;  // as it always is, unless it can be changed
  // nullptr: it cannot.
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

// options/NAME, which is read and written as 0 or 1, or trace_options, which has a line for each,
// with a `no` before it if it is off, and takes those words.
class OptionFile final : public TracingFile {
 public:
  // option: nullptr for trace_options; else one of kTraceOptions.
  OptionFile(TracingShared state, Tracing::State::Instance instance, const TraceOption* option)
      : TracingFile(std::move(state), std::move(instance)), option_(option) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  bool waits() const override { return false; }
  Result<void> write_line(std::string_view text, const CallContext& call) override;

 private:
  enum class Switch { kOff, kOn };
  Result<void> set(const TraceOption& option, Switch to, const CallContext& call);
  Result<void> write_word(std::string_view word, const CallContext& call);

  const TraceOption* const option_;
};

}  // namespace tallyfs
