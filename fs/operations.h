// Replies to each FUSE request. It knows nodes, handles and texts, but not the subject of the
// files. docs/files.md is the contract, line by line.
//
// Called from the session's threads at once; everything here is immutable or locks itself, and no
// lock is held across a reply.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/branch/daemon_counters.h"
#include "core/branch/saved_object.h"
#include "core/tree/barrier.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "fs/group_access.h"
#include "fs/handles.h"
#include "fs/leader_followers.h"
#include "fs/listing.h"
#include "fs/notifier.h"
#include "fs/protocol.h"
#include "fs/text_cache.h"
#include "fs/uid_turns.h"
#include "fs/waiting_readers.h"

namespace tallyfs {

// All outlive the operations.
struct Parts {
  Tree& tree;
  ErrorLog& errors;
  DaemonCounters& counters;
  Barrier& barrier;
  const Clock& clock;
};

class Operations {
 public:
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    Groups groups = {};
  };

  Operations(const Parts& parts, const Owner& owner, const Handles::Limits& limits)
      : parts_(parts),
        owner_(owner),
        handles_(limits, owner.uid),
        waiting_(parts.clock),
        first_(parts.tree.first()) {}

  // The table for fuse_session_new, whose userdata is an Operations.
  static const fuse_lowlevel_ops& table();

  // Called before there are requests: this directory is the root of the mount.
  void show(NodeId root) { root_ = root; }
  // The node for the kernel's number.
  NodeId at(NodeId number) const { return number == Tree::kRoot ? root_ : number; }
  // Whether the kernel has the number, or cookie, from a server that died, whose open files are
  // gone.
  bool is_older(NodeId number) const { return number >= Tree::kFirst && number < first_; }

  void start_polling() { waiting_.start(); }
  // What a server leaves to its successor in a reload. Called when no request comes any more; those
  // that wait are left to the successor.
  void leave(WaitingReaders::Kernel kernel);
  void save(ObjectSink& sink) const;
  // Whether the numbers of open files can be loaded: without them, those of nodes must not go on.
  static bool can_load(const SavedObject& handles);
  // Called before there are requests, and when the tree is as it was. Returns a line for each open
  // file that is left out. kInvalid: nothing was taken, which can_load() rules out.
  Result<std::vector<std::string>> load(const SavedObject& handles,
                                        const std::vector<SavedObject>& files);
  // Called once, when the tree has all that feeders enter again: their open files are held from now
  // on, see File::hold().
  void hold_returned();
  // Called before the serving threads end: requests that wait for their uid's turn stay unanswered.
  void end_turns() { turns_.end(); }
  // Called before the session ends: waiting readers are not notified any more.
  void stop_polling();
  // Called while no request can come.
  void notify_through(Notifier* notifier) { notifier_ = notifier; }
  void promote_through(LeaderFollowers* threads) { threads_ = threads; }
  // Called before there are requests: `changes` gets the path of what a request has changed, empty
  // if it is not known, and returns before the request is answered.
  void tell_of_changes(std::function<void(const std::string& path)> changes) {
    changes_ = std::move(changes);
  }
  // No request has come for a while: frees the texts that were kept for the next one.
  void rest() { texts_.clear(); }
  // Called once in a while: returns the memory of closed long texts from the C library to the
  // system. The C library would keep several of 10 MB.
  void give_memory_back();
  // Called before there are threads: so that they cannot keep more than a few of those.
  static void bound_kept_memory();

  // Calls work(Start), which answers the request, when the caller's uid has a turn; see UidTurns.
  template <typename Work>
  void in_turn(fuse_req_t request, Work work) {
    const uid_t uid = fuse_req_ctx(request)->uid;
    if (is_trusted(uid)) return work(UidTurns::Start::kAtOnce);
    turns_.run(uid, request, std::move(work));
  }

