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
#include "core/tree/barrier.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "fs/attributes.h"
#include "fs/caller_rights.h"
#include "fs/file_texts.h"
#include "fs/file_writes.h"
#include "fs/handles.h"
#include "fs/leader_followers.h"
#include "fs/listing.h"
#include "fs/node_paths.h"
#include "fs/notifier.h"
#include "fs/open_files.h"
#include "fs/protocol.h"
#include "fs/request_barrier.h"
#include "fs/uid_turns.h"
#include "fs/waiting_readers.h"

namespace tallyfs {

class Operations {
 public:
  // All outlive the operations.
  struct Dependencies {
    Tree& tree;
    ErrorLog& errors;
    DaemonCounters& counters;
    Barrier& barrier;
    const Clock& clock;
  };

  // servers: how many the mount had before.
  Operations(const Dependencies& dependencies, const CallerRights::Owner& owner,
             const Handles::Limits& limits, std::uint64_t servers = 0)
      : dependencies_(dependencies),
        barrier_(dependencies.barrier),
        rights_(owner),
        paths_(dependencies.tree, barrier_, dependencies.clock),
        handles_(limits, owner.uid, servers),
        open_files_(handles_, dependencies.tree, dependencies.clock),
        texts_(barrier_, dependencies.clock),
        attributes_({dependencies.tree, barrier_, rights_, handles_, texts_, dependencies.clock}),
        writes_({dependencies.tree, dependencies.errors, dependencies.counters, rights_,
                 dependencies.clock}),
        waiting_(dependencies.clock),
        first_(dependencies.tree.first()) {}

  // The table for fuse_session_new, whose userdata is an Operations.
  static const fuse_lowlevel_ops& table();

  // Called before there are requests: this directory is the root of the mount.
  void show(NodeId root) { root_ = root; }
  // The node for the kernel's number.
  NodeId at(NodeId number) const {
    return number == Tree::kRoot ? root_ : open_files_.node_of(number).value_or(number);
  }
  // Whether the kernel has the number, or cookie, from a server that died, and no file is open
  // under it.
  bool is_older(NodeId number) const {
    return number >= Tree::kFirst && number < first_ && !open_files_.node_of(number);
  }

  void start_polling() { waiting_.start(); }
  // Ends waiting readers for a successor in a reload. Called when no more requests come; waiting
  // requests are left to the successor.
  void leave(WaitingReaders::Kernel kernel);
  // The open files, for saving them for the successor and loading those of the predecessor, and for
  // keeping them.
  OpenFiles& open_files() { return open_files_; }
  // Called before the serving threads end: requests that wait for their uid's turn stay unanswered.
  void end_turns() { turns_.end(); }
  // Called before the session ends: waiting readers are not notified any more.
  void stop_polling();
  // Called while no request can come.
  void notify_through(Notifier* notifier) {
    notifier_ = notifier;
    attributes_.notify_through(notifier);
  }
  void promote_through(LeaderFollowers* threads) { barrier_.promote_through(threads); }
  // Called before there are requests: `changes` gets the path of what a request has changed, empty
  // if it is not known, before the request is answered. It returns whether all is saved.
  void tell_of_changes(std::function<bool(const std::string& path)> changes) {
    changes_ = std::move(changes);
  }
  // No request has come for a while: frees the texts that were kept for the next one.
  void rest() { texts_.rest(); }
  // Called once in a while: returns the memory of closed long texts from the C library to the
  // system. The C library would keep several of 10 MB.
  void give_memory_back();
  // Called before there are threads: so that they cannot keep more than a few of those.
  static void bound_kept_memory();

  // Calls work(Start), which answers the request, when the caller's uid has a turn; see UidTurns.
  template <typename Work>
  void in_turn(fuse_req_t request, Work work) {
    const uid_t uid = fuse_req_ctx(request)->uid;
    if (rights_.is_trusted(uid)) return work(UidTurns::Start::kAtOnce);
    turns_.run(uid, request, std::move(work));
  }

