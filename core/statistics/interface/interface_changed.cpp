// Changes that commands made to an interface since it was saved for the next server: a save of
// these statistics alone, which the next server puts into the interface before anything else.
#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/ledger.h"
#include "core/statistics/interface/input_runs.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

// The changed statistics are counted in the ledger of their interface when they have come there.
constexpr Holdings kAnyNumber{
    .interfaces = UINT64_MAX, .statistics = UINT64_MAX, .bytes = UINT64_MAX};

// The amount that is saved under one hold of the lock: the names, and the bytes at which it ends.
constexpr std::size_t kNamesAtOnce = 64;
constexpr std::size_t kBytesAtOnce = 1 << 16;

Error no_changes() { return {ErrorCode::kInvalid, "not the changes of an interface"}; }

}  // namespace

Interface::SavedChanges Interface::save_changes(ByteWriter& out, std::span<const std::string> names,
                                                const AtInput& at_input) const {
  SavedChanges saved{};
  at_input([&](const InputPosition& input) { saved = save_changes_at(out, names, input); });
  return saved;
}

Interface::SavedChanges Interface::save_changes_at(ByteWriter& out,
                                                   std::span<const std::string> names,
                                                   const InputPosition& input) const {
  std::string bytes, marks;
  ByteWriter statistics(bytes), behind(marks);
  InputRuns inputs;
  std::uint32_t count = 0;
  CellBudget budget = CellBudget::for_command();
  const MutexLock lock(mutex_);
  const auto save_one = [&](const Statistic& each) {
    each.read_cells(budget);
    save_statistic(statistics, each, Statistic::Cells::kApart);
    each.save_marks(behind);
    inputs.add(input);
    ++count;
  };
  boost::unordered_flat_set<const Statistic*> saved;
  std::vector<std::string_view> replaced;
  std::size_t done = 0;
  for (; done < names.size() && done < kNamesAtOnce && bytes.size() < kBytesAtOnce; ++done) {
    const std::string& name = names[done];
    const Statistic* const named = find_typed(name);
    replaced.push_back(named ? std::string_view(named->name()) : name);
    if (!named) continue;
    const Statistic* const source = named->source() ? named->source() : named;
    if (!saved.insert(source).second) continue;
    if (source != named) replaced.push_back(source->name());
    save_one(*source);
    for (const Statistic* const view : source->views()) save_one(*view);
  }
  out.put(version_);
  out.put(static_cast<std::uint32_t>(replaced.size()));
  for (const std::string_view name : replaced) out.put_text(name);
  save_head(out, samples_, count);
  out.put_bytes(bytes);
  out.put(version_);
  out.put_bytes(marks);
  inputs.save(out);
  return {done, version_};
}

std::uint64_t Interface::version_of_changes(std::string_view changes) {
  return ByteReader(changes).get<std::uint64_t>();
}

void Interface::raise_version(std::uint64_t version) {
  const MutexLock lock(mutex_);
  version_ = std::max(version_, version);
}

// Changes that were saved in several calls may have one version. The version rises also by those
// that cannot be taken: what is saved of this interface must win over them, should they be there
// once more.
Result<void> Interface::load_changes(std::span<const std::string> all) {
  const std::uint64_t had = changes();
  Result<void> done;
  for (const std::string& each : all) {
    ByteReader in(each);
    const auto version = in.get<std::uint64_t>();
    if (in.ok() && version <= had) continue;
    auto taken = take_changes(in);
    raise_version(version);
    if (!taken && done) done = std::move(taken);
  }
  return done;
}

// Whatever can fail is tried before the first statistic is replaced.
Result<void> Interface::take_changes(ByteReader& in) {
  std::vector<std::string_view> names;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    names.push_back(in.get_text());
  }
  Ledger unbounded({.per_uid = kAnyNumber, .total = kAnyNumber});
  auto loaded = load_transferred(in, unbounded);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return no_changes();
  Interface& from = *loaded.value();
  std::vector<std::unique_ptr<Statistic>> changed;
  Timestamp last_change;
  const SavedInput input = from.take_saved_input();
  {
    const MutexLock lock(from.mutex_);
    from.by_name_.clear();
    changed = from.statistics_.take_all();
    last_change = from.last_change_;
  }
  for (const auto& each : changed) names.push_back(each->name());
  const MutexLock lock(mutex_);
  Replaced replaced = replaced_by(names);
  if (auto room = make_room_for(changed, replaced); !room) return room;
  last_change_ = last_change;
  standing_.reset();
  for (const Statistic* const each : replaced) saved_input_->erase(each);
  saved_input_->insert(input.begin(), input.end());
  take_changed(std::move(changed), std::move(replaced));
  return {};
}

Interface::Replaced Interface::replaced_by(std::span<const std::string_view> names) const {
  Replaced replaced;
  for (const std::string_view name : names) {
    Statistic* const named = find_locked(name);
    if (!named) continue;
    replaced.insert(named);
    replaced.insert(named->views().begin(), named->views().end());
  }
  return replaced;
}

// Removed statistics make room for new ones, as they did when the commands were carried out.
Result<void> Interface::make_room_for(std::span<const std::unique_ptr<Statistic>> changed,
                                      const Replaced& replaced) {
  Holdings had, next;
  const auto add = [](Holdings& to, const Holdings& more) {
    to.statistics += more.statistics;
    to.bytes += more.bytes;
  };
  for (const Statistic* const each : replaced) add(had, holdings_of(*each));
  for (const auto& each : changed) add(next, holdings_of(*each));
  reservation_.shrink(had);
  auto grown = reservation_.grow(next);
  // This cannot fail, as no other thread reserves room while interfaces are loaded.
  if (!grown) (void)reservation_.grow(had);
  return grown;
}

// Samples of a statistic that is gone stay counted.
void Interface::take_changed(std::vector<std::unique_ptr<Statistic>> changed, Replaced replaced) {
  for (Statistic* const each : replaced) {
    if (each->source()) find_locked(each->source()->name())->detach_view(*each);
  }
  Replaced gone = std::move(replaced);
  for (const auto& each : changed) gone.erase(find_locked(each->name()));
  for (Statistic* const each : gone) take_out(*each);
  for (auto& each : changed) take_one_changed(std::move(each));
}

// A view comes behind its source, as load() needs it, which is among the changed, and before it.
void Interface::take_one_changed(std::unique_ptr<Statistic> changed) {
  Statistic* const old = find_locked(changed->name());
  const Statistic* const source = changed->source();
  // A save in steps may have had the statistic later than its changes.
  const std::uint64_t had = old && !old->source() ? old->samples() : 0;
  if (!source && changed->samples() > had) samples_ += changed->samples() - had;
  const bool keeps_place = old && (!source || StatisticRow::is_before(*source, *old));
  if (old) by_name_.erase(old);
  if (keeps_place) {
    by_name_.insert(&statistics_.replace(*old, std::move(changed)));
  } else {
    if (old) statistics_.erase(*old);
    append(std::move(changed));
  }
}

}  // namespace tallyfs::statistics
