#include "core/event/set/event_set.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

// Ids of the kernel's own events come with their formats; those of ours begin here.
constexpr std::uint16_t kFirstOwnId = 32'768;

bool is_system(std::string_view text) { return is_identifier(text) && text.size() <= 64; }

Error in_command(Error error, std::string_view location, std::string_view command) {
  error.location = location;
  error.text = command;
  return error;
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

Error refused(const Fault& fault, std::string_view location, std::string_view command) {
  return fault.in(std::string(location), std::string(command));
}

Error gone(std::string_view command) {
  return refused({fault::kNoSuchEvent, {}, ErrorCode::kNotFound}, "events", command);
}

EventSet::State::State(const Limits& given)
    : limits(given),
      levels(given.synthetic_depth_max + 1),
      trace(given.trace_bytes_max),
      next_id(kFirstOwnId) {}

std::optional<EventNumber> EventSet::State::find(std::string_view system,
                                                 std::string_view name) const {
  const auto at = by_name.find(std::pair(std::string(system), std::string(name)));
  if (at == by_name.end()) return std::nullopt;
  return at->second;
}

std::string EventSet::State::full_name(EventNumber number) const {
  return at(number).system + ":" + at(number).format.name;
}

Result<EventNumber> EventSet::State::define(std::string_view system, EventFormat format,
                                            std::string format_text) {
  const auto known = find(system, format.name);
  if (known && at(*known).format_text == format_text) return *known;
  if (known && at(*known).in_use()) {
    return Error{ErrorCode::kExists, "event " + full_name(*known) + " is in use as it was"};
  }
  if (!known && by_name.size() == limits.events_max) {
    return Error{ErrorCode::kNoSpace, "more events than allowed"};
  }
  if (!known && free.empty()) {
    free.push_back(static_cast<EventNumber>(events.size()));
    events.push_back(std::make_unique<DefinedEvent>());
  }
  const EventNumber number = known ? *known : free.back();
  if (!known) free.pop_back();
  const std::uint32_t generation = at(number).generation + 1;
  by_name[{std::string(system), format.name}] = number;
  DefinedEvent& event = at(number) = DefinedEvent();
  event.defined = true;
  event.system = system;
  event.fixed_bytes = format.fixed_bytes();
  event.format = std::move(format);
  event.format_text = std::move(format_text);
  event.generation = generation;
  return number;
}

Result<EventNumber> EventSet::State::define(std::string_view system, FieldsDefinition fields,
                                           std::string_view command) {
  const auto known = find(system, fields.name);
  if (known && at(*known).fields == fields) return *known;
  const std::uint16_t id = known ? at(*known).format.id : next_id;
  std::string text = fields.format_text(id);
  auto format = parse_event_format(text);
  if (!format) return in_command(format.error(), system, command);
  auto number = define(system, std::move(format.value()), std::move(text));
  if (!number) return in_command(number.error(), system, command);
  if (!known) next_id = next_id == 65'535 ? kFirstOwnId : static_cast<std::uint16_t>(next_id + 1);
  at(number.value()).fields = std::move(fields);
  return number.value();
}

Result<void> EventSet::State::remove(EventNumber number) {
  DefinedEvent& event = at(number);
  if (event.in_use()) return Error{ErrorCode::kBusy, std::string(fault::kInUse)};
  by_name.erase({event.system, event.format.name});
  const std::uint32_t generation = event.generation;
  event = DefinedEvent();
  event.generation = generation;
  free.push_back(number);
  return {};
}

// Whose variables the event's triggers are goes with them; of a named histogram, its last trigger
// does.
std::vector<std::pair<EventNumber, Trigger*>> EventSet::State::with_referrers(
    EventNumber number) const {
  std::vector<std::pair<EventNumber, Trigger*>> found;
  for (const auto& trigger : at(number).triggers) found.emplace_back(number, trigger.get());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto table = found[i].second->table;
    if (!table || table.use_count() > 2 || table->referrers == 0) continue;
    for (EventNumber other = 0; other < events.size(); ++other) {
      for (const auto& trigger : at(other).triggers) {
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

void EventSet::State::strip(EventNumber number) {
  const auto going = with_referrers(number);
  std::vector<std::shared_ptr<HistTable>> tables;  // until nobody refers to them any more
  for (const auto& [event, trigger] : going) tables.push_back(trigger->table);
  for (const auto& [event, trigger] : going) {
    // A hidden one may have gone with its owner.
    const auto is_it = [each = trigger](const auto& owner) { return owner.get() == each; };
    if (std::ranges::any_of(at(event).triggers, is_it)) remove_trigger(*trigger);
  }
  DefinedEvent& event = at(number);
  event.enabled = event.soft_enabled = false;
  event.filter.reset();
  event.filter_text.clear();
  event.filter_error.clear();
}

EventSet::EventSet() : EventSet(Limits()) {}
EventSet::EventSet(const Limits& limits) : state_(std::make_unique<State>(limits)) {}
EventSet::~EventSet() = default;

Result<EventNumber> EventSet::define_event(std::string_view system, std::string_view format) {
  if (!is_system(system) || system == kSyntheticSystem) {
    return Error{ErrorCode::kInvalid, "not the name of a system"};
  }
  auto parsed = parse_event_format(format);
  if (!parsed) return parsed.error();
  return state_->define(system, std::move(parsed.value()), std::string(format));
}

Result<EventNumber> EventSet::take_over_event(std::string_view system, std::string_view format) {
  const auto parsed = parse_event_format(format);
  if (!parsed) return parsed.error();
  const auto known = state_->find(system, parsed.value().name);
  if (!known || system == kSyntheticSystem || state_->at(*known).format_text == format) {
    return define_event(system, format);
  }
  state_->strip(*known);
  DefinedEvent& event = state_->at(*known);
  // What others do to it, by its name, they go on doing; and its source is another one.
  const auto waiting = std::exchange(event.waiting, 0);
  const auto referrers = std::exchange(event.referrers, 0);
  const Demand told = event.told;
  const auto defined = define_event(system, format);
  event.waiting = waiting;
  event.referrers = referrers;
  event.told = told;
  return defined;
}

Result<EventNumber> EventSet::define_built_in(std::string_view system, std::string_view format) {
  const auto defined = define_event(system, format);
  if (defined) state_->at(defined.value()).built_in = true;
  return defined;
}

Result<EventNumber> EventSet::define_fields(std::string_view system, std::string_view definition) {
  if (!is_system(system) || system == kSyntheticSystem) {
    return refused({fault::kBadName}, "event", definition);
  }
  auto fields = FieldsDefinition::parse(definition);
  if (!fields) return refused(fields.error(), system, definition);
  return state_->define(system, std::move(fields.value()), definition);
}

Result<void> EventSet::remove_event(EventNumber event) { return state_->remove(event); }

std::optional<EventNumber> EventSet::find(std::string_view system, std::string_view name) const {
  return state_->find(system, name);
}

std::vector<EventSet::EventName> EventSet::events() const {
  std::vector<EventName> names;
  names.reserve(state_->by_name.size());
  for (const auto& [name, number] : state_->by_name) {
    names.push_back({number, name.first, name.second});
  }
  return names;
}

std::vector<EventSet::EventName> EventSet::events(std::string_view system) const {
  std::vector<EventName> names;
  for (auto at = state_->by_name.lower_bound(std::pair(std::string(system), std::string()));
       at != state_->by_name.end() && at->first.first == system; ++at) {
    names.push_back({at->second, at->first.first, at->first.second});
  }
  return names;
}

bool EventSet::has_system(std::string_view system) const {
  const auto at = state_->by_name.lower_bound(std::pair(std::string(system), std::string()));
  return at != state_->by_name.end() && at->first.first == system;
}

const EventFormat& EventSet::format(EventNumber event) const { return state_->at(event).format; }

EventSet::EventName EventSet::name(EventNumber event) const {
  return {event, state_->at(event).system, state_->at(event).format.name};
}

bool EventSet::is_built_in(EventNumber event) const { return state_->at(event).built_in; }

bool EventSet::in_use(EventNumber event) const { return state_->at(event).in_use(); }

const EventSet::Counts& EventSet::counts() const {
  const auto& snapshot = state_->snapshot;
  state_->counts.trace_overwritten =
      state_->trace.overwritten() + (snapshot ? snapshot->overwritten() : 0);
  return state_->counts;
}

void EventSet::feed(const EventRecord& record) { state_->feed(record, 0); }

}  // namespace tallyfs
