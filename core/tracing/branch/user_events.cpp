#include "core/tracing/branch/user_events.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/text.h"
#include "core/tracing/branch/record_text.h"

namespace tallyfs::tracing {
namespace {

// The bytes of an event's names, format and nodes, in the usual number of instances.
constexpr std::uint64_t kEventBytes = 16u << 10;
// In a switch: the name of the writing process is wanted too (core/wire/FORMAT.md, kind 11).
constexpr std::uint32_t kCommSwitch = 2;

Error not_found() { return {ErrorCode::kNotFound, "no such event"}; }

// The kernel's reason leaves it to its documents.
constexpr std::string_view kTypes =
    ": types are u8 to u64, s8 to s64, int, long, bool, pid_t, char[N] and others of C";

// fields: the text behind the name.
Result<FieldsDefinition> parse(std::string_view name, std::string_view fields) {
  const std::string text = std::string(name) + " " + std::string(fields);
  auto parsed = FieldsDefinition::parse(text);
  if (parsed && parsed.value().name == name) return std::move(parsed.value());
  if (parsed) return Error{ErrorCode::kInvalid, "not the name of an event"};
  Error error = parsed.error().in({}, text);
  if (error.reason == fault::kInvalidType) error.reason.append(kTypes);
  error.text.clear();  // the error log shows what the feeder sent
  error.token_at =
      error.token_at > name.size() ? error.token_at - name.size() - 1 : Error::kNoToken;
  return error;
}

}  // namespace

UserEvents::UserEvents(Tracing& tracing, Ledger& ledger, uid_t owner,
                       BranchDependencies dependencies)
    : tracing_(tracing),
      ledger_(ledger),
      ownership_(owner),
      processes_(dependencies.processes),
      events_(dependencies.switches) {}

UserEvents::~UserEvents() { tracing_.withdraw(*this, Timestamp{}); }

UserEvents::Event* UserEvents::find(const Path& path) const {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  return events_.find(found->second)->get();
}

// Notes whether wanted events have several senders: processes that gather records, and, for a
// permanent event, one sender for all lines on the socket.
void UserEvents::note_senders() {
  std::optional<pid_t> one;
  bool are_several = false;
  const auto add = [&](pid_t sender) {
    if (!one) one = sender;
    are_several |= *one != sender;
  };
  for (const auto& [path, number] : by_path_) {
    const Event& event = **events_.find(number);
    if (!event.is_wanted) continue;
    if (event.for_good) add(0);
    event.feeders.each(add);
  }
  note_from_several(are_several);
}

Result<void> UserEvents::may_change(const Event& event, const Sender& sender) const {
  auto allowed =
      ownership_.check(event.uid, sender.uid, {.thing = "event", .change = "feed or remove it"});
  if (allowed) return allowed;
  Error error = allowed.error();
  error.token_at = Error::kNoToken;  // it counts from behind the name
  return error;
}

Result<UserEvents::Event*> UserEvents::find_owned(const Path& path, const Sender& sender) const {
  Event* const event = find(path);
  if (!event) return not_found();
  if (const auto allowed = may_change(*event, sender); !allowed) return allowed.error();
  return event;
}

Result<void> UserEvents::add_feeder(const Path& path, Lifetime lifetime, const Sender& sender) {
  const MutexLock lock(mutex_);
  Event& event = *find(path);
  if (lifetime == Lifetime::kForGood) {
    event.for_good = true;
  } else if (auto added = event.feeders.add(ledger_, event.uid, sender.pid); !added) {
    return added;
  }
  note_senders();
  return {};
}

// For an event whose name exists. kNotFound: the old event could be removed, and is.
Result<Done> UserEvents::define_again(const Path& path, const FieldsDefinition& fields,
                                      Lifetime lifetime, const Sender& sender, Timestamp now) {
  Done done{.made = wire::Made::kWasThere};
  bool is_same = false, is_kept = false;
  {
    const MutexLock lock(mutex_);
    const auto found = find_owned(path, sender);
    if (!found) return found.error();
    const Event& event = *found.value();
    done.number = event.number;
    is_same = event.fields == fields;
    is_kept = event.for_good || !event.feeders.empty();
  }
  if (is_same) {
    if (const auto added = add_feeder(path, lifetime, sender); !added) return added.error();
    return done;
  }
  if (is_kept) return Error{ErrorCode::kExists, "the event is there with other fields"};
  if (const auto taken = take_out(path, now); !taken) {
    return Error{ErrorCode::kExists, "the event is there with other fields, and in use"};
  }
  return not_found();
}

Result<Done> UserEvents::define(std::string_view system, std::string_view name,
                                std::string_view text, const Sender& sender, Timestamp now) {
  Tokens words(text);
  const auto lifetime = take_lifetime(words);
  if (!lifetime) return lifetime.error();
  const Token rest = words.rest();
  auto done = define(system, name, rest.text, lifetime.value(), sender, now);
  if (done || done.error().token_at == Error::kNoToken) return done;
  Error error = done.error();
  error.token_at += rest.at;
  return error;
}

Result<Done> UserEvents::define(std::string_view system, std::string_view name,
                                std::string_view fields, Lifetime lifetime, const Sender& sender,
                                Timestamp now) {
  auto parsed = parse(name, fields);
  if (!parsed) return parsed.error();
  const auto change = [&] {
    const MutexLock one_at_a_time(defining_);
    return define({std::string(system), std::string(name)}, std::move(parsed.value()), lifetime,
                  sender, now);
  };
  if (lifetime == Lifetime::kForGood) return change();
  if (const auto watched = processes_.watch(sender); !watched) return watched.error();
  return processes_.change_while_watched(sender.pid, change,
                                         [&] { process_ended(sender.pid, now, always_late); });
}

Result<Done> UserEvents::define(const Path& path, FieldsDefinition fields, Lifetime lifetime,
                                const Sender& sender, Timestamp now) {
  auto again = define_again(path, fields, lifetime, sender, now);
  if (again || again.error().code != ErrorCode::kNotFound) return again;
  const auto entered = enter(path, std::move(fields), sender.uid, now);
  if (!entered) return entered.error();
  if (const auto added = add_feeder(path, lifetime, sender); !added) {
    (void)take_out(path, now);
    return added.error();
  }
  return Done{entered.value()};
}

Result<std::uint64_t> UserEvents::add(Event event, std::optional<std::uint64_t> number) {
  if (number) {
    if (!events_.can_put(*number)) return Error{ErrorCode::kInvalid, "its number is not free"};
    event.number = *number;
    events_.put(*number, std::make_unique<Event>(std::move(event)));
    return *number;
  }
  event.number = events_.next_number();
  event.its_switch = events_.give_switch(event.number);
  return events_.add(std::make_unique<Event>(std::move(event)));
}

Result<std::uint64_t> UserEvents::enter(const Path& path, FieldsDefinition fields, uid_t uid,
                                        Timestamp now, std::optional<std::uint64_t> wanted) {
  auto share = Reservation::create(ledger_, uid, {.interfaces = 1, .bytes = kEventBytes});
  if (!share) return share.error();
  const std::string definition = fields.text();
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  {
    const MutexLock lock(mutex_);
    if (const auto room = check_share(uid); !room) return room.error();
    const auto added = add(Event{.system = path.first,
                                 .uid = uid,
                                 .fields = std::move(fields),
                                 .share = std::move(share.value())},
                           wanted);
    if (!added) return added.error();
    number = added.value();
    slot = events_.slot(number);
    by_path_.emplace(path, number);
  }
  const auto offered = tracing_.offer(*this,
                                      {.system = path.first,
                                       .form = EventOffer::Form::kFields,
                                       .text = definition,
                                       .source_id = slot,
                                       .use = events_.use(number)},
                                      now);
  if (offered) return number;
  (void)take_out(path, now);
  return offered.error();
}

// Keeps one uid from taking the events that others need.
Result<void> UserEvents::check_share(uid_t uid) const {
  if (events_.size() == kEventsMax) {
    return Error{ErrorCode::kNoSpace, "more user events than allowed"};
  }
  if (ownership_.is_trusted(uid)) return {};
  std::size_t own = 0, of_others = 0;
  for (const auto& [path, number] : by_path_) {
    const uid_t its = (*events_.find(number))->uid;
    own += its == uid ? 1 : 0;
    of_others += ownership_.is_trusted(its) ? 0 : 1;
  }
  if (own < kEventsPerUidMax && of_others < kEventsOfOthersMax) return {};
  return Error{ErrorCode::kNoSpace, "more user events than a uid may have"};
}

// kBusy: something is set on it.
Result<void> UserEvents::take_out(const Path& path, Timestamp now) {
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  {
    const MutexLock lock(mutex_);
    const Event* const event = find(path);
    if (!event) return not_found();
    number = event->number;
    slot = events_.slot(number);
  }
  const auto withdrawn = tracing_.withdraw(*this, slot, now);
  // The event may never have been offered.
  if (!withdrawn && withdrawn.error().code != ErrorCode::kNotFound) return withdrawn;
  const MutexLock lock(mutex_);
  by_path_.erase(path);
  events_.remove(number);
  note_senders();
  return {};
}

Result<void> UserEvents::remove(std::string_view system, std::string_view name,
                                const Sender& sender, Timestamp now) {
  const Path path(system, name);
  const MutexLock one_at_a_time(defining_);
  {
    const MutexLock lock(mutex_);
    if (const auto found = find_owned(path, sender); !found) return found.error();
  }
  return take_out(path, now);
}

Result<void> UserEvents::feed(std::uint64_t number, std::span<const Record> records,
                              const Sender& sender, Timestamp now) {
  std::uint32_t fixed_bytes = 0, slot = 0;
  {
    const MutexLock lock(mutex_);
    const auto* const found = events_.find(number);
    if (!found) return Error{ErrorCode::kStale, "records of an event that is gone"};
    if (auto allowed = may_change(**found, sender); !allowed) return allowed;
    fixed_bytes = (*found)->fields.fixed_bytes;
    slot = events_.slot(number);
  }
  const auto fits = [&](const Record& record) {
    return record.fields.size() + sizeof(std::uint64_t) >= fixed_bytes;
  };
  if (!std::ranges::all_of(records, fits)) {
    return Error{ErrorCode::kInvalid, "a record shorter than the event's fields"};
  }
  std::string bytes;
  for (const Record& record : records) {
    const auto pid = static_cast<std::int32_t>(record.pid);
    bytes.append(4, '\0').append(reinterpret_cast<const char*>(&pid), sizeof pid);
    bytes.append(record.fields);
  }
  std::vector<EventRecord> fed;
  fed.reserve(records.size());
  std::size_t at = 0;
  for (const Record& record : records) {
    const std::size_t size = record.fields.size() + sizeof(std::uint64_t);
    fed.push_back({.event = slot,
                   .time_ns = record.time_ns,
                   .cpu = record.cpu,
                   .pid = static_cast<std::int32_t>(record.pid),
                   .bytes = std::string_view(bytes).substr(at, size),
                   .comm = record.comm});
    at += size;
  }
  // The event may be removed meanwhile, and its slot be another uid's.
  tracing_.feed(*this, fed, now, events_.use(number));
  return {};
}

Result<void> UserEvents::write(std::string_view system, std::string_view name,
                               std::string_view text, const Sender& sender, Timestamp now) {
  std::uint64_t number = 0;
  std::string fields;
  {
    const MutexLock lock(mutex_);
    const auto found = find_owned({std::string(system), std::string(name)}, sender);
    if (!found) return found.error();
    auto made = record_from_text(found.value()->fields, text);
    if (!made) return made.error();
    fields = std::move(made.value());
    number = found.value()->number;
  }
  const Record record{.time_ns = static_cast<std::uint64_t>(now.monotonic.count()),
                      .pid = shown_pid(sender.pid),
                      .fields = fields};
  return feed(number, {&record, 1}, sender, now);
}

bool UserEvents::process_ended(pid_t process, Timestamp now, const IsLate& is_late) {
  const MutexLock one_at_a_time(defining_);
  std::vector<Path> gone;
  {
    const MutexLock lock(mutex_);
    for (const auto& [path, number] : by_path_) {
      Event& event = **events_.find(number);
      (void)event.feeders.remove(process);
      if (!event.for_good && event.feeders.empty()) gone.push_back(path);
    }
    note_senders();
  }
  for (const Path& path : gone) {
    const auto taken = take_out(path, now);
    if (!taken && taken.error().code == ErrorCode::kBusy) {
      has_unkept_ = true;
    } else if (&path != &gone.back() && is_late()) {
      return false;
    }
  }
  return true;
}

void UserEvents::let_go(Timestamp now) {
  if (!has_unkept_) return;
  const MutexLock one_at_a_time(defining_);
  has_unkept_ = false;
  std::vector<Path> unkept;
  {
    const MutexLock lock(mutex_);
    for (const auto& [path, number] : by_path_) {
      const Event& event = **events_.find(number);
      if (!event.for_good && event.feeders.empty()) unkept.push_back(path);
    }
  }
  for (const Path& path : unkept) {
    const auto taken = take_out(path, now);
    if (!taken && taken.error().code == ErrorCode::kBusy) has_unkept_ = true;
  }
}

// Its feeders learn with their next records that the event is removed.
void UserEvents::taken_over(std::string_view system, std::string_view name, Timestamp) {
  const MutexLock one_at_a_time(defining_);
  const MutexLock lock(mutex_);
  const auto found = by_path_.find(Path(system, name));
  if (found == by_path_.end()) return;
  events_.remove(found->second);
  by_path_.erase(found);
  note_senders();
}

Result<void> UserEvents::want(const Wanted& wanted, const CancellationToken&) {
  const MutexLock one_at_a_time(ordering_);
  const auto events = wanted();
  const MutexLock lock(mutex_);
  for (const auto& [path, number] : by_path_) {
    Event& event = **events_.find(number);
    const std::uint32_t slot = events_.slot(number);
    const auto at = std::ranges::lower_bound(events, slot, {}, &WantedEvent::source_id);
    const bool on = at != events.end() && at->source_id == slot;
    event.is_wanted = on;
    const std::uint32_t with_comm = on && at->demand.comm ? kCommSwitch : 0;
    event.on = (on ? 1 : 0) | with_comm;
    if (event.its_switch) event.its_switch->on.store(event.on, std::memory_order_release);
  }
  note_senders();
  return {};
}

}  // namespace tallyfs::tracing
