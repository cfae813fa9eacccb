// How an interface goes on in the next server while feeders count in its cells. What cells hold is
// not in the data that are saved, but stands beside them.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/statistics/interface/cell_form.h"
#include "core/statistics/interface/input_runs.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

enum Mark : std::uint8_t {
  kAskedDefinition = 1,
  kAskedOn = 2,
  kOfRule = 4,
  kHasCells = 8,
  kIsPublished = 16
};
constexpr std::uint8_t kAllMarks =
    kAskedDefinition | kAskedOn | kOfRule | kHasCells | kIsPublished;

Error not_handed_on() { return {ErrorCode::kInvalid, "not an interface as it is handed on"}; }

void save_cell_sums(ByteWriter& out, const CellSums& sums) {
  out.put(sums.samples);
  out.put(sums.outside);
  out.put(sums.number);
  out.put(sums.min);
  out.put(sums.max);
  out.put(sums.sum);
  out.put(std::uint8_t{sums.has_negative});
  out.put(static_cast<std::uint32_t>(sums.counts.size()));
  for (const std::uint64_t count : sums.counts) out.put(count);
}

CellSums load_cell_sums(ByteReader& in) {
  CellSums sums;
  sums.samples = in.get<std::uint64_t>();
  sums.outside = in.get<std::uint64_t>();
  sums.number = in.get<std::uint64_t>();
  sums.min = in.get<std::int64_t>();
  sums.max = in.get<std::int64_t>();
  sums.sum = in.get<Int128>();
  sums.has_negative = in.get_flag();
  const auto counts = in.get<std::uint32_t>();
  if (counts > kCellIntervalsMax) in.fail();
  for (std::uint32_t i = 0; in.ok() && i < counts; ++i) {
    sums.counts.push_back(in.get<std::uint64_t>());
  }
  return sums;
}

}  // namespace

void Interface::save_for_successor(ByteWriter& out, Timestamp now, CellBudget& budget) {
  {
    const MutexLock lock(mutex_);
    advance(now, budget);
  }
  save_for_successor(out, budget);
}

Result<std::unique_ptr<Interface>> Interface::load_transferred(ByteReader& in, Ledger& ledger) {
  auto loaded = load(in, ledger);
  if (!loaded) return loaded;
  Interface& interface = *loaded.value();
  const MutexLock lock(interface.mutex_);
  interface.version_ = in.get<std::uint64_t>();
  for (Statistic& statistic : interface.statistics_) statistic.load_marks(in);
  auto saved = std::make_unique<SavedInput>();
  auto next = interface.statistics_.begin();
  InputRuns::load(in, interface.statistics_.size(), [&](const InputPosition& input) {
    saved->emplace(&*next, input);
    ++next;
  });
  interface.saved_input_ = std::move(saved);
  if (!in.ok()) return not_handed_on();
  return loaded;
}

Interface::SavedInput Interface::take_saved_input() {
  const MutexLock lock(mutex_);
  const auto taken = std::exchange(saved_input_, nullptr);
  return taken ? std::move(*taken) : SavedInput();
}

void Interface::resume_at(Statistic* statistic, const Published& at) {
  const MutexLock lock(mutex_);
  statistic->resume_at(at);
}

// No feeder sees either of the two.
std::vector<std::string> Interface::take_data(Interface& other, Timestamp now) {
  StatisticRow taken;
  std::uint64_t samples = 0, version = 0;
  {
    const MutexLock lock(other.mutex_);
    taken = std::move(other.statistics_);
    other.by_name_.clear();
    for (const Statistic& each : taken) other.reservation_.shrink(holdings_of(each));
    samples = other.samples_;
    version = other.version_;
  }
  std::vector<std::string> without_room;
  const MutexLock lock(mutex_);
  for (Statistic& from : taken) {
    Statistic* const to = find_locked(from.name());
    const bool is_view = from.source() != nullptr;
    if (to ? is_view != (to->source() != nullptr) : !is_view) continue;
    const auto done = to ? take_data(from, *to) : take_view(from, now);
    if (!done) without_room.push_back(from.name());
  }
  samples_ = samples;
  version_ = version;
  note_change(now);
  return without_room;
}

Result<void> Interface::take_data(Statistic& from, Statistic& to) {
  const std::uint64_t before = holdings_of(to).bytes, after = holdings_of(from).bytes;
  if (after > before) {
    if (auto grown = reservation_.grow({.bytes = after - before}); !grown) return grown;
  }
  to.take_data(from);
  if (after < before) reservation_.shrink({.bytes = before - after});
  return {};
}

// A statistic that this version does not have has no view either.
Result<void> Interface::take_view(Statistic& from, Timestamp now) {
  Statistic* const source = find_locked(from.source()->name());
  if (!source || source->source()) return {};
  if (auto grown = reservation_.grow(holdings_of(from)); !grown) return grown;
  auto view = std::make_unique<Statistic>(from.name(), from.definition(), now);
  view->take_data(from);
  source->attach_view(*append(std::move(view)));
  return {};
}

