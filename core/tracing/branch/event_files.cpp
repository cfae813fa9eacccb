#include "core/tracing/branch/event_files.h"

#include "core/base/text.h"
#include "core/tracing/branch/source_symbols.h"
#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {
namespace {

Error kernels_event() {
  return {ErrorCode::kNotPermitted, std::string(fault::kKernelsEvent)};
}

NamedEvents::Scope scope_of(CallContext::Rights rights) {
  return rights == CallContext::Rights::kOwner ? NamedEvents::Scope::kAll
                                               : NamedEvents::Scope::kOfPrograms;
}

}  // namespace

template <typename Copy, typename Text>
Result<std::string> EventFile::show(Timestamp now, std::size_t bytes_max, const Copy& copy,
                                    const Text& text) const {
  using Copied = std::invoke_result_t<Copy, EventSet&, EventNumber>;
  return view_->show(
      now, bytes_max,
      [&](TracingInstance& instance) -> std::optional<Copied> {
        const auto number = find(instance.set);
        if (!number) return std::nullopt;
        return copy(instance.set, *number);
      },
      [&](const std::optional<Copied>& copied) { return copied ? text(*copied) : std::string(); });
}

Result<std::string> EventFile::render(const CallContext& call, std::size_t bytes_max) const {
  switch (kind_) {
    case Kind::kEnable:
      return show(
          call.now, bytes_max,
          [](EventSet& set, EventNumber event) { return set.switches.state(event); },
          [](const EnableState& state) { return state.text(); });
    case Kind::kFilter:
      return show(
          call.now, bytes_max,
          [](EventSet& set, EventNumber event) { return set.filters.state(event); },
          [](const FilterState& state) { return state.text(); });
    case Kind::kFormat:
      return show(
          call.now, bytes_max,
          [](EventSet& set, EventNumber event) { return set.events.format_text(event); },
          [](const std::shared_ptr<const std::string>& text) { return *text; });
    case Kind::kId:
      return show(
          call.now, bytes_max,
          [](EventSet& set, EventNumber event) { return set.events.format(event).id; },
          [](std::uint16_t id) { return std::to_string(id) + "\n"; });
    case Kind::kTrigger:
      return show(
          call.now, bytes_max,
          [](EventSet& set, EventNumber event) { return set.triggers.lines(event); },
          triggers_text);
    case Kind::kHist:
    case Kind::kHistJson:
      break;
  }
  return render_hist(call, bytes_max);
}

Result<SharedHistReading> EventFile::read_hist(Timestamp now) const {
  Tracing::State& state = view_->state();
  const MutexLock lock(state.mutex);
  state.order.release_drained(now);
  const auto number = find(view_->instance().set);
  if (!number) return SharedHistReading();
  return state.readings.hist(view_->instance(), *number);
}

Result<std::string> EventFile::render_hist(const CallContext& call, std::size_t bytes_max) const {
  const auto reading = read_hist(call.now);
  if (!reading) return reading.error();
  static const HistCopy kNothing;
  const HistCopy& copy = reading.value() ? reading.value()->copy : kNothing;
  // Checked before the copy is sorted.
  if (copy.text_bytes_min() > bytes_max) return InstanceAccess::too_long();
  const SourceSymbols symbols = view_->state().symbols(call.cancel);
  if (kind_ == Kind::kHist)
    return InstanceAccess::bounded(copy.render(symbols, bytes_max), bytes_max);
  const HistCopy::Shown shown{.now = call.now,
                              .serial = reading.value() ? reading.value()->serial : 0};
  return InstanceAccess::bounded(copy.render_json(symbols, shown, bytes_max), bytes_max);
}

std::optional<std::uint64_t> EventFile::news(Timestamp now) const {
  if (kind_ != Kind::kHist && kind_ != Kind::kHistJson) return std::nullopt;
  const MutexLock lock(view_->state().mutex);
  view_->state().order.release_old(now);
  const EventSet& set = view_->instance().set;
  const auto number = find(set);
  return number ? set.hists.hits(*number) : 0;
}

bool EventFile::waits() const {
  return kind_ == Kind::kHist || kind_ == Kind::kHistJson || kind_ == Kind::kEnable;
}

// An event of a program may have become one of the kernel since the file was opened.
bool EventFile::may_change(const EventSet& set, CallContext::Rights rights) const {
  const auto number = find(set);
  return rights == CallContext::Rights::kOwner || !number || set.events.is_of_a_program(*number);
}

Result<void> EventFile::write(EventSet& set, std::string_view text,
                              CallContext::Rights rights) const {
  const auto number = find(set);
  if (!number) {
    return Error{ErrorCode::kNotFound, std::string(fault::kNoSuchEvent)};
  }
  if (kind_ == Kind::kEnable) return set.switches.write(*number, text);
  if (!may_change(set, rights)) return kernels_event();
  if (kind_ == Kind::kFilter) return set.filters.write(*number, text);
  return set.commands.write(*number, text, scope_of(rights));
}

void EventFile::undo(EventSet& set, std::string_view text, const Before& before) const {
  const auto number = find(set);
  if (!number) return;
  switch (kind_) {
    case Kind::kEnable:
      (void)set.switches.write(*number, before.enable.on ? "1" : "0");
      return;
    case Kind::kFilter:
      (void)set.filters.write(*number, before.filter.filter.empty() ? "0" : before.filter.filter);
      return;
    case Kind::kTrigger:
      if (!text.starts_with('!')) (void)set.commands.write(*number, "!" + std::string(text));
      return;
    case Kind::kFormat:
    case Kind::kHist:
    case Kind::kHistJson:
    case Kind::kId:
      return;
  }
}

Result<void> EventFile::write_line(std::string_view text, const CallContext& call) {
  if (kind_ != Kind::kEnable && kind_ != Kind::kFilter && kind_ != Kind::kTrigger) {
    return File::write_line(text, call);
  }
  const std::string_view command = trimmed(text);
  // `echo > trigger`: the open with O_TRUNC has done all that was asked for.
  if (command.empty() && kind_ == Kind::kTrigger) {
    view_->state().sweep(call.now);
    return {};
  }
  Before before;
  return view_->change(
      call,
      [&](EventSet& set) {
        if (const auto number = find(set)) {
          before = {set.switches.state(*number), set.filters.state(*number)};
        }
        return write(set, command, call.rights);
      },
      [&](EventSet& set) { undo(set, command, before); });
}

Result<void> EventFile::truncate(const CallContext& call) {
  if (kind_ != Kind::kTrigger) return {};
  // change() would remove an event that exists only for its triggers, and the write that follows
  // would not find it.
  return view_->state().change_only(view_->instance(), call, [&](EventSet& set) -> Result<void> {
    if (!may_change(set, call.rights)) return kernels_event();
    if (const auto number = find(set)) set.commands.truncate(*number, scope_of(call.rights));
    return {};
  });
}

}  // namespace tallyfs::tracing
