#include "core/tracing/set/synthetic_events.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

constexpr char kSyntheticLocation[] = "synthetic_events";

Error refused(const Fault& fault, std::string_view command) {
  return fault.in(kSyntheticLocation, std::string(command));
}

}  // namespace

bool is_probe_definition(std::string_view command) {
  constexpr std::string_view kKinds = "preft";
  if (command.size() < 2 || kKinds.find(command[0]) == kKinds.npos) return false;
  const char next = command[1];
  return next == ':' || next == ' ' || (next >= '0' && next <= '9');
}

SyntheticEvents::Definitions SyntheticEvents::definitions() const {
  Definitions all;
  for (const auto& event : events_.entries()) {
    if (event->is_synthetic()) all.push_back(event->fields);
  }
  return all;
}

std::string SyntheticEvents::text(const Definitions& definitions) {
  std::string text;
  for (const auto& each : definitions) text.append(each->text()).append("\n");
  return text;
}

std::string SyntheticEvents::dynamic_text(const Definitions& definitions) {
  std::string text;
  for (const auto& each : definitions) text.append("s:synthetic/" + each->text() + "\n");
  return text;
}

Result<void> SyntheticEvents::parse_and_add(std::string_view definition, std::string_view command) {
  auto fields = FieldsDefinition::parse(definition);
  if (!fields) return refused(fields.error(), command);
  return add(std::make_shared<const FieldsDefinition>(std::move(fields.value())), command);
}

Result<void> SyntheticEvents::add(std::shared_ptr<const FieldsDefinition> fields,
                                  std::string_view command) {
  if (events_.find(kSyntheticSystem, fields->name)) {
    return refused({fault::kEventExists, fields->name, ErrorCode::kExists}, command);
  }
  const auto made = events_.define(kSyntheticSystem, std::move(fields), command);
  if (made) return {};
  Error error = made.error();
  error.location = kSyntheticLocation;
  return error;
}

Result<void> SyntheticEvents::remove(std::string_view name, std::string_view command) {
  const auto number = events_.find(kSyntheticSystem, name);
  if (!number) {
    return refused({fault::kNoSuchEvent, std::string(name), ErrorCode::kNotFound}, command);
  }
  if (const auto removed = events_.remove(*number); !removed) {
    return refused({fault::kInUse, std::string(name), removed.error().code}, command);
  }
  return {};
}

Result<void> SyntheticEvents::write(std::string_view text) {
  const std::string_view whole = trimmed(text);
  if (!whole.starts_with('!')) return parse_and_add(whole, whole);
  Tokens tokens(whole.substr(1));
  const auto name = tokens.next();
  return remove(name ? name->text : std::string_view(), whole);
}

// `s:[synthetic/]NAME FIELDS`, `-:[synthetic/]NAME`
Result<void> SyntheticEvents::write_dynamic(std::string_view text) {
  constexpr std::string_view kGroup = "synthetic/";
  const std::string_view whole = trimmed(text);
  if (is_probe_definition(whole) || whole.starts_with("=:")) {
    const Fault none{fault::kNoProbes, {}, ErrorCode::kNoDevice};
    return none.in("dynamic_events", std::string(whole));
  }
  const bool adds = whole.starts_with("s:");
  if (!adds && !whole.starts_with("-:")) return refused({fault::kInvalidDynamicCommand}, whole);
  std::string_view definition = whole.substr(2);
  if (definition.starts_with(kGroup)) definition.remove_prefix(kGroup.size());
  Tokens tokens(definition);
  const auto name = tokens.next();
  if (!name || name->text.find('/') != name->text.npos) {
    return refused({fault::kInvalidDynamicCommand}, whole);
  }
  return adds ? parse_and_add(definition, whole) : remove(name->text, whole);
}

bool SyntheticEvents::is_used(std::string_view name) const {
  return std::ranges::any_of(events_.entries(), [name](const auto& event) {
    const bool is_meant = event->is_synthetic() && (name == "*" || name == event->format->name);
    return is_meant && event->in_use();
  });
}

Result<void> SyntheticEvents::truncate() {
  const auto is_busy = [](const auto& event) { return event->is_synthetic() && event->in_use(); };
  const auto busy = std::ranges::find_if(events_.entries(), is_busy);
  if (busy != events_.entries().end()) {
    return refused({fault::kInUse, {}, ErrorCode::kBusy}, (*busy)->format->name);
  }
  for (EventNumber number = 0; number < events_.size(); ++number) {
    if (events_.at(number).is_synthetic()) (void)events_.remove(number);
  }
  return {};
}

}  // namespace tallyfs::tracing
