// Tells the kernel of which nodes the attributes that it caches are no longer so. From a thread of
// its own, since a process may wait for an answer of ours meanwhile.
//
// A name that has gone is not told: for that the kernel takes the lock of the directory, which any
// reader of it can hold for as long as it likes. Its node is; whoever then comes to it by the name
// is answered ESTALE, upon which the kernel looks the name up anew.
//
// Thread-safe. The queue holds kPendingMax; what does not fit is left out.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/mutex.h"
#include "core/tree/tree.h"
#include "fs/protocol.h"

namespace tally {

class Notifier final : public TreeObserver {
 public:
  static constexpr std::size_t kPendingMax = 65'536;
  static constexpr std::chrono::milliseconds kSettleMax{100};

  // The session outlives the notifier and is mounted.
  // root: the node that the kernel knows as the mount's.
  Notifier(fuse_session* session, NodeId root);
  ~Notifier() override;
  // Waits for the notice that is just being given; those that follow are left out.
  void stop();

  // The kernel is about to be given the attributes of a directory, to keep. To be called before
  // they are read, so that no change of theirs falls between.
  void gives_attributes(NodeId directory) EXCLUDES(mutex_);
  // They are not, since it has been removed.
  void withholds_attributes(NodeId directory) EXCLUDES(mutex_);
  // They have been given, with the answer by which the kernel comes to know the directory. To be
  // called after it: a notice in between found nothing there to make void.
  void has_introduced(NodeId directory) EXCLUDES(mutex_);

  // Waits until the kernel has been told of everything up to now, so that who has written a command
  // finds what it changed; for kSettleMax at most.
  void settle() EXCLUDES(mutex_);

  // How many directories the kernel has the attributes of.
  std::size_t given() const EXCLUDES(mutex_);

  void entry_removed(NodeId directory, std::string_view name, NodeId removed) override
      EXCLUDES(mutex_);
  void directory_changed(NodeId directory) override EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  // The next node, nothing when it is time to stop.
  std::optional<NodeId> wait_for_notice() EXCLUDES(mutex_);
  // False when there is no room.
  bool push(NodeId node) REQUIRES(mutex_);

  fuse_session* const session_;
  const NodeId root_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;  // waits on mutex_, as the next
  std::condition_variable_any told_changed_;
  std::deque<NodeId> pending_ GUARDED_BY(mutex_);
  std::uint64_t pushed_ GUARDED_BY(mutex_) = 0;
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;
  // Directories whose attributes the kernel has.
  boost::unordered_flat_set<NodeId> cached_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tally
