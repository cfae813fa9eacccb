#include "feeders/log/library_outlet.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tallyfs::logs {
namespace {

// A text field has these bytes, with the byte 0 after the text.
constexpr std::size_t kTextBytes = 64;

std::string declaration_of(const EventDefinition& event) {
  std::string text;
  for (const EventDefinition::Field& field : event.fields) {
    text.append(text.empty() ? "" : "; ");
    text.append(field.is_number ? "s64 " + field.name : "char " + field.name + "[64]");
  }
  return text;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignof(std::int64_t) - 1) / alignof(std::int64_t) * alignof(std::int64_t);
}

}  // namespace

LibraryOutlet::~LibraryOutlet() {
  for (auto& [event, handle] : registered_) ::event_unregister(&handle);
}

// An event that cannot be registered is one that is not wanted.
bool LibraryOutlet::register_events(const std::vector<EventDefinition>& events) {
  auto before = std::exchange(registered_, {});
  for (const EventDefinition& each : events) {
    if (auto kept = before.extract(each)) registered_.insert(std::move(kept));
  }
  for (auto& [event, handle] : before) ::event_unregister(&handle);
  const std::size_t kept = registered_.size();
  events_.clear();
  for (const EventDefinition& each : events) {
    const auto [place, is_new] = registered_.try_emplace(each, nullptr);
    ::user_event*& handle = place->second;
    if (is_new) {
      (void)::event_register(&handle, each.system.c_str(), each.name.c_str(),
                             declaration_of(each).c_str());
    }
    events_[&each] = handle;
  }
  return registered_.size() != kept;
}

std::optional<Outlet::Id> LibraryOutlet::open(const std::string& interface, const std::string& name,
                                              const tally::Definition& definition) {
  return statistics_.open(interface, name, definition);
}

void LibraryOutlet::add(Id series, std::int64_t x, std::chrono::nanoseconds time) {
  ::statistic* const statistic = LibraryStatistics::at(series);
  if (time.count() == 0) {
    ::statistic_inc(statistic, x);
  } else {
    ::statistic_add_at(statistic, x, 1, time.count());
  }
}

bool LibraryOutlet::wants(const EventDefinition& event) {
  const auto found = events_.find(&event);
  return found != events_.end() && ::event_enabled(found->second) != 0;
}

// The layout is that of the C structure: texts have no alignment, numbers that of an s64.
void LibraryOutlet::write(const EventDefinition& event, std::span<const EventValue> values) {
  fields_.assign(values.size() * kTextBytes + sizeof(std::int64_t), 0);
  std::size_t at = 0;
  bool has_number = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (event.fields[i].is_number) {
      has_number = true;
      at = aligned(at);
      std::memcpy(fields_.data() + at, &values[i].number, sizeof values[i].number);
      at += sizeof values[i].number;
    } else {
      const std::string_view text = values[i].text.substr(0, kTextBytes - 1);
      text.copy(fields_.data() + at, text.size());
      at += kTextBytes;
    }
  }
  if (has_number) at = aligned(at);
  (void)::event_write(events_.at(&event), fields_.data(), at);
}

}  // namespace tallyfs::logs
