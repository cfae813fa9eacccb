// Tells the kernel which of the names and attributes it caches are no longer so. From a thread of
// its own, since the kernel may make the teller wait for a lock that a process holds while it
// waits for an answer of ours.
//
// Thread-safe. The queue holds kPendingMax; what does not fit is left out, and a process that
// meets a forgotten name is answered ESTALE, upon which the kernel looks the name up anew.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <condition_variable>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/mutex.h"
#include "core/tree/tree.h"
#include "fs/protocol.h"

namespace tally {

class Notifier final : public TreeObserver {
 public:
  static constexpr std::size_t kPendingMax = 65'536;

  // The session outlives the notifier and is mounted.
  explicit Notifier(fuse_session* session);
  ~Notifier() override;
  // Waits for the notice that is just being given; those that follow are left out.
  void stop();

  // The kernel is about to be given the attributes of a directory, to keep. To be called before
  // they are read, so that no change of theirs falls between.
  void gives_attributes(NodeId directory) EXCLUDES(mutex_);
  // They have been given, with the answer by which the kernel comes to know the directory. To be
  // called after it: a notice in between found nothing there to make void.
  void has_introduced(NodeId directory) EXCLUDES(mutex_);

  void entry_removed(NodeId directory, std::string_view name, NodeId removed) override
      EXCLUDES(mutex_);
  void directory_changed(NodeId directory) override EXCLUDES(mutex_);

 private:
  struct Notice {
    NodeId directory = 0;
    std::string name;  // empty: the attributes of the directory itself
  };

  void run() EXCLUDES(mutex_);
  // The next notice; nothing when it is time to stop.
  std::optional<Notice> wait_for_notice() EXCLUDES(mutex_);
  void give(const Notice& notice) const;
  // False when there is no room.
  bool push(Notice notice) REQUIRES(mutex_);

  fuse_session* const session_;
  Mutex mutex_;
  std::condition_variable_any changed_;  // waits on mutex_
  std::deque<Notice> pending_ GUARDED_BY(mutex_);
  // Directories whose attributes the kernel has.
  boost::unordered_flat_set<NodeId> cached_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tally
