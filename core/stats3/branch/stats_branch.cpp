#include "core/stats3/branch/stats_branch.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/base/steps.h"
#include "core/base/text.h"
#include "core/stats3/branch/saved_stats.h"
#include "core/stats3/branch/transferred_stats.h"

namespace tallyfs::stats3 {
namespace {

constexpr std::uint64_t kErrnoMax = 4095;  // the kernel's

Error not_found(const char* what, std::size_t at) {
  return {ErrorCode::kNotFound, std::string("no such ") + what, at};
}

// stats/templates
class TemplatesFile final : public File {
 public:
  // Shared with the branch and opens under way.
  explicit TemplatesFile(std::shared_ptr<const FeederTemplates> templates)
      : templates_(std::move(templates)) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    std::string text = templates_->list() + "\n";
    if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "a text too long to be opened"};
    return text;
  }
  std::optional<std::uint64_t> version(Timestamp) const override { return templates_->version(); }
  Timestamp last_change(Timestamp) const override { return templates_->last_change(); }

 private:
  const std::shared_ptr<const FeederTemplates> templates_;
};

}  // namespace

// Decides what rmdir in stats/ may remove.
class StatsBranch::Root final : public Directory {
 public:
  explicit Root(StatsBranch& subsystems) : subsystems_(subsystems) {}
  Result<void> remove_directory(std::string_view name, Timestamp now) override {
    return subsystems_.remove_subsystem(name, now);
  }

 private:
  StatsBranch& subsystems_;
};

// Decides what rm in stats/SUBSYSTEM may remove.
class StatsBranch::ObjectsDirectory final : public Directory {
 public:
  ObjectsDirectory(StatsBranch& subsystems, std::string_view name)
      : subsystems_(subsystems), name_(name) {}
  Result<void> remove_file(std::string_view name, Timestamp now) override {
    return subsystems_.remove_file(name_, name, now);
  }

 private:
  StatsBranch& subsystems_;
  const std::string name_;
};

StatsBranch::StatsBranch(Tree& tree, Ledger& ledger, uid_t owner, Timestamp now,
                         BranchDependencies dependencies)
    : tree_(tree),
      ownership_(owner),
      processes_(dependencies.processes),
      errors_(dependencies.errors),
      templates_(std::make_shared<FeederTemplates>(ledger, owner, now)),
      directory_(tree.add_directory(Tree::kRoot, "stats", std::make_shared<Root>(*this), now,
                                    {.permissions = 0755, .readers = true, .writers = true})),
      subsystems_({.tree = tree,
                   .ledger = ledger,
                   .templates = templates_,
                   .switches = dependencies.switches,
                   .directory = directory_,
                   .rules = [this](std::string_view subsystem) {
                     return std::make_shared<ObjectsDirectory>(*this, subsystem);
                   }}) {
  tree_.add_file(directory_, kTemplates, kForReaders, std::make_shared<TemplatesFile>(templates_),
                 now);
}

StatsBranch::~StatsBranch() {
  // The directories' rules point here.
  tree_.remove(directory_, Timestamp{});
}

Result<void> StatsBranch::may_change(uid_t creator, uid_t sender) const {
  return ownership_.check(creator, sender, {.thing = "subsystem", .change = "publish in it"});
}

Result<Done> StatsBranch::execute(const wire::Line& line, Call& call) {
  const auto& stats = std::get<wire::StatsLine>(line);
  if (stats.verb == wire::StatsVerb::kRates && call.response == Call::Response::kNone) {
    return invalid("rates are for a binary request, which can be answered", 0);
  }
  return execute(stats, call.sender, call.now, call.is_late ? *call.is_late : never_late);
}

Result<Done> StatsBranch::take(const wire::Message& message, Call& call) {
  if (const auto* const given = std::get_if<wire::Template>(&message)) {
    return add_template(*given, call.sender, call.now);
  }
  const auto published = publish(std::get<wire::PackedBlob>(message), call.sender, call.now);
  if (!published) return published.error();
  return Done{.counted = {"blobs"}};
}

