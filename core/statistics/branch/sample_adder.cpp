#include "core/statistics/branch/sample_adder.h"

#include <algorithm>
#include <utility>

#include "core/base/labels.h"

namespace tallyfs::statistics {
namespace {

// How a statistic begins that a sample named: as a range, which keeps what its samples say. A
// program that defines a statistic knows what it counts, so the default of definitions is a value.
constexpr std::string_view kBornOfASample = "on=1 type=range";

}  // namespace

// Collects runs of one interface after the other and hands them over under one lock each.
class SampleAdder::Runs {
 public:
  // replay: of input that comes again; nullptr: of new one.
  Runs(Workspace& workspace, Taken& taken, Timestamp now, const InputReplay* replay)
      : runs_(workspace.runs),
        taken_(taken),
        now_(now),
        takes_(replay ? &replay->takes() : nullptr) {}

  void push(const InterfaceEntry& owner, Statistic* statistic, std::span<const Sample> samples) {
    if (&owner != owner_ || size_ == runs_.size()) flush();
    owner_ = &owner;
    runs_[size_++] = {statistic, samples};
    taken_.samples += samples.size();
  }

  void flush() {
    if (size_ == 0) return;
    if (owner_->interface->add(std::span(runs_).first(size_), now_, takes_) != 0) {
      taken_.saturated.push_back(owner_->name);
    }
    size_ = 0;
  }

 private:
  std::array<Run, NamedSamples::kCapacity>& runs_;
  Taken& taken_;
  const Timestamp now_;
  const Interface::Takes* const takes_;
  const InterfaceEntry* owner_ = nullptr;
  std::size_t size_ = 0;
};

// A path without labels that no statistic can have: its refusal needs no look at what there is.
// Reasons are made for the first refused names of a batch, which are all that is shown.
static bool is_never_a_path(std::string_view path) {
  const auto [interface, statistic, has_statistic] = wire::split_path(path);
  return path.find('{') == path.npos && !(is_name(interface) && is_name(statistic));
}

// Step by step for all of them, so that the memory that one needs is on its way while others are at
// the step before.
std::vector<SampleAdder::Refused> SampleAdder::look_up(const NamedSamples& samples, uid_t creator,
                                                       Timestamp now) {
  auto& entries = workspace_.entries;
  const auto names = samples.names();
  const Registry::Paths& paths = registry_.paths();
  for (const auto& name : names) paths.prefetch(name.hash);
  for (std::size_t i = 0; i < names.size(); ++i) {
    entries[i] = paths.candidate(names[i].hash);
    if (entries[i]) entries[i]->prefetch();
  }
  std::vector<Refused> refused;
  const auto has_reasons = [&] { return refused.size() >= Taken::kReasonsMax; };
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!entries[i] || !entries[i]->is_of(names[i])) [[unlikely]] {
      entries[i] = nullptr;
      if (has_reasons() && is_never_a_path(names[i].path)) continue;
      auto made = find_or_create(samples, i, creator, now);
      entries[i] = made ? made.value() : nullptr;
      if (!made) {
        if (!has_reasons()) refused.push_back({i, std::move(made).error()});
        continue;
      }
    }
    const StatisticEntry& entry = *entries[i];
    if (!rights_.is_fed_by(*entry.owner, creator)) [[unlikely]] {
      if (!has_reasons()) refused.push_back({i, rights_.not_fed_by_all(*entry.owner, creator)});
      entries[i] = nullptr;
      continue;
    }
    entry.statistic->prefetch();
  }
  return refused;
}

// A name before this one in its batch may have been the same.
Result<StatisticEntry*> SampleAdder::find_or_create(const NamedSamples& samples, std::size_t name,
                                                    uid_t creator, Timestamp now) {
  const NamedSamples::Name& wanted = samples.names()[name];
  if (StatisticEntry* const entry = registry_.paths().find(wanted.path, wanted.hash)) return entry;
  const auto path = stored_path(wanted.path);
  if (!path) return path.error();
  if (StatisticEntry* const entry = registry_.find(path.value())) return entry;
  if (input_.replay() && input_.replay()->is_removed(path.value())) {
    return Error{ErrorCode::kNotFound, "it was removed since"};
  }
  if (auto refused = refuse_decimals(samples, name)) return *refused;
  return rules_.create_statistic(path.value(), kBornOfASample, creator, now);
}

