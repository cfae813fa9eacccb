#include "feeders/client/thread_buffers.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tallyfs {

ThreadBuffers::~ThreadBuffers() {
  for (auto& place : buffers_) {
    if (ThreadBuffer* const buffer = place.load()) ThreadBuffer::destroy(buffer);
  }
}

// ---- ownership

ThreadBuffer* ThreadBuffers::own(Search& search) {
  // Read before the search, so that a buffer which is given back during it is not missed.
  const std::uint64_t given_back = given_back_.load(std::memory_order_acquire);
  if (search.in_vain == given_back + 1) return nullptr;
  for (auto& place : buffers_) {
    ThreadBuffer* buffer = place.load(std::memory_order_acquire);
    if (!buffer) {
      ThreadBuffer* const made = ThreadBuffer::create(capacity_);
      if (!made) return nullptr;
      if (place.compare_exchange_strong(buffer, made)) {
        buffer = made;
      } else {
        ThreadBuffer::destroy(made);  // another thread was first, and made `buffer`
      }
    }
    if (buffer->try_own()) return buffer;
  }
  search.in_vain = given_back + 1;
  return nullptr;
}

void ThreadBuffers::give_back(ThreadBuffer& buffer) {
  buffer.watch(0);
  buffer.disown();
  given_back_.fetch_add(1, std::memory_order_release);
}

void ThreadBuffers::watch(ThreadBuffer& buffer) { buffer.watch(::gettid()); }

void ThreadBuffers::reclaim(const CellFiles& files) {
  for_each([&](ThreadBuffer& buffer) {
    if (buffer.held() == 0 && buffer.try_own()) {
      {
        const MutexLock lock(buffer.mutex());
        buffer.rewind();
      }
      buffer.disown();
      given_back_.fetch_add(1, std::memory_order_release);
      return;
    }
    const pid_t thread = buffer.watched();
    if (thread == 0 || ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 || errno != ESRCH) return;
    if (buffer.take_back(thread, files)) given_back_.fetch_add(1, std::memory_order_release);
  });
}

// ---- all buffers

std::vector<ThreadBuffer*> ThreadBuffers::all() const {
  std::vector<ThreadBuffer*> all;
  for_each([&](ThreadBuffer& buffer) { all.push_back(&buffer); });
  return all;
}

void ThreadBuffers::wait_for_senders() const {
  for_each([](ThreadBuffer& buffer) { const MutexLock lock(buffer.mutex()); });
}

void ThreadBuffers::make_void(const FedStatistic& statistic) const {
  for_each([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.make_void(&statistic);
  });
}

void ThreadBuffers::raise_barriers() const {
  for_each([](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.raise_barrier();
  });
}

void ThreadBuffers::lower_barriers() const {
  for_each([](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.lower_barrier();
  });
}

// ---- sums

std::uint64_t ThreadBuffers::held() const {
  std::uint64_t held = 0;
  for_each([&](const ThreadBuffer& buffer) { held += buffer.held(); });
  return held;
}

std::uint64_t ThreadBuffers::dropped() const {
  std::uint64_t dropped = 0;
  for_each([&](const ThreadBuffer& buffer) { dropped += buffer.dropped(); });
  return dropped;
}

std::uint64_t ThreadBuffers::queued() const {
  std::uint64_t queued = 0;
  for_each([&](const ThreadBuffer& buffer) { queued += buffer.head() + buffer.dropped(); });
  return queued;
}

std::uint64_t ThreadBuffers::counted_in_cells() const {
  std::uint64_t counted = 0;
  for_each([&](const ThreadBuffer& buffer) { counted += buffer.counted(); });
  return counted;
}

// ---- fork

void ThreadBuffers::lock_all() {
  locked_ = 0;
  for_each([this](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    buffer.mutex().lock();
    locked_ += 1;
  });
}

void ThreadBuffers::unlock_all() {
  std::size_t left = locked_;
  for_each([&left](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    if (left == 0) return;
    left -= 1;
    buffer.mutex().unlock();
  });
}

void ThreadBuffers::reset_in_child(const ThreadBuffer* own) {
  std::size_t left = locked_;
  for_each([own, &left](ThreadBuffer& buffer) NO_THREAD_SAFETY_ANALYSIS {
    // A buffer that was made during the fork belongs to a thread that the child does not have, and
    // which may have held its lock.
    if (left == 0) return buffer.reset_with_lock();
    left -= 1;
    buffer.forget_all();
    if (&buffer != own) buffer.abandon();
    if (buffer.watched() != 0) watch(buffer);
    buffer.mutex().unlock();
  });
  given_back_ += 1;
}

}  // namespace tallyfs
