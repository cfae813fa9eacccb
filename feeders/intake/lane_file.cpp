// Longer than most: all that is read of a lane file is here, since each word of it is checked.
#include "feeders/intake/lane_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/base/prefetch.h"
#include "core/lane/layout.h"
#include "feeders/intake/sealed_memory.h"

namespace tallyfs {
namespace {

constexpr std::size_t kEntriesAtOnce = 16;
// One page of addresses stays unused after each file. Without it the distance between the same
// pages of two files is a power of two, and the processor remembers the addresses of only a few
// such pages: each look at a cell has it walk the page tables.
constexpr std::size_t kGap = 4096;
// The processor fetches the rest of longer cells without being told.
constexpr std::size_t kPrefetchedMax = 512;
constexpr int kLaneSeals = F_SEAL_SHRINK | F_SEAL_GROW;

bool read_at(int fd, std::uint64_t at, void* to, std::size_t bytes) {
  return ::pread(fd, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

// A word that was not 0 when it was copied, so that it is in no hole. The feeder may be storing it,
// and nothing says that a kernel copies a word at once: a part could be older than the rest.
template <typename Word>
Word load_whole(std::span<const std::byte> memory, std::uint64_t at, Word copied) {
  if (copied == 0) return 0;
  const auto& word = *reinterpret_cast<const std::atomic<Word>*>(memory.data() + at);
  return word.load(std::memory_order_acquire);
}

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t before = value.load(std::memory_order_relaxed);
  while (before < to && !value.compare_exchange_weak(before, to)) {
  }
}

RoomShare::Room make_room(std::size_t amount) {
  return std::make_shared<RoomShare::Left>(static_cast<std::int64_t>(amount));
}

bool write_header(int fd, std::uint64_t bytes) {
  const std::array<std::uint64_t, 2> header{kLaneMagic, bytes};
  return ::pwrite(fd, header.data(), sizeof header, 0) == static_cast<ssize_t>(sizeof header);
}

}  // namespace

Result<std::shared_ptr<LaneFile>> LaneFile::create(std::uint32_t bytes, Charged charged,
                                                   Whose whose,
                                                   std::shared_ptr<LaneCounts> counts) {
  const auto failure = [](const char* what) { return memory_error(ErrorCode::kNoSpace, what); };
  Fd fd = open_memory("tallyfs-lane");
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      !write_header(fd.get(), bytes)) {
    return failure("no memory for a lane");
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, kLaneSeals) != 0) {
    return memory_error(ErrorCode::kInvalid, "cannot seal a lane");
  }
  return map(std::move(fd), bytes, std::move(charged), whose, std::move(counts));
}

Result<std::shared_ptr<LaneFile>> LaneFile::adopt(Fd fd, std::uint32_t bytes, Charged charged,
                                                  Whose whose, std::shared_ptr<LaneCounts> counts,
                                                  unsigned bad) {
  struct stat status {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & kLaneSeals) == kLaneSeals;
  if (!is_sealed || ::fstat(fd.get(), &status) != 0 || bytes < kLaneBytesMin ||
      status.st_size != static_cast<off_t>(bytes)) {
    return Error{ErrorCode::kInvalid, "this is no lane, or one of another size"};
  }
  auto file = map(std::move(fd), bytes, std::move(charged), whose, std::move(counts));
  if (file) file.value()->bad_ = bad;
  for (unsigned i = 0; file && i < std::min(bad, kBadMax); ++i) {
    file.value()->faults_[i].what = LaneFault::kFoundBefore;
  }
  return file;
}