Taken SampleAdder::add(NamedSamples& samples, uid_t sender, Timestamp now) {
  Taken taken;
  const auto refused = look_up(samples, sender, now);
  workspace_.rejected.reset();
  if (!refused.empty() || has_decimals(samples)) [[unlikely]]
    scale(samples, refused, taken);
  Runs runs(workspace_, taken, now, input_.replay());
  // With hardly two samples each, groups cost more than they save; rejected samples are in none.
  if (2 * samples.names().size() > samples.size() || taken.rejects != 0) {
    add_in_order(samples, runs);
  } else {
    add_by_group(samples, runs);
  }
  runs.flush();
  return taken;
}

void SampleAdder::add_in_order(const NamedSamples& samples, Runs& runs) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (workspace_.rejected[i]) continue;
    const StatisticEntry& entry = *workspace_.entries[samples.name_of(i)];
    runs.push(*entry.owner, entry.statistic, samples.samples(i, 1));
  }
}

// Names that are the same come one after the other where a name was entered several times.
std::span<SampleAdder::Workspace::Group> SampleAdder::group(const NamedSamples& samples) {
  auto& groups = workspace_.groups;
  const auto names = samples.names();
  std::size_t found = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    StatisticEntry& entry = *workspace_.entries[i];
    if (entry.group == 0) {
      groups[found] = {.entry = &entry};
      entry.group = static_cast<std::uint32_t>(++found);
    }
    workspace_.group_of[i] = entry.group - 1;
    groups[entry.group - 1].size += names[i].samples;
  }
  std::size_t end = 0;
  for (Workspace::Group& each : std::span(groups).first(found)) {
    each.entry->group = 0;
    each.end = end;
    end += each.size;
  }
  return std::span(groups).first(found);
}

void SampleAdder::add_by_group(const NamedSamples& samples, Runs& runs) {
  const auto groups = group(samples);
  auto& sorted = workspace_.scratch;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sorted[groups[workspace_.group_of[samples.name_of(i)]].end++] = samples.sample(i);
  }
  for (const Workspace::Group& each : groups) {
    runs.push(*each.entry->owner, each.entry->statistic,
              std::span(sorted).subspan(each.end - each.size, each.size));
  }
}

Result<Taken> SampleAdder::add(wire::PackedSamples samples, uid_t sender, Timestamp now) {
  Taken taken;
  const StatisticEntry* const entry = registry_.find(samples.number());
  if (!entry) return Error{ErrorCode::kStale, "samples for a number that names no statistic"};
  if (!rights_.is_fed_by(*entry->owner, sender))
    return rights_.not_fed_by_all(*entry->owner, sender);
  Runs runs(workspace_, taken, now, input_.replay());
  for (;;) {
    const auto some = samples.unpack(workspace_.scratch, now.monotonic);
    if (some.empty()) break;
    runs.push(*entry->owner, entry->statistic, some);
    runs.flush();  // before the scratch is used again
  }
  const Switch* const its = registry_.find_switch(samples.number());
  const bool has_route =
      its && (its->on.load(std::memory_order_relaxed) & kRouteMask) != kRouteSocket;
  if (has_route) taken.beside_lanes = taken.samples;
  return taken;
}

// Step by step, as look_up() of names: a ring's samples are of many statistics in turn.
void SampleAdder::look_up(std::span<const NumberedRun> runs, uid_t sender) {
  auto& entries = workspace_.entries;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    entries[i] = registry_.find(runs[i].number);
    if (entries[i]) entries[i]->prefetch();
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!entries[i]) continue;
    if (rights_.is_fed_by(*entries[i]->owner, sender)) [[likely]] {
      entries[i]->statistic->prefetch();
    } else {
      entries[i] = nullptr;
    }
  }
}

TakenFromRing SampleAdder::add(std::span<const NumberedRun> runs, uid_t sender, Timestamp now) {
  Taken taken;
  std::uint64_t lost = 0;
  Runs into(workspace_, taken, now, input_.replay());
  for (; !runs.empty(); runs = runs.subspan(std::min(runs.size(), NamedSamples::kCapacity))) {
    const auto some = runs.first(std::min(runs.size(), NamedSamples::kCapacity));
    look_up(some, sender);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const StatisticEntry* const entry = workspace_.entries[i];
      if (entry) {
        into.push(*entry->owner, entry->statistic, some[i].samples);
      } else {
        lost += some[i].samples.size();
      }
    }
    into.flush();
  }
  return {.samples = taken.samples, .lost = lost, .saturated = std::move(taken.saturated)};
}

}  // namespace tallyfs::statistics
