#include "feeders/client/thread_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tallyfs {
namespace {

std::size_t bytes_for(std::size_t capacity) {
  return sizeof(ThreadBuffer) + capacity * sizeof(UnsentSample) + ThreadRing::kNotesBytes;
}

}  // namespace

ThreadBuffer* ThreadBuffer::create(std::size_t capacity) {
  // Entries behind the buffer, and notes behind them; the kernel backs what is used of them.
  void* const memory = ::mmap(nullptr, bytes_for(capacity), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const entries =
      reinterpret_cast<UnsentSample*>(static_cast<char*>(memory) + sizeof(ThreadBuffer));
  return new (memory)
      ThreadBuffer(capacity, entries, reinterpret_cast<std::uint32_t*>(entries + capacity));
}

void ThreadBuffer::destroy(ThreadBuffer* buffer) {
  const std::size_t bytes = bytes_for(buffer->capacity());
  buffer->~ThreadBuffer();
  ::munmap(buffer, bytes);
}

bool ThreadBuffer::push_nested(const UnsentSample& entry) {
  const std::uint32_t at = nested_used_.fetch_add(1, std::memory_order_relaxed);
  if (at < kNestedMax) {
    nested_[at] = entry;
    return true;
  }
  return false;
}

void ThreadBuffer::make_void(const FedStatistic* statistic) {
  for_each_held([statistic](UnsentSample& entry) {
    if (entry.statistic() == statistic) entry.make_void();
  });
}

// Memory that was given back reads as zeros, which is harmless: entries are written before they are
// read.
void ThreadBuffer::give_back_memory() {
  if (capacity() <= kEntriesKept) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto kept = reinterpret_cast<std::uintptr_t>(entries_ + kEntriesKept);
  const auto begin = (kept + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(entries_ + capacity());
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void ThreadBuffer::forget_all() {
  forget_parents_call();
  nested_used_.store(0, std::memory_order_relaxed);
  nested_taken_.store(0, std::memory_order_relaxed);
  barrier_ = kNoBarrier;
}

}  // namespace tallyfs
