#include "fs/operations.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "core/base/text.h"
#include "fs/replies.h"
#include "fs/request_cancellation.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr int kArenasMax = 3;
constexpr std::chrono::seconds kLogPause{1};
// The directory of the daemon's own counters.
constexpr std::string_view kOwnLocation = "statistics/tallyfs";

File::Access access_of(int flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return File::Access::kRead;
    case O_WRONLY:
      return File::Access::kWrite;
    default:
      return File::Access::kReadWrite;
  }
}

}  // namespace

void Operations::init(fuse_conn_info& connection) {
  connection.max_write = protocol::kMaxWriteBytes;
  connection.max_readahead = protocol::kReadaheadBytes;
  connection.want = connection.capable & protocol::kCapabilities;
}

void Operations::stop_polling() {
  waiting_.stop();
  for (const fuse_req_t request : turns_.take_left()) fuse_reply_err(request, ENODEV);
}

void Operations::leave(WaitingReaders::Kernel kernel) {
  waiting_.leave(kernel);
  (void)turns_.take_left();  // the kernel sends them again
}

void Operations::lookup(fuse_req_t request, NodeId parent, const char* name) {
  if (std::string_view(name).size() > kNameBytesMax) {
    fuse_reply_err(request, ENAMETOOLONG);
    return;
  }
  NodeInfo info;
  bool is_remade = false;
  const auto found = paths_.at_its_path(parent, [&](NodeId directory) -> Result<fuse_entry_param> {
    is_remade = directory != parent;
    const auto named = paths_.find_name(directory, name);
    if (!named) return named.error();
    info = named.value();
    const auto status = attributes_.of(request, info, Attributes::Size::kLastKnown);
    if (!status) return status.error();
    return Attributes::entry(info, status.value());
  });
  if (!found) return reply_error(request, found.error());
  // The kernel lets a directory have one parent, and here it has the old one: it looks up all anew.
  if (is_remade && info.kind == NodeKind::kDirectory) return reply_error(request, gone());
  fuse_reply_entry(request, &found.value());
  if (notifier_ && info.kind == NodeKind::kDirectory) notifier_->has_introduced(info.id);
}

void Operations::reply_attributes(fuse_req_t request, NodeId node,
                                  std::shared_ptr<const OpenFile> open) {
  // An open file keeps its attributes after its name was removed; and fstat(2) does not give its
  // handle.
  auto info = open ? Result<NodeInfo>(open->node) : dependencies_.tree.info(node);
  if (!info) {
    open = handles_.find_node(node);
    if (open) info = open->node;
  }
  if (!info) return reply_attributes_at_path(request, node);
  const auto status = open && open->readable ? attributes_.of_open(*open)
                                             : attributes_.of(request, info.value());
  if (!status) return reply_attributes_at_path(request, node);
  fuse_reply_attr(request, &status.value(), Attributes::seconds(info.value()));
}

// Valid for this once: of changes the kernel is notified by the number of the node that is there
// now, which it does not know.
void Operations::reply_attributes_at_path(fuse_req_t request, NodeId node) {
  const auto status = paths_.at_its_path(
      node, [&](NodeId current) -> Result<struct stat> {
        const auto info = dependencies_.tree.info(current);
        if (!info) return info.error();
        if (info.value().kind == NodeKind::kDirectory) {
          return attributes_.of_seen_directory(info.value());
        }
        return attributes_.of(request, info.value());
      });
  if (!status) return reply_error(request, status.error());
  fuse_reply_attr(request, &status.value(), 0);
}

void Operations::getattr(fuse_req_t request, NodeId node, const fuse_file_info* info) {
  reply_attributes(request, node, info ? handles_.find(info->fh) : nullptr);
}