Result<Done> StatsBranch::execute(const wire::StatsLine& line, const Sender& sender, Timestamp now,
                                  const IsLate& is_late) {
  const bool publishes =
      line.verb == wire::StatsVerb::kSubsystem || line.verb == wire::StatsVerb::kObject;
  const auto change = [&] {
    const MutexLock lock(mutex_);
    return carry_out(line, sender, now, is_late);
  };
  if (!publishes) return change();
  const auto watched = watch(sender);
  if (!watched) return watched.error();
  if (!watched.value()) return change();
  return processes_.change_while_watched(sender.pid, change,
                                         [&] { process_ended(sender.pid, now, always_late); });
}

Result<Done> StatsBranch::carry_out(const wire::StatsLine& line, const Sender& sender,
                                    Timestamp now, const IsLate& is_late) {
  switch (line.verb) {
    case wire::StatsVerb::kSubsystem:
      return make_subsystem(line, sender, now);
    case wire::StatsVerb::kObject:
      return make_object(line, sender, now);
    case wire::StatsVerb::kRates:
      return tell_rates(line, sender, now);
    case wire::StatsVerb::kRefused:
      return note_refusal(line, sender, now);
    case wire::StatsVerb::kWithdraw:
      return withdraw(line, sender, now, is_late);
  }
  return invalid("unknown command", 0);
}

Result<Done> StatsBranch::make_subsystem(const wire::StatsLine& line, const Sender& sender,
                                         Timestamp now) {
  const std::string_view name = line.target.text;
  if (Subsystem* const there = subsystems_.find(name)) return come_again(*there, line, sender, now);
  auto made = subsystems_.prepare(name, sender.uid, now);
  if (!made) return error_at(made.error(), line.target.at);
  std::size_t at = line.rest.at;
  auto begun = made.value().rates->begin(line.rest.text);
  if (begun && processes_.watches(sender.pid)) {
    at = line.target.at;
    begun = add_feeder(made.value(), sender);
  }
  if (!begun) {
    subsystems_.take_back(made.value());
    return error_at(begun.error(), at);
  }
  return Done{subsystems_.enter(std::move(made.value()), now)};
}

Result<Done> StatsBranch::come_again(Subsystem& there, const wire::StatsLine& line,
                                     const Sender& sender, Timestamp now) {
  const Done done{there.number, wire::Made::kWasThere};
  // Another uid will be refused the objects. Root's templates are not the owner's.
  if (sender.uid != there.uid) return done;
  if (processes_.watches(sender.pid)) {
    const auto added = add_feeder(there, sender);
    if (!added) return error_at(added.error(), line.target.at);
  }
  const auto come = there.rates->come_again(line.rest.text, now);
  if (!come) return error_at(come.error(), line.rest.at);
  return done;
}

Result<Subsystem*> StatsBranch::find_owned(const wire::StatsLine& line,
                                           const Sender& sender) const {
  Subsystem* const found = subsystems_.find(wire::split_path(line.target.text).interface);
  if (!found) return not_found("subsystem", line.target.at);
  if (const auto allowed = may_change(found->uid, sender.uid); !allowed) {
    return error_at(allowed.error(), line.target.at);
  }
  return found;
}

