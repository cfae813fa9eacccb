// The users that a node is open to (docs/running.md, "Users and groups"): the part that adds the
// node says so, and the FUSE adapter shows it. A value.
#pragma once

namespace tallyfs {

struct Audience {
  // The bits of a mode for the owner, the owner's group and others.
  unsigned permissions = 0;
  // Members of --group may read the file, or enter the directory, which others then may not.
  bool readers = false;
  // Members of --write-group may write the file, or remove what is in the directory.
  bool writers = false;

  bool operator==(const Audience&) const = default;
};

}  // namespace tallyfs
