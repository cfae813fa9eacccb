#include "core/tracing/branch/trace_options.h"

#include <algorithm>
#include <bitset>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

Result<void> apply_event_fork(EventSet& set, bool on) { return set.follower.set_on(on); }

Result<void> apply_overwrite(EventSet& set, bool on) {
  set.trace.set_overwrites(on);
  return {};
}

constexpr std::array kOptions = {
    TraceOption{"annotate", true},
    TraceOption{"bin"},
    TraceOption{"block"},
    TraceOption{"context-info", true, &TracingInstance::shows_context},
    TraceOption{"disable_on_free", false, &TracingInstance::stops_when_freed},
    TraceOption{"event-fork", false, nullptr, apply_event_fork},
    TraceOption{"fields", false, &TracingInstance::shows_fields},
    TraceOption{"function-fork"},
    TraceOption{"function-trace", true},
    TraceOption{"hash-ptr", true, &TracingInstance::hashes_pointers},
    TraceOption{"hex"},
    TraceOption{"irq-info", true, &TracingInstance::shows_irq_info},
    TraceOption{"latency-format"},
    TraceOption{"markers", true, &TracingInstance::markers},
    TraceOption{"overwrite", true, nullptr, apply_overwrite},
    TraceOption{"pause-on-trace", false, &TracingInstance::pauses_on_trace},
    TraceOption{"print-parent", true},
    TraceOption{"printk-msg-only"},
    TraceOption{"raw"},
    TraceOption{"record-cmd", true},
    TraceOption{"record-tgid", false, &TracingInstance::records_groups},
    TraceOption{"stacktrace"},
    TraceOption{"sym-addr"},
    TraceOption{"sym-offset"},
    TraceOption{"sym-userobj"},
    TraceOption{"trace_printk", true},
    TraceOption{"userstacktrace"},
    TraceOption{"verbose"},
};
using Values = std::bitset<kOptions.size()>;
static_assert(kOptions.size() <= 64, "TracingInstance::changed_options has a bit for each");

std::size_t index_of(const TraceOption& option) {
  return static_cast<std::size_t>(&option - kOptions.data());
}

void store(TracingInstance& instance, const TraceOption& option, bool on) {
  if (option.setting) {
    instance.*option.setting = on;
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << index_of(option);
  instance.changed_options &= ~bit;
  if (on != option.is_on_first) instance.changed_options |= bit;
}

Values values_of(TracingInstance& instance) {
  Values values;
  for (const TraceOption& option : kOptions) {
    values.set(index_of(option), is_trace_option_on(instance, option));
  }
  return values;
}

std::string values_text(const Values& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text.append(values[i] ? "" : "no").append(kOptions[i].name).append("\n");
  }
  return text;
}

Result<void> set(const InstanceAccess& view, const TraceOption& option, bool on,
                 const CallContext& call) {
  bool before = false;
  return view.change(
      call,
      [&](EventSet&) {
        before = is_trace_option_on(view.instance(), option);
        return set_trace_option(view.instance(), option, on);
      },
      [&](EventSet&) { (void)set_trace_option(view.instance(), option, before); });
}

}  // namespace

std::span<const TraceOption> trace_options() { return kOptions; }

const TraceOption* find_trace_option(std::string_view name) {
  const auto* const found = std::ranges::find(kOptions, name, &TraceOption::name);
  return found == kOptions.end() ? nullptr : found;
}

bool is_trace_option_on(const TracingInstance& instance, const TraceOption& option) {
  if (option.setting) return instance.*option.setting;
  return option.is_on_first != ((instance.changed_options >> index_of(option) & 1) != 0);
}

Result<void> set_trace_option(TracingInstance& instance, const TraceOption& option, bool on) {
  if (option.apply) {
    if (auto applied = option.apply(instance.set, on); !applied) return applied;
  }
  store(instance, option, on);
  return {};
}

TextFile::Parts option_file(const SharedView& view, const TraceOption& option) {
  const TraceOption* const its = &option;  // one of kOptions, which last
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [its](TracingInstance& instance) { return is_trace_option_on(instance, *its); }, switch_text);
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
    if (const TraceOption* const on = find_trace_option(word)) return set(*view, *on, true, call);
    const TraceOption* const off =
        word.starts_with("no") ? find_trace_option(word.substr(2)) : nullptr;
    if (off) return set(*view, *off, false, call);
    return invalid_write("not an option; options/ has them all");
  };
  return parts;
}

}  // namespace tallyfs::tracing
