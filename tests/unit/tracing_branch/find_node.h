// Nodes by their paths, looked up as the kernel does.
#pragma once

#include <string_view>

#include "core/tree/tree.h"

namespace tallyfs {

// The node at `path` below a directory.
inline Result<NodeInfo> find_node(const Tree& tree, NodeId directory, std::string_view path,
                                  Moment now) {
  for (;;) {
    const std::string_view name = path.substr(0, path.find('/'));
    tree.rules(directory).value()->entered(now);
    const auto found = tree.lookup(directory, name);
    if (!found || name.size() == path.size()) return found;
    path.remove_prefix(name.size() + 1);
    directory = found.value().id;
  }
}

}  // namespace tallyfs
