#include "fs/operations.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/text.h"
#include "fs/replies.h"
#include "fs/request_cancellation.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr std::size_t kShortTextBytes = 64 * 1024;
constexpr int kArenasMax = 3;
constexpr std::chrono::seconds kLogPause{1};
// Of the daemon's own numbers.
constexpr std::string_view kOwnLocation = "statistics/tallyfs";

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

double attribute_seconds(const NodeInfo& info) {
  return info.kind == NodeKind::kDirectory ? protocol::kDirectoryAttributeSeconds
                                           : protocol::kFileAttributeSeconds;
}

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

// A text that is longer than most is rendered while another thread serves requests, and so is one
// that tells of all: it takes long even where it is short.
Result<std::string> Operations::render(NodeId node, const File& file,
                                       std::optional<std::uint64_t> version, std::size_t bytes_max,
                                       const CallContext& call) {
  if (version) {
    if (auto kept = texts_.take(node, *version, bytes_max)) return std::move(*kept);
  }
  if (!file.subject()) promote_follower();
  const auto render_up_to = [&](std::size_t most) {
    return version ? file.render_seen(call, most) : file.render(call, most);
  };
  auto text = render_up_to(std::min(bytes_max, kShortTextBytes));
  if (text || bytes_max <= kShortTextBytes) return text;
  promote_follower();
  return render_up_to(bytes_max);
}

// The entries of a directory may be made only when a person looks into it.
void Operations::look_into(NodeId directory) {
  if (const auto rules = parts_.tree.rules(directory)) rules.value()->entered(parts_.clock.now());
}

// A name may be created by a sample that is still in the socket.
Result<NodeInfo> Operations::find_name(NodeId parent, std::string_view name) {
  look_into(parent);
  auto found = parts_.tree.lookup(parent, name);
  if (found || found.error().code != ErrorCode::kNotFound) return found;
  settle();
  return parts_.tree.lookup(parent, name);
}

Result<NodeId> Operations::follow(const Tree::Path& path) {
  NodeId at = path.from;
  for (const std::string& name : path.names) {
    const auto found = find_name(at, name);
    if (!found) return found.error();
    at = found.value().id;
  }
  return at;
}

Result<NodeId> Operations::successor(NodeId node) {
  for (int left = kAttempts; left != 0; --left) {
    const auto path = parts_.tree.path_of(node);
    if (!path) return path.error();
    const auto found = follow(path.value());
    if (found || found.error().code != ErrorCode::kStale) return found;
  }
  return Error{ErrorCode::kNotFound, "it was removed meanwhile"};
}

struct stat Operations::common_attributes(const NodeInfo& info, Moment changed) const {
  struct stat status {};
  status.st_ino = info.id;
  const Access access = access_to(info);
  status.st_uid = owner_.uid;
  status.st_gid = access.gid;
  status.st_blksize = 4096;
  status.st_mode = access.permissions;
  status.st_mtim = status.st_ctim = status.st_atim = to_timespec(changed.realtime);
  return status;
}

Result<struct stat> Operations::directory_attributes(NodeId node) {
  if (!parts_.tree.info(node)) return gone();
  if (notifier_) notifier_->gives_attributes(node);
  const auto info = parts_.tree.info(node);
  if (!info) {
    if (notifier_) notifier_->withholds_attributes(node);
    return info.error();
  }
  return directory_status(info.value());
}

struct stat Operations::directory_status(const NodeInfo& info) const {
  struct stat status = common_attributes(info, info.last_change);
  status.st_mode |= S_IFDIR;
  status.st_nlink = 2 + info.subdirectories;
  return status;
}

// A text that can be kept is rendered, since an open follows as a rule; a longer one is measured.
std::size_t Operations::text_length(const NodeInfo& info, const File& file,
                                    std::optional<std::uint64_t> version, std::size_t bytes_max,
                                    Moment now) {
  auto text = render(info.id, file, version, std::min(bytes_max, TextCache::kBytesMax), now);
  if (!text && bytes_max > TextCache::kBytesMax) {
    const auto length = file.text_length(context(), bytes_max);
    return length ? length.value() : 0;
  }
  const std::size_t length = text ? text.value().size() : 0;
  if (text && version) texts_.keep(info.id, *version, std::move(text.value()));
  return length;
}

