#include "core/statistics/branch/statistics_branch.h"

#include <utility>

#include "core/base/labels.h"
#include "core/base/steps.h"
#include "core/base/text.h"

namespace tallyfs::statistics {

// Carries out rmdir in statistics/.
class StatisticsBranch::InterfacesDirectory final : public Directory {
 public:
  InterfacesDirectory(StatisticsBranch& statistics) : statistics_(statistics) {}
  Result<void> remove_directory(std::string_view name, Timestamp now) override {
    return statistics_.remove_interface(name, now);
  }

 private:
  StatisticsBranch& statistics_;
};

StatisticsBranch::StatisticsBranch(Tree& tree, Ledger& ledger, uid_t owner, Timestamp now,
                                   BranchDependencies dependencies)
    : tree_(tree),
      ownership_(owner),
      rights_(ownership_),
      processes_(dependencies.processes),
      is_writer_(std::move(dependencies.is_writer)),
      errors_(dependencies.errors),
      daemon_(std::move(dependencies.daemon)),
      directory_(tree.add_directory(Tree::kRoot, "statistics",
                                    std::make_shared<InterfacesDirectory>(*this), now,
                                    {.permissions = 0755, .readers = true, .writers = true})),
      own_(Interface::create(ledger, owner, now).value(), now),
      registry_({.tree = tree,
                 .ledger = ledger,
                 .directory = directory_,
                 .epoch = daemon_.epoch,
                 .switches = dependencies.switches,
                 .shapes = dependencies.shapes,
                 .counts = counts_,
                 .input = input_}),
      rules_(registry_, rights_, errors_, now),
      adder_(registry_, rules_, rights_, input_),
      pending_(has_changes_),
      commands_(registry_, rules_, pending_, rights_, errors_),
      interfaces_(mutex_, registry_),
      saver_(mutex_, registry_, rules_, input_),
      changes_(mutex_, registry_, pending_, has_changes_, saver_),
      loader_(mutex_, ledger, registry_, changes_, own_) {
  const MutexLock lock(mutex_);
  registry_.enter(kOwnName, own_.interface(), now);
  rules_file_ =
      tree_.add_file(Tree::kRoot, "rules", {.permissions = 0600, .readers = true, .writers = true},
                     make_rules_file(mutex_, rules_), now);
  overview_file_ =
      tree_.add_file(Tree::kRoot, "statistics.json", {.permissions = 0400, .readers = true},
                     make_overview_file(interfaces_, daemon_, ledger), now);
}

StatisticsBranch::~StatisticsBranch() {
  // The files of these names have references to this object.
  tree_.remove(directory_, Timestamp{});
  tree_.remove(rules_file_, Timestamp{});
  tree_.remove(overview_file_, Timestamp{});
  tree_.remove(metrics_directory_, Timestamp{});
}

Taken StatisticsBranch::add(NamedSamples& samples, uid_t sender, Timestamp now,
                            const InputSpan& at) {
  const MutexLock lock(mutex_);
  input_.take(at);
  return adder_.add(samples, sender, now);
}

Result<Taken> StatisticsBranch::add(wire::PackedSamples samples, uid_t sender, Timestamp now,
                                    const InputSpan& at) {
  const MutexLock lock(mutex_);
  input_.take(at);
  return adder_.add(samples, sender, now);
}

TakenFromRing StatisticsBranch::add(std::span<const NumberedRun> runs, uid_t sender, Timestamp now,
                                    const RingSlice& from) {
  const MutexLock lock(mutex_);
  input_.take(from, sender, now, runs);
  return adder_.add(runs, sender, now);
}

void StatisticsBranch::log_input(InputLog& log, const InputPosition& taken) {
  const MutexLock lock(mutex_);
  input_.log_in(log, taken);
}

InputPosition StatisticsBranch::input() const {
  const MutexLock lock(mutex_);
  return input_.taken();
}

void StatisticsBranch::begin_replay(const std::vector<InputReplay::Removal>& removals,
                                    const InputPosition& all) {
  const MutexLock lock(mutex_);
  input_.begin_replay(removals, all);
}

InputPosition StatisticsBranch::loaded_input() const {
  const MutexLock lock(mutex_);
  return input_.most_loaded();
}

std::vector<std::uint64_t> StatisticsBranch::replay_cuts(const InputSpan& span) const {
  const MutexLock lock(mutex_);
  const auto cuts = input_.replay()->cuts(span);
  return {cuts.begin(), cuts.end()};
}

void StatisticsBranch::replay(std::span<const NumberedRun> runs, uid_t sender, Timestamp now,
                              const InputSpan& at) {
  const MutexLock lock(mutex_);
  input_.take_again(at);
  (void)adder_.add(runs, sender, now);
}

void StatisticsBranch::end_replay(Boot boot, Timestamp now) {
  std::vector<std::shared_ptr<Interface>> loaded;
  {
    const MutexLock lock(mutex_);
    loaded = input_.end_replay();
  }
  for (const auto& each : loaded) each->resume(boot, now);
}

Result<void> StatisticsBranch::bind_cells(std::uint64_t number,
                                          std::shared_ptr<const CellSource> source,
                                          std::uint32_t id) {
  const MutexLock lock(mutex_);
  const StatisticEntry* const entry = registry_.find(number);
  if (!entry) return Error{ErrorCode::kStale, "a statistic numbered by another daemon"};
  const StatisticEntry& of = *entry;
  if (!rights_.is_fed_by(*of.owner, source->uid())) {
    of.owner->interface->find_taken_out(of.statistic, source, id);
    return rights_.not_fed_by_all(*of.owner, source->uid());
  }
  return of.owner->interface->bind_cells(of.statistic, std::move(source), id);
}

Subject StatisticsBranch::subject_of(std::uint64_t number) const {
  const MutexLock lock(mutex_);
  const StatisticEntry* const entry = registry_.find(number);
  return entry ? entry->owner->interface.get() : nullptr;
}

bool StatisticsBranch::absorb_cells(std::uint64_t number, const CellSource* source, Timestamp now,
                                    const IsLate& is_late) {
  const MutexLock lock(mutex_);
  const StatisticEntry* const entry = registry_.find(number);
  if (!entry) return true;
  // Which cells it has taken is to be saved, though they add nothing that a reader has not seen.
  entry->owner->changes += 1;
  return entry->owner->interface->absorb_cells(entry->statistic, source, now, is_late);
}

// First those to come, so that none is forgotten.
void StatisticsBranch::end_cells(Timestamp now) {
  {
    const MutexLock lock(mutex_);
    registry_.end_cells();
  }
  CellBudget budget = CellBudget::for_the_end();
  const List all = interfaces_.all();
  for (const Listed& each : *all) each.interface->end_cells(now, budget);
}

// A statistic that an earlier version stored with another spelling, or a program with one that
// labels do not have, keeps that name.
Result<std::string> StatisticsBranch::stored_target(const wire::CommandLine& command) const {
  const std::string typed(command.target.text);
  auto stored = stored_path(typed);
  if (stored && stored.value() == typed) return typed;
  if (!stored && command.door == wire::Door::kProgram) return typed;
  const auto [interface, statistic, has_statistic] = wire::split_path(typed);
  const MutexLock lock(mutex_);
  const InterfaceEntry* const entry = registry_.find_interface(interface);
  if (entry && entry->interface->find(statistic)) return typed;
  if (!stored) return error_at(stored.error(), command.target.at);
  return stored;
}

// The group is looked up for what would be refused, without the lock.
Result<Done> StatisticsBranch::execute(const wire::CommandLine& typed, const Sender& sender,
                                       Timestamp now, const LineStep& step, const InputSpan& at) {
  const auto target = stored_target(typed);
  if (!target) return target.error();
  wire::CommandLine command = typed;
  command.target.text = target.value();
  auto done = carry_out(command, sender, now, step, at);
  const bool is_refused = !done && done.error().code == ErrorCode::kNotPermitted;
  if (!is_refused || command.verb == wire::Verb::kAttach) return done;
  if (!is_writer_ || !is_writer_(sender)) return done;
  Sender writer = sender;
  writer.rights = ownership_.daemon();
  return carry_out(command, writer, now, step, at);
}

Result<Done> StatisticsBranch::carry_out(const wire::CommandLine& command, const Sender& sender,
                                         Timestamp now, const LineStep& step, const InputSpan& at) {
  if (command.verb == wire::Verb::kCreate) return create_lasting(command, sender, now, at);
  const MutexLock lock(mutex_);
  return change_at(at, command, [&]() REQUIRES(mutex_) -> Result<Done> {
    switch (command.verb) {
      case wire::Verb::kCreate:
        break;
      case wire::Verb::kDefine:
        return commands_.define(command, sender, now, step);
      case wire::Verb::kRemove:
        return commands_.remove(command, sender.rights, now, step.is_late);
      case wire::Verb::kAttach:
        return commands_.attach(command, sender.rights);
    }
    return Error{ErrorCode::kInvalid, "unknown command"};
  });
}

template <typename Change>
Result<Done> StatisticsBranch::change_at(const InputSpan& at, const wire::CommandLine& command,
                                         Change change) {
  const std::uint64_t before = input_.taken().socket;
  if (at.until != 0) input_.take(at);
  if (input_.replay()) {
    if (was_removed_behind(command)) return Error{ErrorCode::kNotFound, "it was removed since"};
    if (has_effect_of(command)) return Done{};
  }
  auto done = change();
  if (done && done.value().is_cut) input_.take_back(before);
  return done;
}

// A name that is there is not made twice, and its feeder is told its number.
bool StatisticsBranch::was_removed_behind(const wire::CommandLine& command) const {
  if (command.verb != wire::Verb::kCreate) return false;
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = registry_.find_interface(interface);
  const bool is_there = entry && (!has_statistic || entry->interface->find(statistic));
  return !is_there && input_.replay()->is_removed(command.target.text);
}

// A line for all of an interface, some of whose statistics were saved behind it and some before, is
// carried out again for all of them.
bool StatisticsBranch::has_effect_of(const wire::CommandLine& command) const {
  const bool removes = command.verb == wire::Verb::kRemove;
  if (!removes && command.verb != wire::Verb::kDefine) return false;
  const InputReplay& replay = *input_.replay();
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = registry_.find_interface(interface);
  if (!entry) return removes;
  std::string_view name = has_statistic ? statistic : std::string_view();
  if (command.verb == wire::Verb::kDefine && !has_statistic) {
    const auto word = find_word(command.rest.text, kNameKey);
    if (word) name = word->text.substr(kNameKey.size());
  }
  const auto lacks_it = [&](const Statistic* each) { return replay.takes()(*each); };
  if (!name.empty()) {
    const Statistic* const named = entry->interface->find(name);
    return named ? !lacks_it(named) : removes;
  }
  const auto all = entry->interface->statistics();
  return !all.empty() && std::ranges::none_of(all, lacks_it);
}

Result<Done> StatisticsBranch::create_lasting(const wire::CommandLine& command,
                                              const Sender& sender, Timestamp now,
                                              const InputSpan& at) {
  const auto asked = asked_interface(command);
  if (!asked) return asked.error();
  const auto change = [&] {
    const MutexLock lock(mutex_);
    return change_at(at, command, [&]() REQUIRES(mutex_) {
      return commands_.create(command, asked.value(), sender, now);
    });
  };
  if (asked.value().lifetime == Lifetime::kForGood) return change();
  if (const auto watched = processes_.watch(sender); !watched) {
    return error_at(watched.error(), rest_at(command));
  }
  return processes_.change_while_watched(sender.pid, change,
                                         [&] { process_ended(sender.pid, now, always_late); });
}

bool StatisticsBranch::process_ended(pid_t process, Timestamp now, const IsLate& is_late) {
  const MutexLock lock(mutex_);
  return registry_.remove_feeder(process, now, is_late);
}

Rules::Reading StatisticsBranch::take_rules(const std::string& path, std::string_view text,
                                            Timestamp now) {
  const MutexLock lock(mutex_);
  return rules_.replace_file(path, text, now);
}

void StatisticsBranch::enter_metrics(const MetricsSettings& settings, Timestamp now) {
  metrics_directory_ =
      statistics::enter_metrics(tree_, {mutex_, registry_, interfaces_, errors_}, settings, now);
}

Result<void> StatisticsBranch::load(const SavedObject& object, const Loading& loading) {
  if (!is_of(object, SavedKind::kRule)) return loader_.load(object, loading);
  if (object.format != kRuleFormat) return other_format(object);
  const MutexLock lock(mutex_);
  return rules_.rules().add(object.bytes, Strictness::kTolerant);
}

Result<void> StatisticsBranch::remove_interface(std::string_view name, Timestamp now) {
  if (name == kOwnInterface) return own_interface(0);
  return work_in_steps([&](const IsLate& is_late) -> Result<Step> {
    const MutexLock lock(mutex_);
    InterfaceEntry* const entry = registry_.find_interface(name);
    if (!entry) return not_found("interface", 0);
    return registry_.remove(*entry, now, is_late) ? Step::kLast : Step::kMore;
  });
}

}  // namespace tallyfs::statistics