Result<void> Operations::check_change(const NodeInfo& info, const struct stat& wanted,
                                      int which) const {
  const Error not_permitted{ErrorCode::kNotPermitted, "owners and modes are fixed"};
  const Access access = rights_.access_to(info);
  if ((which & FUSE_SET_ATTR_MODE) && (wanted.st_mode & 07777) != access.permissions) {
    return not_permitted;
  }
  if ((which & FUSE_SET_ATTR_UID) && wanted.st_uid != rights_.owner()) return not_permitted;
  if ((which & FUSE_SET_ATTR_GID) && wanted.st_gid != access.gid) return not_permitted;
  return {};
}

// For a definition: the text that this handle has written so far is dropped, not its effects.
Result<void> Operations::truncate(const NodeInfo& info, off_t size, OpenFile* open,
                                  const CallContext& call) {
  if (!(info.audience.permissions & 0222)) {
    return Error{ErrorCode::kNoAccess, "the file is for reading"};
  }
  if (size != 0) return Error{ErrorCode::kInvalid, "only a size of 0 can be set"};
  const auto file = dependencies_.tree.file(info.id);
  if (!file) return file.error();
  const auto done = file.value()->truncate(call);
  tell_of_truncation(info.id, *file.value());
  if (!done) return done;
  if (open) {
    const MutexLock lock(open->writing);
    open->transaction.restart();
  }
  return {};
}

void Operations::setattr(fuse_req_t request, NodeId node, const struct stat& wanted, int which,
                         const fuse_file_info* file_info) {
  const auto info = paths_.info(node);
  if (!info) return reply_error(request, info.error());
  const auto allowed = check_change(info.value(), wanted, which);
  if (!allowed) return reply_error(request, allowed.error());
  const auto open = file_info ? handles_.find(file_info->fh) : nullptr;
  if (which & FUSE_SET_ATTR_SIZE) {
    if (auto may = rights_.check_writer(request, info.value()); !may) {
      return reply_error(request, may.error());
    }
    barrier_.promote_follower();
    barrier_.drain_feeders();
    const CallContext call = rights_.context(fuse_req_ctx(request)->uid, dependencies_.clock.now(),
                                             cancellation_of(request));
    const auto done = truncate(info.value(), wanted.st_size, open.get(), call);
    if (!done) return reply_error(request, done.error());
  }
  reply_attributes(request, node, open);
}

Result<void> Operations::render_for(OpenFile& open, File& file, const CallContext& call) {
  const auto news = file.news(call.now);
  open.may_have_news = news.has_value();
  if (news) {
    const MutexLock lock(open.reading);
    open.news = open.shown = *news;
  }
  const std::size_t bytes_max = handles_.bytes_left(open.uid, open.shows);
  auto taken = file.take(call, bytes_max);
  if (taken) tell_of_change(open.node.id);
  const auto seen = taken ? std::nullopt : file.version(call.now);
  auto text = taken ? std::move(*taken) : texts_.render(open.node.id, file, seen, bytes_max, call);
  if (!text) return refusal_of_text(text.error());
  open.text = std::move(text.value());
  open.text.shrink_to_fit();
  return {};
}

Result<Operations::Opened> Operations::make_open_file(NodeId node, int flags, uid_t uid,
                                                      const CancellationToken& cancel) {
  auto found = dependencies_.tree.file_node(node);
  if (!found) return found.error();
  auto& [info, file, location] = found.value();
  // The kernel lets root pass; the file itself refuses.
  if (wants_to_write(flags) && !(info.audience.permissions & 0222)) {
    return Error{ErrorCode::kNoAccess, "the file is for reading"};
  }
  const Shows shows = location == kOwnLocation ? Shows::kOwnNumbers : Shows::kAny;
  if (auto room = handles_.check_files(uid, shows); !room) return room.error();
  auto open = std::make_shared<OpenFile>();
  open->node = info;
  open->file = HandleFile(file);
  open->uid = uid;
  open->shows = shows;
  open->readable = (flags & O_ACCMODE) != O_WRONLY;
  open->append = (flags & O_APPEND) != 0;
  open->location = std::move(location);
  // Samples that were sent before the open count before the file is written or read.
  if (file->waits() || (flags & O_TRUNC)) barrier_.promote_follower();
  file->opened(context(cancel));
  CallContext call(barrier_.drain_feeders(file->subject()), cancel);
  auto held = file->hold(access_of(flags), call.now);
  if (!held) return held.error();
  open->held = std::move(held.value());
  if (flags & O_TRUNC) {
    const auto done = file->truncate(rights_.context(uid, dependencies_.clock.now(), cancel));
    tell_of_truncation(info.id, *file);
    if (!done) {
      writes_.report(*open, "(opened with O_TRUNC)", done.error());
      return done.error();
    }
    call.now = dependencies_.clock.now();
  }
  if (open->readable) {
    if (auto done = render_for(*open, *file, call); !done) return done.error();
  }
  // The text may lack records that the cancelled call did not wait for.
  if (file->waits() && cancel.is_cancelled()) {
    return Error{ErrorCode::kInterrupted, "interrupted"};
  }
  return Opened{std::move(open), call.now};
}

