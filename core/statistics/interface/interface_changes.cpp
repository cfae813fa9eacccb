// What lines of the definition file, defaults and rules do to statistics.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs {
namespace {

// An array whose narrow intervals are where no sample is, most likely.
bool is_open_log2(const Definition& definition) {
  const auto* const array = std::get_if<ArraySettings>(&definition.settings);
  return array && array->scale == Scale::kLog2 &&
         definition.range_min == std::numeric_limits<std::int64_t>::min();
}

// How many bytes more (as a difference that may wrap) it holds after the change.
std::uint64_t growth(const Statistic& statistic, const Change& change, const Definition& after) {
  return statistic.worst_case_bytes_after(change, after) - statistic.worst_case_bytes();
}

std::optional<Error> find_other_units(std::string_view line, std::string_view units) {
  constexpr std::string_view kUnits = "units=";
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    if (!token->text.starts_with(kUnits) || token->text.substr(kUnits.size()) == units) continue;
    return invalid("units are said when a statistic is created, and were ignored", token->at);
  }
  return std::nullopt;
}

}  // namespace

template <typename Visit>
Result<void> Interface::each_of(Statistic* named, Visit visit) const {
  if (named) return visit(*named);
  for (Statistic& statistic : statistics_) {
    if (auto done = visit(statistic); !done) return done;
  }
  return {};
}

// Checks that the line is possible for each statistic that it names, and reserves their growth in
// the ledger. Returns how many bytes are to be returned to the ledger afterwards. An error if the
// line is impossible for one of them.
Result<std::uint64_t> Interface::resize(const Change& change, Statistic* named) {
  std::uint64_t more = 0;  // below 0 it wraps, and back in the sum
  const auto planned = each_of(named, [&](const Statistic& statistic) -> Result<void> {
    const auto definition = apply(change, statistic.definition());
    if (!definition) {
      Error error = definition.error();
      if (!change.name) error.reason = statistic.name() + ": " + error.reason;
      return error;
    }
    more += growth(statistic, change, definition.value());
    return {};
  });
  if (!planned) return planned.error();
  if (static_cast<std::int64_t>(more) <= 0) return 0 - more;
  if (auto grown = reservation_.grow({.bytes = more}); !grown) return grown.error();
  return 0;
}

// Each definition is reckoned a second time: to keep them from resize() on would take more memory,
// and more time, for an interface of many statistics.
void Interface::carry_out(const Change& change, Statistic* named, Moment now) {
  CellBudget budget = CellBudget::for_command();
  bool changed = false;
  (void)each_of(named, [&](Statistic& statistic) -> Result<void> {
    if (change.redefines()) {
      changed |=
          statistic.carry_out(change, apply(change, statistic.definition()).value(), now, budget);
    } else {
      changed |= statistic.carry_out(change, now, budget);
    }
    return {};
  });
  if (changed) note_change(now);
}

Result<void> Interface::define(std::string_view line, Moment now, By by) {
  const auto parsed = parse_change(line);
  if (!parsed) return parsed.error();
  const Change& change = parsed.value();

  const MutexLock lock(mutex_);
  if (change.of) return define_view(change, now, by);
  Statistic* named = nullptr;
  if (change.name) {
    named = find_locked(change.name->value);
    if (!named) {
      return Error{ErrorCode::kNotFound,
                   "no statistic of that name here; tallyctl apply --create makes it",
                   change.name->at};
    }
  }
  return redefine(change, named, now, by);
}

// Rules that cannot be applied were told when the statistic was made.
Result<void> Interface::define_default(std::string_view line, std::span<const std::string> rules,
                                       Moment now) {
  const auto parsed = parse_change(line);
  if (!parsed) return parsed.error();
  const auto& name = parsed.value().name;
  if (!name) return invalid("a default is for one statistic: name= is missing", 0);

  const MutexLock lock(mutex_);
  Statistic* const named = find_locked(name->value);
  if (!named) return Error{ErrorCode::kNotFound, "no statistic of that name here", name->at};
  Change change = named->left_of(parsed.value());
  auto after = apply(change, named->definition());
  if (!after) return after.error();
  for (const std::string& rule : rules) {
    const auto more = parse_change(rule);
    if (!more || more.value().of) continue;
    const Change left = named->left_of(more.value());
    auto ruled = apply(left, after.value());
    if (!ruled) continue;
    after = std::move(ruled);
    if (left.on) change.on = left.on;
  }
  if (auto done = become(*named, change, std::move(after.value()), now); !done) return done;
  for (const std::string& rule : rules) {
    const auto more = parse_change(rule);
    if (more && more.value().of) follow(*named, more.value(), now);
  }
  return {};
}

Result<void> Interface::become(Statistic& statistic, const Change& change, Definition after,
                               Moment now) {
  const auto more = static_cast<std::int64_t>(growth(statistic, change, after));
  if (more > 0) {
    const auto grown = reservation_.grow({.bytes = static_cast<std::uint64_t>(more)});
    if (!grown) return grown.error();
  }
  CellBudget budget = CellBudget::for_command();
  if (statistic.carry_out(change, std::move(after), now, budget)) note_change(now);
  if (more < 0) reservation_.shrink({.bytes = static_cast<std::uint64_t>(-more)});
  return {};
}

Result<void> Interface::redefine(const Change& change, Statistic* named, Moment now, By by) {
  std::uint64_t freed = 0;
  if (change.redefines() || change.data_reset) {
    const auto resized = resize(change, named);
    if (!resized) return resized.error();
    freed = resized.value();
  }
  carry_out(change, named, now);
  if (by == By::kUser) {
    (void)each_of(named, [&](Statistic& statistic) -> Result<void> {
      statistic.note_asked(change);
      return {};
    });
  }
  if (freed != 0) reservation_.shrink({.bytes = freed});
  return {};
}

std::optional<Error> Interface::remark(std::string_view line) const {
  const auto parsed = parse_change(line);
  if (!parsed) return std::nullopt;
  const Change& change = parsed.value();
  Types types;
  bool is_open = false;
  std::string units;
  {
    const MutexLock lock(mutex_);
    Statistic* const named = change.name ? find_locked(change.name->value) : nullptr;
    if (change.name && !named) return std::nullopt;
    if (named) units = named->definition().units;
    (void)each_of(named, [&](const Statistic& statistic) -> Result<void> {
      types.set(statistic.definition().settings.index());
      is_open |= is_open_log2(statistic.definition());
      return {};
    });
  }
  if (auto ignored = find_ignored_key(line, types)) return ignored;
  if (auto ignored = change.name ? find_other_units(line, units) : std::nullopt) return ignored;
  if (!is_open || !change.scale || change.range_min) return std::nullopt;
  return invalid("without range_min the intervals double from -9223372036854775808 on",
                 change.scale->at);
}

}  // namespace tallyfs
