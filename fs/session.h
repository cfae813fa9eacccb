// One mount: made, served by a few threads, and removed. Requests are read in one function of ours,
// serve(), in which the raw bytes are accessible.
//
// create() and unmount() belong to one thread; the serving threads are the session's own. Not
// clone_fd: a server that is killed would abort requests.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/leader_followers.h"
#include "fs/notifier.h"
#include "fs/operations.h"
#include "fs/protocol.h"

namespace tallyfs {

class Session {
 public:
  // One thread leads (see LeaderFollowers). The others render long texts. They also wait up to two
  // seconds for a feeder, or for another write to the same open file that waits for one.
  static constexpr int kThreads = 8;
  // While each request comes this soon after the reply to the one before, the leader polls for the
  // next for a while instead of sleeping: waking up takes longer than most requests do.
  static constexpr std::chrono::microseconds kKeepComing{250};
  static constexpr std::chrono::microseconds kSpin{100};

  struct Options {
    std::string mount_point;
    std::vector<std::string> mount_options;  // for libfuse: "allow_other", "fsname=..."
    // Called when the session is mounted, while there is no thread yet: for steps that need the
    // mount's privileges, or drop them. After its error nothing stays mounted.
    std::function<Result<void>()> mounted = [] { return Result<void>(); };
    // Removes the mount where this process may not; if empty, libfuse removes it.
    std::function<void()> take_away;
  };

  // Mounts. kInvalid with the system's reason; libfuse itself has printed more on stderr.
  // Operations outlive the session.
  static Result<std::unique_ptr<Session>> create(Operations& operations, const Options& options);
  // Unmounts if that has not happened yet.
  ~Session();

  // Starts serving. started is called once, when the first request of the kernel has been answered
  // and the mount can be used. ended is called by each serving thread as it ends. All end when the
  // session was unmounted from outside or aborted. Both are called on a serving thread.
  void start(std::function<void()> started, std::function<void()> ended);
  // The tree notifies the kernel through it; it lives as long as the session.
  Notifier& notifier() { return *notifier_; }
  // Removes the mount, also while processes still use it, and stops serving.
  void unmount();

 private:
  struct Destroy {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
  };

  Session(Operations& operations, std::unique_ptr<fuse_session, Destroy> session, Fd stop,
          std::function<void()> take_away);
  void serve();
  void listen(fuse_buf& request);
  int receive(fuse_buf& request);
  int spin(fuse_buf& request);
  bool wait_for_request();

  Operations& operations_;
  const std::unique_ptr<fuse_session, Destroy> session_;
  Fd stop_;  // an eventfd, readable when the threads shall stop
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
