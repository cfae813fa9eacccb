#include "core/tree/statistics.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/tree/interface_files.h"

namespace tally {
namespace {

constexpr unsigned kDefinitionPermissions = 0600;
constexpr unsigned kDataPermissions = 0400;
// What one more Feeder of an interface takes, at most.
constexpr std::uint64_t kFeederBytes = 64;
// How a statistic begins that a sample named: on, and of the default type.
constexpr std::string_view kBornOfASample = "on=1";

Error not_found(std::string_view what, std::size_t at) {
  return {ErrorCode::kNotFound, "no such " + std::string(what), at};
}

// Where in the line what follows the target begins.
std::size_t rest_at(const wire::CommandLine& command) {
  const auto word = Tokens(command.rest.text).next();
  return command.rest.at + (word ? word->at : 0);
}

Error own_interface(std::size_t at) {
  return {ErrorCode::kBusy, "this interface holds the daemon's own numbers", at};
}

}  // namespace

// Collects runs of one interface after the other and hands them over under one lock each.
class Statistics::Runs {
 public:
  Runs(Workspace& workspace, Taken& taken, Moment now)
      : runs_(workspace.runs), taken_(taken), now_(now) {}

  void push(const InterfaceEntry& owner, Statistic* statistic, std::span<const Sample> samples) {
    if (&owner != owner_ || size_ == runs_.size()) flush();
    owner_ = &owner;
    runs_[size_++] = {statistic, samples};
    taken_.samples += samples.size();
  }

  void flush() {
    if (size_ == 0) return;
    if (owner_->interface->add(std::span(runs_).first(size_), now_) != 0) {
      taken_.saturated.push_back(owner_->name);
    }
    size_ = 0;
  }

 private:
  std::array<Run, NamedSamples::kCapacity>& runs_;
  Taken& taken_;
  const Moment now_;
  const InterfaceEntry* owner_ = nullptr;
  std::size_t size_ = 0;
};

// What rmdir in statistics/ asks.
class Statistics::InterfacesDirectory final : public Directory {
 public:
  InterfacesDirectory(Statistics& statistics) : statistics_(statistics) {}
  Result<void> remove_directory(std::string_view name, Moment now) override {
    return statistics_.remove_interface(name, now);
  }

 private:
  Statistics& statistics_;
};

Statistics::Statistics(Tree& tree, Ledger& ledger, uid_t owner, Moment now, Ports ports)
    : tree_(tree),
      ledger_(ledger),
      owner_(owner),
      processes_(ports.processes),
      switches_(ports.switches) {
  directory_ = tree_.add_directory(Tree::kRoot, "statistics",
                                   std::make_shared<InterfacesDirectory>(*this), now);
  const MutexLock lock(mutex_);
  std::shared_ptr<Interface> own = Interface::create(ledger_, owner_, now).value();
  own_ = std::make_unique<OwnNumbers>(own, now);
  enter(kOwnName, std::move(own), now);
}

Statistics::~Statistics() {
  // The directory's rules point here.
  tree_.remove(directory_, Moment{});
}

Statistics::StatisticEntry* Statistics::find(std::string_view path) const {
  return paths_.find(path);
}

Statistics::InterfaceEntry* Statistics::find_interface(std::string_view name) const {
  const auto found = interfaces_.find(name);
  return found == interfaces_.end() ? nullptr : found->second.get();
}

// Step by step for all of them, so that the memory that one needs is on its way while others are at
// the step before.
void Statistics::look_up(const NamedSamples& samples) {
  auto& hashes = workspace_.hashes;
  auto& entries = workspace_.entries;
  const std::size_t size = samples.size();
  for (std::size_t i = 0; i < size; ++i) {
    hashes[i] = keyed_hash(samples.path(i));
    paths_.prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < size; ++i) {
    entries[i] = paths_.candidate(hashes[i]);
    __builtin_prefetch(entries[i]);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (!entries[i]) continue;
    entries[i]->statistic->prefetch();
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (entries[i] && !PathNaming::is_named(*entries[i], samples.path(i))) {
      entries[i] = paths_.find(samples.path(i), hashes[i]);
    }
  }
}

Taken Statistics::add(const NamedSamples& samples, uid_t sender, Moment now) {
  Taken taken;
  const MutexLock lock(mutex_);
  auto& entries = workspace_.entries;
  look_up(samples);
  Runs runs(workspace_, taken, now);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    StatisticEntry* entry = entries[i];
    if (!entry) {
      auto made = find_or_create(samples.path(i), sender, now);
      if (!made) {
        taken.rejected.push_back({i, made.error()});
        continue;
      }
      entry = made.value();
    }
    runs.push(*entry->owner, entry->statistic, samples.samples(i, 1));
  }
  runs.flush();
  return taken;
}

