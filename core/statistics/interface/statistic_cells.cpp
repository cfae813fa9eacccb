// The part of a statistic that reads the cells of feeders.
#include <algorithm>
#include <utility>

#include "core/base/saturating.h"
#include "core/statistics/definition/array_bounds.h"
#include "core/statistics/interface/cell_form.h"
#include "core/statistics/interface/statistic.h"

namespace tallyfs::statistics {
namespace {

template <typename S>
CellForm form_of(const S&, const Definition&) {
  return {};
}
CellForm form_of(const ValueSettings& settings, const Definition&) {
  return {.kind = settings.mode == Mode::kProducts ? CellKind::kProducts : CellKind::kIncrements};
}
CellForm form_of(const RangeSettings&, const Definition&) { return {.kind = CellKind::kRange}; }
CellForm form_of(const ArraySettings& settings, const Definition& definition) {
  const ArrayBounds bounds(settings, definition.range_min, definition.range_max);
  if (bounds.intervals() > kCellIntervalsMax) return {};
  return {.kind = settings.scale == Scale::kLin ? CellKind::kArrayLin : CellKind::kArrayLog2,
          .intervals = static_cast<std::uint32_t>(bounds.intervals()),
          .base_interval = settings.base_interval};
}

}  // namespace

CellForm cell_form(const Definition& definition) {
  CellForm form = std::visit([&](const auto& settings) { return form_of(settings, definition); },
                             definition.settings);
  form.range_min = definition.range_min;
  form.range_max = definition.range_max;
  return form;
}

// ---- what feeders see

void Statistic::publish() {
  if (!links_) return;
  if (links_->source) return links_->source->publish();
  if (!cells()) return;
  cells()->show(is_wanted() ? kSwitchOn | route() : 0);
}

Statistic::Links& Statistic::links() {
  // Cells, a source and views alone take as much: without texts it is not a byte more.
  static_assert(sizeof(Links) <= 5 * sizeof(void*));
  if (!links_) links_ = std::make_unique<Links>();
  return *links_;
}

// Views need each sample.
bool Statistic::goes_by_cell() const { return on_ && !has_views_ && cells()->is_open(); }

std::uint32_t Statistic::route() const {
  if (goes_by_cell()) return kRouteCell | kRouteNeedsY;
  if (!cells()->takes_rings()) return kRouteSocket;
  std::uint32_t all = on_ ? needs() : 0;
  for (const Statistic* const view : views()) all |= view->on_ ? view->needs() : 0;
  return kRouteRing | all;
}

// The fields that a sample needs in addition to X.
std::uint32_t Statistic::needs() const {
  const Settings& settings = definition_.settings;
  if (std::holds_alternative<LastSettings>(settings)) return kRouteNeedsTime;
  const bool has_times = std::holds_alternative<HistorySettings>(settings) ||
                         std::holds_alternative<RawSettings>(settings);
  return kRouteNeedsY | (has_times ? kRouteNeedsTime : 0);
}

void Statistic::publish_at(const Published& at) {
  CellBudget budget = CellBudget::for_command();
  if (cells()) end_era(CellData::kKept, budget);
  if (at.on) {
    links().cells = std::make_unique<FeederCells>(at);
    cells()->show_decimals(definition_.decimals);
  } else if (links_) {
    links_->cells = nullptr;
  }
  has_cells_ = false;
  begin_era();
}

void Statistic::end_cells(CellBudget& budget) {
  if (!cells()) return;
  cells()->end();
  end_era(CellData::kKept, budget);
  publish();
}

// Feeders go to the socket before the cells are read for the last time. Of samples that are being
// added meanwhile each is in or not. What the cells hold counts for nothing in the next era by
// itself; they are read for data that are kept, and for how many samples there were. Of what the
// budget leaves, that counts which was found when it was read before.
//
// The sender of the command is charged with the reading, as with all that a command takes: the uid
// of the cells cannot help what others reset. So that cells of others do not make a command costly,
// the budget allows as many of them as one open reads.
void Statistic::end_era(CellData data, CellBudget& budget) {
  if (goes_by_cell()) {
    cells()->pause_rings();
    cells()->show(kSwitchOn);
  }
  cells()->close();
  read_cells(budget);
  note_cells();
  if (data == CellData::kKept && has_cells()) {
    cells()->each_sums([this](const CellSums& sums) { merge(sums); });
  }
  cells()->forget_era();
}

void Statistic::begin_era() {
  if (!cells()) return;
  cells()->open(cell_form(definition_));
  note_has_cells();
  publish();
}

// ---- what cells hold

bool Statistic::bind_cells(std::shared_ptr<const CellSource> source, std::uint32_t id,
                           uid_t owner) {
  const bool bound = cells() && cells()->bind(std::move(source), id, owner);
  if (bound) note_has_cells();
  return bound;
}

void Statistic::find_taken_out(const std::shared_ptr<const CellSource>& source, std::uint32_t id) {
  if (cells()) (void)cells()->find_taken_out(source, id);
}

// Samples that come by ring have no cells.
void Statistic::note_has_cells() {
  has_cells_ = cells()->has_cells() && cell_form(definition_).kind != CellKind::kNone;
}

bool Statistic::absorb_cells(const CellSource* source, const IsLate& is_late) {
  if (!cells()) return true;
  const bool all = cells()->take(cell_form(definition_), source, is_late);
  note_cells();
  note_has_cells();
  return all;
}

bool Statistic::take_out_cells_of_others(const IsLate& is_late) {
  if (!cells()) return true;
  const bool all = cells()->take_others(cell_form(definition_), is_late);
  note_cells();
  note_has_cells();
  return all;
}

void Statistic::let_others_feed() {
  if (!cells()) return;
  cells()->forget_refused();
  note_has_cells();
}

std::uint64_t Statistic::take_refused() { return cells() ? cells()->take_refused() : 0; }

void Statistic::read_cells(CellBudget& budget) const {
  if (has_cells()) cells()->read(cell_form(definition_), budget);
}

void Statistic::note_cells() {
  if (!cells()) return;
  if (const auto final_sums = cells()->take_final_sums()) merge(*final_sums);
  add_saturating(samples_, cells()->uncounted());
  cells()->count_samples();
}

std::uint64_t Statistic::count_cells() {
  if (!cells()) return 0;
  note_cells();
  return cells()->take_counted();
}

void Statistic::merge(const CellSums& cells) {
  bool saturated = add_saturating(hits_out_of_range_, cells.outside);
  std::visit(
      [&](auto& gathered) {
        if constexpr (requires { gathered.merge(cells); }) saturated |= gathered.merge(cells);
      },
      gathered_);
  if (saturated) saturated_ = true;
}

void Statistic::add_cells(TypeData& all) const {
  if (!has_cells()) return;
  std::visit(
      [&](auto& gathered) {
        if constexpr (requires(const CellSums& sums) { gathered.merge(sums); }) {
          cells()->each_sums([&](const CellSums& sums) { gathered.merge(sums); });
        }
      },
      all);
}

// For kApart: with what files held that have ended, but without what others do. Nothing: there are
// none.
std::optional<TypeData> Statistic::gathered_apart(Cells cells) const {
  const auto ended = ended_sums(cells);
  if (!ended) return std::nullopt;
  TypeData all = gathered_;
  std::visit(
      [&](auto& gathered) {
        if constexpr (requires { gathered.merge(*ended); }) gathered.merge(*ended);
      },
      all);
  return all;
}

std::uint64_t Statistic::hits_apart(Cells cells) const {
  const auto ended = ended_sums(cells);
  std::uint64_t hits = hits_out_of_range_;
  if (ended) add_saturating(hits, ended->outside);
  return hits;
}

std::optional<CellSums> Statistic::ended_sums(Cells cells) const {
  if (cells != Cells::kApart || !this->cells()) return std::nullopt;
  return this->cells()->ended_sums();
}

TypeData Statistic::gathered() const {
  TypeData all = gathered_;
  add_cells(all);
  return all;
}

std::uint64_t Statistic::hits_out_of_range() const {
  std::uint64_t hits = hits_out_of_range_;
  if (!has_cells()) return hits;
  cells()->each_sums([&](const CellSums& sums) { add_saturating(hits, sums.outside); });
  return hits;
}

}  // namespace tallyfs::statistics
