// Lets the requests of users that may render a long text (open, read, getattr) occupy a few of the
// serving threads at most: of one uid, and of all. Further ones wait without a thread; the uids
// have turns, and each uid's requests are in the order in which they came. So others' requests find
// a thread, and root's always, however many processes read long files. Writes have no turns: they
// are for root and the members of --write-group.
//
// Thread-safe. What waits is bounded by the threads of the callers: each waits for its own request.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "fs/protocol.h"

namespace tallyfs {

class UidTurns {
 public:
  // A quarter of Session::kThreads, and as many as there are processors in a small machine.
  static constexpr std::size_t kAtOnceMax = 2;
  // The most of all uids together: two threads are left for root and the daemon's uid.
  static constexpr std::size_t kOfAllMax = 6;
  enum class Start : std::uint8_t { kAtOnce, kLater };

  // Calls work(Start), which answers the request: at once, or, while kAtOnceMax of this uid or
  // kOfAllMax are at work, after one of those, on its thread.
  template <typename Work>
  void run(uid_t uid, fuse_req_t request, Work work) EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      OfUid& of = uids_[uid];
      if (of.at_work == kAtOnceMax || at_work_ == kOfAllMax) {
        of.waiting.push_back({uid, request, std::move(work)});
        return;
      }
      ++of.at_work;
      ++at_work_;
    }
    work(Start::kAtOnce);
    for (auto next = next_after(uid); next; next = next_after(next->uid)) {
      next->work(Start::kLater);
    }
  }
  // From now on nothing that waits begins, so that the serving threads can end.
  void end() EXCLUDES(mutex_);
  // The requests that still wait, once. Called when no thread serves any more.
  std::vector<fuse_req_t> take_left() EXCLUDES(mutex_);

 private:
  struct Waiting {
    uid_t uid;
    fuse_req_t request;
    std::function<void(Start)> work;
  };
  struct OfUid {
    std::size_t at_work = 0;
    std::deque<Waiting> waiting;
  };

  // A request of this uid is done. Returns what has the next turn, which is at work from now on.
  std::optional<Waiting> next_after(uid_t done) EXCLUDES(mutex_);

  Mutex mutex_{LockRank::kUidTurns};
  // The uids that have a request at work or waiting.
  std::map<uid_t, OfUid> uids_ GUARDED_BY(mutex_);
  std::size_t at_work_ GUARDED_BY(mutex_) = 0;
  bool is_over_ GUARDED_BY(mutex_) = false;
};

}  // namespace tallyfs
