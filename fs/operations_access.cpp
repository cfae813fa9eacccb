// Which callers may do what: the modes that stat shows, and what the kernel lets pass.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fs/operations.h"

namespace tallyfs {
namespace {

constexpr int kGroupsMax = 65'536;  // as many as a process may have

}  // namespace

bool Operations::wants_to_write(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}

Access Operations::access_to(const NodeInfo& info) const {
  if (!owner_.groups.any()) return {info.permissions & ~kForWriteGroup, owner_.gid};
  return access_of(info, parts_.tree.path(info.id), owner_.groups, owner_.gid);
}

CallContext::Rights Operations::rights_of(uid_t uid) const {
  const bool is_owner = uid == 0 || uid == owner_.uid;
  return is_owner ? CallContext::Rights::kOwner : CallContext::Rights::kWriteGroup;
}

// The mode lets all readers write where readers and writers are two groups.
Result<void> Operations::check_writer(fuse_req_t request, const NodeInfo& info) const {
  const fuse_ctx* const caller = fuse_req_ctx(request);
  const bool has_two = owner_.groups.are_two() && is_for_writers(info, parts_.tree.path(info.id));
  if (!has_two || rights_of(caller->uid) == CallContext::Rights::kOwner) return {};
  if (is_in_group(request, *owner_.groups.writers)) return {};
  return Error{ErrorCode::kNoAccess, "this takes a member of --write-group"};
}

bool Operations::is_in_group(fuse_req_t request, gid_t group) {
  if (fuse_req_ctx(request)->gid == group) return true;
  std::vector<gid_t> groups(kGroupsMax);
  const int found = fuse_req_getgroups(request, kGroupsMax, groups.data());
  groups.resize(static_cast<std::size_t>(std::clamp(found, 0, kGroupsMax)));
  return std::ranges::find(groups, group) != groups.end();
}

// A uid that may not read a file must not make the daemon render it.
bool Operations::may_read(fuse_req_t request, const NodeInfo& info) const {
  if (is_trusted(fuse_req_ctx(request)->uid)) return true;
  const Access access = access_to(info);
  if (access.permissions & 0004) return true;
  return (access.permissions & 0040) != 0 && is_in_group(request, access.gid);
}

// Of a file that the caller may not open: without a look at what it shows, which may take long.
struct stat Operations::closed_attributes(const NodeInfo& info, const File& file) const {
  struct stat status = common_attributes(info, info.last_change);
  status.st_mode |= S_IFREG;
  status.st_nlink = 1;
  // The kernel has one size of a file for all callers.
  if (file.page_bytes() > 0) status.st_size = protocol::kPagesSizeBytes;
  return status;
}

Result<struct stat> Operations::attributes(fuse_req_t request, const NodeInfo& info, Size size) {
  if (info.kind == NodeKind::kDirectory) return directory_attributes(info.id);
  const uid_t asking = fuse_req_ctx(request)->uid;
  const auto before = parts_.tree.file(info.id);
  if (before && !may_read(request, info)) return closed_attributes(info, *before.value());
  const Moment now = settle(before ? before.value()->subject() : nullptr);
  const auto file = parts_.tree.file(info.id);
  if (!file) return file.error();
  std::optional<std::size_t> known;
  if (size == Size::kLastKnown && !is_trusted(asking)) {
    known = file.value()->last_length().value_or(0);
  }
  return file_attributes(info, *file.value(), known, asking, now);
}

Result<void> Operations::check_open(fuse_req_t request, NodeId node, int flags) const {
  if (!wants_to_write(flags)) return {};
  const auto info = parts_.tree.info(node);
  return info ? check_writer(request, info.value()) : Result<void>(info.error());
}

}  // namespace tallyfs