  // The replies, each to one FUSE request; see operations*.cpp.
  void init(fuse_conn_info& connection);
  void lookup(fuse_req_t request, NodeId parent, const char* name);
  void getattr(fuse_req_t request, NodeId node, const fuse_file_info* info);
  void setattr(fuse_req_t request, NodeId node, const struct stat& wanted, int which,
               const fuse_file_info* info);
  // kernels: the kernel's number of the node. number: of the request, see RequestInWork.
  void open(fuse_req_t request, NodeId kernels, fuse_file_info info, std::uint64_t number);
  // A killed server may have opened a file for this request, which comes again: that is the file.
  // False: it has opened none.
  bool open_again(fuse_req_t request, const fuse_file_info& info, std::uint64_t number);
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
  // The context of a call that is made now.
  CallContext context(const CancellationToken& cancel = {}) const {
    return {dependencies_.clock.now(), cancel};
  }
  // The path is empty if the node was removed meanwhile.
  bool tell_of_change(NodeId node) const { return changes_(dependencies_.tree.path(node)); }
  bool tell_of_change(NodeId parent, const char* name) const;
  // A file that is written by lines gets its new text next: until then, a kill leaves the old one.
  void tell_of_truncation(NodeId node, const File& file) const {
    if (file.write_unit() != File::WriteUnit::kLine) tell_of_change(node);
  }
  // rmdir and unlink. remove(rules) removes the entry; is_directory says of which kind it must be.
  template <typename Remove>
  void remove(fuse_req_t request, NodeId parent, const char* name, bool is_directory,
              Remove remove);
  void reply_attributes(fuse_req_t request, NodeId node, std::shared_ptr<const OpenFile> open);
  void reply_attributes_at_path(fuse_req_t request, NodeId node);
  // Counts a refused open; logs one a second at most.
  void note_refused_open(const Error& error, uid_t uid, Timestamp now);
  void close(std::uint64_t handle);
  // All that a write has changed is saved, and the open file is kept as it is.
  void keep_written(std::uint64_t handle, OpenFile& open, const Result<void>& done);
  // The errno of a write or flush that comes again and was carried out.
  static std::optional<int> answer_before(OpenFile& open);
  void reply_open(fuse_req_t request, std::uint64_t handle, OpenFile& open, fuse_file_info info);
  struct Opened {
    std::shared_ptr<OpenFile> file;
    Timestamp now;  // of the request
  };
  Result<Opened> make_open_file(NodeId node, int flags, uid_t uid, const CancellationToken& cancel);
  Result<void> render_for(OpenFile& open, File& file, const CallContext& call);
  Result<void> check_change(const NodeInfo& info, const struct stat& wanted, int which) const;
  Result<void> truncate(const NodeInfo& info, off_t size, OpenFile* open, const CallContext& call);
  void list(fuse_req_t request, NodeId node, off_t offset, Listing listing);
  void read_stream(fuse_req_t request, std::shared_ptr<OpenFile> open, File& file,
                   Stream& stream, std::size_t size, const fuse_file_info& info);
  Result<std::shared_ptr<const std::string>> text_with_news(std::uint64_t handle, OpenFile& open,
                                                            const File& file, off_t offset,
                                                            const CancellationToken& cancel);

  const Dependencies dependencies_;
  RequestBarrier barrier_;
  const CallerRights rights_;
  NodePaths paths_;
  Handles handles_;
  OpenFiles open_files_;
  FileTexts texts_;
  Attributes attributes_;
  FileWrites writes_;
  WaitingReaders waiting_;
  UidTurns turns_;
  const NodeId first_;
  NodeId root_ = Tree::kRoot;
  std::atomic<bool> closed_long_{false};
  std::atomic<std::chrono::nanoseconds::rep> refusal_logged_{0};
  std::function<bool(const std::string& path)> changes_ = [](const std::string&) { return false; };
  Notifier* notifier_ = nullptr;
};

}  // namespace tallyfs
