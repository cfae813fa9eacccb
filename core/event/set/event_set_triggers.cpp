// events/SYS/EVENT/trigger: commands of all kinds; those of histograms go on in event_set_hist.cpp.
#include <algorithm>

#include "core/base/text.h"
#include "core/event/command/command_text.h"
#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

constexpr std::string_view kAvailable =
    "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event disable_event "
    "enable_hist disable_hist hist\n";

// As the kernel has it, an event has one of these for the same thing.
bool is_opposite_or_same(TriggerKind a, TriggerKind b) {
  const auto subject = [](TriggerKind kind) {
    switch (kind) {
      case TriggerKind::kTraceOff:
        return TriggerKind::kTraceOn;
      case TriggerKind::kDisableEvent:
        return TriggerKind::kEnableEvent;
      case TriggerKind::kDisableHist:
        return TriggerKind::kEnableHist;
      case TriggerKind::kHist:
      case TriggerKind::kTraceOn:
      case TriggerKind::kStacktrace:
      case TriggerKind::kSnapshot:
      case TriggerKind::kEnableEvent:
      case TriggerKind::kEnableHist:
        break;
    }
    return kind;
  };
  return subject(a) == subject(b);
}

// Whether text is the line, which may lack what it says of a histogram's state.
bool is_shown(std::string_view line, std::string_view text) {
  if (line == text) return true;
  const bool has_state = line.ends_with(" [active]") || line.ends_with(" [paused]");
  return has_state && line.substr(0, line.rfind(' ')) == text;
}

// Cuts a part off at its colon.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(':'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace

bool EventSet::State::is_referenced(const Trigger& trigger) {
  return trigger.table && trigger.table->referrers > 0;
}

Checked<void> EventSet::State::compile_filter(const DefinedEvent& event, std::string_view text,
                                              Trigger& trigger) const {
  if (text.empty()) return {};
  auto filter = Filter::compile(text, event.format);
  if (!filter) return Fault{filter.error().reason, std::string(text)};
  trigger.filter = std::move(filter.value());
  trigger.filter_text = text;
  return {};
}

Result<void> EventSet::State::write_trigger(EventNumber number, std::string_view text) {
  const std::string whole = joined_lines(without_blanks(text));
  const DefinedEvent& event = at(number);
  const auto command = TriggerCommand::parse(whole);
  const std::string where = event.system + ":" + event.format.name;
  if (!command) return refused(command.error(), "trigger:" + where, whole);
  if (command.value().remove) return remove_trigger(number, command.value());
  const bool is_hist = command.value().kind == TriggerKind::kHist;
  Trigger probe;
  if (const auto good = compile_filter(event, command.value().filter, probe); !good) {
    const auto filter = Filter::compile(command.value().filter, event.format);
    return refused(filter.error(), "event filter parse error", command.value().filter);
  }
  const auto done =
      is_hist ? write_hist(number, command.value()) : write_other(number, command.value());
  if (done) return {};
  const std::string kind(name_of(command.value().kind));
  return done.error().in(kind + ":" + where, kind + ":" + std::string(command.value().rest));
}

// What `trigger` shows, behind a '!', means the trigger that it shows. Else it is its fields and
// its filter that count, or of other kinds what it does, to whom. Of an event without histograms
// any is removed: scripts do so with `>`, whose O_TRUNC has done it, and with lines as they are
// shown, which are no commands where they have a name or sort by a field with a modifier.
Result<void> EventSet::State::remove_trigger(EventNumber number, const TriggerCommand& command) {
  const std::string kind(name_of(command.kind));
  const std::string shown = kind + (command.rest.empty() ? "" : ":") + std::string(command.rest);
  const auto& triggers = at(number).triggers;
  const auto same = std::ranges::find_if(triggers, [&](const auto& trigger) {
    const std::string line = trigger->text();
    return trigger->kind == command.kind && is_shown(line.substr(0, line.size() - 1), shown);
  });
  const auto is_hist = [](const auto& each) { return each->kind == TriggerKind::kHist; };
  Checked<void> done;
  if (same != triggers.end()) {
    done = remove_hist(same->get());
  } else if (command.kind != TriggerKind::kHist || std::ranges::any_of(triggers, is_hist)) {
    done = command.kind == TriggerKind::kHist ? write_hist(number, command)
                                              : remove_other(number, command);
  }
  if (done) return {};
  return done.error().in(kind + ":" + at(number).system + ":" + at(number).format.name, shown);
}

Checked<void> EventSet::State::remove_other(EventNumber number, const TriggerCommand& command) {
  Trigger meant;
  meant.kind = command.kind;
  std::string_view parameters = command.parameters;
  if (const auto found = find_target(parameters, meant); !found) return found;
  const auto& triggers = at(number).triggers;
  const auto same = std::ranges::find_if(triggers, [&](const auto& trigger) {
    return trigger->kind == meant.kind &&
           (!has_target(meant.kind) || trigger->target == meant.target);
  });
  if (same != triggers.end()) remove_trigger(**same);
  return {};
}

