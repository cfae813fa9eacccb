#include "core/tracing/set/trigger_commands.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/tracing/command/command_text.h"
#include "core/tracing/set/event_filters.h"

namespace tallyfs::tracing {
namespace {

// An event has only one of these triggers for the same thing, as in the kernel.
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

// Whether text is the line; the part of the line that tells the histogram's state may be missing.
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

Result<void> TriggerCommands::write(EventNumber number, std::string_view text,
                                    NamedEvents::Scope scope) {
  const DefinedEvent& event = events_.at(number);
  if (!event.defined) return event_gone(text);
  const std::string whole = joined_lines(trimmed(text));
  const auto command = TriggerCommand::parse(whole);
  const std::string where = "trigger:" + event.system + ":" + event.format->name;
  if (!command) return command.error().in(where, whole);
  const Fault refused{fault::kKernelsEvent, {}, ErrorCode::kNotPermitted};
  named_.begin(scope);
  if (named_.hides(event) || named_.hides_one_of(command.value())) {
    return refused.in(where, whole);
  }
  auto done = carry_out(number, command.value());
  return done || !named_.has_hidden() ? done : refused.in(where, whole);
}

void TriggerCommands::truncate(EventNumber event, NamedEvents::Scope scope) {
  named_.begin(scope);
  triggers_.truncate(event, [this](const Trigger& trigger) {
    const std::string line = trigger.text();
    const auto command = TriggerCommand::parse(line);
    return command && named_.hides_one_of(command.value());
  });
}

Result<void> TriggerCommands::carry_out(EventNumber number, const TriggerCommand& command) {
  const DefinedEvent& event = events_.at(number);
  if (command.remove) return remove(number, command);
  Trigger probe;
  if (!compile_filter(event, command.filter, probe)) {
    return bad_filter(command.filter, *event.format);
  }
  Checked<void> done;
  if (command.kind == TriggerKind::kHist) {
    done = hists_.write(number, command);
  } else if (const auto added = add_other(number, command); !added) {
    done = added.error();
  }
  if (done) return {};
  const std::string kind(name_of(command.kind));
  return done.error().in(kind + ":" + events_.full_name(number),
                         kind + ":" + std::string(command.rest));
}

// The trigger that shows this line. The lines are compared as texts, because a line that the file
// shows need not be a command: see remove().
Trigger* TriggerCommands::find_shown(EventNumber event, TriggerKind kind,
                                     std::string_view shown) const {
  for (const auto& trigger : events_.at(event).triggers) {
    if (trigger->kind != kind) continue;
    const std::string line = trigger->text();
    if (is_shown(std::string_view(line).substr(0, line.size() - 1), shown)) return trigger.get();
  }
  return nullptr;
}

// A '!' and a line that a trigger shows mean that trigger. Any other command identifies a histogram
// by its fields and its filter, and another trigger by its kind, its action and its target event.
// On an event without histograms the removal of any histogram succeeds. Scripts remove with `>`,
// whose O_TRUNC has removed it already, and with lines as they are shown. Such lines are no
// commands if they have a name or sort by a field with a modifier.
Result<void> TriggerCommands::remove(EventNumber number, const TriggerCommand& command) {
  const std::string kind(name_of(command.kind));
  const std::string shown = kind + (command.rest.empty() ? "" : ":") + std::string(command.rest);
  const bool is_hist = command.kind == TriggerKind::kHist;
  const auto has_hist = [this, number] {
    return std::ranges::any_of(events_.at(number).triggers,
                               [](const auto& each) { return each->kind == TriggerKind::kHist; });
  };
  Checked<void> done;
  if (Trigger* const same = find_shown(number, command.kind, shown)) {
    done = hists_.remove(same);
  } else if (!is_hist) {
    done = remove_other(number, command);
  } else if (has_hist()) {
    done = hists_.write(number, command);
  }
  if (done) return {};
  return done.error().in(kind + ":" + events_.full_name(number), shown);
}

Checked<void> TriggerCommands::remove_other(EventNumber number, const TriggerCommand& command) {
  Trigger meant;
  meant.kind = command.kind;
  std::string_view parameters = command.parameters;
  if (const auto found = find_target(parameters, meant); !found) return found;
  const auto& triggers = events_.at(number).triggers;
  const auto same = std::ranges::find_if(triggers, [&](const auto& trigger) {
    return trigger->kind == meant.kind &&
           (!has_target(meant.kind) || trigger->target == meant.target);
  });
  if (same != triggers.end()) triggers_.remove(**same);
  return {};
}

// Parses `SYS:EVENT[:...]`, of the kinds that have a target.
Checked<void> TriggerCommands::find_target(std::string_view& parameters, Trigger& trigger) const {
  if (!has_target(trigger.kind)) return {};
  const std::string_view all = parameters;
  const std::string_view system = next_part(parameters);
  const std::string_view name = next_part(parameters);
  if (system.empty() || name.empty()) return Fault{fault::kTargetExpected, std::string(all)};
  const auto target = named_.find(system, name);
  if (!target) return Fault{fault::kNoSuchEvent, std::string(all)};
  trigger.target = *target;
  trigger.target_name = events_.full_name(*target);
  return {};
}

// Parses `[SYS:EVENT][:COUNT]`.
Checked<void> TriggerCommands::parse_other(const TriggerCommand& command, Trigger& trigger) const {
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

Checked<Trigger*> TriggerCommands::restore(const SavedTrigger& saved) {
  named_.begin(NamedEvents::Scope::kAll);
  std::vector<Trigger*> hidden;
  const auto restore_all = [&]() -> Checked<Trigger*> {
    for (const SavedTrigger& each : saved.hidden) {
      // Another trigger may still use it, if the event of its first owner was defined anew.
      const auto on = events_.find(each.system, each.event);
      if (on && triggers_.find(*on, each.serial)) continue;
      const auto made = restore_one(each);
      if (!made) return made.error();
      hidden.push_back(made.value());
    }
    return restore_one(saved);
  };
  const auto made = restore_all();
  for (Trigger* const each : hidden) {
    if (made) {
      each->owner = made.value();
    } else {
      triggers_.remove(*each);
    }
  }
  return made;
}

Checked<Trigger*> TriggerCommands::restore_one(const SavedTrigger& saved) {
  const auto number = events_.find(saved.system, saved.event);
  if (!number) return Fault{fault::kNoSuchEvent, {}, ErrorCode::kNotFound};
  if (saved.kind == TriggerKind::kHist) return hists_.restore(*number, saved);
  auto made = add_other(
      *number, {.kind = saved.kind, .parameters = saved.parameters, .filter = saved.filter},
      saved.serial);
  if (made) made.value()->left = saved.left;
  return made;
}

Checked<Trigger*> TriggerCommands::add_other(EventNumber number, const TriggerCommand& command,
                                             std::uint64_t serial) {
  const DefinedEvent& event = events_.at(number);
  auto made = std::make_unique<Trigger>();
  made->kind = command.kind;
  made->event = number;
  made->serial = serial;
  if (const auto parsed = parse_other(command, *made); !parsed) return parsed.error();
  const auto same = std::ranges::find_if(event.triggers, [&](const auto& trigger) {
    return is_opposite_or_same(trigger->kind, made->kind) &&
           (!has_target(made->kind) || trigger->target == made->target);
  });
  if (same != event.triggers.end()) return Fault{fault::kSameTrigger, {}, ErrorCode::kExists};
  if (triggers_.is_full()) return Fault{fault::kTooManyTriggers, {}, ErrorCode::kNoSpace};
  if (const auto good = compile_filter(event, command.filter, *made); !good) return good.error();
  if (made->kind == TriggerKind::kSnapshot) trace_.make_snapshot();
  return &triggers_.add(std::move(made));
}

}  // namespace tallyfs::tracing
