#include "core/branch/tracing/trace_options.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {
namespace {

using Values = std::array<bool, kTraceOptions.size()>;

Values values_of(TracingInstance& instance) {
  Values values{};
  std::ranges::transform(kTraceOptions, values.begin(),
                         [&](const TraceOption& option) { return option.value(instance); });
  return values;
}

std::string values_text(const Values& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text.append(values[i] ? "" : "no").append(kTraceOptions[i].name).append("\n");
  }
  return text;
}

Result<void> set(const InstanceView& view, const TraceOption& option, bool on,
                 const CallContext& call) {
  if (!option.setting && on != option.is_on) {
    return Error{ErrorCode::kInvalid,
                 std::string(option.name) + " is always " + (option.is_on ? "on" : "off") + " here",
                 0};
  }
  return view.change_always(call, [&](TracingInstance& instance) {
    if (option.setting) instance.*option.setting = on;
  });
}

const TraceOption* find(std::string_view name) {
  const auto* const found = std::ranges::find(kTraceOptions, name, &TraceOption::name);
  return found == kTraceOptions.end() ? nullptr : found;
}

}  // namespace

TextFile::Parts option_file(const SharedView& view, const TraceOption& option) {
  const TraceOption* const its = &option;  // one of kTraceOptions, which last
  TextFile::Parts parts = shown(
      view, Waits::kNo, [its](TracingInstance& instance) { return its->value(instance); },
      switch_text);
  parts.write_line = [view, its](std::string_view text, const CallContext& call) -> Result<void> {
    text = trimmed(text);
    if (text != "0" && text != "1") return invalid_write("must be 0 or 1");
    return set(*view, *its, text == "1", call);
  };
  return parts;
}

TextFile::Parts trace_options_file(const SharedView& view) {
  TextFile::Parts parts = shown(view, Waits::kNo, values_of, values_text);
  parts.write_line = [view](std::string_view text, const CallContext& call) -> Result<void> {
    const std::string_view word = trimmed(text);
    if (const TraceOption* const on = find(word)) return set(*view, *on, true, call);
    const TraceOption* const off = word.starts_with("no") ? find(word.substr(2)) : nullptr;
    if (off) return set(*view, *off, false, call);
    return invalid_write("not an option; options/ has them all");
  };
  return parts;
}

}  // namespace tallyfs
