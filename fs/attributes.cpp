#include "fs/attributes.h"

#include <chrono>

#include "fs/replies.h"
#include "fs/request_cancellation.h"

namespace tallyfs {
namespace {

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

bool gives_pages(File& file) {
  const Stream* const stream = file.stream();
  return stream && stream->page_bytes() > 0;
}

}  // namespace

double Attributes::seconds(const NodeInfo& info) {
  return info.kind == NodeKind::kDirectory ? protocol::kDirectoryAttributeSeconds
                                           : protocol::kFileAttributeSeconds;
}

fuse_entry_param Attributes::entry(const NodeInfo& info, const struct stat& attributes) {
  fuse_entry_param entry{};
  entry.ino = info.id;
  entry.attr = attributes;
  entry.entry_timeout = protocol::kEntrySeconds;
  entry.attr_timeout = seconds(info);
  return entry;
}

struct stat Attributes::common(const NodeInfo& info, Timestamp changed) const {
  struct stat status {};
  status.st_ino = info.id;
  const Access access = dependencies_.rights.access_to(info);
  status.st_uid = dependencies_.rights.owner();
  status.st_gid = access.gid;
  status.st_blksize = 4096;
  status.st_mode = access.permissions;
  status.st_mtim = status.st_ctim = status.st_atim = to_timespec(changed.realtime);
  return status;
}

Result<struct stat> Attributes::of_directory(NodeId node) {
  if (!dependencies_.tree.info(node)) return gone();
  if (notifier_) notifier_->gives_attributes(node);
  const auto info = dependencies_.tree.info(node);
  if (!info) {
    if (notifier_) notifier_->withholds_attributes(node);
    return info.error();
  }
  return of_seen_directory(info.value());
}

struct stat Attributes::of_seen_directory(const NodeInfo& info) const {
  struct stat status = common(info, info.last_change);
  status.st_mode |= S_IFDIR;
  status.st_nlink = 2 + info.subdirectories;
  return status;
}

// The size is that of the text as it would be rendered now, and 0 for a uid that has not enough
// bytes left for it. A text that takes long is not rendered for users: as many of them as there are
// threads would keep all others waiting.
struct stat Attributes::of_file(const NodeInfo& info, File& file, std::optional<std::size_t> size,
                                uid_t asking, const CallContext& call) {
  const FileState seen = file.state(call.now);
  const bool is_paged = gives_pages(file);
  if (is_paged) size = protocol::kPagesSizeBytes;
  if (!size && !dependencies_.rights.is_trusted(asking)) size = file.last_length();
  if (!size) {
    const std::size_t bytes_left = dependencies_.handles.bytes_left(asking);
    size = dependencies_.texts.length(info.id, file, seen.version, bytes_left, call);
  }
  struct stat status = common(info, seen.last_change);
  status.st_mode |= S_IFREG;
  status.st_nlink = 1;
  status.st_size = static_cast<off_t>(*size);
  status.st_blocks = is_paged ? 0 : (status.st_size + 511) / 512;
  return status;
}

// A file that the caller may not open: without a look at what it shows, which may take long.
struct stat Attributes::of_closed(const NodeInfo& info, File& file) const {
  struct stat status = common(info, info.last_change);
  status.st_mode |= S_IFREG;
  status.st_nlink = 1;
  // The kernel has one size of a file for all callers.
  if (gives_pages(file)) status.st_size = protocol::kPagesSizeBytes;
  return status;
}

struct stat Attributes::of_open(const OpenFile& open) {
  return of_file(open.node, *open.file.current(), open.text.size(), open.uid,
                 dependencies_.clock.now());
}

Result<struct stat> Attributes::of(fuse_req_t request, const NodeInfo& info, Size size) {
  if (info.kind == NodeKind::kDirectory) return of_directory(info.id);
  const uid_t asking = fuse_req_ctx(request)->uid;
  const auto before = dependencies_.tree.file(info.id);
  if (before && !dependencies_.rights.may_read(request, info))
    return of_closed(info, *before.value());
  const Timestamp now =
      dependencies_.barrier.drain_feeders(before ? before.value()->subject() : nullptr);
  const auto file = dependencies_.tree.file(info.id);
  if (!file) return file.error();
  std::optional<std::size_t> known;
  if (size == Size::kLastKnown && !dependencies_.rights.is_trusted(asking)) {
    known = file.value()->last_length().value_or(0);
  }
  return of_file(info, *file.value(), known, asking, CallContext(now, cancellation_of(request)));
}

}  // namespace tallyfs
