// What --group and --write-group open to a group beside the owner (docs/running.md, "Users and
// groups"). All other nodes have the owner's group and their permissions as they are.
// Pure functions: any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "core/tree/tree.h"

namespace tallyfs {

struct Groups {
  std::optional<gid_t> readers;  // --group
  std::optional<gid_t> writers;  // --write-group

  bool all_read_metrics = false;  // -o metrics_readable

  bool any() const { return readers || writers; }
  // A node has one group: where they are two, it is that of the readers.
  bool are_two() const { return readers && writers && *readers != *writers; }
};

// What a node's attributes say.
struct Access {
  unsigned permissions = 0;
  gid_t gid = 0;
};

// path: of the node in the whole tree, "statistics/web/data". owner: the owner's group.
Access access_of(const NodeInfo& node, std::string_view path, const Groups& groups, gid_t owner);

// Whether members of --write-group may write the file, or remove what is in the directory.
bool is_for_writers(const NodeInfo& node, std::string_view path);

}  // namespace tallyfs