Result<Done> StatsBranch::make_object(const wire::StatsLine& line, const Sender& sender,
                                      Timestamp now) {
  const auto owner = find_owned(line, sender);
  if (!owner) return owner.error();
  Subsystem& subsystem = *owner.value();
  const std::string_view name = wire::split_path(line.target.text).statistic;
  const std::size_t at = line.target.at + line.target.text.size() - name.size();
  const bool watched = processes_.watches(sender.pid);
  const auto lifetime = parse_lifetime(line.rest.text, "an object");
  if (!lifetime) return error_at(lifetime.error(), line.rest.at);
  if (lifetime.value() == Lifetime::kFeeder && !watched) {
    const std::size_t word_at = Tokens(line.rest.text).next()->at;
    return Error{ErrorCode::kNoSpace, "this process cannot be watched", line.rest.at + word_at};
  }
  Object* object = find_object(subsystem, name);
  Done done{0, object ? wire::Made::kWasThere : wire::Made::kNew};
  if (object && is_anothers(*object, sender.pid)) {
    return Error{ErrorCode::kExists, "process " + std::to_string(object->feeder) + " publishes it",
                 at};
  }
  if (!object) {
    const auto made = subsystems_.add_object(subsystem, name, now);
    if (!made) return error_at(made.error(), at);
    object = made.value();
  }
  if (watched) {
    if (const auto added = add_feeder(subsystem, sender); !added) {
      if (done.made == wire::Made::kNew) subsystems_.forget(*object, now);
      return error_at(added.error(), line.target.at);
    }
  }
  object->feeder = watched ? sender.pid : 0;
  object->lifetime = lifetime.value();
  done.number = object->number;
  return done;
}

Result<Done> StatsBranch::withdraw(const wire::StatsLine& line, const Sender& sender, Timestamp now,
                                   const IsLate& is_late) {
  const auto owner = find_owned(line, sender);
  if (!owner) return owner.error();
  const wire::Path path = wire::split_path(line.target.text);
  if (!path.has_statistic) {
    return Done{.is_cut = !withdraw_own(*owner.value(), sender.pid, now, is_late)};
  }
  const std::size_t at = line.target.at + path.interface.size() + 1;
  Object* const found = find_object(*owner.value(), path.statistic);
  if (!found) return not_found("object", at);
  if (owner.value()->feeders.contains(sender.pid) && is_anothers(*found, sender.pid)) {
    return not_found("object of this process", at);
  }
  subsystems_.forget(*found, now);
  return Done{};
}

// A process that publishes there withdraws its own objects only. Any other process acts for a
// person, and the whole subsystem is meant. The process stays one that publishes until the end, by
// which the rest of its objects is known.
bool StatsBranch::withdraw_own(Subsystem& subsystem, pid_t process, Timestamp now,
                               const IsLate& is_late) {
  if (!subsystem.feeders.contains(process) && subsystem.withdrawing != process) {
    return subsystems_.forget_all(subsystem, now, is_late);
  }
  subsystem.withdrawing = process;
  boost::unordered_flat_map<pid_t, bool> others;  // asking takes a system call
  const auto is_own = [&](Object& object) REQUIRES(mutex_) {
    const auto [found, is_new] = others.try_emplace(object.feeder);
    if (is_new) found->second = is_anothers(object, process);
    return !found->second;
  };
  if (!subsystems_.forget_if(subsystem, is_own, now, is_late)) return false;
  subsystem.withdrawing.reset();
  drop_feeder(subsystem, process);
  if (subsystem.objects.empty() && subsystem.feeders.empty()) subsystems_.forget(subsystem, now);
  return true;
}

Result<void> StatsBranch::publish(const wire::PackedBlob& blob, const Sender& sender,
                                  Timestamp now) {
  const Error stale{ErrorCode::kStale, "a blob for a number that names no object"};
  std::shared_ptr<StatsObject> content;
  {
    const MutexLock lock(mutex_);
    const Object* const object = subsystems_.find_object(blob.number);
    if (!object) return stale;
    if (const auto allowed = may_change(object->owner->uid, sender.uid); !allowed) {
      return allowed.error();
    }
    content = object->content;
  }
  return content->publish(blob.bytes, sender.uid, now);
}

Result<void> StatsBranch::remove_subsystem(std::string_view name, Timestamp now) {
  return work_in_steps([&](const IsLate& is_late) -> Result<Step> {
    const MutexLock lock(mutex_);
    Subsystem* const found = subsystems_.find(name);
    if (!found) return not_found("subsystem", 0);
    return subsystems_.forget_all(*found, now, is_late) ? Step::kLast : Step::kMore;
  });
}

