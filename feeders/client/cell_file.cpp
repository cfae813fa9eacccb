#include "feeders/client/cell_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "feeders/client/sample_time.h"
#include "feeders/client/sealed_mapping.h"
#include "feeders/client/upkeep_sleep.h"

namespace tallyfs {
namespace {

// A ring takes no more than half of what is left for rings.
constexpr std::size_t kRingPart = 2;
constexpr std::size_t kCellsPart = 8;

}  // namespace

Result<std::unique_ptr<CellFile>> CellFile::map(const Fd& file, const Name& name) {
  struct stat status {};
  const Error no_lane{ErrorCode::kInvalid, "what the daemon sent is no sealed lane"};
  if (!file.valid() || !is_sealed(file) || ::fstat(file.get(), &status) != 0) return no_lane;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < kLaneBytesMin || bytes > kLaneBytesMax) return no_lane;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    return Error{ErrorCode::kNoSpace, std::string("cannot map a lane: ") + std::strerror(errno)};
  }
  // A child asks for a lane of its own.
  ::madvise(mapped, bytes, MADV_DONTFORK);
  std::unique_ptr<CellFile> made(new CellFile(static_cast<std::byte*>(mapped), bytes, name));
  // The seals leave writing to this mapping alone. The daemon reads no lane into which holes could
  // be punched.
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    return Error{ErrorCode::kInvalid, std::string("cannot seal a lane: ") + std::strerror(errno)};
  }
  const auto& header = *static_cast<const LaneHeader*>(mapped);
  if (header.magic.load() != kLaneMagic || header.bytes.load() != bytes) return no_lane;
  return made;
}

CellFile::~CellFile() {
  if (base_) ::munmap(base_, bytes_);
}

void CellFile::share_with_child() { ::madvise(base_, bytes_, MADV_DOFORK); }

void CellFile::keep_from_children() { ::madvise(base_, bytes_, MADV_DONTFORK); }

// Without memory for a copy, the call goes on in memory that is the parent's.
void CellFile::make_private() {
  const std::size_t used = std::min(taken_.load(std::memory_order_relaxed), bytes_);
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const copy = ::mmap(nullptr, used, kProtection, kPrivate, -1, 0);
  if (copy == MAP_FAILED) return;
  std::memcpy(copy, base_, used);
  if (::mmap(base_, bytes_, kProtection, kPrivate | MAP_FIXED, -1, 0) != MAP_FAILED) {
    std::memcpy(base_, copy, used);
  }
  ::munmap(copy, used);
}

std::uint32_t CellFile::allocate(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  std::size_t at = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes_ - at < bytes) return 0;
  } while (!taken_.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  return static_cast<std::uint32_t>(at);
}

std::uint64_t CellFile::allocate_ring() {
  std::size_t before = rings_taken_.load(std::memory_order_relaxed);
  std::size_t bytes = 0;
  do {
    const std::size_t most = bytes_ - kLaneHeapAt - bytes_ / kCellsPart - before;
    const std::size_t left = std::min(most, bytes_ - taken_.load(std::memory_order_relaxed));
    if (left < kRingBytesMin) return 0;
    bytes = std::clamp<std::size_t>(std::bit_floor(left / kRingPart), kRingBytesMin, kRingBytesMax);
  } while (!rings_taken_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  const std::uint64_t at = allocate(bytes);
  if (at == 0) rings_taken_.fetch_sub(bytes, std::memory_order_relaxed);
  return at == 0 ? 0 : std::uint64_t{bytes} << 32 | at;
}

LaneEntry* CellFile::allocate_entry() {
  std::size_t at = entries_.load(std::memory_order_relaxed);
  do {
    if (at >= kLaneEntries) return nullptr;
  } while (!entries_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
  return reinterpret_cast<LaneEntry*>(base_ + kLaneEntriesAt) + at;
}

void CellFile::count_change() {
  reinterpret_cast<LaneHeader*>(base_)->changes.fetch_add(1, std::memory_order_release);
}

Result<void> CellFiles::adopt(const Fd& file, const CellFile::Name& name) {
  retire();
  auto mapped = CellFile::map(file, name);
  if (!mapped) return mapped.error();
  file_ = std::move(mapped.value());
  current_.store(file_.get(), std::memory_order_release);
  last_generation_ = last_generation_ == UINT32_MAX ? 1 : last_generation_ + 1;
  generation_.store(last_generation_, std::memory_order_release);
  return {};
}

Result<void> CellFiles::map_tails(const Fd& page, std::uint64_t bytes) {
  if (bytes < sizeof(LaneTails)) return Error{ErrorCode::kInvalid, "a page of tails too short"};
  if (auto mapped = tails_.map(page, bytes, "tails"); !mapped) return mapped;
  tails_now_.store(tails_.find<LaneTails>(0), std::memory_order_release);
  return {};
}

bool CellFiles::has_records(const CellFile& file) const {
  const LaneTails* const tails = this->tails();
  for (std::size_t i = 0; tails && i < file.entries(); ++i) {
    if (file.entry(i).head.load() != tails->tails[i].position.load()) return true;
  }
  return false;
}

void CellFiles::retire() {
  generation_.store(0, std::memory_order_release);
  if (!file_) return;
  retired_ = std::move(file_);
  barrier_ = false;
  refused_ns_ = 0;
  seen_outside_.reset();
}

// Behind it, a thread that is seen outside its buffer sees the generation when it goes in again. A
// filter of system calls may refuse it at any time, also after there was a lane. Then time stands
// for it: a fence in each call would cost all others more than this one wait.
bool CellFiles::has_passed_barrier() {
  if (barrier_) return true;
  barrier_ = process_barrier();
  if (barrier_) return true;
  const std::int64_t now_ns = monotonic_ns();
  if (refused_ns_ == 0) refused_ns_ = now_ns;
  barrier_ = now_ns - refused_ns_ >= kSeenAfterNs;
  return barrier_;
}

void CellFiles::before_fork(Interrupted interrupted) {
  if (interrupted == Interrupted::kNoCall) return;
  for (const auto* const each : {&file_, &retired_}) {
    if (*each) (*each)->share_with_child();
  }
}

void CellFiles::after_fork_in_parent(Interrupted interrupted) {
  if (interrupted == Interrupted::kNoCall) return;
  for (const auto* const each : {&file_, &retired_}) {
    if (*each) (*each)->keep_from_children();
  }
}

void CellFiles::abandon(Interrupted interrupted) {
  generation_.store(0, std::memory_order_relaxed);
  is_unread_ = false;
  for (auto* const each : {&file_, &retired_}) {
    if (!*each) continue;
    if (interrupted == Interrupted::kCall) {
      (*each)->make_private();
      (void)each->release();
    } else {
      (*each)->abandon();
      each->reset();
    }
  }
  tails_now_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace tallyfs
