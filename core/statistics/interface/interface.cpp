#include "core/statistics/interface/interface.h"
#include "core/statistics/definition/unread_words.h"

#include <algorithm>
#include <utility>

#include "core/base/labels.h"
#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

// While a run is added, the data of so many behind it are on their way from memory.
constexpr std::size_t kRunsAhead = 6;
// Few lines of a definition are longer.
constexpr std::size_t kDefinitionLineBytes = 1024;

}  // namespace

Error Interface::too_long(std::size_t bytes_max) {
  return {ErrorCode::kNoSpace,
          "the text would be longer than " + std::to_string(bytes_max) + " bytes"};
}

Holdings Interface::holdings_of(std::string_view name, const Definition& definition,
                                std::uint64_t data_bytes) {
  const std::uint64_t texts = 2 * name.size() + definition.units.size();
  return {.statistics = 1, .bytes = kStatisticBytes + texts + data_bytes};
}

Holdings Interface::holdings_of(const Statistic& statistic) {
  return holdings_of(statistic.name(), statistic.definition(),
                     statistic.worst_case_bytes() + statistic.text_bytes());
}

Interface::Interface(Reservation reservation, Timestamp now)
    : uid_(reservation.uid()), reservation_(std::move(reservation)), last_change_(now) {}

Interface::~Interface() = default;

Result<std::unique_ptr<Interface>> Interface::create(Ledger& ledger, uid_t uid, Timestamp now) {
  auto reservation = Reservation::create(ledger, uid, {.interfaces = 1, .bytes = kInterfaceBytes});
  if (!reservation) return reservation.error();
  return std::unique_ptr<Interface>(new Interface(std::move(reservation.value()), now));
}

uid_t Interface::uid() const { return uid_; }

Statistic* Interface::find_locked(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : *found;
}

// An earlier version may have stored it with the spelling that is typed.
Statistic* Interface::find_typed(std::string_view name) const {
  if (Statistic* const found = find_locked(name)) return found;
  const auto stored = stored_name(name);
  return stored ? find_locked(stored.value()) : nullptr;
}

Statistic* Interface::find(std::string_view name) const {
  const MutexLock lock(mutex_);
  return find_locked(name);
}

std::vector<Statistic*> Interface::statistics() const {
  const MutexLock lock(mutex_);
  std::vector<Statistic*> all;
  all.reserve(statistics_.size());
  for (Statistic& statistic : statistics_) {
    if (!statistic.source()) all.push_back(&statistic);
  }
  return all;
}

void Interface::publish_at(Statistic* statistic, const Published& at) {
  const MutexLock lock(mutex_);
  statistic->publish_at(at);
}

// A change that a thread with an older moment makes later does not turn mtime back.
void Interface::note_samples(Timestamp now) {
  ++version_;
  if (now.monotonic > last_change_.monotonic) last_change_ = now;
}

void Interface::note_change(Timestamp now) {
  standing_.reset();
  note_samples(now);
}

const Interface::Standing& Interface::standing() {
  if (standing_) return *standing_;
  Standing counted{.on = 0, .has_running_history = false};
  for (const Statistic& statistic : statistics_) {
    counted.on += statistic.is_on() ? 1 : 0;
    counted.has_running_history |= statistic.moves_by_itself();
  }
  return standing_.emplace(counted);
}

// The ledger has counted the statistic already, and its name is free.
Statistic* Interface::append(std::unique_ptr<Statistic> statistic) {
  Statistic& appended = statistics_.append(std::move(statistic));
  by_name_.insert(&appended);
  return &appended;
}