void Statistic::save_marks(ByteWriter& out) const {
  const CellSums sums = has_cells() ? cells()->handed_on() : CellSums{};
  const bool has_sums = sums.samples != 0;
  const bool is_published = cells() && cells()->is_published();
  out.put(static_cast<std::uint8_t>((asked_definition_ ? kAskedDefinition : 0) |
                                    (asked_on_ ? kAskedOn : 0) | (of_rule_ ? kOfRule : 0) |
                                    (has_sums ? kHasCells : 0) |
                                    (is_published ? kIsPublished : 0)));
  if (is_published) cells()->save_place(out);
  if (has_sums) save_cell_sums(out, sums);
}

void Statistic::load_marks(ByteReader& in) {
  const auto marks = in.get<std::uint8_t>();
  if ((marks & ~kAllMarks) != 0) return in.fail();
  asked_definition_ = (marks & kAskedDefinition) != 0;
  asked_on_ = (marks & kAskedOn) != 0;
  of_rule_ = (marks & kOfRule) != 0;
  if ((marks & (kHasCells | kIsPublished)) == 0) return;
  if (source()) return in.fail();
  links().cells = (marks & kIsPublished) != 0 ? FeederCells::load_place(in)
                                              : std::make_unique<FeederCells>(Published{});
  if ((marks & kHasCells) == 0) return;
  CellSums sums = load_cell_sums(in);
  const CellForm form = cell_form(definition_);
  const bool fits = form.kind != CellKind::kNone &&
                    (sums.counts.empty() || sums.counts.size() == form.intervals);
  if (!fits || !in.ok()) return in.fail();
  cells()->hold(std::move(sums));
  has_cells_ = true;
}

std::optional<std::uint64_t> Statistic::number_before() const {
  if (!cells() || !cells()->is_published()) return std::nullopt;
  return cells()->number();
}

// Feeders notice nothing, if they count as this version would have them count.
void Statistic::resume_at(const Published& at) {
  auto next = std::make_unique<FeederCells>(at);
  const std::uint32_t era = cells() ? cells()->era() : 0;
  if (!at.on || !next->resume(cell_form(definition_), era)) return publish_at(at);
  next->take_held(*cells());
  links().cells = std::move(next);
  cells()->show_decimals(definition_.decimals);
  publish();
}

void Statistic::take_data(Statistic& from) {
  set_definition(std::move(from.definition_));
  set_texts(from.texts());
  has_sample_units_ = from.has_sample_units_;
  gathered_ = std::move(from.gathered_);
  on_ = from.on_;
  saturated_ = from.saturated_;
  hits_out_of_range_ = from.hits_out_of_range_;
  samples_ = from.samples_;
  created_ = from.created_;
  data_since_ = from.data_since_;
  started_ = from.started_;
  stopped_ = from.stopped_;
  asked_definition_ = from.asked_definition_;
  asked_on_ = from.asked_on_;
  of_rule_ = from.of_rule_;
}

// A server that was killed may have begun another era, and not saved that; then one more begins.
bool FeederCells::resume(const CellForm& form, std::uint32_t saved) {
  if (!at_.shape || form.kind == CellKind::kNone) return true;
  const Shape& shape = *at_.shape;
  const CellForm before{.kind = static_cast<CellKind>(shape.kind.load()),
                        .intervals = shape.intervals.load(),
                        .range_min = shape.range_min.load(),
                        .range_max = shape.range_max.load(),
                        .base_interval = shape.base_interval.load()};
  const std::uint32_t era = shape.era.load();
  const bool is_whole = shape.version.load() % 2 == 0;
  if (before != form || era == 0 || era != saved || !is_whole) return false;
  era_ = era;
  is_open_ = true;
  return true;
}

void FeederCells::save_place(ByteWriter& out) {
  out.put(at_.number);
  out.put(era_);
  if (held_) forget_taken_out();
  const std::span<const TakenOut> taken = held_ ? std::span<const TakenOut>(held_->taken_out)
                                                : std::span<const TakenOut>();
  out.put(static_cast<std::uint32_t>(taken.size()));
  for (const TakenOut& each : taken) {
    out.put(each.lane);
    out.put(each.id);
  }
}

std::unique_ptr<FeederCells> FeederCells::load_place(ByteReader& in) {
  auto made = std::make_unique<FeederCells>(Published{.number = in.get<std::uint64_t>()});
  made->era_ = in.get<std::uint32_t>();
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    const auto lane = in.get<std::uint64_t>();
    const auto id = in.get<std::uint32_t>();
    made->held().taken_out.push_back({.lane = lane, .id = id, .source = {}, .of_before = true});
  }
  return made;
}

}  // namespace tallyfs::statistics