  // The replies, each to one FUSE request; see operations*.cpp.
  void init(fuse_conn_info& connection);
  void lookup(fuse_req_t request, NodeId parent, const char* name);
  void getattr(fuse_req_t request, NodeId node, const fuse_file_info* info);
  void setattr(fuse_req_t request, NodeId node, const struct stat& wanted, int which,
               const fuse_file_info* info);
  void open(fuse_req_t request, NodeId node, fuse_file_info info);
  void read(fuse_req_t request, std::size_t size, off_t offset, const fuse_file_info& info);
  void write(fuse_req_t request, std::string_view text, off_t offset, const fuse_file_info& info);
  void flush(fuse_req_t request, const fuse_file_info& info);
  void poll(fuse_req_t request, const fuse_file_info& info, fuse_pollhandle* handle);
  void release(fuse_req_t request, const fuse_file_info& info);
  void opendir(fuse_req_t request, NodeId node, fuse_file_info info);
  void readdir(fuse_req_t request, NodeId node, std::size_t size, off_t offset);
  void readdirplus(fuse_req_t request, NodeId node, std::size_t size, off_t offset);
  void mkdir(fuse_req_t request, NodeId parent, const char* name);
  void rmdir(fuse_req_t request, NodeId parent, const char* name);
  void unlink(fuse_req_t request, NodeId parent, const char* name);

 private:
  // How often a request is tried again because its node was removed meanwhile.
  static constexpr int kAttempts = 100;

