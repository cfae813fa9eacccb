// options/ and trace_options: the kernel's options for taking and showing a trace. Some have an
// effect here; docs/tracing-options.md lists them. The others keep what was written and change
// nothing, so that scripts can save and restore them.
// Values; the table is immutable.
#pragma once

#include <array>
#include <string_view>

#include "core/tracing/branch/instance_files.h"

namespace tallyfs::tracing {

struct TraceOption {
  // Makes a change, except for the change of `setting`. kInvalid, with the reason.
  using Apply = Result<void> (*)(EventSet& set, bool on);

  std::string_view name;
  bool is_on_first = false;
  // nullptr: only TracingInstance::changed_options has the value.
  bool TracingInstance::*setting = nullptr;
  Apply apply = nullptr;
};

// options/NAME of an option of the table, which is read and written as 0 or 1.
TextFile::Parts option_file(const SharedView& view, const TraceOption& option);
// trace_options: a line for each option, with `no` before its name if it is off; takes those words.
TextFile::Parts trace_options_file(const SharedView& view);
// All, by name.
std::span<const TraceOption> trace_options();
// nullptr: there is none of that name.
const TraceOption* find_trace_option(std::string_view name);
bool is_trace_option_on(const TracingInstance& instance, const TraceOption& option);
// Fails as TraceOption::apply does.
Result<void> set_trace_option(TracingInstance& instance, const TraceOption& option, bool on);

}  // namespace tallyfs::tracing
