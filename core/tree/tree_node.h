// The nodes of a Tree, private to the files that implement it. Guarded by the tree's lock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/tree/tree.h"

namespace tallyfs {

struct Tree::DirectoryPart {
  std::shared_ptr<Directory> rules;   // shared with an rmdir that is calling it
  std::vector<Node*> children{};      // by id, which is the order of their creation
  std::size_t subdirectories = 0;
};

struct Tree::Node {
  // Shared with an open that renders or writes it while the node is removed; the last frees it.
  using FilePart = std::shared_ptr<File>;

  NodeId id = 0;
  NodeId parent = 0;
  std::string name;
  Audience audience;
  Timestamp last_change;
  std::variant<std::unique_ptr<DirectoryPart>, FilePart> part;  // on the heap: most are files

  DirectoryPart* directory() {
    const auto* const its = std::get_if<std::unique_ptr<DirectoryPart>>(&part);
    return its ? its->get() : nullptr;
  }
  NodeInfo info() {
    return {.id = id,
            .parent = parent,
            .kind = directory() ? NodeKind::kDirectory : NodeKind::kFile,
            .audience = audience,
            .subdirectories = directory() ? directory()->subdirectories : 0,
            .last_change = last_change};
  }
};

}  // namespace tallyfs
