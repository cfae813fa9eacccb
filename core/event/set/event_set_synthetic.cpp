// synthetic_events and dynamic_events.
#include <algorithm>

#include "core/base/text.h"
#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

constexpr std::string_view kLocation = "synthetic_events";

}  // namespace

Result<void> EventSet::State::add_synthetic(std::string_view definition, std::string_view command) {
  auto fields = FieldsDefinition::parse(definition);
  if (!fields) return refused(fields.error(), kLocation, command);
  const std::string name = fields.value().name;
  if (find(kSyntheticSystem, name)) {
    return refused({fault::kEventExists, name, ErrorCode::kExists}, kLocation, command);
  }
  const auto made = define(kSyntheticSystem, std::move(fields.value()), command);
  if (made) return {};
  Error error = made.error();
  error.location = kLocation;
  return error;
}

Result<void> EventSet::State::remove_synthetic(std::string_view name, std::string_view command) {
  const auto number = find(kSyntheticSystem, name);
  if (!number) {
    return refused({fault::kNoSuchEvent, std::string(name), ErrorCode::kNotFound}, kLocation,
                   command);
  }
  if (const auto removed = remove(*number); !removed) {
    return refused({fault::kInUse, std::string(name), removed.error().code}, kLocation, command);
  }
  return {};
}

Result<void> EventSet::State::write_synthetic(std::string_view text) {
  const std::string_view whole = without_blanks(text);
  if (!whole.starts_with('!')) return add_synthetic(whole, whole);
  Tokens tokens(whole.substr(1));
  const auto name = tokens.next();
  return remove_synthetic(name ? name->text : std::string_view(), whole);
}

// `s:[synthetic/]NAME FIELDS`, `-:[synthetic/]NAME`
Result<void> EventSet::State::write_dynamic(std::string_view text) {
  constexpr std::string_view kGroup = "synthetic/";
  const std::string_view whole = without_blanks(text);
  const bool adds = whole.starts_with("s:");
  if (!adds && !whole.starts_with("-:")) {
    return refused({fault::kInvalidDynamicCommand}, kLocation, whole);
  }
  std::string_view definition = whole.substr(2);
  if (definition.starts_with(kGroup)) definition.remove_prefix(kGroup.size());
  Tokens tokens(definition);
  const auto name = tokens.next();
  if (!name || name->text.find('/') != name->text.npos) {
    return refused({fault::kInvalidDynamicCommand}, kLocation, whole);
  }
  return adds ? add_synthetic(definition, whole) : remove_synthetic(name->text, whole);
}

std::string EventSet::render_synthetic_events() const {
  std::string text;
  for (const auto& event : state_->events) {
    if (event->is_synthetic()) text.append(event->fields->text()).append("\n");
  }
  return text;
}

std::string EventSet::render_dynamic_events() const {
  std::string text;
  for (const auto& event : state_->events) {
    if (event->is_synthetic()) text.append("s:synthetic/" + event->fields->text() + "\n");
  }
  return text;
}

std::string EventSet::fields_text(EventNumber event) const {
  return state_->at(event).fields->text();
}

Result<void> EventSet::write_synthetic_events(std::string_view line) {
  return state_->write_synthetic(line);
}

Result<void> EventSet::write_dynamic_events(std::string_view line) {
  return state_->write_dynamic(line);
}

Result<void> EventSet::truncate_synthetic_events() {
  const auto is_busy = [](const auto& event) { return event->is_synthetic() && event->in_use(); };
  const auto busy = std::ranges::find_if(state_->events, is_busy);
  if (busy != state_->events.end()) {
    return refused({fault::kInUse, {}, ErrorCode::kBusy}, kLocation, (*busy)->format.name);
  }
  for (EventNumber number = 0; number < state_->events.size(); ++number) {
    if (state_->at(number).is_synthetic()) (void)state_->remove(number);
  }
  return {};
}

}  // namespace tallyfs
