#include "core/statistic/interface.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/statistic/saved.h"

namespace tally {
namespace {

constexpr std::uint8_t kVersion = 1;

Error not_saved() { return {ErrorCode::kInvalid, "not the saved state of an interface"}; }

Error too_long(std::size_t bytes_max) {
  return {ErrorCode::kNoSpace,
          "the text would be longer than " + std::to_string(bytes_max) + " bytes"};
}

Holdings holdings_of(std::string_view name, const Definition& definition) {
  const std::uint64_t texts = 2 * name.size() + definition.units.size();
  return {.statistics = 1,
          .bytes = kStatisticBytes + texts + Statistic::worst_case_bytes(definition)};
}

Holdings holdings_of(const Statistic& statistic) {
  return holdings_of(statistic.name(), statistic.definition());
}

}  // namespace

Interface::Interface(Reservation reservation, Moment now)
    : uid_(reservation.uid()), reservation_(std::move(reservation)), last_change_(now) {}

Interface::~Interface() = default;

Result<std::unique_ptr<Interface>> Interface::create(Ledger& ledger, uid_t uid, Moment now) {
  auto reservation = Reservation::create(ledger, uid, {.interfaces = 1, .bytes = kInterfaceBytes});
  if (!reservation) return reservation.error();
  return std::unique_ptr<Interface>(new Interface(std::move(reservation.value()), now));
}

uid_t Interface::uid() const { return uid_; }

Statistic* Interface::find_locked(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : *found;
}

Statistic* Interface::find(std::string_view name) const {
  const MutexLock lock(mutex_);
  return find_locked(name);
}

std::vector<Statistic*> Interface::statistics() const {
  const MutexLock lock(mutex_);
  std::vector<Statistic*> all;
  all.reserve(statistics_.size());
  for (const auto& statistic : statistics_) all.push_back(statistic.get());
  return all;
}

void Interface::attach_switch(Statistic* statistic, Switch* at) {
  const MutexLock lock(mutex_);
  statistic->attach_switch(at);
}

// A change that a thread with an older moment makes later does not turn mtime back.
void Interface::note_change(Moment now) {
  ++version_;
  if (now.monotonic > last_change_.monotonic) last_change_ = now;
}

// The ledger knows of it already, and its name is not taken.
Statistic* Interface::append(std::unique_ptr<Statistic> statistic) {
  statistics_.push_back(std::move(statistic));
  by_name_.insert(statistics_.back().get());
  return statistics_.back().get();
}

Result<Statistic*> Interface::create_statistic(std::string_view name, std::string_view text,
                                               Moment now) {
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a statistic's name"};
  const auto change = parse_new_statistic(text);
  if (!change) return change.error();
  auto definition = apply(change.value(), Definition{});
  if (!definition) return definition.error();

  const MutexLock lock(mutex_);
  if (find_locked(name)) {
    return Error{ErrorCode::kExists, "there is a statistic of that name already"};
  }
  // Before its data are made, which may be half a megabyte.
  auto grown = reservation_.grow(holdings_of(name, definition.value()));
  if (!grown) return grown.error();
  auto statistic = std::make_unique<Statistic>(name, definition.value(), now.monotonic);
  statistic->carry_out(change.value(), std::move(definition.value()), now.monotonic);
  note_change(now);
  return append(std::move(statistic));
}

bool Interface::remove_statistic(std::string_view name, Moment now) {
  const MutexLock lock(mutex_);
  Statistic* const gone = find_locked(name);
  if (!gone) return false;
  reservation_.shrink(holdings_of(*gone));
  by_name_.erase(gone);
  std::erase_if(statistics_, [gone](const auto& statistic) { return statistic.get() == gone; });
  note_change(now);
  return true;
}

std::size_t Interface::add(std::span<const Run> runs, Moment now) {
  std::size_t saturated = 0;
  bool changed = false;
  const MutexLock lock(mutex_);
  for (const Run& run : runs) {
    const Statistic::Added added = run.statistic->add(run.samples, now.monotonic);
    changed |= added.changed;
    saturated += added.saturated ? 1 : 0;
  }
  if (changed) note_change(now);
  return saturated;
}

// What the line makes of each statistic it is for; an error if it cannot be for one of them.
Result<std::vector<Interface::Step>> Interface::plan(const Change& change) const {
  std::vector<Step> steps;
  if (change.name) {
    Statistic* const named = find_locked(change.name->value);
    if (!named) {
      return Error{ErrorCode::kNotFound, "no statistic of that name here", change.name->at};
    }
    steps.push_back({named, {}});
  } else {
    steps.reserve(statistics_.size());
    for (const auto& statistic : statistics_) steps.push_back({statistic.get(), {}});
  }
  for (Step& step : steps) {
    auto after = apply(change, step.statistic->definition());
    if (!after) {
      Error error = after.error();
      if (!change.name) error.reason = step.statistic->name() + ": " + error.reason;
      return error;
    }
    step.after = std::move(after.value());
  }
  return steps;
}

void Interface::carry_out(const Change& change, std::vector<Step> steps, Moment now) {
  bool changed = false;
  for (Step& step : steps) {
    changed |= step.statistic->carry_out(change, std::move(step.after), now.monotonic);
  }
  if (changed) note_change(now);
}

Result<void> Interface::define(std::string_view line, Moment now) {
  const auto change = parse_change(line);
  if (!change) return change.error();

  const MutexLock lock(mutex_);
  auto steps = plan(change.value());
  if (!steps) return steps.error();
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  for (const Step& step : steps.value()) {
    bytes_before += holdings_of(*step.statistic).bytes;
    bytes_after += holdings_of(step.statistic->name(), step.after).bytes;
  }
  if (bytes_after > bytes_before) {
    auto grown = reservation_.grow({.bytes = bytes_after - bytes_before});
    if (!grown) return grown.error();
  }
  carry_out(change.value(), std::move(steps.value()), now);
  if (bytes_after < bytes_before) reservation_.shrink({.bytes = bytes_before - bytes_after});
  return {};
}

std::uint64_t Interface::definition_bytes_min() const {
  std::uint64_t bytes = 0;
  for (const auto& statistic : statistics_) bytes += statistic->definition_bytes_min();
  return bytes;
}

std::uint64_t Interface::data_bytes_min() const {
  std::uint64_t bytes = 0;
  for (const auto& statistic : statistics_) bytes += statistic->data_bytes_min();
  return bytes;
}

// Under the lock: a copy of all definitions would take as long as their text.
Result<std::string> Interface::render_definition(std::size_t bytes_max) const {
  std::string text;
  const MutexLock lock(mutex_);
  const std::uint64_t bytes_min = definition_bytes_min();
  if (bytes_min > bytes_max) return too_long(bytes_max);
  text.reserve(bytes_min);
  for (const auto& statistic : statistics_) {
    statistic->render_definition(text);
    if (text.size() > bytes_max) return too_long(bytes_max);
  }
  return text;
}

// Lets the time of all histories pass, up to this moment.
void Interface::advance(Moment now) {
  bool changed = false;
  for (const auto& statistic : statistics_) changed |= statistic->advance(now.monotonic);
  if (changed) note_change(now);
}

Result<std::string> Interface::render_data(Moment now, std::size_t bytes_max) {
  std::string text;
  std::vector<Statistic::Readings> all;
  {
    const MutexLock lock(mutex_);
    advance(now);
    const std::uint64_t bytes_min = data_bytes_min();
    if (bytes_min > bytes_max) return too_long(bytes_max);
    text.reserve(bytes_min);
    for (const auto& statistic : statistics_) {
      if (statistic->data_bytes_min() != 0) all.push_back(statistic->readings());
    }
  }
  for (const Statistic::Readings& readings : all) {
    readings.render(bytes_max, text);
    if (text.size() > bytes_max) return too_long(bytes_max);
  }
  return text;
}

std::uint64_t Interface::version(Moment now) {
  const MutexLock lock(mutex_);
  advance(now);
  return version_;
}

Moment Interface::last_change(Moment now) {
  const MutexLock lock(mutex_);
  advance(now);
  return last_change_;
}

void Interface::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(kVersion);
  out.put(std::uint32_t{uid_});
  save_time(out, last_change_.monotonic);
  save_time(out, last_change_.realtime);
  out.put(static_cast<std::uint32_t>(statistics_.size()));
  for (const auto& statistic : statistics_) statistic->save(out);
}

Result<std::unique_ptr<Interface>> Interface::load(ByteReader& in, Ledger& ledger) {
  expect_version(in, kVersion);
  const auto uid = in.get<std::uint32_t>();
  Moment last_change{.monotonic = load_time(in)};
  last_change.realtime = std::chrono::nanoseconds(in.get<std::int64_t>());
  const auto size = in.get<std::uint32_t>();
  if (!in.ok()) return not_saved();
  auto created = create(ledger, uid, last_change);
  if (!created) return created.error();
  Interface& interface = *created.value();
  const MutexLock lock(interface.mutex_);
  for (std::uint32_t i = 0; i < size; ++i) {
    auto statistic = Statistic::load(in);
    if (!statistic) return statistic.error();
    if (interface.find_locked(statistic.value().name())) return not_saved();
    auto grown = interface.reservation_.grow(holdings_of(statistic.value()));
    if (!grown) return grown.error();
    interface.append(std::make_unique<Statistic>(std::move(statistic.value())));
  }
  return created;
}

}  // namespace tally