// The size is that of the text as it would be rendered now, and 0 for a uid that has not enough
// bytes left for it. A text that takes long is not rendered for users: as many of them as there are
// threads would keep all others waiting.
struct stat Operations::file_attributes(const NodeInfo& info, const File& file,
                                        std::optional<std::size_t> size, uid_t asking, Moment now) {
  const FileState seen = file.look(now);
  if (file.page_bytes() > 0) size = protocol::kPagesSizeBytes;
  if (!size && !is_trusted(asking)) size = file.last_length();
  if (!size) size = text_length(info, file, seen.version, handles_.bytes_left(asking), now);
  struct stat status = common_attributes(info, seen.last_change);
  status.st_mode |= S_IFREG;
  status.st_nlink = 1;
  status.st_size = static_cast<off_t>(*size);
  status.st_blocks = file.page_bytes() > 0 ? 0 : (status.st_size + 511) / 512;
  return status;
}

fuse_entry_param Operations::entry(const NodeInfo& info, const struct stat& attributes) {
  fuse_entry_param entry{};
  entry.ino = info.id;
  entry.attr = attributes;
  entry.entry_timeout = protocol::kEntrySeconds;
  entry.attr_timeout = attribute_seconds(info);
  return entry;
}

void Operations::lookup(fuse_req_t request, NodeId parent, const char* name) {
  if (std::string_view(name).size() > kNameBytesMax) {
    fuse_reply_err(request, ENAMETOOLONG);
    return;
  }
  NodeInfo info;
  bool is_remade = false;
  const auto found = at_its_path(parent, [&](NodeId directory) -> Result<fuse_entry_param> {
    is_remade = directory != parent;
    const auto named = find_name(directory, name);
    if (!named) return named.error();
    info = named.value();
    const auto status = attributes(request, info, Size::kLastKnown);
    if (!status) return status.error();
    return entry(info, status.value());
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
  auto info = open ? Result<NodeInfo>(open->node) : parts_.tree.info(node);
  if (!info) {
    open = handles_.find_node(node);
    if (open) info = open->node;
  }
  if (!info) return reply_attributes_at_path(request, node);
  const auto status = open && open->readable
                          ? file_attributes(info.value(), *open->file, open->text.size(), open->uid,
                                            parts_.clock.now())
                          : attributes(request, info.value());
  if (!status) return reply_attributes_at_path(request, node);
  fuse_reply_attr(request, &status.value(), attribute_seconds(info.value()));
}

// Valid for this once: of changes the kernel is notified by the number of the node that is there
// now, which it does not know.
void Operations::reply_attributes_at_path(fuse_req_t request, NodeId node) {
  const auto status = at_its_path(
      node, [&](NodeId current) -> Result<struct stat> {
        const auto info = parts_.tree.info(current);
        if (!info) return info.error();
        if (info.value().kind == NodeKind::kDirectory) return directory_status(info.value());
        return attributes(request, info.value());
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
  const Access access = access_to(info);
  if ((which & FUSE_SET_ATTR_MODE) && (wanted.st_mode & 07777) != access.permissions) {
    return not_permitted;
  }
  if ((which & FUSE_SET_ATTR_UID) && wanted.st_uid != owner_.uid) return not_permitted;
  if ((which & FUSE_SET_ATTR_GID) && wanted.st_gid != access.gid) return not_permitted;
  return {};
}

// For a definition: the text that this handle has written so far is dropped, not its effects.
Result<void> Operations::truncate(const NodeInfo& info, off_t size, OpenFile* open,
                                  const CallContext& call) {
  if (!(info.permissions & 0222)) return Error{ErrorCode::kNoAccess, "the file is for reading"};
  if (size != 0) return Error{ErrorCode::kInvalid, "only a size of 0 can be set"};
  const auto file = parts_.tree.file(info.id);
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
  const auto info = at_its_path(node, [&](NodeId current) { return parts_.tree.info(current); });
  if (!info) return reply_error(request, info.error());
  const auto allowed = check_change(info.value(), wanted, which);
  if (!allowed) return reply_error(request, allowed.error());
  const auto open = file_info ? handles_.find(file_info->fh) : nullptr;
  if (which & FUSE_SET_ATTR_SIZE) {
    if (auto may = check_writer(request, info.value()); !may) {
      return reply_error(request, may.error());
    }
    promote_follower();
    settle();
    const CallContext call = context(cancellation_of(request), fuse_req_ctx(request)->uid);
    const auto done = truncate(info.value(), wanted.st_size, open.get(), call);
    if (!done) return reply_error(request, done.error());
  }
  reply_attributes(request, node, open);
}

Result<void> Operations::render_for(OpenFile& open, const CallContext& call) {
  const auto news = open.file->news(call.now);
  open.may_have_news = news.has_value();
  if (news) {
    const MutexLock lock(open.reading);
    open.news = open.shown = *news;
  }
  const std::size_t bytes_max = handles_.bytes_left(open.uid, open.shows);
  auto taken = open.file->take(call, bytes_max);
  if (taken) tell_of_change(open.node.id);
  const auto seen = taken ? std::nullopt : open.file->version(call.now);
  auto text = taken ? std::move(*taken) : render(open.node.id, *open.file, seen, bytes_max, call);
  if (!text) return Error{ErrorCode::kTooManyFiles, text.error().reason};
  open.text = std::move(text.value());
  open.text.shrink_to_fit();
  return {};
}

Result<Operations::Opened> Operations::make_open_file(NodeId node, int flags, uid_t uid,
                                                      const CancellationToken& cancel) {
  auto found = parts_.tree.file_node(node);
  if (!found) return found.error();
  auto& [info, file, location] = found.value();
  // The kernel lets root pass; the file itself refuses.
  if (wants_to_write(flags) && !(info.permissions & 0222)) {
    return Error{ErrorCode::kNoAccess, "the file is for reading"};
  }
  const Shows shows = location == kOwnLocation ? Shows::kOwnNumbers : Shows::kAny;
  if (auto room = handles_.check_files(uid, shows); !room) return room.error();
  auto open = std::make_shared<OpenFile>();
  open->node = info;
  open->file = std::move(file);
  open->uid = uid;
  open->shows = shows;
  open->readable = (flags & O_ACCMODE) != O_WRONLY;
  open->append = (flags & O_APPEND) != 0;
  open->location = std::move(location);
  // Samples that were sent before the open count before the file is written or read.
  if (open->file->waits() || (flags & O_TRUNC)) promote_follower();
  open->file->opened(context(cancel));
  CallContext call(settle(open->file->subject()), cancel);
  auto held = open->file->hold(access_of(flags), call.now);
  if (!held) return held.error();
  open->held = std::move(held.value());
  if (flags & O_TRUNC) {
    const auto done = open->file->truncate(context(cancel, uid));
    tell_of_truncation(info.id, *open->file);
    if (!done) {
      report(*open, "(opened with O_TRUNC)", done.error());
      return done.error();
    }
    call.now = parts_.clock.now();
  }
  if (open->readable) {
    if (auto done = render_for(*open, call); !done) return done.error();
  }
  // The text may lack records that the cancelled call did not wait for.
  if (open->file->waits() && cancel.is_cancelled()) {
    return Error{ErrorCode::kInterrupted, "interrupted"};
  }
  return Opened{std::move(open), call.now};
}

// Logged once a second at most, so that no uid can fill the disk; `opens_refused` counts all.
void Operations::note_refused_open(const Error& error, uid_t uid, Moment now) {
  parts_.counters.count(DaemonCounter::kOpensRefused, 1, now);
  auto logged = refusal_logged_.load();
  const auto pause = std::chrono::nanoseconds(kLogPause).count();
  if (logged != 0 && now.monotonic.count() - logged < pause) return;
  if (!refusal_logged_.compare_exchange_strong(logged, now.monotonic.count())) return;
  log_warning("an open by uid " + std::to_string(uid) + " was refused: " + error.reason);
}

void Operations::open(fuse_req_t request, NodeId node, fuse_file_info info) {
  auto made = at_its_path(node, [&](NodeId current) -> Result<Opened> {
    if (auto may = check_open(request, current, info.flags); !may) return may.error();
    return make_open_file(current, info.flags, fuse_req_ctx(request)->uid,
                          cancellation_of(request));
  });
  const bool is_stream = made && made.value().file->file->is_stream();
  const auto handle = made ? handles_.add(std::move(made.value().file)) : made.error();
  const Moment now = made ? made.value().now : parts_.clock.now();
  if (!handle) {
    if (handle.error().code == ErrorCode::kTooManyFiles) {
      note_refused_open(handle.error(), fuse_req_ctx(request)->uid, now);
    }
    return reply_error(request, handle.error());
  }
  parts_.counters.record(DaemonCounter::kOpenFiles, static_cast<std::int64_t>(handles_.size()), 1,
                         now);
  info.fh = handle.value();
  info.direct_io = 1;
  info.nonseekable = is_stream;
  info.noflush = !wants_to_write(info.flags);
  // An interrupted open never gets a release.
  if (fuse_reply_open(request, &info) == -ENOENT) handles_.remove(handle.value());
}

// malloc_trim() leaves the end of a thread's arena alone, which the copy of a long file was: each
// thread that has served one would keep as much.
void Operations::bound_kept_memory() { ::mallopt(M_ARENA_MAX, kArenasMax); }

void Operations::give_memory_back() {
  if (closed_long_.exchange(false)) ::malloc_trim(0);
}

}  // namespace tallyfs
