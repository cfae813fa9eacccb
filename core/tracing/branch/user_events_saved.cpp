// Saves the events of programs that outlive the daemon (core/state/FORMAT.md, kind 6), without
// numbers and switches: programs register again with each daemon. A successor gets those, too
// (kinds 20 and 24).
#include <utility>

#include "core/base/bytes.h"
#include "core/tracing/branch/user_events.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint16_t kEventFormat = 1;
constexpr std::uint16_t kFedEventFormat = 1;
constexpr std::uint16_t kNumbersFormat = 1;

Error not_an_event() { return {ErrorCode::kInvalid, "no saved event of a program"}; }

}  // namespace

struct UserEvents::SavedEvent {
  std::string system{}, name{}, definition{};
  uid_t uid = 0;
  bool for_good = false;
  std::uint64_t number = 0;
  std::vector<pid_t> feeders{};
  std::uint16_t id = 0;

  std::string label() const {
    std::string label = system;
    return label.append("/").append(name);
  }
  void put(ByteWriter& out) const {
    out.put(std::uint32_t{uid});
    out.put(std::uint8_t{for_good});
    out.put(id);
    out.put_text(system);
    out.put_text(definition);
  }
  static SavedEvent get(ByteReader& in) {
    SavedEvent event;
    event.uid = in.get<std::uint32_t>();
    event.for_good = in.get_flag();
    event.id = in.get<std::uint16_t>();
    event.system = in.get_text();
    event.definition = in.get_text();
    if (in.left() != 0) in.fail();
    return event;
  }
};

std::vector<UserEvents::SavedEvent> UserEvents::list() const {
  std::vector<SavedEvent> all;
  const MutexLock lock(mutex_);
  for (const auto& [path, number] : by_path_) {
    const Event& event = **events_.find(number);
    all.push_back({.system = path.first,
                   .name = path.second,
                   .definition = event.fields.text(),
                   .uid = event.uid,
                   .for_good = event.for_good,
                   .number = number});
    event.feeders.each([&](pid_t process) { all.back().feeders.push_back(process); });
  }
  return all;
}

bool UserEvents::save(ObjectSink& sink) const {
  std::string bytes;
  for (SavedEvent& each : list()) {
    const auto [id, is_in_use] = tracing_.known(each.system, each.name);
    if (!each.for_good && !is_in_use) continue;
    each.id = id;
    bytes.clear();
    ByteWriter out(bytes);
    each.put(out);
    if (!sink.put(saved_object(SavedKind::kProgramEvent, kEventFormat, each.label(), bytes))) {
      return false;
    }
  }
  return true;
}

bool UserEvents::save_for_successor(ObjectSink& sink) const {
  std::string bytes;
  for (SavedEvent& each : list()) {
    const auto [id, is_in_use] = tracing_.known(each.system, each.name);
    each.id = id;
    bytes.clear();
    ByteWriter out(bytes);
    out.put(each.number);
    out.put(std::uint8_t{is_in_use});
    out.put(static_cast<std::uint32_t>(each.feeders.size()));
    for (const pid_t feeder : each.feeders) out.put(std::int32_t{feeder});
    each.put(out);
    if (!sink.put(saved_object(SavedKind::kFedEvent, kFedEventFormat, each.label(), bytes))) {
      return false;
    }
  }
  return true;
}

void UserEvents::hand_on_numbers(ObjectSink& sink) const {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    events_.save(out);
  }
  sink.put(saved_object(SavedKind::kProgramEventNumbers, kNumbersFormat, "events", bytes));
}

std::uint64_t UserEvents::stamp() const {
  const MutexLock lock(mutex_);
  std::uint64_t stamp = 0;
  for (const auto& [path, number] : by_path_) {
    const Event& event = **events_.find(number);
    stamp += spread(2 * number + (event.for_good ? 1 : 0));
    event.feeders.each([&, of = number](pid_t process) {
      stamp += spread(spread(of) + static_cast<std::uint64_t>(process));
    });
  }
  return stamp;
}

Result<void> UserEvents::load(const SavedObject& object, Timestamp now) {
  if (object.format != kEventFormat) return other_format(object);
  ByteReader in(object.bytes);
  const SavedEvent saved = SavedEvent::get(in);
  if (!in.ok()) return not_an_event();
  return load(saved, std::nullopt, now);
}

Result<void> UserEvents::load_fed(const SavedObject& object, const Loading& loading) {
  if (object.format != kFedEventFormat) return other_format(object);
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  const bool is_in_use = in.get_flag();
  std::vector<pid_t> feeders;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    feeders.push_back(in.get<std::int32_t>());
  }
  SavedEvent saved = SavedEvent::get(in);
  if (!in.ok()) return not_an_event();
  if (loading.has_pages) {
    if (loading.is_after_kill && was_taken_back(number)) return {};  // it was removed since
    saved.feeders = std::move(feeders);
    return load(saved, number, loading.now);
  }
  // Its feeders define it anew.
  if (!saved.for_good && !is_in_use) return {};
  return load(saved, std::nullopt, loading.now);
}

bool UserEvents::was_taken_back(std::uint64_t number) const {
  const MutexLock lock(mutex_);
  return events_.was_taken_back(number);
}

// An event that was there only for what is set on it is removed once nothing is.
Result<void> UserEvents::load(const SavedEvent& saved, std::optional<std::uint64_t> number,
                              Timestamp now) {
  auto fields = FieldsDefinition::parse(saved.definition);
  if (!fields) return fields.error().in(saved.system, saved.definition);
  const Path path(saved.system, fields.value().name);
  const MutexLock one_at_a_time(defining_);
  {
    const MutexLock lock(mutex_);
    if (find(path)) return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  const auto held = tracing_.hold_id(path.first, path.second, saved.id);
  const auto entered = enter(path, std::move(fields.value()), saved.uid, now, number);
  if (!entered) return entered.error();
  for (const pid_t feeder : saved.feeders) {
    const auto added = add_feeder(path, Lifetime::kFeeder, {saved.uid, feeder});
    if (!added) return added;
  }
  if (saved.for_good) return add_feeder(path, Lifetime::kForGood, Sender(saved.uid));
  if (saved.feeders.empty()) has_unkept_ = true;
  return {};
}

// From now on switches are changed.
Result<void> UserEvents::load_numbers(const SavedObject& object, const Loading& loading) {
  if (object.format != kNumbersFormat) return other_format(object);
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const MutexLock lock(mutex_);
  bool is_whole = true;
  if (loading.is_after_kill) {
    events_.finish_late_restore(in);
  } else {
    is_whole = events_.finish_restore(in);
  }
  for (const auto& [path, number] : by_path_) {
    Event& event = **events_.find(number);
    event.its_switch = events_.keep_switch(number);
    if (event.its_switch) event.its_switch->on.store(event.on, std::memory_order_release);
  }
  if (is_whole) return {};
  return Error{ErrorCode::kInvalid, "not a table of numbers"};
}

}  // namespace tallyfs::tracing
