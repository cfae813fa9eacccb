#include "core/branch/tracing/tracing_files.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/branch/tracing/tracing_readme.h"
#include "core/event/command/command_text.h"
#include "core/event/hist/hist_command.h"

namespace tallyfs {
namespace {

Error invalid(const char* reason) { return {ErrorCode::kInvalid, reason, 0}; }

// Of a file of several commands: one line each, up to a '#'.
std::string_view next_command(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(line.substr(0, line.find('#')));
}

// The synthetic event that `!NAME ...` or `-:[synthetic/]NAME` removes.
std::string_view removed_by(std::string_view command) {
  if (!command.starts_with('!') && !command.starts_with("-:")) return {};
  command.remove_prefix(command.starts_with('!') ? 1 : 2);
  constexpr std::string_view kGroup = "synthetic/";
  if (command.starts_with(kGroup)) command.remove_prefix(kGroup.size());
  const auto name = Tokens(command).next();
  return name ? name->text : std::string_view();
}

std::string clocks_text(std::string_view chosen) {
  std::string text;
  for (const std::string_view clock : kTraceClocks) {
    text.append(text.empty() ? "" : " ");
    text.append(clock == chosen ? "[" + std::string(clock) + "]" : std::string(clock));
  }
  return text + "\n";
}

std::string switch_text(bool on) { return on ? "1\n" : "0\n"; }

}  // namespace

std::optional<std::uint64_t> TracingFile::version(Moment) const {
  const MutexLock lock(state_->mutex);
  return instance_->changes;
}

Moment TracingFile::last_change(Moment) const {
  const MutexLock lock(state_->mutex);
  return instance_->last_change;
}

Result<std::shared_ptr<const void>> TracingFile::hold() const {
  const MutexLock lock(state_->mutex);
  if (instance_->removed) return removed_instance();
  return instance_->open_mark;
}

Result<TracingFile::CopiedTrace> TracingFile::copy_trace(Moment now) const {
  return copy(now, &EventSet::trace_kept_bytes, &EventSet::copy_trace);
}

Result<TracingFile::CopiedTrace> TracingFile::copy_snapshot(Moment now) const {
  return copy(now, &EventSet::snapshot_kept_bytes, &EventSet::copy_snapshot);
}

Result<TracingFile::CopiedTrace> TracingFile::copy(Moment now, KeptBytes kept_bytes,
                                                   Copy copied) const {
  const MutexLock lock(state_->mutex);
  state_->release_drained(now);
  auto share = state_->reserve_reading((instance_->set.*kept_bytes)());
  if (!share) return share.error();
  return CopiedTrace{.share = std::move(share.value()), .copy = (instance_->set.*copied)()};
}

Error TracingFile::too_long() { return {ErrorCode::kNoSpace, "a text too long to be opened"}; }

Result<std::string> TracingFile::bounded(std::string text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return too_long();
  return text;
}

Result<std::string> SetFile::render(const CallContext& call, std::size_t bytes_max) const {
  switch (kind_) {
    case Kind::kReadme:
      return bounded(std::string(kTracingReadme), bytes_max);
    case Kind::kAvailableEvents:
      return show(call.now, bytes_max,
                  [](const EventSet& set) { return set.render_available_events(); });
    case Kind::kAvailableTracers:
    case Kind::kCurrentTracer:
      return bounded("nop\n", bytes_max);
    case Kind::kSetEvent:
      return show(call.now, bytes_max, [](const EventSet& set) { return set.render_set_event(); });
    case Kind::kSetEventPid:
      return show(call.now, bytes_max,
                  [](const EventSet& set) { return set.render_set_event_pid(); });
    case Kind::kTracingOn:
      return show(call.now, bytes_max,
                  [](const EventSet& set) { return switch_text(set.tracing_on()); });
    case Kind::kTrace:
    case Kind::kSnapshot:
      return render_trace(call, bytes_max);
    case Kind::kTraceMarker:
      return std::string();
    case Kind::kTraceClock:
      return show(call.now, bytes_max,
                  [this](const EventSet&) { return clocks_text(instance().clock); });
    case Kind::kSyntheticEvents:
      return show(call.now, bytes_max,
                  [](const EventSet& set) { return set.render_synthetic_events(); });
    case Kind::kDynamicEvents:
      return show(call.now, bytes_max,
                  [](const EventSet& set) { return set.render_dynamic_events(); });
  }
  return std::string();
}

Result<std::string> SetFile::render_trace(const CallContext& call, std::size_t bytes_max) const {
  const auto copied = kind_ == Kind::kTrace ? copy_trace(call.now) : copy_snapshot(call.now);
  if (!copied) return copied.error();
  std::string text = copied.value().copy.render(
      state().symbols(call.cancel), {.cpus = state().options.cpus, .fields = shows_fields()});
  const std::string lost = state().lost_line(instance());
  // Behind the two lines that every trace begins with.
  constexpr std::string_view kHead = "# tracer: nop\n#\n";
  if (!lost.empty() && text.starts_with(kHead)) text.insert(kHead.size(), lost);
  return bounded(std::move(text), bytes_max);
}

bool SetFile::waits() const {
  return kind_ == Kind::kTrace || kind_ == Kind::kSnapshot || kind_ == Kind::kTracingOn;
}

Result<void> SetFile::write_by(pid_t writer, std::string_view text, const CallContext& call) {
  if (kind_ != Kind::kTraceMarker) return write_line(text, call);
  text = text.substr(0, kMarkerBytesMax);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return state().mark(instance(), text, writer, call.now);
}

Result<void> SetFile::write_line(std::string_view text, const CallContext& call) {
  const std::string_view word = trimmed(text);
  switch (kind_) {
    case Kind::kReadme:
    case Kind::kAvailableEvents:
    case Kind::kAvailableTracers:
      return File::write_line(text, call);
    case Kind::kCurrentTracer:
      if (word == "nop") return {};
      return invalid("there is no tracer but nop");
    case Kind::kSetEvent:
      return write_set_event(word, call);
    case Kind::kSetEventPid:
      return state().change(instance(), call,
                            [&](EventSet& set) { return set.write_set_event_pid(word); });
    case Kind::kTracingOn:
      return write_switch(word, call);
    case Kind::kTrace:
      return {};  // it is the opening with O_TRUNC that clears
    case Kind::kTraceMarker:
      return write_by(0, text, call);
    case Kind::kTraceClock:
      return write_clock(word, call);
    case Kind::kSnapshot:
      return write_snapshot(word, call);
    case Kind::kSyntheticEvents:
    case Kind::kDynamicEvents:
      return write_synthetic(text, call);
  }
  return {};
}

Result<void> SetFile::write_set_event(std::string_view text, const CallContext& call) {
  std::vector<EventNumber> before;
  auto done = state().change(
      instance(), call,
      [&](EventSet& set) {
        before = set.enabled_events();
        return set.write_set_event(text);
      },
      [&](EventSet& set) { set.restore_enabled(before); });
  if (!done && done.error().reason == fault::kNoSuchEvent && !state().has_kernel_events()) {
    Error error = done.error();
    error.reason.append(" (the kernel's are there with tallyfs -o tracefs)");
    return error;
  }
  return done;
}

Result<void> SetFile::write_switch(std::string_view text, const CallContext& call) {
  const auto number = parse_unsigned(text);
  if (!number) return invalid("a number is wanted: 0 is off, all others are on");
  return state().change(instance(), call, [&](EventSet& set) -> Result<void> {
    if (*number != 0) {
      set.start_tracing();
    } else {
      set.stop_tracing();
    }
    return {};
  });
}

Result<void> SetFile::write_clock(std::string_view text, const CallContext& call) {
  if (std::ranges::find(kTraceClocks, text) == kTraceClocks.end()) {
    return invalid("all times here are CLOCK_MONOTONIC: local, global, mono or perf");
  }
  return state().change(instance(), call, [&](EventSet& set) -> Result<void> {
    instance().clock = text;
    set.clear_trace();  // as the kernel does
    return {};
  });
}

Result<void> SetFile::write_snapshot(std::string_view text, const CallContext& call) {
  const auto number = parse_unsigned(text);
  if (!number) return invalid("a number is wanted: 0 frees it, 1 takes one, others clear it");
  return state().change(instance(), call, [&](EventSet& set) -> Result<void> {
    if (*number == 0) {
      set.free_snapshot();
    } else if (*number == 1) {
      set.take_snapshot();
    } else {
      set.clear_snapshot();
    }
    return {};
  });
}

Result<void> SetFile::write_synthetic(std::string_view text, const CallContext& call) {
  const std::string whole = joined_lines(text);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view command = next_command(rest);
    if (command.empty()) continue;
    const auto write = [&](EventSet& set) {
      return kind_ == Kind::kSyntheticEvents ? set.write_synthetic_events(command)
                                             : set.write_dynamic_events(command);
    };
    if (auto done = state().change_synthetic(write, removed_by(command), call.now); !done)
      return done;
  }
  return {};
}

