#include "core/tracing/set/trigger_store.h"

#include <algorithm>
#include <map>

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kAvailable =
    "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event disable_event "
    "enable_hist disable_hist hist\n";

bool is_of_event(TriggerKind kind) {
  return kind == TriggerKind::kEnableEvent || kind == TriggerKind::kDisableEvent;
}

// Without the hidden histograms that it owns.
SavedTrigger saved_of(const Trigger& trigger, const DefinedEvent& event) {
  SavedTrigger saved{.serial = trigger.serial,
                     .system = event.system,
                     .event = event.format->name,
                     .kind = trigger.kind,
                     .parameters = trigger.parameters,
                     .filter = trigger.filter_text,
                     .left = trigger.left,
                     .paused = trigger.paused,
                     .hidden = {}};
  if (has_target(trigger.kind)) saved.parameters = trigger.target_name;
  if (!trigger.table) return saved;
  saved.entries_max = trigger.table->map.shape().entries_max;
  saved.expiry_ns = trigger.table->expiry_ns;
  return saved;
}

}  // namespace

std::string triggers_text(const std::vector<TriggerLine>& lines) {
  std::string text;
  for (const TriggerLine& line : lines) text.append(line.text());
  return text.empty() ? std::string(kAvailable) : text;
}

std::vector<TriggerLine> TriggerStore::lines(EventNumber event) const {
  std::vector<TriggerLine> lines;
  for (const auto& trigger : events_.at(event).triggers) lines.push_back(trigger->line());
  return lines;
}

void TriggerStore::truncate(EventNumber event, const Stays& stays) {
  // A trigger that references another one is removed first, so that as many as possible can be
  // removed.
  for (bool more = true; more;) {
    auto& triggers = events_.at(event).triggers;
    const auto free = std::ranges::find_if(
        triggers, [&](const auto& trigger) {
          return !trigger->is_referenced() && !(stays && stays(*trigger));
        });
    more = free != triggers.end();
    if (more) remove(**free);
  }
}

Trigger& TriggerStore::add(std::unique_ptr<Trigger> trigger) {
  count_references(*trigger, 1);
  count_ += 1;
  if (trigger->serial == 0) trigger->serial = next_serial_;
  next_serial_ = std::max(next_serial_, trigger->serial + 1);
  auto& triggers = events_.at(trigger->event).triggers;
  const auto is_older = [&](const auto& each) { return each->serial < trigger->serial; };
  return **triggers.insert(std::ranges::find_if(triggers, is_older), std::move(trigger));
}

Trigger* TriggerStore::find(EventNumber event, std::uint64_t serial) const {
  if (event >= events_.size()) return nullptr;
  const auto& triggers = events_.at(event).triggers;
  const auto found = std::ranges::find(triggers, serial, &Trigger::serial);
  return found == triggers.end() ? nullptr : found->get();
}

std::vector<SavedTrigger> TriggerStore::saved() const {
  std::vector<const Trigger*> all;
  for (const auto& event : events_.entries()) {
    for (const auto& trigger : event->triggers) all.push_back(trigger.get());
  }
  std::ranges::sort(all, {}, &Trigger::serial);
  std::map<const Trigger*, std::vector<SavedTrigger>> hidden;  // by owner, which comes later
  std::vector<SavedTrigger> saved;
  for (const Trigger* const each : all) {
    SavedTrigger made = saved_of(*each, events_.at(each->event));
    made.hidden = std::move(hidden[each]);
    (each->owner ? hidden[each->owner] : saved).push_back(std::move(made));
  }
  return saved;
}

void TriggerStore::remove(Trigger& trigger) {
  auto& triggers = events_.at(trigger.event).triggers;
  const auto found =
      std::ranges::find_if(triggers, [&](const auto& each) { return each.get() == &trigger; });
  const std::unique_ptr<Trigger> gone = std::move(*found);
  triggers.erase(found);
  count_ -= 1;
  count_references(*gone, -1);
  if (gone->kind == TriggerKind::kHist) remove_hidden(gone.get());
}

void TriggerStore::remove_hidden(const Trigger* owner) {
  for (const auto& event : events_.entries()) {
    for (std::size_t i = event->triggers.size(); i-- > 0;) {
      Trigger& trigger = *event->triggers[i];
      if (trigger.owner != owner) continue;
      trigger.owner = nullptr;
      if (!trigger.is_referenced()) remove(trigger);
    }
  }
}

void TriggerStore::count_references(const Trigger& trigger, int change) {
  const auto by = static_cast<std::uint32_t>(change);
  if (has_target(trigger.kind)) {
    DefinedEvent& target = events_.at(trigger.target);
    if (change > 0 && target.waiting == 0) target.soft_enabled = target.enabled;
    if (is_of_event(trigger.kind)) target.waiting += by;
    target.referrers += by;
  }
  if (!trigger.plan) return;
  for (const Reference& reference : trigger.plan->references) reference.table->referrers += by;
  for (const Action& action : trigger.plan->actions) {
    if (action.kind == ActionKind::kTrace) events_.at(action.synthetic).referrers += by;
  }
}

// A variable's references are removed with its trigger; those of a named histogram, with its last
// trigger.
std::vector<std::pair<EventNumber, Trigger*>> TriggerStore::with_referrers(
    EventNumber number) const {
  std::vector<std::pair<EventNumber, Trigger*>> found;
  for (const auto& trigger : events_.at(number).triggers) {
    found.emplace_back(number, trigger.get());
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto table = found[i].second->table;
    if (!table || table.use_count() > 2 || table->referrers == 0) continue;
    for (EventNumber other = 0; other < events_.size(); ++other) {
      for (const auto& trigger : events_.at(other).triggers) {
        const std::pair each(other, trigger.get());
        if (!trigger->plan || std::ranges::find(found, each) != found.end()) continue;
        const auto& all = trigger->plan->references;
        if (std::ranges::find(all, table.get(), &Reference::table) != all.end()) {
          found.push_back(each);
        }
      }
    }
  }
  return found;
}

void TriggerStore::strip(EventNumber number) {
  const auto going = with_referrers(number);
  std::vector<std::shared_ptr<HistTable>> tables;  // kept until no reference to them is left
  for (const auto& [event, trigger] : going) tables.push_back(trigger->table);
  for (const auto& [event, trigger] : going) {
    // A hidden histogram may already be removed, with its owner.
    const auto is_it = [each = trigger](const auto& owner) { return owner.get() == each; };
    if (std::ranges::any_of(events_.at(event).triggers, is_it)) remove(*trigger);
  }
  DefinedEvent& event = events_.at(number);
  event.enable(false);
  event.filter.reset();
  event.filter_text.clear();
  event.filter_error.clear();
}

}  // namespace tallyfs::tracing
