// Lets a uid's requests that may take long, as opens of long files do, occupy a few of the serving
// threads at most. Its further ones wait without a thread, in the order in which they came. So
// other uids' requests find a thread, however many processes of one uid ask for long files.
//
// Thread-safe. What waits is bounded by the processes of the uid: each waits for its own request.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "fs/protocol.h"

namespace tallyfs {

class UidTurns {
 public:
  // A quarter of Session::kThreads, and as many as there are processors in a small machine.
  static constexpr std::size_t kAtOnceMax = 2;
  enum class Start : std::uint8_t { kAtOnce, kLater };

  // Calls work(Start), which answers the request: at once, or, while kAtOnceMax of this uid are at
  // work, after one of them, on its thread.
  template <typename Work>
  void run(uid_t uid, fuse_req_t request, Work work) EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      OfUid& of = uids_[uid];
      if (of.at_work == kAtOnceMax) {
        of.waiting.push_back({request, std::move(work)});
        return;
      }
      ++of.at_work;
    }
    work(Start::kAtOnce);
    while (const auto next = next_of(uid)) next->work(Start::kLater);
  }
  // From now on nothing that waits begins, so that the serving threads can end.
  void end() EXCLUDES(mutex_);
  // The requests that still wait, once. Called after end(), when no thread serves any more.
  std::vector<fuse_req_t> take_left() EXCLUDES(mutex_);

 private:
  struct Waiting {
    fuse_req_t request;
    std::function<void(Start)> work;
  };
  struct OfUid {
    std::size_t at_work = 0;
    std::deque<Waiting> waiting;
  };

  std::optional<Waiting> next_of(uid_t uid) EXCLUDES(mutex_);

  Mutex mutex_{LockRank::kUidTurns};
  // Of those that have something at work.
  std::unordered_map<uid_t, OfUid> uids_ GUARDED_BY(mutex_);
  bool is_over_ GUARDED_BY(mutex_) = false;
};

}  // namespace tallyfs