// A sample before this one in its batch may have made it.
Result<Statistics::StatisticEntry*> Statistics::find_or_create(std::string_view path, uid_t creator,
                                                               Moment now) {
  if (StatisticEntry* const entry = find(path)) return entry;
  return create_statistic(path, kBornOfASample, creator, now);
}

Result<Taken> Statistics::add(wire::PackedSamples samples, Moment now) {
  Taken taken;
  const MutexLock lock(mutex_);
  const auto* const found = statistics_.find(samples.number());
  if (!found) return Error{ErrorCode::kStale, "samples for a number that names no statistic"};
  const StatisticEntry* const entry = found->get();
  Runs runs(workspace_, taken, now);
  for (;;) {
    const auto some = samples.unpack(workspace_.scratch, now.monotonic);
    if (some.empty()) return taken;
    runs.push(*entry->owner, entry->statistic, some);
    runs.flush();  // before the scratch is used again
  }
}

Result<Done> Statistics::execute(const wire::CommandLine& command, const Sender& sender,
                                 Moment now) {
  const auto plain = [](const Result<void>& done) {
    return done ? Result<Done>(Done{}) : Result<Done>(done.error());
  };
  if (command.verb == wire::Verb::kCreate) return create_lasting(command, sender, now);
  const MutexLock lock(mutex_);
  switch (command.verb) {
    case wire::Verb::kCreate:
      break;
    case wire::Verb::kDefine:
      return plain(define(command, sender.uid, now));
    case wire::Verb::kRemove:
      return plain(remove(command, sender.uid, now));
    case wire::Verb::kAttach:
      return attach(command);
  }
  return Error{ErrorCode::kInvalid, "unknown command"};
}

Result<Statistics::Lifetime> Statistics::parse_lifetime(const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return Lifetime::kForGood;
  Tokens words(command.rest.text);
  const auto word = words.next();
  if (!word) return Lifetime::kForGood;
  const auto more = words.next();
  if (word->text == "lifetime=feeder" && !more) return Lifetime::kFeeder;
  return Error{ErrorCode::kInvalid, "an interface has no attribute but lifetime=feeder",
               command.rest.at + (word->text == "lifetime=feeder" ? more->at : word->at)};
}

// The process is watched before the lock is taken, since that takes a system call, and looked at
// again afterwards: it may have ended in between, when it had nothing yet.
Result<Done> Statistics::create_lasting(const wire::CommandLine& command, const Sender& sender,
                                        Moment now) {
  const auto lifetime = parse_lifetime(command);
  if (!lifetime) return lifetime.error();
  const bool watched = lifetime.value() == Lifetime::kFeeder;
  if (watched) {
    if (!processes_) {
      return Error{ErrorCode::kInvalid, "no process can be watched here", rest_at(command)};
    }
    if (const auto done = processes_->watch(sender.pid, sender.uid); !done) {
      return error_at(done.error(), rest_at(command));
    }
  }
  auto done = [&] {
    const MutexLock lock(mutex_);
    return create(command, lifetime.value(), sender, now);
  }();
  if (watched && !processes_->watches(sender.pid)) process_ended(sender.pid, now);
  return done;
}

