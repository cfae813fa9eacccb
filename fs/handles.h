// The open files, under numbers that are never used for two (an index and a generation). Their
// number and their bytes of text are bounded for each uid, and the bytes of text in all. A tenth of
// all is kept for root and the daemon's uid (core/base/quota_reserve.h). These two can also open
// the files of the daemon's own numbers when they have reached their bounds, which can be seen
// nowhere else.
//
// Thread-safe: the table by its lock, each open file by two: one for reading, one for writing.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/base/result.h"
#include "core/base/slot_table.h"
#include "core/tree/file.h"
#include "core/tree/tree.h"
#include "fs/write_transaction.h"

namespace tallyfs {

// The file of a handle. It lives on here when its name is removed. A handle of before a reload may
// be of a node that the tree does not have: its feeder has yet to enter it again, or never does.
//
// Thread-safe: immutable.
class HandleFile {
 public:
  HandleFile() = default;
  explicit HandleFile(std::shared_ptr<File> opened) : file_(std::move(opened)) {}
  // absent: the file while the tree does not have the node. The tree outlives the handle.
  HandleFile(const Tree& tree, NodeId node, std::shared_ptr<File> absent)
      : tree_(&tree), node_(node), file_(std::move(absent)) {}

  // A request asks once and uses the answer to its end: the node may be entered at any moment.
  std::shared_ptr<File> current() const;

 private:
  const Tree* tree_ = nullptr;  // nullptr: file_ is the file
  NodeId node_ = 0;
  std::shared_ptr<File> file_;  // shared with the tree and with requests
};

// The number whose change poll(2) on the file waits for: File::news(), or whether a stream has
// text.
std::optional<std::uint64_t> news_of(File& file, Timestamp now);

// kOwnNumbers: the file shows the daemon's own counters.
enum class Shows { kAny, kOwnNumbers };

// One open(2). Its text is made when it is opened and does not change. A file that has news, or is
// a stream, gives more to read later.
struct OpenFile {
  NodeInfo node;                     // as it was when it was opened
  HandleFile file;
  std::shared_ptr<const void> held;  // File::hold(), until it is closed
  uid_t uid = 0;
  Shows shows = Shows::kAny;
  bool readable = false;
  bool append = false;        // O_APPEND
  bool may_have_news = true;  // false: the file counts none
  NodeId kernel_node = 0;     // under which the kernel has it; 0: under that of `node`
  std::uint64_t request = 0;  // the kernel's number of the open(2)
  Mutex keeping{LockRank::kFileKeeping};
  // Its bytes in the memory of the keeper, see OpenFiles; 0: it is not there.
  std::size_t kept_bytes GUARDED_BY(keeping) = 0;
  std::string text;           // if readable
  std::string location;  // for the error log: the path of the file's directory, in the root its own
  std::string path;      // by which a successor finds it after a kill

  // These are for a file that has news or is a stream. news: File::news() when the text for reads
  // was rendered. seen: `news` at the last read; poll(2) waits for another. shown: `news` at the
  // last open, read, or poll(2) that showed POLLPRI. is_read: the file was read from its start, or
  // some text of the stream was. later_text: the text for a later read, in place of `text`.
  Mutex reading{LockRank::kFileReading};
  std::uint64_t news GUARDED_BY(reading) = 0;
  std::uint64_t seen GUARDED_BY(reading) = 0;
  std::uint64_t shown GUARDED_BY(reading) = 0;
  bool is_read GUARDED_BY(reading) = false;
  std::string stream_rest GUARDED_BY(reading);  // of a stream: taken out, and not yet read
  bool is_taking GUARDED_BY(reading) = false;   // of a stream: a read is in Stream::next()
  // When a stream's sources were last drained for a read.
  std::chrono::nanoseconds drained GUARDED_BY(reading) = std::chrono::nanoseconds::min();
  std::shared_ptr<const std::string> later_text GUARDED_BY(reading);  // shared with replies
  std::size_t later_bytes = 0;  // its size, as Handles counts it; guarded by the table's lock

  Mutex writing{LockRank::kFileWriting};
  WriteTransaction transaction GUARDED_BY(writing);
  std::string begun GUARDED_BY(writing);  // a command that goes on, see File::WriteUnit
  // The last write or flush of which all is saved: the kernel's number, and its errno.
  std::uint64_t answered GUARDED_BY(writing) = 0;  // 0: none
  int answer GUARDED_BY(writing) = 0;
};

class Handles {
 public:
  struct Limits {
    std::uint64_t files_per_uid = 4'096;
    std::uint64_t bytes_per_uid = 256u << 20;
    std::uint64_t bytes_total = 512u << 20;
  };