// `SYS:EVENT[:...]`, of those that have a target.
Checked<void> EventSet::State::find_target(std::string_view& parameters, Trigger& trigger) const {
  if (!has_target(trigger.kind)) return {};
  const std::string_view all = parameters;
  const std::string_view system = next_part(parameters);
  const std::string_view name = next_part(parameters);
  if (system.empty() || name.empty()) return Fault{fault::kTargetExpected, std::string(all)};
  const auto target = find(system, name);
  if (!target) return Fault{fault::kNoSuchEvent, std::string(all)};
  trigger.target = *target;
  trigger.target_name = full_name(*target);
  return {};
}

// `[SYS:EVENT][:COUNT]`
Checked<void> EventSet::State::parse_other(const TriggerCommand& command, Trigger& trigger) const {
  std::string_view rest = command.parameters;
  if (const auto found = find_target(rest, trigger); !found) return found;
  if (rest.empty()) return {};
  const std::string_view number = rest.substr(0, rest.find_first_of(": \t\n"));
  const std::string_view behind = rest.substr(number.size());
  const auto count = parse_c_number(number);
  if (!count || *count > 0x7fffffff) return Fault{fault::kBadCount, std::string(number)};
  if (behind.starts_with(':')) return Fault{fault::kAfterCount, std::string(behind)};
  if (!behind.empty()) return Fault{fault::kIfExpected, std::string(trimmed(behind))};
  trigger.left = static_cast<std::int64_t>(*count);
  return {};
}

Checked<void> EventSet::State::write_other(EventNumber number, const TriggerCommand& command) {
  DefinedEvent& event = at(number);
  auto made = std::make_unique<Trigger>();
  made->kind = command.kind;
  made->event = number;
  if (const auto parsed = parse_other(command, *made); !parsed) return parsed;
  const auto same = std::ranges::find_if(event.triggers, [&](const auto& trigger) {
    return is_opposite_or_same(trigger->kind, made->kind) &&
           (!has_target(made->kind) || trigger->target == made->target);
  });
  if (same != event.triggers.end()) return Fault{fault::kSameTrigger, {}, ErrorCode::kExists};
  if (trigger_count == limits.triggers_max) {
    return Fault{fault::kTooManyTriggers, {}, ErrorCode::kNoSpace};
  }
  if (const auto good = compile_filter(event, command.filter, *made); !good) return good;
  if (made->kind == TriggerKind::kSnapshot) make_snapshot();
  if (has_target(made->kind)) {
    DefinedEvent& target = at(made->target);
    if (target.waiting == 0) target.soft_enabled = target.enabled;
    target.waiting +=
        made->kind == TriggerKind::kEnableEvent || made->kind == TriggerKind::kDisableEvent ? 1 : 0;
    target.referrers += 1;
  }
  trigger_count += 1;
  event.triggers.insert(event.triggers.begin(), std::move(made));
  return {};
}

void EventSet::State::remove_trigger(Trigger& trigger) {
  DefinedEvent& event = at(trigger.event);
  const auto at_it = std::ranges::find_if(event.triggers,
                                          [&](const auto& each) { return each.get() == &trigger; });
  const std::unique_ptr<Trigger> gone = std::move(*at_it);
  event.triggers.erase(at_it);
  trigger_count -= 1;
  if (has_target(gone->kind)) {
    DefinedEvent& target = at(gone->target);
    target.referrers -= 1;
    const bool waited =
        gone->kind == TriggerKind::kEnableEvent || gone->kind == TriggerKind::kDisableEvent;
    target.waiting -= waited ? 1 : 0;
  }
  if (gone->kind == TriggerKind::kHist) {
    refer(*gone->plan, -1);
    drop_hidden(gone.get());
  }
}

std::string EventSet::render_trigger(EventNumber event) const {
  std::string text;
  for (const auto& trigger : state_->at(event).triggers) text.append(trigger->text());
  return text.empty() ? std::string(kAvailable) : text;
}

Result<void> EventSet::write_trigger(EventNumber event, std::string_view text) {
  if (!state_->at(event).defined) return gone(text);
  return state_->write_trigger(event, text);
}

void EventSet::truncate_trigger(EventNumber event) {
  // What refers to another one of them goes first, so that as many as possible can go.
  for (bool more = true; more;) {
    auto& triggers = state_->at(event).triggers;
    const auto free = std::ranges::find_if(
        triggers, [](const auto& trigger) { return !State::is_referenced(*trigger); });
    more = free != triggers.end();
    if (more) state_->remove_trigger(**free);
  }
}

}  // namespace tallyfs