Result<Statistic*> Interface::create_statistic(std::string_view name, std::string_view text,
                                               Timestamp now, Strictness strictness) {
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a statistic's name"};
  const auto change = parse_new_statistic(text, strictness);
  if (!change) return change.error();
  auto definition = apply(change.value(), Definition{});
  if (!definition) return definition.error();
  if (change.value().is_strict) {
    auto read = statistics::check_all_read(text, attributes_of(definition.value().settings));
    if (!read) return read.error();
  }

  const MutexLock lock(mutex_);
  if (const Statistic* const taken = find_locked(name)) {
    return Error{ErrorCode::kExists, taken->source()
                                         ? "this is a view, which takes no samples of its own"
                                         : "there is a statistic of that name already"};
  }
  // Before its data are made, which may be half a megabyte.
  const std::size_t texts = Statistic::new_text_bytes(change.value(), definition.value());
  auto grown = reservation_.grow(
      holdings_of(name, definition.value(), worst_case_bytes(definition.value()) + texts));
  if (!grown) return grown.error();
  auto statistic = std::make_unique<Statistic>(name, definition.value(), now);
  CellBudget none;  // it has no cells yet
  statistic->carry_out(change.value(), std::move(definition.value()), now, none);
  if (const auto& units = change.value().sample_units) statistic->set_sample_units(units->value);
  note_change(now);
  return append(std::move(statistic));
}

bool Interface::remove_statistic(std::string_view name, Timestamp now) {
  const MutexLock lock(mutex_);
  Statistic* const gone = find_locked(name);
  if (!gone) return false;
  CellBudget budget = CellBudget::for_command();
  gone->read_cells(budget);
  count_cells(*gone);
  while (gone->has_views()) remove(*gone->views().back());
  remove(*gone);
  note_change(now);
  return true;
}

std::size_t Interface::size() const {
  const MutexLock lock(mutex_);
  return statistics_.size();
}

Statistic* Interface::last() const {
  const MutexLock lock(mutex_);
  Statistic* const last = statistics_.last();
  return last && last->source() ? find_locked(last->source()->name()) : last;
}

void Interface::drop(Statistic& gone, Timestamp now) {
  const MutexLock lock(mutex_);
  while (gone.has_views()) remove(*gone.views().back());
  remove(gone);
  note_change(now);
}

// It has no views.
void Interface::remove(Statistic& gone) {
  reservation_.shrink(holdings_of(gone));
  take_out(gone);
}

void Interface::take_out(Statistic& gone) {
  if (gone.source()) find_locked(gone.source()->name())->detach_view(gone);
  forget_discarded(gone);
  by_name_.erase(&gone);
  statistics_.erase(gone);
}

std::size_t Interface::add(std::span<const Run> runs, Timestamp now, const Takes* takes) {
  std::size_t saturated = 0;
  std::uint64_t taken = 0;
  const auto add_to = [&](Statistic& statistic, const auto& samples) {
    if (takes && !(*takes)(statistic)) [[unlikely]]
      return false;
    const Statistic::Added added = statistic.add(samples, now.monotonic);
    saturated += added.saturated ? 1 : 0;
    return added.changed;
  };
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (i + kRunsAhead < runs.size()) runs[i + kRunsAhead].statistic->prefetch_data();
    bool is_taken = false;
    if (!run.statistic->has_views()) [[likely]] {
      is_taken = add_to(*run.statistic, run.samples);
    } else {
      const SharedRun shared(run.samples);
      is_taken = add_to(*run.statistic, shared);
      for (Statistic* const view : run.statistic->views()) is_taken |= add_to(*view, shared);
    }
    if (is_taken) taken += run.samples.size();
  }
  samples_ += taken;
  if (taken != 0) note_samples(now);
  return saturated;
}

std::uint64_t Interface::definition_bytes_min() const {
  std::uint64_t bytes = 0;
  for (const Statistic& statistic : statistics_) bytes += statistic.definition_bytes_min();
  return bytes;
}

std::uint64_t Interface::data_bytes_min() const {
  std::uint64_t bytes = 0;
  for (const Statistic& statistic : statistics_) bytes += statistic.data_bytes_min();
  return bytes;
}

