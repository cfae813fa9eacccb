#include "core/stats3/branch/stats_branch.h"

#include <utility>
#include <vector>

#include "core/base/steps.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr unsigned kReadableByOwner = 0400;
constexpr unsigned kRatesPermissions = 0600 | kForWriteGroup;
constexpr std::string_view kTemplates = "templates";
constexpr std::string_view kSampleRates = "sample_rates";
constexpr std::string_view kJson = ".json";
// What names, nodes and files of an object or a subsystem take, beside its blob.
constexpr std::uint64_t kSubsystemBytes = 2048;

Error not_found(const char* what, std::size_t at) {
  return {ErrorCode::kNotFound, std::string("no such ") + what, at};
}

// Where its names in the tree are free, and stay so.
bool is_object_name(std::string_view name) {
  return is_name(name) && name.size() <= StatsBranch::kObjectNameBytesMax && name != kSampleRates &&
         !name.ends_with(kJson);
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
  std::optional<std::uint64_t> version(Moment) const override { return templates_->version(); }
  Moment last_change(Moment) const override { return templates_->last_change(); }

 private:
  const std::shared_ptr<const FeederTemplates> templates_;
};

}  // namespace

// What rmdir in stats/ asks.
class StatsBranch::Root final : public Directory {
 public:
  explicit Root(StatsBranch& subsystems) : subsystems_(subsystems) {}
  Result<void> remove_directory(std::string_view name, Moment now) override {
    return subsystems_.remove_subsystem(name, now);
  }

 private:
  StatsBranch& subsystems_;
};

// What rm in stats/SUBSYSTEM asks.
class StatsBranch::ObjectsDirectory final : public Directory {
 public:
  ObjectsDirectory(StatsBranch& subsystems, std::string_view name)
      : subsystems_(subsystems), name_(name) {}
  Result<void> remove_file(std::string_view name, Moment now) override {
    return subsystems_.remove_file(name_, name, now);
  }

 private:
  StatsBranch& subsystems_;
  const std::string name_;
};

StatsBranch::StatsBranch(Tree& tree, Ledger& ledger, uid_t owner, Moment now, Ports ports)
    : tree_(tree),
      ledger_(ledger),
      ownership_(owner),
      processes_(ports.processes),
      errors_(ports.errors),
      templates_(std::make_shared<FeederTemplates>(ledger, owner, now)),
      numbered_(ports.switches) {
  directory_ = tree_.add_directory(Tree::kRoot, "stats", std::make_shared<Root>(*this), now);
  tree_.add_file(directory_, kTemplates, kReadableByOwner,
                 std::make_shared<TemplatesFile>(templates_), now);
}

StatsBranch::~StatsBranch() {
  // The directories' rules point here.
  tree_.remove(directory_, Moment{});
}

StatsBranch::Subsystem* StatsBranch::find(std::string_view name) const {
  const auto found = subsystems_.find(name);
  return found == subsystems_.end() ? nullptr : found->second;
}

StatsBranch::Object* StatsBranch::find(const Subsystem& subsystem, std::string_view name) const {
  const auto found = subsystem.objects.find(name);
  return found == subsystem.objects.end() ? nullptr : found->second;
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
  return Done{.counted = {DaemonCounter::kBlobs}};
}

