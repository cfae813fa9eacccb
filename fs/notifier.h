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
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

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

  // The kernel was given the attributes of a directory, to keep.
  void gave_attributes(NodeId directory);

  void entry_removed(NodeId directory, std::string_view name) override;
  void directory_changed(NodeId directory) override;

 private:
  struct Notice {
    NodeId directory = 0;
    std::string name;  // empty: the attributes of the directory itself
  };

  void run();
  void push(Notice notice);

  fuse_session* const session_;
  // A std::mutex, since a condition is waited for; it guards the three below.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Notice> pending_;
  boost::unordered_flat_set<NodeId> cached_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tally