  // Open files of the daemon's own counters, in addition to the bounds, and the bytes of text of
  // each.
  static constexpr std::size_t kOwnFilesMax = 64;
  static constexpr std::size_t kOwnBytesMax = 256 * 1024;

  // owner: the daemon's uid. servers: how many there were before, whose numbers are not given
  // again.
  explicit Handles(const Limits& limits, uid_t owner = 0, std::uint64_t servers = 0)
      : limits_(limits), reserve_(owner), uses_(uses_before(servers)) {}

  // How many more bytes of text the uid may have open: a longer text need not be rendered for it.
  std::size_t bytes_left(uid_t uid, Shows shows = Shows::kAny) const EXCLUDES(mutex_);
  // kTooManyFiles: it has as many files open as it may.
  Result<void> check_files(uid_t uid, Shows shows = Shows::kAny) const EXCLUDES(mutex_);
  // The handle's number. kTooManyFiles: a bound is reached; the reason says which.
  Result<std::uint64_t> add(std::shared_ptr<OpenFile> file) EXCLUDES(mutex_);
  // Counts the bytes of a later text, in place of those of the later text before it; the caller
  // keeps the text. kTooManyFiles: a bound is reached, and the count is as before. kStale: the
  // handle was closed meanwhile.
  Result<void> replace_later(std::uint64_t handle, std::size_t bytes) EXCLUDES(mutex_);
  // Nullptr for a number that is not open.
  std::shared_ptr<OpenFile> find(std::uint64_t handle) const EXCLUDES(mutex_);
  // An open file of this node, or nullptr; searches all of them.
  std::shared_ptr<OpenFile> find_node(NodeId node) const EXCLUDES(mutex_);
  // Sets OpenFile::held, by which the file's owner knows of the open. Does nothing if the file was
  // closed meanwhile.
  void hold(std::uint64_t handle, std::shared_ptr<const void> held) EXCLUDES(mutex_);
  // Returns how many bytes of text it had, those of a later text included; 0 if it is not open.
  // Lets go of OpenFile::held, even while requests still use the file.
  std::size_t remove(std::uint64_t handle) EXCLUDES(mutex_);
  std::size_t size() const EXCLUDES(mutex_);

  // Saves the numbers for a successor in a reload (core/state/FORMAT.md, kind 34). all() has the
  // files, which are saved apart.
  using Numbered = std::map<std::uint64_t, std::shared_ptr<OpenFile>>;
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  Numbered all() const EXCLUDES(mutex_);
  // Called while nothing is open. files: those of which the numbers are open; others are dropped.
  // They count, but no bound refuses them. kInvalid: save() writes no such bytes, and nothing has
  // changed.
  Result<void> load(std::string_view saved, Numbered files) EXCLUDES(mutex_);
  // The same after a kill, when the other numbers are not known.
  void load(Numbered files) EXCLUDES(mutex_);

 private:
  struct Held {
    std::size_t files = 0;
    std::size_t bytes = 0;
  };

  // Numbers repeat only after 2^20 opens in one slot of a server, or 4,096 servers.
  static std::uint32_t uses_before(std::uint64_t servers) {
    return static_cast<std::uint32_t>(servers % 4096) << 20;
  }
  bool is_beyond_bounds(uid_t uid, Shows shows) const {
    return shows == Shows::kOwnNumbers && reserve_.is_for(uid);
  }
  void count(const OpenFile& file) REQUIRES(mutex_);
  std::size_t bytes_left_locked(uid_t uid, Shows shows) const REQUIRES(mutex_);
  Result<void> check_files_locked(uid_t uid, Shows shows) const REQUIRES(mutex_);
  Result<void> check_bytes(uid_t uid, Shows shows, std::size_t bytes) const REQUIRES(mutex_);

  const Limits limits_;
  const QuotaReserve reserve_;
  const std::uint32_t uses_;
  mutable Mutex mutex_{LockRank::kHandles};
  // Shared with the requests that are using a file, which a release does not wait for.
  SlotTable<std::shared_ptr<OpenFile>> files_ GUARDED_BY(mutex_){uses_};
  boost::unordered_flat_map<uid_t, Held> held_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs
