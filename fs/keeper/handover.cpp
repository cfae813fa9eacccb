#include "fs/keeper/handover.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace tallyfs {

// Each has a cache line of its own.
struct alignas(64) Handover::RequestSlot {
  std::atomic<std::uint64_t> unique = 0;  // stored after the others
  std::atomic<std::uint64_t> crashes = 0;
  std::atomic<std::uint64_t> outcome = 0;  // an errno and 1; 0: none yet, or in an earlier version
  // Of servers before, the newest first.
  struct Left {
    std::atomic<std::uint64_t> unique = 0;
    std::atomic<std::uint64_t> outcome = 0;
  };
  std::array<Left, 2> left{};
};

struct Handover::Page {
  // Another one whenever something below changes its place or its meaning.
  static constexpr std::uint64_t kFormat = 1;

  std::uint64_t format = kFormat;
  std::uint64_t servers = 0;
  std::uint64_t reloads = 0;
  bool was_reload = false;
  std::int64_t ended_ns = 0;
  int status = 0;
  int failures = 0;
  std::uint64_t state_bytes = 0;
  std::atomic<bool> has_state = false;
  std::atomic<std::uint32_t> init_bytes = 0;  // 0: none; stored behind the bytes
  std::array<char, kInitBytesMax> init{};
  std::array<std::atomic<std::uint64_t>, kPollsMax> polls{};
  // Pages of earlier versions end here.
  std::array<RequestSlot, kThreadsMax> slots{};
};