Result<Done> Statistics::create(const wire::CommandLine& command, Lifetime lifetime,
                                const Sender& sender, Moment now) {
  if (!wire::split_path(command.target.text).has_statistic) {
    return create_interface(command, lifetime, sender, now);
  }
  if (const StatisticEntry* entry = find(command.target.text)) {
    return Done{entry->number, wire::Made::kWasThere};
  }
  const auto made = create_statistic(command.target.text, command.rest.text, sender.uid, now);
  if (made) return Done{made.value()->number};
  const bool in_rest = made.error().token_at >= command.target.text.size() &&
                       made.error().token_at != Error::kNoToken;
  const std::size_t start =
      in_rest ? command.rest.at - command.target.text.size() : command.target.at;
  return error_at(made.error(), start);
}

Result<Done> Statistics::create_interface(const wire::CommandLine& command, Lifetime lifetime,
                                          const Sender& sender, Moment now) {
  InterfaceEntry* entry = find_interface(command.target.text);
  const Done done{0, entry ? wire::Made::kWasThere : wire::Made::kNew};
  if (!entry) {
    const auto made = create_interface(command.target.text, sender.uid, now);
    if (!made) return error_at(made.error(), command.target.at);
    entry = find_interface(command.target.text);
  } else if (lifetime == Lifetime::kForGood || entry->feeders.empty()) {
    return done;  // as it was made, so it stays
  } else if (auto allowed = may_change(*entry, sender.uid); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (lifetime == Lifetime::kForGood) return done;
  if (const auto added = add_feeder(*entry, sender.pid); !added) {
    if (done.made == wire::Made::kNew) forget(*entry, now);
    return error_at(added.error(), rest_at(command));
  }
  return done;
}

Result<void> Statistics::add_feeder(InterfaceEntry& entry, pid_t process) {
  if (std::ranges::count(entry.feeders, process, &Feeder::process) != 0) return {};
  static_assert(sizeof(Feeder) + 2 * sizeof(void*) <= kFeederBytes);
  auto share = Reservation::create(ledger_, entry.interface->uid(), {.bytes = kFeederBytes});
  if (!share) return share.error();
  entry.feeders.push_back({process, std::move(share.value())});
  return {};
}

void Statistics::process_ended(pid_t process, Moment now) {
  const MutexLock lock(mutex_);
  std::vector<InterfaceEntry*> gone;
  for (const auto& [key, entry] : interfaces_) {
    const auto is_it = [process](const Feeder& feeder) { return feeder.process == process; };
    if (entry->feeders.remove_if(is_it) != 0 && entry->feeders.empty()) {
      gone.push_back(entry.get());
    }
  }
  for (InterfaceEntry* const entry : gone) forget(*entry, now);
}

Result<void> Statistics::define(const wire::CommandLine& command, uid_t sender, Moment now) {
  const InterfaceEntry* const entry = find_interface(command.target.text);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  const auto done = entry->interface->define(command.rest.text, now);
  if (!done) return error_at(done.error(), command.rest.at);
  return {};
}

Result<void> Statistics::remove(const wire::CommandLine& command, uid_t sender, Moment now) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnName) return own_interface(command.target.at);
  if (!has_statistic) {
    forget(*entry, now);
    return {};
  }
  StatisticEntry* const gone = find(command.target.text);
  if (!gone) return not_found("statistic", command.target.at + interface.size() + 1);
  forget(*gone);
  entry->interface->remove_statistic(statistic, now);
  return {};
}

Result<Done> Statistics::attach(const wire::CommandLine& command) {
  const StatisticEntry* const entry = find(command.target.text);
  if (!entry) return not_found("statistic", command.target.at);
  return Done{entry->number};
}

