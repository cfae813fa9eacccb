// Nodes by their paths, looked up as the kernel does, and writes into them.
#pragma once

#include <string_view>

#include "core/tree/tree.h"

namespace tallyfs::tracing {

// The node at `path` below a directory.
inline Result<NodeInfo> find_node(const Tree& tree, NodeId directory, std::string_view path,
                                  Timestamp now) {
  for (;;) {
    const std::string_view name = path.substr(0, path.find('/'));
    tree.rules(directory).value()->entered(now);
    const auto found = tree.lookup(directory, name);
    if (!found || name.size() == path.size()) return found;
    path.remove_prefix(name.size() + 1);
    directory = found.value().id;
  }
}

// What process 77 writes with one write(2).
inline Result<void> write_file(File& file, std::string_view text, const CallContext& call) {
  Marker* const marker = file.marker();
  return marker ? marker->write(77, text, call) : file.write_line(text, call);
}

}  // namespace tallyfs::tracing