// Logged once a second at most, so that no uid can fill the disk; `opens_refused` counts all.
void Operations::note_refused_open(const Error& error, uid_t uid, Timestamp now) {
  dependencies_.counters.count("opens_refused", 1, now);
  auto logged = refusal_logged_.load();
  const auto pause = std::chrono::nanoseconds(kLogPause).count();
  if (logged != 0 && now.monotonic.count() - logged < pause) return;
  if (!refusal_logged_.compare_exchange_strong(logged, now.monotonic.count())) return;
  log_warning("an open by uid " + std::to_string(uid) + " was refused: " + error.reason);
}

bool Operations::open_again(fuse_req_t request, const fuse_file_info& info, std::uint64_t number) {
  const auto handle = open_files_.handle_of(number);
  const auto open = handle ? handles_.find(*handle) : nullptr;
  if (!open) return false;
  reply_open(request, *handle, *open, info);
  return true;
}

void Operations::reply_open(fuse_req_t request, std::uint64_t handle, OpenFile& open,
                            fuse_file_info info) {
  info.fh = handle;
  info.direct_io = 1;
  info.nonseekable = open.file.current()->stream() != nullptr;
  info.noflush = !wants_to_write(info.flags);
  // An interrupted open never gets a release.
  if (fuse_reply_open(request, &info) == -ENOENT) close(handle);
}

void Operations::open(fuse_req_t request, NodeId kernels, fuse_file_info info,
                      std::uint64_t number) {
  const NodeId node = at(kernels);
  auto made = paths_.at_its_path(node, [&](NodeId current) -> Result<Opened> {
    if (wants_to_write(info.flags)) {
      const auto node_info = dependencies_.tree.info(current);
      if (!node_info) return node_info.error();
      const auto may = rights_.check_writer(request, node_info.value());
      if (!may) return may.error();
    }
    return make_open_file(current, info.flags, fuse_req_ctx(request)->uid,
                          cancellation_of(request));
  });
  const auto file = made ? made.value().file : nullptr;
  if (file) {
    file->request = number;
    file->path = dependencies_.tree.path(file->node.id);
    if (file->node.id != kernels) file->kernel_node = kernels;
  }
  const auto handle = made ? handles_.add(file) : made.error();
  const Timestamp now = made ? made.value().now : dependencies_.clock.now();
  if (!handle) {
    if (handle.error().code == ErrorCode::kTooManyFiles) {
      note_refused_open(handle.error(), fuse_req_ctx(request)->uid, now);
    }
    return reply_error(request, handle.error());
  }
  dependencies_.counters.record("open_files", static_cast<std::int64_t>(handles_.size()), 1, now);
  open_files_.keep(handle.value(), *file);
  reply_open(request, handle.value(), *file, info);
}

// malloc_trim() leaves the end of a thread's arena alone, which the copy of a long file was: each
// thread that has served one would keep as much.
void Operations::bound_kept_memory() { ::mallopt(M_ARENA_MAX, kArenasMax); }

void Operations::give_memory_back() {
  if (closed_long_.exchange(false)) ::malloc_trim(0);
}

}  // namespace tallyfs
