// Memory for elements that several copies of a container share until one of them writes: then that
// one gets memory of its own. Copying takes as long for a thousand elements as for one.
//
// A SharedBlock is confined to its owner; its memory may be shared between threads. An empty block
// has no memory. The container knows how many of the elements are used, and passes that number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace tallyfs {

template <typename T>
class SharedBlock {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SharedBlock() = default;
  SharedBlock(const SharedBlock& other) noexcept : memory_(other.memory_) {
    if (memory_) memory_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  SharedBlock(SharedBlock&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  SharedBlock& operator=(SharedBlock other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~SharedBlock() {
    // All reads by other owners are over before the last owner frees the memory.
    if (memory_ && memory_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ::operator delete(memory_);
    }
  }

  std::size_t capacity() const { return memory_ ? memory_->capacity : 0; }
  // capacity() > 0
  const T* elements() const { return memory_->elements(); }
  // Elements for writing. Shared memory is copied first, of which the first `used` elements keep
  // their values. capacity() > 0
  T* own_elements(std::size_t used) {
    // Once this is the only owner, reads by others are over.
    if (memory_->holders.load(std::memory_order_acquire) != 1) change_capacity(capacity(), used);
    return memory_->elements();
  }
  // Moves the first `used` elements to memory for `capacity` elements: at least `used`, below 2^32.
  void change_capacity(std::size_t capacity, std::size_t used) {
    SharedBlock larger;
    larger.memory_ = new (::operator new(sizeof(Memory) + capacity * sizeof(T)))
        Memory{.holders = 1, .capacity = static_cast<std::uint32_t>(capacity)};
    if (used != 0) std::copy_n(elements(), used, larger.memory_->elements());
    *this = std::move(larger);
  }

 private:
  struct alignas(std::max(alignof(T), alignof(std::uint64_t))) Memory {
    std::atomic<std::uint32_t> holders;
    std::uint32_t capacity;

    T* elements() { return reinterpret_cast<T*>(this + 1); }
  };
  static_assert(sizeof(Memory) % alignof(T) == 0 &&
                alignof(Memory) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  Memory* memory_ = nullptr;

 public:
  // Bytes that a block takes in addition to its elements.
  static constexpr std::size_t kOwnBytes = sizeof(Memory) + sizeof(Memory*);
};

}  // namespace tallyfs
