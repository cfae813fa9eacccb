// Notifies the kernel of nodes with cached attributes that are no longer valid. It has a thread of
// its own, since a process may wait for a reply of ours meanwhile.
//
// A name that was removed is not notified: for that the kernel takes the lock of the directory,
// which any reader of it can hold as long as it likes. Its node is notified; a later request for
// that node is served with what has its path then (NodePaths::successor()).
//
// A reply with a directory's attributes reaches the kernel when it is sent. But the kernel makes
// the node only when the requesting process runs again. A notice in between finds no node, and the
// attributes would stay for a day. So the notice for a directory is repeated if its attributes were
// given.
//
// Thread-safe. The queue holds kPendingMax notices, and as many to be repeated; others are dropped.
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
#include <vector>

#include "core/base/bytes.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/tree/tree.h"
#include "fs/protocol.h"

namespace tallyfs {

class Notifier final : public TreeObserver {
 public:
  static constexpr std::size_t kPendingMax = 65'536;
  static constexpr std::chrono::milliseconds kSettleMax{100};
  // When a notice that found no node is repeated.
  static constexpr std::array<std::chrono::milliseconds, 3> kRepeats{
      std::chrono::milliseconds(10), std::chrono::milliseconds(100), std::chrono::seconds(1)};
  // Notifies the kernel that a node's attributes are void; false: it does not know the node.
  using Tell = std::function<bool(NodeId node)>;

  // The session outlives the notifier and is mounted.
  // root: the node that the kernel knows as the mount's.
  Notifier(fuse_session* session, NodeId root);
  explicit Notifier(Tell tell);
  ~Notifier() override;
  // Waits for the notice that is being sent; later ones are kept for save().
  void stop();

  // The attributes of a directory are about to be given to the kernel, which caches them. Called
  // before the attributes are read, so that no change is missed.
  void gives_attributes(NodeId directory) EXCLUDES(mutex_);
  // The attributes are not given, since the directory was removed.
  void withholds_attributes(NodeId directory) EXCLUDES(mutex_);
  // The attributes were given, with the reply by which the kernel learns of the directory. Called
  // after that reply: a notice in between found no node.
  void has_introduced(NodeId directory) EXCLUDES(mutex_);

  // Waits until the kernel was notified of all changes up to now, so that the writer of a command
  // sees their effect; for kSettleMax at most.
  void wait_for_notices() EXCLUDES(mutex_);

  // The number of directories with attributes that the kernel has cached.
  std::size_t given() const EXCLUDES(mutex_);

  // Saves the directories of given() for a successor in a reload (core/state/FORMAT.md, kind 33).
  // Called after stop().
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  // Called before there are requests. Returns the directories with pending notices of the
  // predecessor: the caller notifies each with directory_changed() when requests are served.
  // kInvalid: save() does not write such bytes, and nothing has changed.
  Result<std::vector<NodeId>> resume(std::string_view saved) EXCLUDES(mutex_);

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
  // The next notice; nothing when it is time to stop.
  std::optional<Notice> wait_for_notice() EXCLUDES(mutex_);
  // False: there is no room.
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
  // Directories with attributes that the kernel has cached.
  boost::unordered_flat_set<NodeId> cached_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tallyfs
