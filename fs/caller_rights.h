// Which callers may do what: the modes that stat shows, and what the kernel lets pass though a
// caller must not have it.
// Thread-safe: immutable.
#pragma once

#include <sys/types.h>

#include "core/base/call_context.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tree/tree.h"
#include "fs/group_access.h"
#include "fs/protocol.h"

namespace tallyfs {

// Whether an open(2) with these flags changes the file.
bool wants_to_write(int flags);

class CallerRights {
 public:
  // Whom the mount belongs to.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    Groups groups = {};
  };

  explicit CallerRights(const Owner& owner) : owner_(owner) {}

  uid_t owner() const { return owner_.uid; }
  // Root and the owner.
  bool is_trusted(uid_t uid) const { return uid == 0 || uid == owner_.uid; }
  // The attributes that stat shows.
  Access access_to(const NodeInfo& info) const;
  // A uid that may not read a file must not make the daemon render it.
  bool may_read(fuse_req_t request, const NodeInfo& info) const;
  // Checks a case that the kernel lets pass: kNoAccess for a reader that is no writer.
  Result<void> check_writer(fuse_req_t request, const NodeInfo& info) const;
  // The context of a call by this user, with the rights that it has.
  CallContext context(uid_t uid, Timestamp now, const CancellationToken& cancel) const;

 private:
  const Owner owner_;
};

}  // namespace tallyfs
