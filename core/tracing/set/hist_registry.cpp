#include "core/tracing/set/hist_registry.h"

#include <algorithm>
#include <utility>

namespace tallyfs::tracing {
namespace {

// Whether both plans use the same words of an entry for the same things. Equal commands may differ
// in that: the fields of the events may be texts of other lengths, or numbers.
bool are_laid_out_alike(const HistPlan& one, const HistPlan& other) {
  const auto same_type = [](const auto& a, const auto& b) {
    return a.word == b.word && a.value.type.name == b.value.type.name;
  };
  const auto same_variable = [&](const VariablePart& a, const VariablePart& b) {
    return same_type(a, b) && a.text_word == b.text_word;
  };
  const auto same_action = [](const Action& a, const Action& b) {
    return a.track_word == b.track_word;
  };
  return one.shape.key_words == other.shape.key_words &&
         one.shape.value_words == other.shape.value_words && one.comm_word == other.comm_word &&
         std::ranges::equal(one.keys, other.keys, same_type) &&
         std::ranges::equal(one.values, other.values, same_type) &&
         std::ranges::equal(one.saved, other.saved, same_type) &&
         std::ranges::equal(one.variables, other.variables, same_variable) &&
         std::ranges::equal(one.actions, other.actions, same_action);
}

// A second trigger of a histogram takes over the first one's expiry, or gives the same.
bool is_shareable(const HistTable& table, const HistPlan& first, const HistPlan& second) {
  return are_laid_out_alike(first, second) &&
         (second.expiry_ns == 0 || second.expiry_ns == table.expiry_ns);
}

}  // namespace

Checked<void> compile_filter(const DefinedEvent& event, std::string_view text, Trigger& trigger) {
  if (text.empty()) return {};
  auto filter = Filter::compile(text, *event.format);
  if (!filter) return Fault{filter.error().reason, std::string(text)};
  trigger.filter = std::move(filter.value());
  trigger.filter_text = text;
  return {};
}

Checked<void> HistRegistry::write(EventNumber number, const TriggerCommand& command) {
  const DefinedEvent& event = events_.at(number);
  const auto parsed = HistCommand::parse(command.parameters);
  if (!parsed) return parsed.error();
  const HistCommand& hist = parsed.value();
  const bool changes = hist.pause || hist.resume || hist.clear;
  using Purpose = HistCompiler::Purpose;
  if (command.remove || changes) {
    HistCompiler finder(hist, event.system, *event.format, *this, Purpose::kFind);
    if (const auto done = finder.compile_fields(); !done) return done;
    Trigger* const same = find_same(event, finder.plan(), hist.name, command.filter);
    if (command.remove) return remove(same);
    if (same) {
      change(*same, hist);
      return {};
    }
    if (!hist.pause) return Fault{fault::kNothingToClear, {}, ErrorCode::kNotFound};
  }
  const auto made = set(number, command, hist, nullptr);
  return made ? Checked<void>() : made.error();
}

Checked<Trigger*> HistRegistry::restore(EventNumber event, const SavedTrigger& saved) {
  const auto hist = HistCommand::parse(saved.parameters);
  if (!hist) return hist.error();
  if (saved.entries_max > HistCommand::kEntriesMax) return Fault{fault::kBadSize};
  return set(event, {.parameters = saved.parameters, .filter = saved.filter}, hist.value(), &saved);
}

Checked<Trigger*> HistRegistry::set(EventNumber number, const TriggerCommand& command,
                                    const HistCommand& hist, const SavedTrigger* saved) {
  const DefinedEvent& event = events_.at(number);
  HistCompiler compiler(hist, event.system, *event.format, *this, HistCompiler::Purpose::kSet);
  if (const auto done = compiler.compile_fields(); !done) return done.error();
  if (find_same(event, compiler.plan(), hist.name, command.filter)) {
    return Fault{fault::kTriggerExists, {}, ErrorCode::kExists};
  }
  auto trigger = std::make_unique<Trigger>();
  trigger->event = number;
  trigger->parameters = command.parameters;
  trigger->serial = saved ? saved->serial : 0;
  trigger->paused = saved ? saved->paused : hist.pause;
  if (const auto good = compile_filter(event, command.filter, *trigger); !good) {
    return good.error();
  }
  return add(compiler, hist, std::move(trigger), saved);
}

Checked<void> HistRegistry::remove(Trigger* trigger) {
  if (!trigger) return {};
  if (trigger->is_referenced()) return Fault{fault::kReferenced, {}, ErrorCode::kBusy};
  triggers_.remove(*trigger);
  return {};
}

void HistRegistry::change(Trigger& same, const HistCommand& command) {
  if (command.pause) {
    same.paused = true;
  } else if (command.resume) {
    same.paused = false;
  } else {
    same.table->clear();
  }
}

Checked<Trigger*> HistRegistry::add(HistCompiler& compiler, const HistCommand& command,
                                    std::unique_ptr<Trigger> trigger, const SavedTrigger* saved) {
  const Trigger* const named = find_named(command.name);
  if (named && named_.hides(events_.at(named->event))) {
    return Fault{fault::kKernelsEvent, std::string(command.name), ErrorCode::kNotPermitted};
  }
  if (named && named->plan->fields_signature != compiler.plan().fields_signature) {
    return Fault{fault::kNamedMismatch, std::string(command.name)};
  }
  const std::uint32_t entries_max = named   ? named->table->map.shape().entries_max
                                    : saved ? saved->entries_max
                                            : command.entries_max;
  if (triggers_.is_full()) return Fault{fault::kTooManyTriggers, {}, ErrorCode::kNoSpace};
  const auto compiled = compile_actions(compiler, *trigger);
  const auto plan = compiler.take();
  plan->shape.entries_max = entries_max;
  const bool fits = named || bytes() + plan->shape.bytes_max() <= hist_bytes_max_;
  const bool shares = !named || is_shareable(*named->table, *named->plan, *plan);
  if (!compiled || !fits || !shares) {
    triggers_.remove_hidden(trigger.get());
    if (!compiled) return compiled.error();
    if (!shares) return Fault{fault::kNamedMismatch, std::string(command.name)};
    return Fault{fault::kTooMuchMemory, {}, ErrorCode::kNoSpace};
  }
  trigger->kind = TriggerKind::kHist;
  trigger->name = command.name;
  set_table(*trigger, named, *plan, saved ? saved->expiry_ns : plan->expiry_ns);
  trigger->set_plan(plan);
  return &triggers_.add(std::move(trigger));
}

// Hidden histograms that the actions need belong to the trigger. They are removed if it cannot be
// set.
Checked<void> HistRegistry::compile_actions(HistCompiler& compiler, const Trigger& trigger) {
  const Trigger* const outer = std::exchange(owner_in_making_, &trigger);
  auto compiled = compiler.compile_actions();
  owner_in_making_ = outer;
  return compiled;
}

void HistRegistry::set_table(Trigger& trigger, const Trigger* named, const HistPlan& plan,
                             std::uint64_t expiry_ns) {
  trigger.table = named ? named->table : std::make_shared<HistTable>(plan.shape);
  if (!named) trigger.table->expiry_ns = expiry_ns;
  const auto is_snapshot = [](const Action& a) { return a.kind == ActionKind::kSnapshot; };
  trigger.table->snapshots.resize(
      static_cast<std::size_t>(std::ranges::count_if(plan.actions, is_snapshot)));
  if (!trigger.table->snapshots.empty()) trace_.make_snapshot();
}

Trigger* HistRegistry::find_same(const DefinedEvent& event, const HistPlan& plan,
                                 std::string_view name, std::string_view filter) const {
  for (const auto& trigger : event.triggers) {
    if (trigger->kind == TriggerKind::kHist && trigger->plan->signature == plan.signature &&
        trigger->name == name && trigger->filter_text == filter) {
      return trigger.get();
    }
  }
  return nullptr;
}

Trigger* HistRegistry::find_named(std::string_view name) const {
  if (name.empty()) return nullptr;
  for (const auto& event : events_.entries()) {
    for (const auto& trigger : event->triggers) {
      if (trigger->kind == TriggerKind::kHist && trigger->name == name) return trigger.get();
    }
  }
  return nullptr;
}

std::size_t HistRegistry::bytes() const {
  std::size_t bytes = 0;
  for (const auto& event : events_.entries()) {
    for (const auto& trigger : event->triggers) {
      if (trigger->table) {
        bytes += trigger->table->map.shape().bytes_max() /
                 static_cast<std::size_t>(trigger->table.use_count());
      }
    }
  }
  return bytes;
}

bool HistRegistry::has_event(std::string_view system, std::string_view event) const {
  return named_.find(system, event).has_value();
}

std::vector<HistCatalog::Variable> HistRegistry::variables(std::string_view system,
                                                           std::string_view event,
                                                           std::string_view name) const {
  std::vector<Variable> found;
  const auto look_in = [&](const DefinedEvent& where) {
    for (const auto& trigger : where.triggers) {
      if (trigger->kind != TriggerKind::kHist) continue;
      const auto& all = trigger->plan->variables;
      const auto at_it = std::ranges::find(all, name, &VariablePart::name);
      if (at_it == all.end() || named_.hides(where)) continue;
      found.push_back({trigger->plan.get(), trigger->table.get(),
                       static_cast<std::uint32_t>(at_it - all.begin())});
    }
  };
  if (system.empty() && event.empty()) {
    for (const auto& each : events_.entries()) look_in(*each);
  } else if (const auto number = named_.find(system, event)) {
    look_in(events_.at(*number));
  }
  return found;
}

std::optional<HistCatalog::Synthetic> HistRegistry::synthetic(std::string_view name) const {
  const auto number = events_.find(kSyntheticSystem, name);
  if (!number) return std::nullopt;
  return Synthetic{*number, events_.at(*number).fields.get()};
}

Checked<HistCatalog::Variable> HistRegistry::field_variable(std::string_view system,
                                                            std::string_view event_name,
                                                            std::string_view field,
                                                            const HistPlan& like) {
  const EventNumber number = events_.find(system, event_name).value_or(0);
  const DefinedEvent& event = events_.at(number);
  const auto compatible = std::ranges::find_if(event.triggers, [&](const auto& trigger) {
    return trigger->kind == TriggerKind::kHist && keys_compatible(*trigger->plan, like);
  });
  if (compatible == event.triggers.end()) return Fault{fault::kHistNotFound, std::string(field)};
  const std::string name = "synthetic_" + std::string(field);
  auto found = variables(system, event_name, name);
  std::erase_if(found, [&](const Variable& each) { return !keys_compatible(*each.plan, like); });
  if (!found.empty()) return found.front();
  std::string keys;
  for (const KeyPart& key : (*compatible)->plan->keys) {
    keys.append(keys.empty() ? "" : ",").append(key.value.name);
  }
  const std::string filter = (*compatible)->filter_text;
  const std::string text = "keys=" + keys + ":" + name + "=" + std::string(field);
  const TriggerCommand command{.parameters = text, .filter = filter};
  const Trigger* const owner = owner_in_making_;
  if (!write(number, command)) return Fault{fault::kHistCreate, std::string(field)};
  event.triggers.front()->owner = owner;
  return variables(system, event_name, name).front();
}

std::uint64_t HistRegistry::hits(EventNumber event) const {
  std::uint64_t hits = 0;
  for (const auto& trigger : events_.at(event).triggers) {
    if (trigger->table) hits += trigger->table->hits + trigger->table->dropped;
  }
  return hits;
}

HistCopy HistRegistry::copy(EventNumber event) const {
  HistCopy copy;
  for (const auto& trigger : events_.at(event).triggers) {
    if (trigger->kind != TriggerKind::kHist) continue;
    copy.add(trigger->line(), trigger->plan, *trigger->table);
  }
  return copy;
}

}  // namespace tallyfs::tracing
