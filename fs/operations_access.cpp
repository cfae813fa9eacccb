// Which callers may do what: the modes that stat shows, and what the kernel lets pass.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
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
  const gid_t writers = *owner_.groups.writers;
  if (caller->gid == writers) return {};
  std::vector<gid_t> groups(kGroupsMax);
  const int found = fuse_req_getgroups(request, kGroupsMax, groups.data());
  groups.resize(static_cast<std::size_t>(std::clamp(found, 0, kGroupsMax)));
  if (std::ranges::find(groups, writers) != groups.end()) return {};
  return Error{ErrorCode::kNoAccess, "this takes a member of --write-group"};
}

// A uid that may not read a file must not make the daemon render it.
bool Operations::may_read(const NodeInfo& info, uid_t uid) const {
  return is_trusted(uid) || (access_to(info).permissions & 0044) != 0;
}

// Of a file that the caller may not open: without a look at what it shows, which may take long.
struct stat Operations::closed_attributes(const NodeInfo& info) const {
  struct stat status = common_attributes(info, info.last_change);
  status.st_mode |= S_IFREG;
  status.st_nlink = 1;
  return status;
}

Result<void> Operations::check_open(fuse_req_t request, NodeId node, int flags) const {
  if (!wants_to_write(flags)) return {};
  const auto info = parts_.tree.info(node);
  return info ? check_writer(request, info.value()) : Result<void>(info.error());
}

}  // namespace tallyfs
