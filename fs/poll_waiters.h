// Those who wait in poll(2) for news of a file: looks, while there are any, whether there is some,
// and tells the kernel, which then asks again.
//
// Thread-safe; a thread of its own, which sleeps as long as nobody waits. At most kWaitersMax; who
// comes then is told at once that there may be news.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/tree/file.h"
#include "fs/protocol.h"

namespace tallyfs {

class PollWaiters {
 public:
  static constexpr std::size_t kWaitersMax = 4096;
  static constexpr std::chrono::milliseconds kPeriod{20};

  // The clock outlives it.
  explicit PollWaiters(const Clock& clock) : clock_(clock) {}
  ~PollWaiters() { stop(); }

  // handle is its own from now on. seen: what File::news() said when the waiter last looked.
  void add(fuse_pollhandle* handle, std::shared_ptr<const File> file, std::uint64_t seen)
      EXCLUDES(mutex_);
  // While the session is still there. Nobody is told any more.
  void stop() EXCLUDES(mutex_);

 private:
  struct Destroy {
    void operator()(fuse_pollhandle* handle) const { fuse_pollhandle_destroy(handle); }
  };
  using Handle = std::unique_ptr<fuse_pollhandle, Destroy>;
  struct Waiter {
    Handle handle;
    std::shared_ptr<const File> file;  // shared with the open file
    std::uint64_t seen = 0;
  };

  void run() EXCLUDES(mutex_);
  std::vector<Waiter> take_all() EXCLUDES(mutex_);

  const Clock& clock_;
  Mutex mutex_{LockRank::kPollWaiters};
  std::condition_variable_any changed_;  // waits on mutex_
  std::vector<Waiter> waiters_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // started by the first waiter, under the mutex
};

}  // namespace tallyfs