  // Called before work that may take long: another thread answers requests meanwhile.
  void promote_follower() const {
    if (threads_) threads_->promote_follower();
  }
  // Returns the time of the request from then on, of which its text is: behind a truncation alone
  // the clock is read anew.
  Moment settle(Subject subject = nullptr) {
    return parts_.barrier.settle(subject, [this] { promote_follower(); });
  }
  // version: what a look at the file has just given, if it has one.
  Result<std::string> render(NodeId node, const File& file, std::optional<std::uint64_t> version,
                             std::size_t bytes_max, const CallContext& call);
  // The context of a call that is made now.
  CallContext context(const CancellationToken& cancel = {}) const {
    return {parts_.clock.now(), cancel};
  }
  // The same by this user, whose rights it has.
  CallContext context(const CancellationToken& cancel, uid_t uid) const {
    CallContext call(parts_.clock.now(), cancel);
    call.rights = rights_of(uid);
    call.uid = uid;
    return call;
  }
  // A path leads to nodes that the kernel remembers. One may have been removed and made again since
  // then, even at this very moment: the attempt is made with the node, and, if that is kStale, with
  // what has its path now. kNotFound: nothing has.
  template <typename Attempt>
  auto at_its_path(NodeId node, Attempt attempt) -> decltype(attempt(node)) {
    auto first = attempt(node);
    if (first || first.error().code != ErrorCode::kStale) return first;
    for (int left = kAttempts; left != 0; --left) {
      const auto current = successor(node);
      if (!current) return current.error();
      auto done = attempt(current.value());
      if (done || done.error().code != ErrorCode::kStale) return done;
    }
    return Error{ErrorCode::kNotFound, "it was removed meanwhile"};
  }
  // This node; if it was removed, the one that has its path now. kNotFound: none has it. kStale:
  // too many were removed since then.
  Result<NodeId> successor(NodeId node);
  Result<NodeId> follow(const Tree::Path& path);
  // Tells the directory that it is entered, so that it can make its entries.
  void look_into(NodeId directory);
  // The path is empty if the node was removed meanwhile.
  void tell_of_change(NodeId node) const { changes_(parts_.tree.path(node)); }
  void tell_of_change(NodeId parent, const char* name) const;
  // A file that is written by lines gets its new text next: until then, a kill leaves the old one.
  void tell_of_truncation(NodeId node, const File& file) const {
    if (file.write_unit() != File::WriteUnit::kLine) tell_of_change(node);
  }
  // rmdir and unlink. remove(rules) removes the entry; is_directory says of which kind it must be.
  template <typename Remove>
  void remove(fuse_req_t request, NodeId parent, const char* name, bool is_directory,
              Remove remove);
  Result<NodeInfo> find_name(NodeId parent, std::string_view name);
  // The attributes that stat shows.
  Access access_to(const NodeInfo& info) const;
  struct stat common_attributes(const NodeInfo& info, Moment changed) const;
  Result<struct stat> directory_attributes(NodeId node);
  struct stat directory_status(const NodeInfo& info) const;
  bool is_trusted(uid_t uid) const { return uid == 0 || uid == owner_.uid; }
  static bool is_in_group(fuse_req_t request, gid_t group);
  bool may_read(fuse_req_t request, const NodeInfo& info) const;
  // What the kernel lets pass: kNoAccess for a reader that is no writer.
  Result<void> check_writer(fuse_req_t request, const NodeInfo& info) const;
  static bool wants_to_write(int flags);
  Result<void> check_open(fuse_req_t request, NodeId node, int flags) const;
  CallContext::Rights rights_of(uid_t uid) const;
  // Of the text as it would be rendered now; 0 if it would be longer than bytes_max.
  std::size_t text_length(const NodeInfo& info, const File& file,
                          std::optional<std::uint64_t> version, std::size_t bytes_max, Moment now);
  struct stat file_attributes(const NodeInfo& info, const File& file,
                              std::optional<std::size_t> size, uid_t asking, Moment now);
  // kLastKnown: no text is rendered for users, which the kernel asks for again where it matters.
  enum class Size : std::uint8_t { kOfNow, kLastKnown };
  Result<struct stat> attributes(fuse_req_t request, const NodeInfo& info,
                                 Size size = Size::kOfNow);
  struct stat closed_attributes(const NodeInfo& info, const File& file) const;
  fuse_entry_param entry(const NodeInfo& info, const struct stat& attributes);
  void reply_attributes(fuse_req_t request, NodeId node, std::shared_ptr<const OpenFile> open);
  void reply_attributes_at_path(fuse_req_t request, NodeId node);
  // Counts a refused open; logs one a second at most.
  void note_refused_open(const Error& error, uid_t uid, Moment now);
  struct Opened {
    std::shared_ptr<OpenFile> file;
    Moment now;  // of the request
  };
  Result<Opened> make_open_file(NodeId node, int flags, uid_t uid, const CancellationToken& cancel);
  Result<void> render_for(OpenFile& open, const CallContext& call);
  Result<void> check_change(const NodeInfo& info, const struct stat& wanted, int which) const;
  Result<void> truncate(const NodeInfo& info, off_t size, OpenFile* open, const CallContext& call);
  void list(fuse_req_t request, NodeId node, off_t offset, Listing listing);
  LineSink sink(const OpenFile& open, const CancellationToken& cancel);
  void report(const OpenFile& open, std::string_view text, const Error& error);
  Result<void> write_whole(OpenFile& open, pid_t writer, std::string_view text,
                           const CancellationToken& cancel) REQUIRES(open.writing);
  Result<void> finish(OpenFile& open, pid_t writer) REQUIRES(open.writing);
  void read_stream(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t size,
                   const fuse_file_info& info);
  Result<std::shared_ptr<const std::string>> text_with_news(std::uint64_t handle, OpenFile& open,
                                                            off_t offset,
                                                            const CancellationToken& cancel);

  const Parts parts_;
  const Owner owner_;
  Handles handles_;
  TextCache texts_;
  WaitingReaders waiting_;
  UidTurns turns_;
  const NodeId first_;
  NodeId root_ = Tree::kRoot;
  // Open files that the tree did not have when they were loaded. Confined to the main thread.
  std::vector<std::uint64_t> absent_;
  std::atomic<bool> closed_long_{false};
  std::atomic<std::chrono::nanoseconds::rep> refusal_logged_{0};
  std::function<void(const std::string& path)> changes_ = [](const std::string&) {};
  Notifier* notifier_ = nullptr;
  LeaderFollowers* threads_ = nullptr;
};

}  // namespace tallyfs