// Under the lock: a copy of all definitions would take as long as their text.
Result<std::string> Interface::render_definition(std::size_t bytes_max, Look look) const {
  std::string text;
  std::optional<CellLooks::Open> open;
  if (look == Look::kNow) open.emplace(cell_looks_);
  const MutexLock lock(mutex_);
  CellBudget budget;
  if (open && !open->is_served()) read_cells(budget);
  const std::uint64_t bytes_min = definition_bytes_min();
  if (bytes_min > bytes_max) return too_long(bytes_max);
  text.reserve(bytes_min);
  for (const Statistic& statistic : statistics_) {
    // A text that doubles would take three times its size for a moment.
    if (text.capacity() - text.size() < kDefinitionLineBytes) {
      text.reserve(text.size() + text.size() / 4 + kDefinitionLineBytes);
    }
    statistic.render_definition(text);
    if (text.size() > bytes_max) return too_long(bytes_max);
  }
  return text;
}

// Lets the time of all histories pass, up to this moment, and counts what cells hold.
void Interface::advance(Timestamp now, CellBudget& budget) {
  read_cells(budget);
  pass_time(now);
}

template <typename Call>
void Interface::advance_for(const Call& call, Timestamp now) {
  CellBudget budget;
  if (!call.is_served()) read_cells(budget);
  pass_time(now);
}

void Interface::pass_time(Timestamp now) {
  forget_expired(now);
  if (!cell_rounds_ && !standing().has_running_history) return;
  bool changed = false;
  for (Statistic& statistic : statistics_) {
    changed |= statistic.advance(now.monotonic);
    if (cell_rounds_) changed |= count_cells(statistic);
  }
  if (changed) note_samples(now);
}

struct Interface::Measured {
  std::vector<Statistic::Snapshot> snapshots;
  std::size_t bytes = 0;
};

Result<Interface::Measured> Interface::measure_data(Timestamp now, std::size_t bytes_max,
                                                    Look look) {
  Measured data;
  {
    std::optional<CellLooks::Open> open;
    if (look == Look::kNow) open.emplace(cell_looks_);
    const MutexLock lock(mutex_);
    if (open) advance_for(*open, now);
    if (data_bytes_min() > bytes_max) return too_long(bytes_max);
    std::size_t shown = 0;
    for (const Statistic& statistic : statistics_) shown += statistic.data_bytes_min() != 0;
    data.snapshots.reserve(shown);
    for (const Statistic& statistic : statistics_) {
      if (statistic.data_bytes_min() != 0) data.snapshots.push_back(statistic.snapshot());
    }
  }
  for (const auto& snapshot : data.snapshots) data.bytes += snapshot.text_length();
  if (data.bytes > bytes_max) return too_long(bytes_max);
  return data;
}

Result<std::string> Interface::render_data(Timestamp now, std::size_t bytes_max, Look look) {
  auto measured = measure_data(now, bytes_max, look);
  if (!measured) return measured.error();
  std::string text;
  text.reserve(measured.value().bytes);
  for (auto& snapshot : measured.value().snapshots) std::move(snapshot).render(text);
  return text;
}

Result<std::size_t> Interface::data_length(Timestamp now, std::size_t bytes_max) {
  const auto measured = measure_data(now, bytes_max, Look::kDone);
  if (!measured) return measured.error();
  return measured.value().bytes;
}

std::uint64_t Interface::version(Timestamp now, CellBudget& budget) {
  const MutexLock lock(mutex_);
  advance(now, budget);
  return version_;
}

std::uint64_t Interface::version(Timestamp now) {
  const CellLooks::Open open(cell_looks_);
  const MutexLock lock(mutex_);
  advance_for(open, now);
  return version_;
}

std::uint64_t Interface::changes() const {
  const MutexLock lock(mutex_);
  return version_;
}

Timestamp Interface::last_change(Timestamp now) {
  const CellLooks::Stat stat(cell_looks_);
  const MutexLock lock(mutex_);
  advance_for(stat, now);
  return last_change_;
}

Interface::State Interface::look(Timestamp now) {
  const CellLooks::Stat stat(cell_looks_);
  const MutexLock lock(mutex_);
  advance_for(stat, now);
  return {version_, last_change_};
}

}  // namespace tallyfs::statistics
