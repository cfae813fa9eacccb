// What of stats/ the next server of the mount goes on with: templates with the processes that have
// registered them; subsystems and objects with their numbers, feeders and demand.
#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/stats3/branch/stats_branch.h"

namespace tallyfs {
namespace {

// Of the contents of all kinds here.
constexpr std::uint16_t kHandedFormat = 1;

Error not_handed_on() { return {ErrorCode::kInvalid, "not what stats/ hands on"}; }

// A list of processes.
template <typename Processes>
void put_processes(ByteWriter& out, const Processes& processes) {
  out.put(static_cast<std::uint32_t>(processes.size()));
  for (const pid_t each : processes) out.put(std::int32_t{each});
}

std::vector<pid_t> get_processes(ByteReader& in) {
  std::vector<pid_t> processes;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    processes.push_back(in.get<std::int32_t>());
  }
  return processes;
}

}  // namespace

// A subsystem or an object, as bytes.
struct StatsBranch::Handed {
  NodeId node = 0;
  SavedKind kind = SavedKind::kFedSubsystem;
  std::string label{};
  std::string bytes{};
};

StatsBranch::Handed StatsBranch::handed(const Subsystem& subsystem) {
  Handed handed{.node = subsystem.node, .label = subsystem.name};
  std::vector<pid_t> feeders;
  subsystem.feeders.each([&](pid_t process) { feeders.push_back(process); });
  ByteWriter out(handed.bytes);
  out.put(subsystem.number);
  out.put(std::uint32_t{subsystem.uid});
  put_processes(out, feeders);
  subsystem.rates->hand_on(out);
  return handed;
}

StatsBranch::Handed StatsBranch::handed(const Object& object) {
  Handed handed{.node = object.freeform, .kind = SavedKind::kFedStatsObject};
  handed.label.append(object.owner->name).append("/").append(object.name);
  ByteWriter out(handed.bytes);
  out.put(object.number);
  out.put(std::int32_t{object.feeder});
  out.put(std::uint8_t{object.lifetime == Lifetime::kFeeder});
  object.content->hand_on(out);
  return handed;
}

// In the order in which they came: a subsystem before its objects.
std::vector<StatsBranch::Handed> StatsBranch::list_handed() const {
  std::vector<Handed> all;
  const MutexLock lock(mutex_);
  for (const auto& [name, subsystem] : subsystems_) {
    all.push_back(handed(*subsystem));
    for (const auto& [object_name, object] : subsystem->objects) all.push_back(handed(*object));
  }
  std::ranges::sort(all, {}, &Handed::node);
  return all;
}

bool StatsBranch::hand_on_templates(ObjectSink& sink) const {
  std::string bytes;
  for (const FeederTemplates::Saved& each : templates_->all()) {
    if (!put_template(each, sink)) return false;
    bytes.clear();
    ByteWriter out(bytes);
    out.put(std::uint32_t{each.uid});
    out.put(each.hash);
    put_processes(out, templates_->tellers(each.uid, each.hash));
    const auto tellers = saved_object(SavedKind::kTellers, kHandedFormat, each.names.name, bytes);
    if (!sink.put(tellers)) return false;
  }
  return true;
}

void StatsBranch::hand_on(ObjectSink& sink, Moment) {
  if (!hand_on_templates(sink)) return;
  for (const Handed& each : list_handed()) {
    if (!sink.put(saved_object(each.kind, kHandedFormat, each.label, each.bytes))) return;
  }
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    numbered_.save(out);
  }
  sink.put(saved_object(SavedKind::kStatsNumbers, kHandedFormat, "stats", bytes));
}

Result<void> StatsBranch::load_tellers(const SavedObject& object, const Loading& loading) {
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const uid_t uid = in.get<std::uint32_t>();
  const auto hash = in.get<std::uint32_t>();
  const auto processes = get_processes(in);
  if (!in.ok() || in.left() != 0) return not_handed_on();
  for (const pid_t each : processes) {
    if (auto told = templates_->restore_teller(uid, hash, each); !told) return told;
  }
  return {};
}

