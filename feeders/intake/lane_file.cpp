#include "feeders/intake/lane_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/lane/layout.h"
#include "feeders/intake/sealed_memory.h"

namespace tallyfs {
namespace {

// As LaneEntry, once it was read.
struct EntryCopy {
  std::uint32_t thread;
  std::uint32_t zero;
  std::uint64_t index;
  std::uint64_t ring;
  std::array<std::uint64_t, 5> spare;
};
static_assert(sizeof(EntryCopy) == sizeof(LaneEntry));

constexpr std::size_t kEntriesAtOnce = 16;
constexpr int kLaneSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool read_at(int fd, std::uint64_t at, void* to, std::size_t bytes) {
  return ::pread(fd, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

// The feeder may be storing it. A kernel copies less than 8 bytes one by one on some machines, so
// that a part of a word would be older than the rest.
bool read_place(int fd, std::uint64_t at, std::uint32_t& place) {
  std::array<std::uint32_t, 2> both{};
  if (!read_at(fd, at / sizeof both * sizeof both, both.data(), sizeof both)) return false;
  place = both[at / sizeof place % 2];
  return true;
}

bool write_header(int fd, std::uint64_t bytes) {
  const std::array<std::uint64_t, 2> header{kLaneMagic, bytes};
  return ::pwrite(fd, header.data(), sizeof header, 0) == static_cast<ssize_t>(sizeof header);
}

}  // namespace

Result<std::shared_ptr<LaneFile>> LaneFile::create(std::uint32_t bytes, Reservation reservation,
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
  return map(std::move(fd), bytes, std::move(reservation), whose, std::move(counts));
}

Result<std::shared_ptr<LaneFile>> LaneFile::adopt(Fd fd, std::uint32_t bytes,
                                                  Reservation reservation, Whose whose,
                                                  std::shared_ptr<LaneCounts> counts,
                                                  unsigned bad) {
  struct stat status {};
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & kLaneSeals) == kLaneSeals;
  if (!is_sealed || ::fstat(fd.get(), &status) != 0 || bytes < kLaneBytesMin ||
      status.st_size != static_cast<off_t>(bytes)) {
    return Error{ErrorCode::kInvalid, "this is no lane, or one of another size"};
  }
  auto file = map(std::move(fd), bytes, std::move(reservation), whose, std::move(counts));
  if (file) file.value()->bad_ = bad;
  for (unsigned i = 0; file && i < std::min(bad, kBadMax); ++i) {
    file.value()->faults_[i].what = LaneFault::kFoundBefore;
  }
  return file;
}

Result<std::shared_ptr<LaneFile>> LaneFile::map(Fd fd, std::uint32_t bytes, Reservation reservation,
                                                Whose whose, std::shared_ptr<LaneCounts> counts) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return memory_error(ErrorCode::kNoSpace, "cannot map a lane");
  const std::span<const std::byte> memory(static_cast<const std::byte*>(mapped), bytes);
  return std::shared_ptr<LaneFile>(
      new LaneFile(std::move(fd), memory, std::move(reservation), whose, std::move(counts)));
}

LaneFile::LaneFile(Fd fd, std::span<const std::byte> memory, Reservation reservation, Whose whose,
                   std::shared_ptr<LaneCounts> counts)
    : fd_(std::move(fd)),
      memory_(memory),
      reservation_(std::move(reservation)),
      whose_(whose),
      counts_(std::move(counts)),
      places_left_(static_cast<std::int64_t>(memory.size() / sizeof(LaneCell))) {}

LaneFile::~LaneFile() { ::munmap(const_cast<std::byte*>(memory_.data()), memory_.size()); }

void LaneFile::add_up(const CellKey& key, CellPlaces& places, CellSums& sums, CellBudget& budget,
                      const CellParty& party) const {
  if (is_closed() || key.era == 0) return;
  find_places(key, places, budget, party);
  for (const std::uint32_t at : places.at) {
    LaneFault fault = LaneFault::kNone;
    if (read_cell(memory_, at, key, sums, fault) == CellRead::kBad) note_bad(fault, at);
  }
  counts_->merged.fetch_add(places.at.size(), std::memory_order_relaxed);
}

void LaneFile::find_places(const CellKey& key, CellPlaces& places, CellBudget& budget,
                           const CellParty& party) const {
  if (has_ended_.load(std::memory_order_acquire)) {
    places.at.clear();
    auto its = std::ranges::lower_bound(last_places_, key.id, {}, &Place::id);
    for (; its != last_places_.end() && its->id == key.id; ++its) places.at.push_back(its->at);
    return;
  }
  const std::uint64_t changes = this->changes();
  if (changes == places.changes) return;
  if (!budget.has_looks_for(party)) return note_not_read();
  places_left_.fetch_add(static_cast<std::int64_t>(places.at.size()));
  places.at.clear();
  budget.charge_looks(party, find(key.id, places));
  places.changes = changes;
}

// Entries are used from the first one on, though not each is written before the next.
template <typename Visit>
void LaneFile::each_entry(std::size_t& looks, Visit visit) const {
  std::array<EntryCopy, kEntriesAtOnce> some;
  for (std::size_t first = 0; first < kLaneEntries; first += some.size()) {
    const std::uint64_t at = kLaneEntriesAt + first * sizeof(LaneEntry);
    looks += 1;
    if (!read_at(fd_.get(), at, some.data(), sizeof some)) return note_bad(LaneFault::kUnread, at);
    if (std::ranges::all_of(some, [](const auto& entry) { return entry.thread == 0; })) return;
    for (std::size_t i = 0; i < some.size(); ++i) visit(first + i, some[i]);
  }
}

// Those of threads that have one. No feeder names one twice, and reading it again finds nothing.
std::vector<std::uint64_t> LaneFile::find_indexes(std::size_t& looks) const {
  std::vector<std::uint64_t> indexes;
  each_entry(looks, [&](std::size_t, const EntryCopy& entry) {
    if (entry.index >> 32 != 0) indexes.push_back(entry.index);
  });
  std::ranges::sort(indexes);
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  return indexes;
}

// How many reads it took.
std::size_t LaneFile::find(std::uint32_t id, CellPlaces& places) const {
  std::size_t looks = 0;
  for (const std::uint64_t index : find_indexes(looks)) {
    if (id >= index >> 32) continue;
    looks += 1;
    find_in_index(index, id, places);
  }
  const auto found = static_cast<std::int64_t>(places.at.size());
  std::ranges::sort(places.at);
  places.at.erase(std::unique(places.at.begin(), places.at.end()), places.at.end());
  places_left_.fetch_add(found - static_cast<std::int64_t>(places.at.size()));
  return looks;
}

bool LaneFile::is_index(std::uint64_t index) const {
  const std::uint64_t begin = index & 0xffff'ffff;
  const std::uint64_t end = begin + (index >> 32) * sizeof(std::uint32_t);
  return begin >= kLaneHeapAt && begin % sizeof(std::uint32_t) == 0 && end <= memory_.size();
}

void LaneFile::find_in_index(std::uint64_t index, std::uint32_t id, CellPlaces& places) const {
  if (!is_index(index)) return note_bad(LaneFault::kIndexPlace, index & 0xffff'ffff);
  const std::uint64_t at = (index & 0xffff'ffff) + id * sizeof(std::uint32_t);
  std::uint32_t place = 0;
  if (!read_place(fd_.get(), at, place)) return note_bad(LaneFault::kUnread, at);
  if (place == 0) return;
  if (places_left_.fetch_sub(1) <= 0) {
    places_left_.fetch_add(1);
    return note_bad(LaneFault::kTooManyCells, at);
  }
  places.at.push_back(place);
}

std::uint64_t LaneFile::changes() const {
  const auto& header = *reinterpret_cast<const LaneHeader*>(memory_.data());
  return header.changes.load(std::memory_order_acquire);
}

// ---- faults

void LaneFile::note_bad(LaneFault what, std::uint64_t at) const {
  const unsigned number = bad_.fetch_add(1, std::memory_order_relaxed);
  counts_->bad.fetch_add(1, std::memory_order_relaxed);
  if (number >= kBadMax) return;
  faults_[number].at.store(at, std::memory_order_relaxed);
  faults_[number].what.store(what, std::memory_order_release);
}

std::optional<LaneFile::Fault> LaneFile::fault(unsigned number) const {
  const LaneFault what = faults_[number].what.load(std::memory_order_acquire);
  if (what == LaneFault::kNone) return std::nullopt;
  return Fault{what, faults_[number].at.load(std::memory_order_relaxed)};
}

// ---- rings

std::vector<LaneFile::RingPlace> LaneFile::find_rings() const {
  std::vector<RingPlace> found;
  std::size_t looks = 0;
  each_entry(looks, [&](std::size_t number, const EntryCopy& entry) {
    if (entry.ring != 0) found.push_back({static_cast<std::uint32_t>(number), entry.ring});
  });
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
      note_bad(LaneFault::kIndexesLong, index & 0xffff'ffff);
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
  if (!is_index(index)) return note_bad(LaneFault::kIndexPlace, index & 0xffff'ffff);
  std::vector<std::uint32_t> places(index >> 32);
  const std::size_t bytes = places.size() * sizeof(std::uint32_t);
  const std::uint64_t begin = index & 0xffff'ffff;
  if (!read_at(fd_.get(), begin, places.data(), bytes)) return note_bad(LaneFault::kUnread, begin);
  for (std::size_t id = 0; id < places.size(); ++id) {
    if (places[id] == 0) continue;
    if (all.size() >= memory_.size() / sizeof(LaneCell)) {
      return note_bad(LaneFault::kTooManyCells, places[id]);
    }
    all.push_back({static_cast<std::uint32_t>(id), places[id]});
  }
}

}  // namespace tallyfs