Result<void> Statistics::may_change(const InterfaceEntry& entry, uid_t sender) const {
  const uid_t creator = entry.interface->uid();
  if (sender == 0 || sender == owner_ || sender == creator) return {};
  return Error{ErrorCode::kNotPermitted,
               "the interface belongs to uid " + std::to_string(creator) +
                   "; only it or root may change what is in it",
               0};
}

Result<Statistics::StatisticEntry*> Statistics::create_statistic(std::string_view path,
                                                                 std::string_view text,
                                                                 uid_t creator, Moment now) {
  const auto [interface, statistic, has_statistic] = wire::split_path(path);
  if (interface == kOwnName) return own_interface(0);
  if (!is_name(statistic)) {
    return Error{ErrorCode::kInvalid, "not a statistic's name (1 to 255 printable bytes, no '=')",
                 interface.size() + 1};
  }
  InterfaceEntry* entry = find_interface(interface);
  const bool is_new = !entry;
  if (!is_new) {
    if (auto allowed = may_change(*entry, creator); !allowed) return allowed.error();
  } else {
    if (auto made = create_interface(interface, creator, now); !made) return made.error();
    entry = find_interface(interface);
  }
  const auto made = entry->interface->create_statistic(statistic, text, now);
  if (made) return &enter(*entry, made.value());
  if (is_new) forget(*entry, now);
  return error_at(made.error(), path.size());
}

Result<void> Statistics::create_interface(std::string_view name, uid_t creator, Moment now) {
  if (!is_name(name)) {
    return Error{ErrorCode::kInvalid, "not an interface's name (1 to 255 printable bytes, no '=')",
                 0};
  }
  auto made = Interface::create(ledger_, creator, now);
  if (!made) return error_at(made.error(), 0);
  enter(name, std::move(made.value()), now);
  return {};
}

Statistics::InterfaceEntry& Statistics::enter(std::string_view name,
                                              std::shared_ptr<Interface> interface, Moment now) {
  auto entry = std::make_unique<InterfaceEntry>(
      InterfaceEntry{.name = std::string(name), .interface = std::move(interface)});
  entry->node = tree_.add_directory(directory_, name, std::make_shared<Directory>(), now);
  tree_.add_file(entry->node, "definition", kDefinitionPermissions,
                 std::make_shared<DefinitionFile>(entry->interface), now);
  tree_.add_file(entry->node, "data", kDataPermissions,
                 std::make_shared<DataFile>(entry->interface), now);
  const InterfaceEntry* const key = entry.get();
  return *interfaces_.emplace(key, std::move(entry)).first->second;
}

Statistics::StatisticEntry& Statistics::enter(InterfaceEntry& interface, Statistic* statistic) {
  auto made = std::make_unique<StatisticEntry>(StatisticEntry{
      .statistic = statistic, .owner = &interface, .number = statistics_.next_number()});
  StatisticEntry& entry = *made;
  statistics_.add(std::move(made));
  paths_.insert(entry);
  interface.interface->attach_switch(statistic, switches_.give(entry.number));
  return entry;
}

void Statistics::forget(StatisticEntry& entry) {
  // Whoever has the definition open may go on writing it, but not flip what will be another's.
  entry.owner->interface->attach_switch(entry.statistic, nullptr);
  switches_.take_back(entry.number);
  paths_.erase(entry);
  statistics_.remove(entry.number);
}

void Statistics::forget(InterfaceEntry& entry, Moment now) {
  for (const Statistic* const statistic : entry.interface->statistics()) {
    forget(*find(entry.name + "/" + statistic->name()));
  }
  tree_.remove(entry.node, now);
  interfaces_.erase(&entry);
}

Result<void> Statistics::remove_interface(std::string_view name, Moment now) {
  if (name == kOwnName) return own_interface(0);
  const MutexLock lock(mutex_);
  InterfaceEntry* const entry = find_interface(name);
  if (!entry) return not_found("interface", 0);
  forget(*entry, now);
  return {};
}

}  // namespace tally
