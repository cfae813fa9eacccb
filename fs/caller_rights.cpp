#include "fs/caller_rights.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

namespace tallyfs {
namespace {

constexpr int kGroupsMax = 65'536;  // as many as a process may have

bool is_in_group(fuse_req_t request, gid_t group) {
  if (fuse_req_ctx(request)->gid == group) return true;
  std::vector<gid_t> groups(kGroupsMax);
  const int found = fuse_req_getgroups(request, kGroupsMax, groups.data());
  groups.resize(static_cast<std::size_t>(std::clamp(found, 0, kGroupsMax)));
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace

bool wants_to_write(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}

Access CallerRights::access_to(const NodeInfo& info) const {
  return access_of(info, owner_.groups, owner_.gid);
}

// The mode lets all readers write where readers and writers are two groups.
Result<void> CallerRights::check_writer(fuse_req_t request, const NodeInfo& info) const {
  const bool has_two = owner_.groups.are_two() && info.audience.writers;
  if (!has_two || is_trusted(fuse_req_ctx(request)->uid)) return {};
  if (is_in_group(request, *owner_.groups.writers)) return {};
  return Error{ErrorCode::kNoAccess, "this takes a member of --write-group"};
}

bool CallerRights::may_read(fuse_req_t request, const NodeInfo& info) const {
  if (is_trusted(fuse_req_ctx(request)->uid)) return true;
  const Access access = access_to(info);
  if (access.permissions & 0004) return true;
  return (access.permissions & 0040) != 0 && is_in_group(request, access.gid);
}

CallContext CallerRights::context(uid_t uid, Timestamp now, const CancellationToken& cancel) const {
  CallContext call(now, cancel);
  call.rights = is_trusted(uid) ? CallContext::Rights::kOwner : CallContext::Rights::kWriteGroup;
  call.uid = uid;
  return call;
}

}  // namespace tallyfs
