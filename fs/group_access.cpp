#include "fs/group_access.h"

namespace tallyfs {

Access access_of(const NodeInfo& node, const Groups& groups, gid_t owner) {
  Access access{node.audience.permissions, owner};
  // Members of the owner's group have what others have, where it is one of the two.
  if (groups.readers == owner || groups.writers == owner) {
    access.permissions &= ~0070u | (access.permissions & 0007u) << 3;
  }
  if (groups.readers && node.audience.readers) {
    const bool is_file = node.kind == NodeKind::kFile;
    access = {is_file ? access.permissions | 0040 : access.permissions & ~0007u, *groups.readers};
  }
  if (groups.writers && node.audience.writers) {
    // The owner's group may be that of the readers.
    const bool is_of_readers = groups.readers && access.gid == *groups.readers;
    access = {access.permissions | 0060, is_of_readers ? *groups.readers : *groups.writers};
  }
  return access;
}

}  // namespace tallyfs
