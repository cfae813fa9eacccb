// The files of one event of the tracing directory.
#include "core/base/text.h"
#include "core/branch/tracing/tracing_files.h"
#include "core/event/command/faults.h"

namespace tallyfs {

Result<EventNumber> EventFile::find(const EventSet& set) const {
  const auto number = set.find(path_->first, path_->second);
  if (!number) return Error{ErrorCode::kNotFound, std::string(fault::kNoSuchEvent)};
  return *number;
}

Result<std::string> EventFile::render(const CallContext& call, std::size_t bytes_max) const {
  if (kind_ == Kind::kHist || kind_ == Kind::kHistJson) return render_hist(call, bytes_max);
  return show(call.now, bytes_max, [this](const EventSet& set) {
    const auto number = find(set);
    if (!number) return std::string();
    switch (kind_) {
      case Kind::kEnable:
        return set.render_enable(number.value());
      case Kind::kFilter:
        return set.render_filter(number.value());
      case Kind::kFormat:
        return set.render_format(number.value());
      case Kind::kId:
        return set.render_id(number.value());
      case Kind::kTrigger:
        return set.render_trigger(number.value());
      case Kind::kHist:
      case Kind::kHistJson:
        break;
    }
    return std::string();
  });
}

Result<Tracing::State::Reading> EventFile::read_hist(Moment now) const {
  const MutexLock lock(state().mutex);
  state().release_drained(now);
  const auto number = find(instance().set);
  if (!number) return Tracing::State::Reading();
  return state().read_hist(instance(), number.value());
}

Result<std::string> EventFile::render_hist(const CallContext& call, std::size_t bytes_max) const {
  const auto reading = read_hist(call.now);
  if (!reading) return reading.error();
  static const HistCopy kNothing;
  const HistCopy& copy = reading.value() ? reading.value()->copy : kNothing;
  // Before it is sorted.
  if (copy.text_bytes_min() > bytes_max) return too_long();
  const SourceSymbols symbols = state().symbols(call.cancel);
  return bounded(
      kind_ == Kind::kHist ? copy.render(symbols, bytes_max) : copy.render_json(symbols, bytes_max),
      bytes_max);
}

std::optional<std::uint64_t> EventFile::news(Moment now) const {
  if (kind_ != Kind::kHist && kind_ != Kind::kHistJson) return std::nullopt;
  const MutexLock lock(state().mutex);
  state().release_old(now);
  const auto number = find(instance().set);
  return number ? instance().set.hits(number.value()) : 0;
}

bool EventFile::waits() const {
  return kind_ == Kind::kHist || kind_ == Kind::kHistJson || kind_ == Kind::kEnable;
}

Result<void> EventFile::write(EventSet& set, std::string_view text) const {
  const auto number = find(set);
  if (!number) return number.error();
  if (kind_ == Kind::kEnable) return set.write_enable(number.value(), text);
  if (kind_ == Kind::kFilter) return set.write_filter(number.value(), text);
  return set.write_trigger(number.value(), text);
}

// before: what the file said.
void EventFile::take_back(EventSet& set, std::string_view text, std::string_view before) const {
  const auto number = find(set);
  if (!number) return;
  switch (kind_) {
    case Kind::kEnable:
      (void)set.write_enable(number.value(), before.substr(0, 1));
      return;
    case Kind::kFilter:
      (void)set.write_filter(number.value(), before == "none\n" ? "0" : before);
      return;
    case Kind::kTrigger:
      if (!text.starts_with('!')) (void)set.write_trigger(number.value(), "!" + std::string(text));
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
  // `echo > trigger` has opened it with O_TRUNC, and that was all it was for.
  if (command.empty() && kind_ == Kind::kTrigger) {
    state().sweep(call.now);
    return {};
  }
  std::string before;
  return state().change(
      instance(), call,
      [&](EventSet& set) {
        if (const auto number = find(set)) {
          before = kind_ == Kind::kEnable ? set.render_enable(number.value())
                                          : set.render_filter(number.value());
        }
        return write(set, command);
      },
      [&](EventSet& set) { take_back(set, command, before); });
}

Result<void> EventFile::truncate(const CallContext& call) {
  if (kind_ != Kind::kTrigger) return {};
  // An event that goes with its last trigger goes with the write that follows, which would else
  // find it gone.
  return state().change_only(instance(), call, [this](EventSet& set) -> Result<void> {
    if (const auto number = find(set)) set.truncate_trigger(number.value());
    return {};
  });
}

}  // namespace tallyfs