Result<std::shared_ptr<LaneFile>> LaneFile::map(Fd fd, std::uint32_t bytes, Charged charged,
                                                Whose whose, std::shared_ptr<LaneCounts> counts) {
  void* const mapped = ::mmap(nullptr, bytes + kGap, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return memory_error(ErrorCode::kNoSpace, "cannot map a lane");
  const std::span<const std::byte> memory(static_cast<const std::byte*>(mapped), bytes);
  return std::shared_ptr<LaneFile>(
      new LaneFile(std::move(fd), memory, std::move(charged), whose, std::move(counts)));
}

LaneFile::LaneFile(Fd fd, std::span<const std::byte> memory, Charged charged, Whose whose,
                   std::shared_ptr<LaneCounts> counts)
    : fd_(std::move(fd)),
      memory_(memory),
      counts_(std::move(counts)),
      charged_(std::move(charged)),
      whose_(whose),
      bytes_left_(make_room(memory.size())),
      former_bytes_left_(make_room(memory.size())) {}

bool LaneFile::keeps_its_pages() const {
  const int seals = ::fcntl(fd_.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
}

LaneFile::~LaneFile() { ::munmap(const_cast<std::byte*>(memory_.data()), memory_.size() + kGap); }

CellsRead LaneFile::add_up(const CellKey& key, CellPlaces& places, CellsPart& part, CellSums& sums,
                           CellBudget& budget, const CellParty& party) const {
  if (key.era == 0) return {};
  begin_former(key, places);
  const std::size_t first = part.next;
  if (is_closed()) return add_others(places, std::span(places.at).first(first), part.known, sums);
  if (first == 0) find_places(key, places, budget, party);
  FormerReadings::Look former(places.former, first == 0 ? 0 : places.at[first]);
  const std::size_t end = std::min(places.at.size(), first + kCellsAtOnce);
  for (; part.next < end; ++part.next) {
    const std::uint32_t at = places.at[part.next];
    // At the third fault the rest counts as it was read before: faults cost more than cells.
    const bool has_room = !is_closed() && has_room_for(at, key, places, part.bytes);
    part.known += add_cell(at, key, has_room, former, sums) ? 1 : 0;
  }
  part.known += former.end();
  counts_->merged.fetch_add(end - first, std::memory_order_relaxed);
  if (end < places.at.size()) return {.cells = end - first, .all = false};
  const CellsRead others = add_others(places, places.at, part.known, sums);
  return {.cells = end - first + others.cells};
}

// Readings of cells that no index names any more, and of those that are not read.
CellsRead LaneFile::add_others(const CellPlaces& places, std::span<const std::uint32_t> than,
                               std::size_t known, CellSums& sums) {
  const std::size_t others = places.former.size() - known;
  if (others != 0) places.former.add_others(than, sums);
  return {.cells = others};
}

void LaneFile::prefetch(const CellKey& key, const CellPlaces& places,
                        const CellBudget& budget) const {
  if (!is_known_to(budget)) __builtin_prefetch(memory_.data() + offsetof(LaneHeader, changes));
  if (places.at.empty() || places.at.front() >= memory_.size()) return;
  prefetch_lines(memory_.data() + places.at.front(),
                 std::min(cell_bytes(key.form.intervals), kPrefetchedMax));
}

// Cells do not overlap, so that all that count together are no longer than the file. A place whose
// cell does not count takes as much as the smallest cell. bytes: of all places so far.
bool LaneFile::has_room_for(std::uint32_t at, const CellKey& key, CellPlaces& places,
                            std::uint64_t& bytes) const {
  const bool counts = is_cell_of(memory_, at, key);
  const std::uint64_t with = bytes + (counts ? cell_bytes(key.form.intervals) : sizeof(LaneCell));
  if (places.share.hold(bytes_left_, static_cast<std::int64_t>(with))) {
    bytes = with;
    return true;
  }
  if (counts) note_too_many_cells(at);
  return false;
}

void LaneFile::begin_former(const CellKey& key, CellPlaces& places) const {
  if (!places.former.has_account()) {
    places.former.charge_to(
        std::make_unique<FormerReadings::Account>(former_bytes_left_, charged_.ledger, uid()));
  }
  places.former.begin(key.era);
}

// Where there is nothing to be read, what was read before stands. True: it was read before.
bool LaneFile::add_cell(std::uint32_t at, const CellKey& key, bool has_room,
                        FormerReadings::Look& former, CellSums& sums) const {
  CellSums* const before = former.find(at);
  CellSums one;
  LaneFinding finding;
  const CellRead done =
      has_room ? read_cell(memory_, at, key, before, one, finding) : CellRead::kVoid;
  if (done == CellRead::kBad) note_bad(finding);
  if (done == CellRead::kRead) {
    sums.add(one);
    // An ended feeder's cells are not read again, or show the same.
    if (has_ended_.load(std::memory_order_acquire)) return before != nullptr;
    if (before) {
      *before = std::move(one);
    } else {
      former.keep(at, std::move(one));
    }
  } else if (before) {
    sums.add(*before);
  }
  return before != nullptr;
}

void LaneFile::find_places(const CellKey& key, CellPlaces& places, CellBudget& budget,
                           const CellParty& party) const {
  if (has_ended_.load(std::memory_order_acquire)) {
    places.at.clear();
    auto its = std::ranges::lower_bound(last_places_, key.id, {}, &Place::id);
    for (; its != last_places_.end() && its->id == key.id; ++its) places.at.push_back(its->at);
    return;
  }
  const std::uint64_t changes = changes_for(budget);
  if (changes == places.changes) return;
  if (!budget.has_looks_for(party)) return note_not_read();
  places.share.give_back_all();
  places.at.clear();
  std::size_t looks = 1;
  const auto indexes = indexes_of(changes, looks);
  find(key.id, indexes->at, places, looks);
  budget.charge_looks(party, looks);
  places.changes = changes;
}

// Entries are used from the first one on, though not each is written before the next.
template <typename Visit>
void LaneFile::each_entry(std::size_t& looks, Visit visit) const {
  std::array<EntryCopy, kEntriesAtOnce> some;
  for (std::size_t first = 0; first < kLaneEntries; first += some.size()) {
    const std::uint64_t at = kLaneEntriesAt + first * sizeof(LaneEntry);
    looks += 1;
    if (!read_at(fd_.get(), at, some.data(), sizeof some)) {
      return note_bad({.what = LaneFault::kUnread, .at = at});
    }
    if (std::ranges::all_of(some, [](const auto& entry) { return entry.thread == 0; })) return;
    for (std::size_t i = 0; i < some.size(); ++i) visit(first + i, whole(first + i, some[i]));
  }
}

LaneFile::EntryCopy LaneFile::whole(std::size_t number, EntryCopy copy) const {
  const std::uint64_t at = place_of_entry(static_cast<std::uint32_t>(number));
  copy.index = load_whole(memory_, at + offsetof(LaneEntry, index), copy.index);
  copy.ring = load_whole(memory_, at + offsetof(LaneEntry, ring), copy.ring);
  return copy;
}

// Visits the indexes of threads that have one. No feeder names one twice, and reading it again
// finds nothing.
std::vector<std::uint64_t> LaneFile::find_indexes(std::size_t& looks) const {
  std::vector<std::uint64_t> indexes;
  each_entry(looks, [&](std::size_t, const EntryCopy& entry) {
    if (entry.index >> 32 != 0) indexes.push_back(entry.index);
  });
  std::ranges::sort(indexes);
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  return indexes;
}

// It is the same for all ids while nothing has changed.
std::shared_ptr<const LaneFile::Indexes> LaneFile::indexes_of(std::uint64_t changes,
                                                              std::size_t& looks) const {
  const MutexLock lock(mutex_);
  if (!indexes_ || indexes_->changes != changes) {
    indexes_ = std::make_shared<Indexes>(Indexes{.changes = changes, .at = find_indexes(looks)});
  }
  return indexes_;
}

void LaneFile::find(std::uint32_t id, const std::vector<std::uint64_t>& indexes, CellPlaces& places,
                    std::size_t& looks) const {
  for (const std::uint64_t index : indexes) {
    if (id >= index >> 32) continue;
    looks += 1;
    find_in_index(index, id, places);
  }
  const std::size_t found = places.at.size();
  std::ranges::sort(places.at);
  places.at.erase(std::unique(places.at.begin(), places.at.end()), places.at.end());
  const std::size_t twice = found - places.at.size();
  places.share.give_back(static_cast<std::int64_t>(twice * sizeof(LaneCell)));
}

bool LaneFile::is_index(std::uint64_t index) const {
  const std::uint64_t begin = index & 0xffff'ffff;
  const std::uint64_t end = begin + (index >> 32) * sizeof(std::uint32_t);
  return begin >= kLaneHeapAt && begin % sizeof(std::uint32_t) == 0 && end <= memory_.size();
}

void LaneFile::find_in_index(std::uint64_t index, std::uint32_t id, CellPlaces& places) const {
  if (!is_index(index)) return note_index_place(index);
  const std::uint64_t at = (index & 0xffff'ffff) + id * sizeof(std::uint32_t);
  std::uint32_t copied = 0;
  if (!read_at(fd_.get(), at, &copied, sizeof copied)) {
    return note_bad({.what = LaneFault::kUnread, .at = at});
  }
  const std::uint32_t place = load_whole(memory_, at, copied);
  if (place == 0) return;
  if (!places.share.take(bytes_left_, sizeof(LaneCell))) return note_too_many_cells(at);
  places.at.push_back(place);
}

void LaneFile::note_index_place(std::uint64_t index) const {
  note_bad({.what = LaneFault::kIndexPlace,
            .at = index & 0xffff'ffff,
            .read = index >> 32,
            .allowed = memory_.size()});
}

void LaneFile::note_too_many_cells(std::uint64_t at) const {
  note_bad({.what = LaneFault::kTooManyCells,
            .at = at,
            .read = memory_.size() + sizeof(LaneCell),
            .allowed = memory_.size()});
}

std::uint64_t LaneFile::changes() const {
  const auto& header = *reinterpret_cast<const LaneHeader*>(memory_.data());
  return header.changes.load(std::memory_order_acquire);
}

// A value that was loaded after the budget began is new enough. Both numbers only rise, so that
// two looks may store theirs at the same time.
std::uint64_t LaneFile::changes_for(const CellBudget& budget) const {
  if (is_known_to(budget)) return known_changes_.load(std::memory_order_relaxed);
  const std::uint64_t now = changes();
  raise(known_changes_, now);
  raise(known_to_, budget.number());
  return now;
}

bool LaneFile::is_known_to(const CellBudget& budget) const {
  return budget.number() != 0 && known_to_.load(std::memory_order_acquire) >= budget.number();
}

// ---- faults

void LaneFile::note_bad(const LaneFinding& finding) const {
  const unsigned number = bad_.fetch_add(1, std::memory_order_relaxed);
  counts_->bad.fetch_add(1, std::memory_order_relaxed);
  if (number >= kBadMax) return;
  faults_[number].finding = finding;
  faults_[number].what.store(finding.what, std::memory_order_release);
}

std::optional<LaneFinding> LaneFile::fault(unsigned number) const {
  const LaneFault what = faults_[number].what.load(std::memory_order_acquire);
  if (what == LaneFault::kNone) return std::nullopt;
  LaneFinding finding = faults_[number].finding;
  finding.what = what;
  return finding;
}

// ---- rings

std::vector<LaneFile::RingPlace> LaneFile::find_rings(std::size_t& entries) const {
  std::vector<RingPlace> found;
  std::size_t looks = 0;
  each_entry(looks, [&](std::size_t number, const EntryCopy& entry) {
    if (entry.ring != 0) found.push_back({static_cast<std::uint32_t>(number), entry.ring});
  });
  entries = looks * kEntriesAtOnce;
  return found;
}

const LaneEntry& LaneFile::entry(std::uint32_t number) const {
  return reinterpret_cast<const LaneEntry*>(memory_.data() + kLaneEntriesAt)[number];
}

// ---- the end

void LaneFile::end() {
  std::vector<Place> all;
  std::size_t looks = 0;
  std::uint64_t ids = 0;
  for (const std::uint64_t index : find_indexes(looks)) {
    // Indexes lie beside each other, so that there is no room for more.
    ids += index >> 32;
    if (ids > memory_.size() / sizeof(std::uint32_t)) {
      note_bad({.what = LaneFault::kIndexesLong,
                .at = index & 0xffff'ffff,
                .read = ids * sizeof(std::uint32_t),
                .allowed = memory_.size()});
      break;
    }
    add_places_of_index(index, all);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  last_places_ = std::move(all);
  has_ended_.store(true, std::memory_order_release);
}

void LaneFile::add_places_of_index(std::uint64_t index, std::vector<Place>& all) const {
  if (!is_index(index)) return note_index_place(index);
  std::vector<std::uint32_t> places(index >> 32);
  const std::size_t bytes = places.size() * sizeof(std::uint32_t);
  const std::uint64_t begin = index & 0xffff'ffff;
  if (!read_at(fd_.get(), begin, places.data(), bytes)) {
    return note_bad({.what = LaneFault::kUnread, .at = begin});
  }
  for (std::size_t id = 0; id < places.size(); ++id) {
    if (places[id] == 0) continue;
    if (all.size() >= memory_.size() / sizeof(LaneCell)) {
      return note_too_many_cells(places[id]);
    }
    all.push_back({static_cast<std::uint32_t>(id), places[id]});
  }
}

}  // namespace tallyfs
