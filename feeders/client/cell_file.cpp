#include "feeders/client/cell_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "feeders/client/keeper_sleep.h"
#include "feeders/client/sealed_view.h"

namespace tallyfs {

Result<std::unique_ptr<CellFile>> CellFile::map(const Fd& file, std::uint64_t number) {
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
  std::unique_ptr<CellFile> made(new CellFile(static_cast<std::byte*>(mapped), bytes, number));
  const auto& header = *static_cast<const LaneHeader*>(mapped);
  if (header.magic.load() != kLaneMagic || header.bytes.load() != bytes) return no_lane;
  return made;
}

CellFile::~CellFile() {
  if (base_) ::munmap(base_, bytes_);
}

std::uint32_t CellFile::take(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  std::size_t at = taken_.load(std::memory_order_relaxed);
  do {
    if (bytes_ - at < bytes) return 0;
  } while (!taken_.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  return static_cast<std::uint32_t>(at);
}

LaneEntry* CellFile::take_entry() {
  std::size_t at = entries_.load(std::memory_order_relaxed);
  do {
    if (at >= kLaneEntries) return nullptr;
  } while (!entries_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
  return reinterpret_cast<LaneEntry*>(base_ + kLaneEntriesAt) + at;
}

void CellFile::note_change() {
  reinterpret_cast<LaneHeader*>(base_)->changes.fetch_add(1, std::memory_order_release);
}

Result<void> CellFiles::take(const Fd& file, std::uint64_t number) {
  forget();
  auto mapped = CellFile::map(file, number);
  if (!mapped) return mapped.error();
  file_ = std::move(mapped.value());
  current_.store(file_.get(), std::memory_order_release);
  last_generation_ = last_generation_ == UINT32_MAX ? 1 : last_generation_ + 1;
  generation_.store(last_generation_, std::memory_order_release);
  return {};
}

void CellFiles::forget() {
  generation_.store(0, std::memory_order_release);
  if (!file_) return;
  retired_ = std::move(file_);
  barrier_ = false;
  seen_outside_.reset();
}

// Behind it, a thread that is seen outside its lane sees the generation when it goes in again.
bool CellFiles::has_passed_barrier() {
  if (!barrier_) barrier_ = process_barrier();
  return barrier_;
}

void CellFiles::abandon() {
  generation_.store(0, std::memory_order_relaxed);
  if (file_) file_->abandon();
  if (retired_) retired_->abandon();
  file_.reset();
  retired_.reset();
}

}  // namespace tallyfs
