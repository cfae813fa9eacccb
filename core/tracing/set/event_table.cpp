#include "core/tracing/set/event_table.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kSystemBytesMax = 64;

bool is_system(std::string_view text) {
  return is_identifier(text) && text.size() <= kSystemBytesMax && text != kSyntheticSystem;
}

// The offset of the other process of a switch or a wakeup, which the kernel also compares with
// set_event_pid.
std::optional<std::uint32_t> subject_of(std::string_view system, const EventFormat& format) {
  if (system != "sched") return std::nullopt;
  const bool is_switch = format.name == "sched_switch";
  const bool is_wakeup = format.name == "sched_waking" || format.name == "sched_wakeup" ||
                         format.name == "sched_wakeup_new";
  if (!is_switch && !is_wakeup) return std::nullopt;
  const auto field = format.field(is_switch ? "next_pid" : "pid");
  if (!field || field.value().size != sizeof(std::int32_t)) return std::nullopt;
  return field.value().offset;
}

Error in_command(Error error, std::string_view location, std::string_view command) {
  error.location = location;
  error.text = command;
  return error;
}

}  // namespace

std::shared_ptr<const EventFormat> no_format() {
  static const auto kNone = std::make_shared<const EventFormat>();
  return kNone;
}

std::shared_ptr<const std::string> no_text() {
  static const auto kNone = std::make_shared<const std::string>();
  return kNone;
}

Error event_gone(std::string_view command) {
  return Fault{fault::kNoSuchEvent, {}, ErrorCode::kNotFound}.in("events", std::string(command));
}

EventNumber EventTable::take_entry() {
  if (free_.empty()) {
    entries_.push_back(std::make_unique<DefinedEvent>());
    return size() - 1;
  }
  const EventNumber number = free_.back();
  free_.pop_back();
  return number;
}

Result<SharedFormat> SharedFormat::parse(std::string_view text) {
  auto parsed = parse_event_format(text);
  if (!parsed) return parsed.error();
  SharedFormat shared{std::make_shared<const EventFormat>(std::move(parsed.value())),
                      std::make_shared<const std::string>(text), nullptr};
  shared.wording = std::make_shared<const Wording>(shared.format, shared.text);
  return shared;
}

Result<EventNumber> EventTable::define(std::string_view system, const SharedFormat& shared) {
  const EventFormat& format = *shared.format;
  const auto known = find(system, format.name);
  if (known && *at(*known).format_text == *shared.text) return *known;
  if (known && at(*known).in_use()) {
    return Error{ErrorCode::kExists, "event " + full_name(*known) + " is in use as it was"};
  }
  if (!known && by_name_.size() == events_max_) {
    return Error{ErrorCode::kNoSpace, "more events than allowed"};
  }
  const EventNumber number = known ? *known : take_entry();
  const std::uint32_t generation = at(number).generation + 1;
  by_name_[{std::string(system), format.name}] = number;
  listed_.reset();
  DefinedEvent& event = at(number) = DefinedEvent();
  event.defined = true;
  event.system = system;
  event.fixed_bytes = format.fixed_bytes();
  event.subject_at = subject_of(system, format);
  event.format = shared.format;
  event.format_text = shared.text;
  event.wording = shared.wording;
  event.generation = generation;
  return number;
}

Result<EventNumber> EventTable::define(std::string_view system,
                                       std::shared_ptr<const FieldsDefinition> fields,
                                       std::string_view command) {
  const auto known = find(system, fields->name);
  if (known && at(*known).fields && *at(*known).fields == *fields) return *known;
  const EventIds::Id id = ids_->of(system, fields->name);
  if (!id) {
    return in_command({ErrorCode::kNoSpace, "more events than there are ids"}, system, command);
  }
  const auto format = SharedFormat::parse(fields->format_text(*id));
  if (!format) return in_command(format.error(), system, command);
  const auto number = define(system, format.value());
  if (!number) return in_command(number.error(), system, command);
  at(number.value()).fields = std::move(fields);
  at(number.value()).own_id = id;
  return number.value();
}

Result<EventNumber> EventTable::define_event(std::string_view system, std::string_view format) {
  const auto parsed = SharedFormat::parse(format);
  if (!parsed) return parsed.error();
  return define_event(system, parsed.value());
}

Result<EventNumber> EventTable::define_event(std::string_view system, const SharedFormat& format) {
  if (!is_system(system)) return Error{ErrorCode::kInvalid, "not the name of a system"};
  return define(system, format);
}

Result<EventNumber> EventTable::define_built_in(std::string_view system, std::string_view format) {
  const auto defined = define_event(system, format);
  if (defined) at(defined.value()).built_in = true;
  listed_.reset();
  return defined;
}

Result<EventNumber> EventTable::define_fields(std::string_view system,
                                              std::string_view definition) {
  const std::string command(definition);
  if (!is_system(system)) return Fault{fault::kBadName}.in("event", command);
  auto fields = FieldsDefinition::parse(definition);
  if (!fields) return fields.error().in(std::string(system), command);
  return define(system, std::make_shared<const FieldsDefinition>(std::move(fields.value())),
                definition);
}

Result<void> EventTable::remove(EventNumber number) {
  DefinedEvent& event = at(number);
  if (event.in_use()) return Error{ErrorCode::kBusy, std::string(fault::kInUse)};
  by_name_.erase({event.system, event.format->name});
  listed_.reset();
  const std::uint32_t generation = event.generation;
  event = DefinedEvent();
  event.generation = generation;
  free_.push_back(number);
  return {};
}

std::optional<EventNumber> EventTable::find(std::string_view system, std::string_view name) const {
  const auto found = by_name_.find(std::pair(std::string(system), std::string(name)));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::vector<EventTable::EventName> EventTable::names() const {
  std::vector<EventName> names;
  names.reserve(by_name_.size());
  for (const auto& [name, number] : by_name_) names.push_back({number, name.first, name.second});
  return names;
}

std::vector<EventTable::EventName> EventTable::names(std::string_view system) const {
  std::vector<EventName> names;
  for (auto each = by_name_.lower_bound(std::pair(std::string(system), std::string()));
       each != by_name_.end() && each->first.first == system; ++each) {
    names.push_back({each->second, each->first.first, each->first.second});
  }
  return names;
}

std::shared_ptr<const EventList> EventTable::listed() {
  if (listed_) return listed_;
  auto made = std::make_shared<EventList>();
  made->reserve(by_name_.size());
  for (const auto& [name, number] : by_name_) {
    if (at(number).is_listed()) made->push_back({number, name.first, name.second});
  }
  listed_ = std::move(made);
  return listed_;
}

bool EventTable::has_system(std::string_view system) const {
  const auto found = by_name_.lower_bound(std::pair(std::string(system), std::string()));
  return found != by_name_.end() && found->first.first == system;
}

EventTable::EventName EventTable::name(EventNumber event) const {
  return {event, at(event).system, at(event).format->name};
}

std::string EventTable::full_name(EventNumber event) const {
  return at(event).system + ":" + at(event).format->name;
}

}  // namespace tallyfs::tracing