Result<void> SetFile::truncate(const CallContext& call) {
  const auto clear = [&](void (EventSet::*what)()) {
    return state().change(instance(), call, [what](EventSet& set) -> Result<void> {
      (set.*what)();
      return {};
    });
  };
  switch (kind_) {
    case Kind::kTrace:
      return state().change(instance(), call, [this](EventSet& set) -> Result<void> {
        set.clear_trace();
        instance().lost = 0;
        return {};
      });
    case Kind::kSetEvent:
      return clear(&EventSet::truncate_set_event);
    case Kind::kSetEventPid:
      return clear(&EventSet::truncate_set_event_pid);
    case Kind::kSyntheticEvents:
    case Kind::kDynamicEvents:
      return state().change_synthetic([](EventSet& set) { return set.truncate_synthetic_events(); },
                                      "*", call.now);
    case Kind::kReadme:
    case Kind::kAvailableEvents:
    case Kind::kAvailableTracers:
    case Kind::kCurrentTracer:
    case Kind::kTracingOn:
    case Kind::kTraceMarker:
    case Kind::kTraceClock:
    case Kind::kSnapshot:
      return {};
  }
  return {};
}

Result<std::string> SystemFile::render(const CallContext& call, std::size_t bytes_max) const {
  return show(call.now, bytes_max, [this](const EventSet& set) {
    return kind_ == Kind::kEnable ? set.render_enable(system_) : set.render_system_filter(system_);
  });
}

bool SystemFile::waits() const { return kind_ == Kind::kEnable; }

Result<void> SystemFile::write_line(std::string_view text, const CallContext& call) {
  if (kind_ == Kind::kFilter) {
    return state().change(instance(), call,
                          [&](EventSet& set) { return set.write_filter(system_, text); });
  }
  std::vector<EventNumber> before;
  return state().change(
      instance(), call,
      [&](EventSet& set) {
        before = set.enabled_events();
        return set.write_enable(system_, text);
      },
      [&](EventSet& set) { set.restore_enabled(before); });
}

}  // namespace tallyfs
