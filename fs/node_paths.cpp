#include "fs/node_paths.h"

#include <string>

namespace tallyfs {

void NodePaths::look_into(NodeId directory) {
  if (const auto rules = tree_.rules(directory)) rules.value()->entered(clock_.now());
}

Result<NodeInfo> NodePaths::find_name(NodeId parent, std::string_view name) {
  look_into(parent);
  auto found = tree_.lookup(parent, name);
  if (found || found.error().code != ErrorCode::kNotFound) return found;
  barrier_.drain_feeders();
  return tree_.lookup(parent, name);
}

Result<NodeId> NodePaths::follow(const Tree::Path& path) {
  NodeId at = path.from;
  for (const std::string& name : path.names) {
    const auto found = find_name(at, name);
    if (!found) return found.error();
    at = found.value().id;
  }
  return at;
}

Result<NodeId> NodePaths::successor(NodeId node) {
  for (int left = kAttempts; left != 0; --left) {
    const auto path = tree_.path_of(node);
    if (!path) return path.error();
    const auto found = follow(path.value());
    if (found || found.error().code != ErrorCode::kStale) return found;
  }
  return Error{ErrorCode::kNotFound, "it was removed meanwhile"};
}

}  // namespace tallyfs