Result<void> StatsBranch::remove_file(std::string_view subsystem, std::string_view file,
                                      Timestamp now) {
  if (file == kSampleRates) {
    return Error{ErrorCode::kNotPermitted, "sample_rates goes with its subsystem"};
  }
  if (file.ends_with(kJson)) file.remove_suffix(kJson.size());
  const MutexLock lock(mutex_);
  const Subsystem* const found = subsystems_.find(subsystem);
  Object* const object = found ? find_object(*found, file) : nullptr;
  if (!object) return not_found("object", 0);
  subsystems_.forget(*object, now);
  return {};
}

Result<bool> StatsBranch::watch(const Sender& sender) const {
  if (sender.pid <= 0) return false;
  const auto watched = processes_.watch(sender);
  if (!watched && watched.error().code == ErrorCode::kBusy) return watched.error();
  return watched.has_value();
}

Result<Done> StatsBranch::add_template(const wire::Template& given, const Sender& sender,
                                       Timestamp now) {
  const auto watched = watch(sender);
  if (!watched) return watched.error();
  if (!watched.value()) return add_template(given, sender.uid, 0, now);
  return processes_.change_while_watched(
      sender.pid, [&] { return add_template(given, sender.uid, sender.pid, now); },
      [&] { process_ended(sender.pid, now, always_late); });
}

Result<Done> StatsBranch::add_template(const wire::Template& given, uid_t uid, pid_t teller,
                                       Timestamp now) {
  const auto told = templates_->add(uid, teller, given, now);
  if (!told) return told.error();
  if (told.value() == FeederTemplates::Told::kAgain) return Done{};
  const MutexLock lock(mutex_);
  for (const auto& [name, subsystem] : subsystems_.all()) {
    if (subsystem->uid == uid) subsystem->rates->template_told(teller, given.name, now);
  }
  return Done{};
}

// Root's templates are not the owner's.
Result<void> StatsBranch::add_feeder(Subsystem& subsystem, const Sender& sender) {
  if (auto added = subsystems_.add_feeder(subsystem, sender.pid); !added) return added;
  if (sender.uid == subsystem.uid) subsystem.rates->add_feeder(sender.pid);
  return {};
}

bool StatsBranch::drop_feeder(Subsystem& subsystem, pid_t process) {
  subsystem.rates->drop_feeder(process);
  return subsystem.feeders.remove(process);
}

bool StatsBranch::process_ended(pid_t process, Timestamp now, const IsLate& is_late) {
  templates_->process_ended(process);
  const MutexLock lock(mutex_);
  for (const auto& [key, subsystem] : subsystems_.all()) {
    if (!end_feeder(*subsystem, process, now, is_late)) return false;
  }
  return true;
}

bool StatsBranch::end_feeder(Subsystem& subsystem, pid_t process, Timestamp now,
                             const IsLate& is_late) {
  if (!subsystem.feeders.contains(process)) return true;
  const auto is_gone = [&](Object& object) {
    if (object.feeder != process) return false;
    if (object.lifetime == Lifetime::kFeeder || subsystem.withdrawing == process) return true;
    object.feeder = 0;
    return false;
  };
  if (!subsystems_.forget_if(subsystem, is_gone, now, is_late)) return false;
  drop_feeder(subsystem, process);
  report_idle(subsystem, now);
  return true;
}

// Like the file, for the owner only.
Result<Done> StatsBranch::tell_rates(const wire::StatsLine& line, const Sender& sender,
                                     Timestamp now) {
  const auto found = find_owned(line, sender);
  if (!found) return found.error();
  report_idle(*found.value(), now);
  auto told = found.value()->rates->tell(sender);
  return Done{.number = told.changes, .text = std::move(told.text)};
}

