// How what was discarded comes back.
#include <string>
#include <utility>

#include "core/base/saturating.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

// False: the data of this type do not add up.
bool add_up(TypeData& to, const TypeData& more) {
  return std::visit(
      [&](auto& data) {
        using Type = std::remove_cvref_t<decltype(data)>;
        if constexpr (requires(const Type& same) { data.merge(same); }) {
          data.merge(std::get<Type>(more));
          return true;
        } else {
          return false;
        }
      },
      to);
}

// Data that two resets within a moment discarded become one. False: the data of this type do not
// add up.
bool put_before(const Discarded& first, Discarded& second) {
  TypeData gathered = first.gathered;
  if (second.samples != first.samples && !add_up(gathered, second.gathered)) return false;
  second.gathered = std::move(gathered);
  add_saturating(second.hits_out_of_range, first.hits_out_of_range);
  second.saturated |= first.saturated;
  second.created = first.created;
  second.data_since = first.data_since;
  return true;
}

}  // namespace

// Cells are in the data already.
void Statistic::keep(Discarded& discarded, Timestamp now) {
  advance(now.monotonic);
  discarded.definition = definition_;
  discarded.gathered = gathered_;
  discarded.hits_out_of_range = hits_out_of_range_;
  discarded.saturated = saturated_;
  discarded.created = created_;
  discarded.data_since = data_since_;
  discarded.samples = samples_;
}

std::uint64_t Statistic::restore(Discarded discarded, Timestamp now, CellBudget& budget) {
  if (cells()) end_era(CellData::kKept, budget);
  const bool is_added =
      definition_ == discarded.definition && add_up(discarded.gathered, gathered_);
  if (is_added) add_saturating(discarded.hits_out_of_range, hits_out_of_range_);
  set_definition(std::move(discarded.definition));
  gathered_ = std::move(discarded.gathered);
  hits_out_of_range_ = discarded.hits_out_of_range;
  saturated_ = discarded.saturated || (is_added && saturated_);
  created_ = discarded.created;
  data_since_ = discarded.data_since;
  if (on_) start_history(now.monotonic);
  if (cells()) begin_era();
  if (source()) publish();
  return is_added ? 0 : samples_ - discarded.samples;
}

void Interface::forget_expired(Timestamp now) {
  if (!discarded_) return;
  if (const std::uint64_t bytes = discarded_->forget_expired(now.monotonic)) {
    reservation_.shrink({.bytes = bytes});
  }
}

void Interface::forget_discarded(const Statistic& statistic) {
  if (!discarded_) return;
  if (const std::uint64_t bytes = discarded_->forget(statistic)) {
    reservation_.shrink({.bytes = bytes});
  }
}

std::optional<Discarded> Interface::room_for_discarded(const Statistic& statistic,
                                                       const Change& change,
                                                       const Definition& after, Timestamp now) {
  if (!change.data_reset && !discards_data(statistic.definition(), after)) return std::nullopt;
  forget_discarded(statistic);
  const bool is_often =
      !change.is_strict && now.monotonic - statistic.data_since() < DiscardedData::kResetsApart;
  if (is_often) return std::nullopt;
  if (!discarded_) discarded_ = std::make_unique<DiscardedData>();
  const std::uint64_t bytes =
      sizeof(Discarded) + statistic.definition().units.size() + statistic.worst_case_bytes();
  if (bytes > DiscardedData::kBytesMax || !reservation_.grow({.bytes = bytes})) {
    discarded_->report.cannot_be_undone = true;
    return std::nullopt;
  }
  return Discarded{.until = now.monotonic + DiscardedData::kKeptFor, .bytes = bytes};
}

bool Interface::carry_out(Statistic& statistic, const Change& change, Definition after,
                          Timestamp now, CellBudget& budget) {
  auto kept = room_for_discarded(statistic, change, after, now);
  const bool changed =
      statistic.carry_out(change, std::move(after), now, budget, kept ? &*kept : nullptr);
  if (kept) discarded_->keep(statistic, *std::move(kept));
  return changed;
}

// For a person, as programs do not keep what they reset so often.
std::optional<Discarded> Interface::discarded_just_before(const Statistic& statistic,
                                                          const Change& change,
                                                          Timestamp now) const {
  if (!change.is_strict || !change.data_reset || !discarded_) return std::nullopt;
  const Discarded* const former = discarded_->find(statistic);
  if (!former || former->definition != statistic.definition()) return std::nullopt;
  const auto discarded = former->until - DiscardedData::kKeptFor;
  if (now.monotonic - discarded >= DiscardedData::kResetsApart) return std::nullopt;
  return *former;
}

bool Interface::carry_out(Statistic& statistic, const Change& change, Timestamp now,
                          CellBudget& budget) {
  const auto former = discarded_just_before(statistic, change, now);
  auto kept = room_for_discarded(statistic, change, statistic.definition(), now);
  const bool changed = statistic.carry_out(change, now, budget, kept ? &*kept : nullptr);
  if (former && kept && !put_before(*former, *kept)) discarded_->report.is_replaced = true;
  if (kept) discarded_->keep(statistic, *std::move(kept));
  return changed;
}

// The ledger counts what was kept and what there is, one of which it becomes.
std::uint64_t Interface::restore(Statistic& statistic, Timestamp now, CellBudget& budget) {
  Discarded discarded = discarded_->take(statistic);
  const std::uint64_t counted = discarded.bytes + holdings_of(statistic).bytes;
  const std::uint64_t lost = statistic.restore(std::move(discarded), now, budget);
  count_cells(statistic);
  reservation_.shrink({.bytes = counted - holdings_of(statistic).bytes});
  for (Statistic* const view : statistic.views()) {
    const Discarded* const kept = discarded_->find(*view);
    const unsigned decimals = statistic.definition().decimals;
    const bool is_former = view->definition().decimals != decimals;
    if (is_former && kept && kept->definition.decimals == decimals) restore(*view, now, budget);
  }
  sync_views(statistic, now);
  return lost;
}

std::optional<Error> Interface::remark_on_discarded(const Change& change) const {
  if (!discarded_) return std::nullopt;
  const DiscardedData::Report& report = discarded_->report;
  if (report.cannot_be_undone && (change.data_reset || change.redefines())) {
    return invalid("it cannot be undone: the data are above 1 MiB, or the quota has no room",
                   change.name ? change.name->at : 0);
  }
  if (report.is_replaced && change.data_reset) {
    return invalid("undo=1 brings back only what came after the reset of a moment before: "
                   "data of this type do not add up",
                   change.name ? change.name->at : 0);
  }
  if (!change.undo || report.lost_samples == 0) return std::nullopt;
  return invalid(
      std::to_string(report.lost_samples) + " samples that were counted since are discarded",
      change.undo->at);
}

}  // namespace tallyfs::statistics
