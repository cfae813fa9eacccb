#include "core/branch/tracing/tracing_options.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {

Result<std::string> OptionFile::render(const CallContext& call, std::size_t bytes_max) const {
  return show(call.now, bytes_max, [this](const EventSet&) {
    if (option_) return std::string(option_->value(instance()) ? "1\n" : "0\n");
    std::string text;
    for (const TraceOption& option : kTraceOptions) {
      text.append(option.value(instance()) ? "" : "no").append(option.name).append("\n");
    }
    return text;
  });
}

Result<void> OptionFile::set(const TraceOption& option, Switch to, const CallContext& call) {
  const bool on = to == Switch::kOn;
  if (!option.setting && on != option.is_on) {
    return Error{ErrorCode::kInvalid,
                 std::string(option.name) + " is always " + (option.is_on ? "on" : "off") + " here",
                 0};
  }
  return state().change(instance(), call, [&](EventSet&) -> Result<void> {
    if (option.setting) instance().*option.setting = on;
    return {};
  });
}

Result<void> OptionFile::write_word(std::string_view word, const CallContext& call) {
  const auto find = [](std::string_view name) {
    return std::ranges::find(kTraceOptions, name, &TraceOption::name);
  };
  if (const auto* const on = find(word); on != kTraceOptions.end()) {
    return set(*on, Switch::kOn, call);
  }
  const auto* const off = word.starts_with("no") ? find(word.substr(2)) : kTraceOptions.end();
  if (off != kTraceOptions.end()) return set(*off, Switch::kOff, call);
  return Error{ErrorCode::kInvalid, "not an option; options/ has them all", 0};
}

Result<void> OptionFile::write_line(std::string_view text, const CallContext& call) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  if (!option_) return write_word(text, call);
  if (text != "0" && text != "1") return Error{ErrorCode::kInvalid, "must be 0 or 1", 0};
  return set(*option_, text == "1" ? Switch::kOn : Switch::kOff, call);
}

}  // namespace tallyfs