namespace {

Error no_memory(const char* what) {
  return {ErrorCode::kInvalid, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

Fd make_kept() { return Fd(::memfd_create("tallyfs-kept", MFD_CLOEXEC)); }

}  // namespace

// A server before may have written any number into the page: what is behind the end is not mapped.
TransferredBytes::TransferredBytes(int state_fd, std::size_t size) : state_fd_(state_fd) {
  struct stat status {};
  const bool is_there = size != 0 && ::fstat(state_fd, &status) == 0 && status.st_size > 0 &&
                        static_cast<std::size_t>(status.st_size) >= size;
  void* const mapped =
      is_there ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, state_fd, 0) : MAP_FAILED;
  is_unreadable_ = size != 0 && mapped == MAP_FAILED;
  if (mapped == MAP_FAILED) return;
  memory_ = mapped;
  size_ = size;
}

TransferredBytes::TransferredBytes(TransferredBytes&& other) noexcept
    : state_fd_(std::exchange(other.state_fd_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      is_unreadable_(other.is_unreadable_) {}

TransferredBytes::~TransferredBytes() {
  if (memory_) ::munmap(memory_, size_);
  if (state_fd_ >= 0) (void)!::ftruncate(state_fd_, 0);
}

Result<Handover> Handover::create() {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  Fd memory(::memfd_create("tallyfs-handover", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Fd state(::memfd_create("tallyfs-state", MFD_CLOEXEC));
  Fd kept = make_kept();
  const bool are_valid = memory.valid() && state.valid() && kept.valid();
  if (!are_valid || ::ftruncate(memory.get(), sizeof(Page)) != 0) {
    return no_memory("make a memfd");
  }
  // No server can take the memory away from the others.
  ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  auto descriptors = DescriptorQueue::create();
  if (!descriptors) return descriptors.error();
  const auto page = map(memory);
  if (!page) return page.error();
  Handover made(std::move(memory), std::move(state), std::move(kept),
                std::move(descriptors.value()), new (page.value()) Page);
  made.slots_ = made.page_->slots.data();
  return made;
}

Result<Handover::Page*> Handover::map(const Fd& memory) {
  void* const mapped =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return no_memory("map a memfd");
  return static_cast<Page*>(mapped);
}

Result<Handover> Handover::adopt(Fd memory, Fd state, Fd kept, DescriptorQueue descriptors) {
  if (!kept.valid()) kept = make_kept();
  struct stat status {};
  if (::fstat(memory.get(), &status) != 0) return no_memory("look at a memfd");
  constexpr std::size_t kBytesBefore = offsetof(Page, polls) + sizeof(Page::polls);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const bool has_slots = bytes == sizeof(Page);
  const auto page = has_slots || bytes == kBytesBefore ? map(memory) : Result<Page*>(nullptr);
  if (!page) return page.error();
  if (page.value() && page.value()->format == Page::kFormat) {
    Handover adopted(std::move(memory), std::move(state), std::move(kept), std::move(descriptors),
                     page.value());
    if (has_slots) adopted.slots_ = adopted.page_->slots.data();
    return adopted;
  }
  if (page.value()) ::munmap(page.value(), sizeof(Page));
  return Error{ErrorCode::kInvalid, "the daemon that runs is too old or too new to be replaced"};
}

Handover::Handover(Handover&& other) noexcept
    : memory_(std::move(other.memory_)),
      state_(std::move(other.state_)),
      kept_(std::move(other.kept_)),
      descriptors_(std::move(other.descriptors_)),
      page_(std::exchange(other.page_, nullptr)),
      slots_(std::exchange(other.slots_, nullptr)) {}

Handover::~Handover() {
  if (page_) ::munmap(page_, sizeof *page_);
}

void Handover::note_end(int status, int failures, std::int64_t monotonic_ns) {
  page_->servers += 1;
  page_->was_reload = false;
  page_->status = status;
  page_->failures = failures;
  page_->ended_ns = monotonic_ns;
}

void Handover::note_reload(std::int64_t monotonic_ns) {
  note_end(0, 0, monotonic_ns);
  page_->reloads += 1;
  page_->was_reload = true;
}

std::uint64_t Handover::servers() const { return page_->servers; }
std::uint64_t Handover::reloads() const { return page_->reloads; }
bool Handover::was_reload() const { return page_->was_reload; }
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

Result<void> Handover::append_state(std::string_view piece) {
  while (!piece.empty()) {
    const auto at = static_cast<off_t>(page_->state_bytes);
    const ssize_t done = ::pwrite(state_.get(), piece.data(), piece.size(), at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return Error{ErrorCode::kNoSpace, std::strerror(errno)};
    page_->state_bytes += static_cast<std::uint64_t>(done);
    piece.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

void Handover::finish_state() { page_->has_state.store(true, std::memory_order_release); }

// Empty from the first look on: a server that dies of it leaves its successor without.
TransferredBytes Handover::take_state() {
  const std::uint64_t bytes = std::exchange(page_->state_bytes, 0);
  const bool has_state = page_->has_state.exchange(false, std::memory_order_acquire);
  return {state_.get(), has_state ? bytes : 0};
}

void Handover::note_poll(std::uint64_t handle) {
  page_->polls[handle % kPollsMax].store(handle, std::memory_order_relaxed);
}

std::uint64_t Handover::poll_at(std::size_t place) const {
  return page_->polls[place].load(std::memory_order_relaxed);
}

std::uint64_t Handover::take_poll(std::size_t place) {
  return page_->polls[place].exchange(0, std::memory_order_relaxed);
}

void Handover::begin_request(std::size_t thread, const Request& request) {
  if (!slots_) return;
  slots_[thread].crashes.store(request.crashes, std::memory_order_relaxed);
  slots_[thread].outcome.store(0, std::memory_order_relaxed);
  slots_[thread].unique.store(request.unique, std::memory_order_release);
}

void Handover::end_request(std::size_t thread) {
  if (slots_) slots_[thread].unique.store(0, std::memory_order_relaxed);
}

void Handover::note_outcome(std::size_t thread, int error) {
  if (!slots_) return;
  slots_[thread].outcome.store(static_cast<std::uint64_t>(error) + 1, std::memory_order_release);
}

// A kill may come at any time, and says nothing of the request.
std::vector<Handover::Request> Handover::take_requests() {
  const bool was_killed = WIFSIGNALED(status()) && WTERMSIG(status()) == SIGKILL;
  const std::uint64_t crashes = was_killed || was_reload() ? 0 : 1;
  std::vector<Request> taken;
  for (std::size_t i = 0; slots_ && i < kThreadsMax; ++i) {
    RequestSlot& slot = slots_[i];
    for (const RequestSlot::Left& each : slot.left) {
      if (each.unique == 0) continue;
      taken.push_back({.unique = each.unique, .error = static_cast<int>(each.outcome - 1)});
    }
    const std::uint64_t unique = slot.unique, outcome = slot.outcome;
    if (unique == 0) continue;
    Request request{unique, slot.crashes + crashes};
    if (outcome != 0) {
      request.error = static_cast<int>(outcome - 1);
      leave(slot, unique, outcome);
    }
    slot.unique = 0;
    taken.push_back(request);
  }
  return taken;
}

// Each is valid at each moment: a kill may come between two of them.
void Handover::leave(RequestSlot& slot, std::uint64_t unique, std::uint64_t outcome) {
  auto& [newest, older] = slot.left;
  if (newest.unique == unique) return;
  older.unique = 0;
  older.outcome = newest.outcome.load();
  older.unique = newest.unique.load();
  newest.unique = 0;
  newest.outcome = outcome;
  newest.unique = unique;
}

void Handover::forget_outcome(std::uint64_t unique) {
  for (std::size_t i = 0; slots_ && i < kThreadsMax; ++i) {
    for (RequestSlot::Left& each : slots_[i].left) {
      if (each.unique == unique) each.unique = 0;
    }
  }
}

}  // namespace tallyfs
