// An object of the whole process, made by the first call that needs it and never destroyed. Unlike
// a variable that is static in a function, it needs no lock: a fork() while another thread makes it
// would leave that lock held in the child for ever.
//
// Thread-safe. Two threads that come first at once make two; one of these is destroyed again.
#pragma once

#include <atomic>
#include <memory>

namespace tallyfs {

template <typename T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  // nullptr: not made yet.
  T* get() const { return made_.load(std::memory_order_acquire); }

  // make() returns a std::unique_ptr<T>; what it throws goes on.
  template <typename Make>
  T& get_or(Make&& make) {
    if (T* const made = get()) return *made;
    std::unique_ptr<T> fresh = make();
    T* first = nullptr;
    return made_.compare_exchange_strong(first, fresh.get()) ? *fresh.release() : *first;
  }

 private:
  std::atomic<T*> made_{nullptr};
};

}  // namespace tallyfs
