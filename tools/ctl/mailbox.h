// Passes values from one thread to another, of which only the newest counts. No thread waits for
// the other; the descriptor is readable when a value was put. Any thread may put or take.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/fd.h"

namespace tallyfs {

template <typename T>
class Mailbox {
 public:
  Mailbox() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Mailbox() { delete value_.load(); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  int fd() const { return event_.get(); }

  void put(T value) {
    delete value_.exchange(new T(std::move(value)));
    constexpr std::uint64_t kOne = 1;
    [[maybe_unused]] const ssize_t size = ::write(event_.get(), &kOne, sizeof kOne);
  }
  // Null if nothing was put since.
  std::unique_ptr<T> take() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(event_.get(), &count, sizeof count);
    return std::unique_ptr<T>(value_.exchange(nullptr));
  }

 private:
  Fd event_;
  std::atomic<T*> value_{nullptr};  // owned
};

}  // namespace tallyfs
