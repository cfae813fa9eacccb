// The access that --group and --write-group give to a group in addition to the owner
// (docs/running.md, "Users and groups"). All other nodes have the owner's group and unchanged
// permissions; where that group is one of the two, as that of the Debian package is, its members
// have no more than others there. Pure functions: any thread.
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/tree/tree.h"

namespace tallyfs {

struct Groups {
  std::optional<gid_t> readers;  // --group
  std::optional<gid_t> writers;  // --write-group

  // A node has one group: where they are two, it is that of the readers.
  bool are_two() const { return readers && writers && *readers != *writers; }
};

// The permissions and the group in a node's attributes.
struct Access {
  unsigned permissions = 0;
  gid_t gid = 0;
};

// owner: the owner's group.
Access access_of(const NodeInfo& node, const Groups& groups, gid_t owner);

}  // namespace tallyfs
