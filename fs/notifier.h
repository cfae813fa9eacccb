// Tells the kernel of which nodes the attributes that it caches are no longer so. From a thread of
// its own, since a process may wait for an answer of ours meanwhile.
//
// A name that has gone is not told: for that the kernel takes the lock of the directory, which any
// reader of it can hold for as long as it likes. Its node is; whoever then comes to it by the name
// is answered ESTALE, upon which the kernel looks the name up anew.
//
// An answer that brings a directory's attributes is with the kernel when it was sent, but makes the
// node there only when the process that asked runs again. A notice in between finds nothing to make
// void, and what comes then would stay for a day: so of a directory whose attributes were given it
// is repeated.
//
// Thread-safe. The queue holds kPendingMax, and as many that are to be repeated; what does not fit
// is left out.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/mutex.h"
#include "core/tree/tree.h"
#include "fs/protocol.h"

namespace tallyfs {

class Notifier final : public TreeObserver {
 public:
  static constexpr std::size_t kPendingMax = 65'536;
  static constexpr std::chrono::milliseconds kSettleMax{100};
  // When a notice that found nothing is given again.
  static constexpr std::array<std::chrono::milliseconds, 3> kRepeats{
      std::chrono::milliseconds(10), std::chrono::milliseconds(100), std::chrono::seconds(1)};
  // Tells the kernel that a node's attributes are void; false: it does not know the node.
  using Tell = std::function<bool(NodeId node)>;

  // The session outlives the notifier and is mounted.
  // root: the node that the kernel knows as the mount's.
  Notifier(fuse_session* session, NodeId root);
  explicit Notifier(Tell tell);
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
  using Time = std::chrono::steady_clock::time_point;
  enum class Given : std::uint8_t { kNo, kYes };
  struct Notice {
    NodeId node = 0;
    Given given = Given::kNo;  // whether the kernel has its attributes, or will have
    std::size_t repeats = 0;
  };

  void run() EXCLUDES(mutex_);
  // The next, nothing when it is time to stop.
  std::optional<Notice> wait_for_notice() EXCLUDES(mutex_);
  // False when there is no room.
  bool push(const Notice& notice) REQUIRES(mutex_);
  void has_told(Notice notice, bool is_known) EXCLUDES(mutex_);

  const Tell tell_;
  mutable Mutex mutex_{LockRank::kNotifier};
  std::condition_variable_any changed_;  // waits on mutex_, as the next
  std::condition_variable_any told_changed_;
  std::deque<Notice> pending_ GUARDED_BY(mutex_);
  std::multimap<Time, Notice> repeated_ GUARDED_BY(mutex_);  // by when
  std::uint64_t pushed_ GUARDED_BY(mutex_) = 0;
  std::uint64_t told_ GUARDED_BY(mutex_) = 0;
  // Directories whose attributes the kernel has.
  boost::unordered_flat_set<NodeId> cached_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tallyfs