// A feeder cannot take the rates that were sent to it: error_log says so to their writer.
Result<Done> StatsBranch::note_refusal(const wire::StatsLine& line, const Sender& sender,
                                       Timestamp now) {
  const auto found = find_owned(line, sender);
  if (!found) return found.error();
  const auto word = Tokens(line.rest.text).next();
  const auto number = word ? parse_unsigned(word->text) : std::nullopt;
  if (!number || *number == 0 || *number > kErrnoMax) return invalid("no errno", line.rest.at);
  if (!errors_) return Done{};
  const std::string reason =
      "process " + std::to_string(shown_pid(sender.pid)) +
      " does not take these rates: " + std::strerror(static_cast<int>(*number));
  errors_->report({ErrorLog::Source::kSocket, sender.uid}, "stats/" + found.value()->name,
                  found.value()->rates->text(), {ErrorCode::kInvalid, reason}, now);
  return Done{};
}

void StatsBranch::report_idle(const Subsystem& subsystem, Timestamp now) {
  for (const std::string& rate : subsystem.rates->take_idle()) {
    if (!errors_) return;
    errors_->warn({ErrorLog::Source::kSocket, subsystem.uid}, "stats/" + subsystem.name, rate,
                  {ErrorCode::kNoTemplate, "no running feeder has this template"}, now);
  }
}

void StatsBranch::save(ObjectSink& sink) const {
  if (sink.reader() == ObjectSink::Reader::kSuccessor) return put_for_successor(sink);
  for (const FeederTemplates::Saved& each : templates_->all()) {
    if (!put_template(each, sink)) return;
  }
  auto entries = [this] {
    const MutexLock lock(mutex_);
    return list_saved(subsystems_);
  }();
  put_saved(std::move(entries), sink);
}

Branch::SavedAt StatsBranch::save_at(std::string_view path, ObjectSink&, Timestamp) const {
  return path == "stats" || path.starts_with("stats/") ? SavedAt::kAll : SavedAt::kElsewhere;
}

void StatsBranch::save_for_successor(ObjectSink& sink, Timestamp) { put_for_successor(sink); }

void StatsBranch::put_for_successor(ObjectSink& sink) const {
  if (!put_handed_templates(*templates_, sink)) return;
  const auto entries = [this] {
    const MutexLock lock(mutex_);
    return list_handed(subsystems_);
  }();
  if (!put_handed(entries, sink)) return;
  const std::string numbers = [this] {
    const MutexLock lock(mutex_);
    return handed_numbers(subsystems_);
  }();
  put_handed_numbers(numbers, sink);
}

std::uint64_t StatsBranch::stamp(Timestamp) const {
  std::uint64_t stamp = spread(templates_->version());
  std::vector<SavedEntry> entries;
  {
    const MutexLock lock(mutex_);
    entries = list_saved(subsystems_);
    stamp += feeders_stamp(subsystems_);
  }
  return stamp + stamp_of(entries);
}

Result<void> StatsBranch::load(const SavedObject& object, const Loading& loading) {
  if (object.format != kSavedFormat) return other_format(object);
  if (is_of(object, SavedKind::kTemplate)) return load_template(*templates_, object, loading.now);
  if (is_of(object, SavedKind::kTellers)) return load_tellers(*templates_, object, loading);
  const MutexLock lock(mutex_);
  if (is_of(object, SavedKind::kStatsNumbers)) return load_numbers(subsystems_, object, loading);
  if (is_of(object, SavedKind::kFedSubsystem)) {
    return load_fed_subsystem(subsystems_, object, loading);
  }
  if (is_of(object, SavedKind::kFedStatsObject)) {
    return load_fed_object(subsystems_, object, loading);
  }
  if (is_of(object, SavedKind::kSubsystem)) {
    return load_subsystem(subsystems_, object, loading.now);
  }
  return load_object(subsystems_, object, loading.now);
}

}  // namespace tallyfs::stats3
