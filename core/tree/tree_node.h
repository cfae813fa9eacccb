// The nodes of a tree, for the files that implement Tree. Guarded by its lock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/tree/tree.h"

namespace tallyfs {

struct Tree::DirectoryPart {
  std::shared_ptr<Directory> rules;   // shared with the rmdir that is just asking them
  std::vector<Node*> children{};      // by id, which is the order in which they came
  std::size_t subdirectories = 0;
};

struct Tree::Node {
  // Shared with the open that is rendering or writing it when the node goes; the last frees it.
  using FilePart = std::shared_ptr<File>;

  NodeId id = 0;
  NodeId parent = 0;
  std::string name;
  unsigned permissions = 0;
  Moment last_change;
  std::variant<std::unique_ptr<DirectoryPart>, FilePart> part;  // on the heap: most are files

  DirectoryPart* directory() {
    const auto* const its = std::get_if<std::unique_ptr<DirectoryPart>>(&part);
    return its ? its->get() : nullptr;
  }
  NodeInfo info() {
    return {.id = id,
            .parent = parent,
            .kind = directory() ? NodeKind::kDirectory : NodeKind::kFile,
            .permissions = permissions,
            .subdirectories = directory() ? directory()->subdirectories : 0,
            .last_change = last_change};
  }
};

}  // namespace tallyfs