Result<Done> StatsBranch::execute(const wire::StatsLine& line, const Sender& sender, Moment now,
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

Result<Done> StatsBranch::carry_out(const wire::StatsLine& line, const Sender& sender, Moment now,
                                    const IsLate& is_late) {
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

Result<StatsBranch::Numbering> StatsBranch::give_number(Number before) {
  if (!before) {
    const std::uint64_t number = numbered_.next_number();
    return Numbering{number, numbered_.give_switch(number)};
  }
  if (numbered_.can_put(*before)) return Numbering{*before, numbered_.keep_switch(*before)};
  return Error{ErrorCode::kInvalid, "its number is not free"};
}

void StatsBranch::add_numbered(std::uint64_t number, std::unique_ptr<Numbered> entry) {
  if (number == numbered_.next_number()) {
    numbered_.add(std::move(entry));
  } else {
    numbered_.put(number, std::move(entry));
  }
}

Result<StatsBranch::Subsystem> StatsBranch::prepare_subsystem(std::string_view name, uid_t uid,
                                                              Moment now, Number before) {
  if (!is_name(name) || name == kTemplates) {
    return invalid("not a subsystem's name (1 to 255 printable bytes, no '=')");
  }
  auto share = Reservation::create(ledger_, uid, {.interfaces = 1, .bytes = kSubsystemBytes});
  if (!share) return share.error();
  const auto given = give_number(before);
  if (!given) return given.error();
  return Subsystem{
      .name = std::string(name),
      .uid = uid,
      .number = given.value().number,
      .share = std::move(share.value()),
      .rates = std::make_shared<SubsystemRates>(templates_, uid, given.value().its_switch, now)};
}

std::uint64_t StatsBranch::enter(Subsystem subsystem, Moment now) {
  const std::string name = subsystem.name;
  subsystem.node =
      tree_.add_directory(directory_, name, std::make_shared<ObjectsDirectory>(*this, name), now);
  tree_.add_file(subsystem.node, kSampleRates, kRatesPermissions,
                 std::make_shared<SampleRatesFile>(subsystem.rates), now);
  auto entry = std::make_unique<Numbered>(std::move(subsystem));
  Subsystem* const added = std::get_if<Subsystem>(entry.get());
  subsystems_.emplace(name, added);
  add_numbered(added->number, std::move(entry));
  return added->number;
}

Result<Done> StatsBranch::make_subsystem(const wire::StatsLine& line, const Sender& sender,
                                         Moment now) {
  const std::string_view name = line.target.text;
  if (Subsystem* const there = find(name)) return come_again(*there, line, sender, now);
  auto made = prepare_subsystem(name, sender.uid, now);
  if (!made) return error_at(made.error(), line.target.at);
  std::size_t at = line.rest.at;
  auto begun = made.value().rates->begin(line.rest.text);
  if (begun && processes_.watches(sender.pid)) {
    at = line.target.at;
    begun = add_feeder(made.value(), sender);
  }
  if (!begun) {
    numbered_.take_back_switch(made.value().number);
    return error_at(begun.error(), at);
  }
  return Done{enter(std::move(made.value()), now)};
}

Result<Done> StatsBranch::come_again(Subsystem& there, const wire::StatsLine& line,
                                     const Sender& sender, Moment now) {
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

Result<StatsBranch::Subsystem*> StatsBranch::find_owned(const wire::StatsLine& line,
                                                        const Sender& sender) const {
  Subsystem* const found = find(wire::split_path(line.target.text).interface);
  if (!found) return not_found("subsystem", line.target.at);
  if (const auto allowed = may_change(found->uid, sender.uid); !allowed) {
    return error_at(allowed.error(), line.target.at);
  }
  return found;
}

Result<Done> StatsBranch::make_object(const wire::StatsLine& line, const Sender& sender,
                                      Moment now) {
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
  Object* object = find(subsystem, name);
  Done done{0, object ? wire::Made::kWasThere : wire::Made::kNew};
  if (object && is_anothers(*object, sender.pid)) {
    return Error{ErrorCode::kExists, "process " + std::to_string(object->feeder) + " publishes it",
                 at};
  }
  if (!object) {
    const auto made = add_object(subsystem, name, now);
    if (!made) return error_at(made.error(), at);
    object = made.value();
  }
  if (watched) {
    if (const auto added = add_feeder(subsystem, sender); !added) {
      if (done.made == wire::Made::kNew) forget(*object, now);
      return error_at(added.error(), line.target.at);
    }
  }
  object->feeder = watched ? sender.pid : 0;
  object->lifetime = lifetime.value();
  done.number = object->number;
  return done;
}

Result<StatsBranch::Object*> StatsBranch::add_object(Subsystem& subsystem, std::string_view name,
                                                     Moment now, Number before) {
  if (!is_object_name(name)) {
    return invalid("not an object's name (1 to 250 printable bytes, no '=', no .json)", 0);
  }
  auto share =
      Reservation::create(ledger_, subsystem.uid, {.statistics = 1, .bytes = kSubsystemBytes});
  if (!share) return share.error();
  const auto given = give_number(before);
  if (!given) return given.error();
  Object made{.name = std::string(name), .owner = &subsystem, .number = given.value().number};
  made.content = std::make_shared<StatsObject>(templates_, made.number, std::move(share.value()),
                                               given.value().its_switch, now);
  const auto enter = [&](const std::string& file, StatsObject::Format format) {
    return tree_.add_file(subsystem.node, file, kReadableByOwner,
                          std::make_shared<StatsObjectFile>(made.content, format), now);
  };
  made.freeform = enter(made.name, StatsObject::Format::kFreeform);
  made.json = enter(made.name + std::string(kJson), StatsObject::Format::kJson);
  auto entry = std::make_unique<Numbered>(std::move(made));
  Object* const added = std::get_if<Object>(entry.get());
  subsystem.objects.emplace(name, added);
  add_numbered(added->number, std::move(entry));
  return added;
}

Result<Done> StatsBranch::withdraw(const wire::StatsLine& line, const Sender& sender, Moment now,
                                   const IsLate& is_late) {
  const auto owner = find_owned(line, sender);
  if (!owner) return owner.error();
  const wire::Path path = wire::split_path(line.target.text);
  if (!path.has_statistic) {
    return Done{.is_cut = !withdraw_own(*owner.value(), sender.pid, now, is_late)};
  }
  const std::size_t at = line.target.at + path.interface.size() + 1;
  Object* const found = find(*owner.value(), path.statistic);
  if (!found) return not_found("object", at);
  if (owner.value()->feeders.contains(sender.pid) && is_anothers(*found, sender.pid)) {
    return not_found("object of this process", at);
  }
  forget(*found, now);
  return Done{};
}

// A process that publishes there withdraws its own objects only. Any other process acts for a
// person, and the whole subsystem is meant. The process stays one that publishes until the end, by
// which the rest of its objects is known.
bool StatsBranch::withdraw_own(Subsystem& subsystem, pid_t process, Moment now,
                               const IsLate& is_late) {
  if (!subsystem.feeders.contains(process) && subsystem.withdrawing != process) {
    return forget_all(subsystem, now, is_late);
  }
  subsystem.withdrawing = process;
  boost::unordered_flat_map<pid_t, bool> others;  // asking takes a system call
  const auto is_own = [&](Object& object) REQUIRES(mutex_) {
    const auto [found, is_new] = others.try_emplace(object.feeder);
    if (is_new) found->second = is_anothers(object, process);
    return !found->second;
  };
  if (!forget_if(subsystem, is_own, now, is_late)) return false;
  subsystem.withdrawing.reset();
  drop_feeder(subsystem, process);
  if (subsystem.objects.empty() && subsystem.feeders.empty()) forget(subsystem, now);
  return true;
}

Result<void> StatsBranch::publish(const wire::PackedBlob& blob, const Sender& sender, Moment now) {
  const Error stale{ErrorCode::kStale, "a blob for a number that names no object"};
  std::shared_ptr<StatsObject> content;
  {
    const MutexLock lock(mutex_);
    const auto* const found = numbered_.find(blob.number);
    const Object* const object = found ? std::get_if<Object>(found->get()) : nullptr;
    if (!object) return stale;
    if (const auto allowed = may_change(object->owner->uid, sender.uid); !allowed) {
      return allowed.error();
    }
    content = object->content;
  }
  return content->publish(blob.bytes, sender.uid, now);
}

Result<void> StatsBranch::remove_subsystem(std::string_view name, Moment now) {
  return work_in_steps([&](const IsLate& is_late) -> Result<Step> {
    const MutexLock lock(mutex_);
    Subsystem* const found = find(name);
    if (!found) return not_found("subsystem", 0);
    return forget_all(*found, now, is_late) ? Step::kLast : Step::kMore;
  });
}

Result<void> StatsBranch::remove_file(std::string_view subsystem, std::string_view file,
                                      Moment now) {
  if (file == kSampleRates) {
    return Error{ErrorCode::kNotPermitted, "sample_rates goes with its subsystem"};
  }
  if (file.ends_with(kJson)) file.remove_suffix(kJson.size());
  const MutexLock lock(mutex_);
  const Subsystem* const found = find(subsystem);
  Object* const object = found ? find(*found, file) : nullptr;
  if (!object) return not_found("object", 0);
  forget(*object, now);
  return {};
}

}  // namespace tallyfs
