#include "fs/poll_waiters.h"

#include <iterator>
#include <utility>

namespace tallyfs {

void PollWaiters::add(fuse_pollhandle* handle, std::shared_ptr<const File> file,
                      std::uint64_t seen) {
  Waiter waiter{Handle(handle), std::move(file), seen};
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    if (waiters_.size() < kWaitersMax) {
      waiters_.push_back(std::move(waiter));
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
  }
  changed_.notify_one();
  if (waiter.handle) fuse_lowlevel_notify_poll(waiter.handle.get());
}

void PollWaiters::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    waiters_.clear();
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// Waits for the first of them, and a little longer, so that each look serves all who came.
std::vector<PollWaiters::Waiter> PollWaiters::take_all() {
  const MutexLock lock(mutex_);
  while (!stopping_ && waiters_.empty()) changed_.wait(mutex_);
  const auto until = std::chrono::steady_clock::now() + kPeriod;
  while (!stopping_ && changed_.wait_until(mutex_, until) != std::cv_status::timeout) {
  }
  return std::exchange(waiters_, {});
}

void PollWaiters::run() {
  for (;;) {
    std::vector<Waiter> waiting = take_all();
    if (waiting.empty()) return;
    std::vector<Waiter> in_vain;
    for (Waiter& waiter : waiting) {
      if (waiter.file->news(clock_.now()) != waiter.seen) {
        fuse_lowlevel_notify_poll(waiter.handle.get());
      } else {
        in_vain.push_back(std::move(waiter));
      }
    }
    const MutexLock lock(mutex_);
    if (stopping_) return;
    std::move(in_vain.begin(), in_vain.end(), std::back_inserter(waiters_));
  }
}

}  // namespace tallyfs
