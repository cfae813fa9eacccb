#include "feeders/client/thread_cells.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace tallyfs {
namespace {

constexpr std::uint32_t kIdsMin = 64;

struct Form {
  std::uint32_t era = 0;
  CellForm form;
};

// nullopt while the daemon is changing the shape.
std::optional<Form> read_form(const Shape& shape) {
  const std::uint32_t version = shape.version.load(std::memory_order_acquire);
  Form read{.era = shape.era.load(std::memory_order_acquire)};
  read.form = {.kind = static_cast<CellKind>(shape.kind.load(std::memory_order_relaxed)),
               .intervals = shape.intervals.load(std::memory_order_relaxed),
               .range_min = shape.range_min.load(std::memory_order_relaxed),
               .range_max = shape.range_max.load(std::memory_order_relaxed),
               .base_interval = shape.base_interval.load(std::memory_order_relaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  const bool is_whole = version % 2 == 0 &&
                        shape.version.load(std::memory_order_relaxed) == version &&
                        shape.era.load(std::memory_order_relaxed) == read.era;
  if (!is_whole || read.era == 0) return std::nullopt;
  return read;
}

// The form may be unknown, from a daemon that is newer than this library.
bool is_known(const CellForm& form) {
  switch (form.kind) {
    case CellKind::kNone:
      return false;
    case CellKind::kIncrements:
    case CellKind::kProducts:
    case CellKind::kRange:
      return form.intervals == 0;
    case CellKind::kArrayLin:
    case CellKind::kArrayLog2:
      return form.intervals >= 2 && form.intervals <= kCellIntervalsMax && form.base_interval != 0;
  }
  return false;
}

}  // namespace

bool ThreadCells::enter(const CellFiles& files) {
  const std::uint32_t generation = files.generation();
  if (generation == generation_) return generation != 0;
  generation_ = ids_ = 0;
  remembered_.fill(nullptr);
  CellFile* const file = generation == 0 ? nullptr : files.current();
  if (!file || files.generation() != generation) return false;
  LaneEntry* const entry = file->allocate_entry();
  if (!entry) return false;
  file_ = file;
  base_ = file->base();
  entry_ = entry;
  entry_->thread.store(static_cast<std::uint32_t>(::gettid()), std::memory_order_relaxed);
  generation_ = generation;
  return true;
}

bool ThreadCells::make_room_for(std::uint32_t id) {
  if (id < ids_) return true;
  if (id >= kLaneIdsMax) return false;
  const std::uint32_t ids = std::max(std::bit_ceil(id + 1), kIdsMin);
  const std::uint32_t at = file_->allocate(ids * sizeof(std::uint32_t));
  if (at == 0) return false;
  auto* const index = reinterpret_cast<std::atomic<std::uint32_t>*>(base_ + at);
  for (std::uint32_t i = 0; i < ids_; ++i) {
    index[i].store(index_[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  entry_->index.store(std::uint64_t{ids} << 32 | at, std::memory_order_release);
  index_ = index;
  ids_ = ids;
  file_->count_change();
  return true;
}

void ThreadCells::finish_adds(const CellFiles& files) {
  if (generation_ == 0 || generation_ != files.generation()) return;
  for (std::uint32_t id = 0; id < ids_; ++id) {
    const std::uint32_t at = index_[id].load(std::memory_order_relaxed);
    if (at != 0) CellWriter(*reinterpret_cast<LaneCell*>(base_ + at)).finish_add();
  }
}

LaneCell* ThreadCells::prepare(const FedStatistic& statistic, const CellFiles& files) {
  const Shape* const shape = statistic.shape.load(std::memory_order_acquire);
  if (!shape || !enter(files) || !make_room_for(statistic.id)) return nullptr;
  const std::uint64_t number = statistic.number.load(std::memory_order_acquire);
  const auto read = read_form(*shape);
  if (!read || !is_known(read->form)) return nullptr;
  if (number == 0 || statistic.shape.load(std::memory_order_acquire) != shape) return nullptr;
  std::atomic<std::uint32_t>& its = index_[statistic.id];
  std::uint32_t at = its.load(std::memory_order_relaxed);
  auto* cell = at == 0 ? nullptr : reinterpret_cast<LaneCell*>(base_ + at);
  if (cell && cell->intervals_max >= read->form.intervals) {
    CellWriter(*cell).begin(number, statistic.id, read->era, read->form);
    return cell;
  }
  at = file_->allocate(cell_bytes(read->form.intervals));
  if (at == 0) return nullptr;
  cell = reinterpret_cast<LaneCell*>(base_ + at);
  cell->intervals_max = read->form.intervals;
  CellWriter(*cell).begin(number, statistic.id, read->era, read->form);
  its.store(at, std::memory_order_release);
  file_->count_change();
  return cell;
}

}  // namespace tallyfs
