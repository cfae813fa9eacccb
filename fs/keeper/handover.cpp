#include "fs/keeper/handover.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace tallyfs {

struct Handover::Page {
  std::uint64_t servers = 0;
  std::int64_t ended_ns = 0;
  int status = 0;
  int failures = 0;
  std::atomic<std::uint32_t> init_bytes = 0;  // 0: none; stored behind the bytes
  std::array<char, kInitBytesMax> init{};
  std::array<std::atomic<std::uint64_t>, kPollsMax> polls{};
};

namespace {

Error no_memory(const char* what) {
  return {ErrorCode::kInvalid, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

}  // namespace

Result<Handover> Handover::create() {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  Fd memory(::memfd_create("tallyfs-handover", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid() || ::ftruncate(memory.get(), sizeof(Page)) != 0) {
    return no_memory("make a memfd");
  }
  // No server can take the memory away from the others.
  ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* const mapped =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return no_memory("map a memfd");
  return Handover(std::move(memory), new (mapped) Page);
}

Handover::Handover(Handover&& other) noexcept
    : memory_(std::move(other.memory_)), page_(std::exchange(other.page_, nullptr)) {}

Handover::~Handover() {
  if (page_) ::munmap(page_, sizeof *page_);
}

void Handover::note_end(int status, int failures, std::int64_t monotonic_ns) {
  page_->servers += 1;
  page_->status = status;
  page_->failures = failures;
  page_->ended_ns = monotonic_ns;
}

std::uint64_t Handover::servers() const { return page_->servers; }
int Handover::status() const { return page_->status; }
int Handover::failures() const { return page_->failures; }
std::int64_t Handover::ended_ns() const { return page_->ended_ns; }

void Handover::keep_init(std::string_view request) {
  if (request.size() > kInitBytesMax) return;
  request.copy(page_->init.data(), request.size());
  page_->init_bytes.store(static_cast<std::uint32_t>(request.size()), std::memory_order_release);
}

std::string_view Handover::init() const {
  return {page_->init.data(), page_->init_bytes.load(std::memory_order_acquire)};
}

void Handover::note_poll(std::uint64_t handle) {
  page_->polls[handle % kPollsMax].store(handle, std::memory_order_relaxed);
}

std::uint64_t Handover::take_poll(std::size_t place) {
  return page_->polls[place].exchange(0, std::memory_order_relaxed);
}

}  // namespace tallyfs
