// One mount (fs/mount.h): served by a few threads through its descriptor. Requests are read in one
// function of ours, listen(), in which the raw bytes are accessible.
//
// With a Handover the session may be one of several, one after the other, of the same mount. A
// successor is told by the kept FUSE_INIT what the kernel can do, and the kernel sends again what
// the session before had not answered (Linux 6.9 and later; before, those requests stay open).
//
// create() and unmount() belong to one thread; the serving threads are the session's own. Not
// clone_fd: a server that is killed would abort requests.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/keeper/handover.h"
#include "fs/leader_followers.h"
#include "fs/mount.h"
#include "fs/notifier.h"
#include "fs/operations.h"
#include "fs/protocol.h"

namespace tallyfs {

class Session {
 public:
  // One thread leads (see LeaderFollowers). The others render long texts. They also wait for the
  // kernel's feeder (FeederDialogue::kLongWaitsMax of them for long), or for another write to the
  // same open file that waits for it.
  static constexpr int kThreads = 8;
  // While each request comes this soon after the reply to the one before, the leader polls for the
  // next for a while instead of sleeping: waking up takes longer than most requests do.
  static constexpr std::chrono::microseconds kKeepComing{250};
  static constexpr std::chrono::microseconds kSpin{100};

  // A request with which so many servers have crashed is refused (EIO).
  static constexpr std::uint64_t kCrashesMax = 2;
  struct Refused {
    std::uint32_t uid = 0;
    std::string reason;      // the request, its process, why; empty: not to be reported
    std::string_view bytes;  // what was asked
  };

  struct Options {
    int fd = -1;                             // of the mount; the session has a copy of its own
    std::vector<std::string> mount_options;  // with which it was mounted
    Handover* handover = nullptr;            // outlives the session; none: there is no successor
    std::function<void()> take_away;         // removes the mount
    // Called with each request that is refused after crashes, on a serving thread.
    std::function<void(const Refused&)> refused = {};
  };

  // kInvalid with the system's reason. Operations outlive the session.
  static Result<std::unique_ptr<Session>> create(Operations& operations, const Options& options);
  // Unmounts if that has not happened yet.
  ~Session();

  // Starts serving. started is called once, when the first request of the kernel has been answered,
  // by this session or by one before, and the mount can be used. ended is called by each serving
  // thread as it ends. All end when the session was unmounted from outside or aborted. Both are
  // called on a serving thread, or within start().
  void start(std::function<void()> started, std::function<void()> ended);
  // The tree notifies the kernel through it; it lives as long as the session.
  Notifier& notifier() { return *notifier_; }
  // Whether the kernel sends requests without a reply to a successor.
  bool kernel_resends() const;
  // Removes the mount, also while processes still use it, and stops serving.
  void unmount();
  // Stops serving. Requests without a reply wait for a successor, if this process ends without
  // destroying the session.
  void leave();

 private:
  Session(Operations& operations, FuseSession session, Fd stop, const Options& options);
  void take_over();
  void keep_init(const fuse_buf& request);
  // What the last server executed when it ended; nullptr: not this one.
  const Handover::Request* executed_before(std::uint64_t unique) const;
  void answer_again(const fuse_buf& request, const Handover::Request& before);
  void refuse(const fuse_buf& request, std::uint64_t crashes);
  void count_refused(const fuse_buf& request, std::uint64_t crashes);
  void process_noted(const fuse_buf& request, std::size_t thread);
  void process(const fuse_buf& request, std::size_t thread);
  void serve(std::size_t thread);
  void listen(fuse_buf& request, std::size_t thread);
  int receive(fuse_buf& request);
  int spin(fuse_buf& request);
  bool wait_for_request();

  Operations& operations_;
  FuseSession session_;
  Fd stop_;  // an eventfd, readable when the threads shall stop
  Handover* const handover_;
  // Both are set before there are threads.
  std::vector<Handover::Request> before_;  // the last server executed these when it ended
  bool refuses_resent_ = false;
  const std::function<void(const Refused&)> refused_;
  const std::function<void()> take_away_;
  std::function<void()> started_;
  std::function<void()> ended_;
  std::atomic<bool> is_started_{false};
  std::unique_ptr<Notifier> notifier_;
  LeaderFollowers leader_followers_;
  // The leader's state: the time of its last reply, and whether requests keep coming.
  std::chrono::steady_clock::time_point answered_;
  bool keep_coming_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tallyfs