Result<void> StatsBranch::load_fed_subsystem(const SavedObject& object, const Loading& loading) {
  if (find(object.label)) return Error{ErrorCode::kExists, "there is one of that name already"};
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  const uid_t uid = in.get<std::uint32_t>();
  const auto feeders = get_processes(in);
  if (!in.ok()) return not_handed_on();
  const Number before = loading.has_pages ? Number(number) : std::nullopt;
  auto made = prepare_subsystem(object.label, uid, loading.now, before);
  if (!made) return made.error();
  Subsystem& subsystem = made.value();
  subsystem.rates->load_handed(in);
  if (!in.ok() || in.left() != 0) {
    subsystem.rates->detach();
    if (!before) numbered_.take_back_switch(subsystem.number);
    return not_handed_on();
  }
  Result<void> added;
  for (const pid_t each : feeders) {
    if (loading.has_pages && added) added = subsystem.feeders.add(ledger_, uid, each);
  }
  if (!loading.has_pages) {
    for (const pid_t each : feeders) subsystem.rates->drop_feeder(each);
  }
  enter(std::move(subsystem), loading.now);
  return added;
}

// Without the pages, a feeder comes again, and with it an object that has its lifetime.
Result<void> StatsBranch::load_fed_object(const SavedObject& object, const Loading& loading) {
  const wire::Path path = wire::split_path(object.label);
  Subsystem* const owner = find(path.interface);
  if (!owner) return Error{ErrorCode::kNotFound, "its subsystem is not there"};
  if (find(*owner, path.statistic)) {
    return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  const pid_t feeder = in.get<std::int32_t>();
  const auto lifetime = in.get_flag() ? Lifetime::kFeeder : Lifetime::kForGood;
  if (!in.ok()) return not_handed_on();
  if (!loading.has_pages && lifetime == Lifetime::kFeeder) return {};
  const Number before = loading.has_pages ? Number(number) : std::nullopt;
  const auto made = add_object(*owner, path.statistic, loading.now, before);
  if (!made) return made.error();
  auto loaded = made.value()->content->load_handed(in, loading.now);
  if (loaded && in.left() != 0) loaded = not_handed_on();
  if (!loaded) {
    forget(*made.value(), loading.now);
    return loaded;
  }
  if (!loading.has_pages) return {};
  made.value()->feeder = feeder;
  made.value()->lifetime = lifetime;
  return {};
}

Result<void> StatsBranch::load_numbers(const SavedObject& object, const Loading& loading) {
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  if (numbered_.settle(in)) return {};
  return not_handed_on();
}

void StatsObject::hand_on(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(std::uint8_t{asked_.has_value()});
  out.put(std::int64_t{asked_ ? asked_->monotonic.count() : 0});
  out.put(std::int64_t{asked_ ? asked_->realtime.count() : 0});
  out.put(published_);
  save_locked(out);
}

Result<void> StatsObject::load_handed(ByteReader& in, Moment now) {
  const bool is_asked = in.get_flag();
  const Moment asked{.monotonic = std::chrono::nanoseconds(in.get<std::int64_t>()),
                     .realtime = std::chrono::nanoseconds(in.get<std::int64_t>())};
  const auto published = in.get<std::uint64_t>();
  if (!in.ok() || asked.monotonic.count() < 0) return not_handed_on();
  {
    const MutexLock lock(mutex_);
    if (is_asked) asked_ = asked;
  }
  const auto loaded = load(in, now);
  const MutexLock lock(mutex_);
  published_ = published;
  return loaded;
}

void SubsystemRates::hand_on(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(changes_);
  out.put(feeders_changes_);
  put_processes(out, feeders_);
  out.put(static_cast<std::uint32_t>(idle_.size()));
  for (const std::string& each : idle_) out.put_text(each);
  save_locked(out);
}

void SubsystemRates::load_handed(ByteReader& in) {
  const auto changes = in.get<std::uint32_t>();
  const auto feeders_changes = in.get<std::uint64_t>();
  const auto feeders = get_processes(in);
  std::vector<std::string> idle;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    idle.emplace_back(in.get_text());
  }
  const bool is_set = in.get_flag();
  Rates rates = load_rates(in);
  if (!in.ok()) return;
  const MutexLock lock(mutex_);
  changes_ = changes;
  feeders_changes_ = feeders_changes;
  feeders_.insert(feeders.begin(), feeders.end());
  idle_ = std::move(idle);
  set_by_user_ = is_set;
  rates_ = std::move(rates);
  if (switch_) switch_->on.store(changes_, std::memory_order_release);
}

}  // namespace tallyfs
