// Finds nodes for requests: by name, and those that took the place of removed ones.
//
// A path leads to nodes that the kernel remembers. One may have been removed and made again since
// then, even at this very moment, so that an attempt with it is kStale.
//
// Thread-safe: has no state.
#pragma once

#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tree/tree.h"
#include "fs/request_barrier.h"

namespace tallyfs {

class NodePaths {
 public:
  // All outlive this.
  NodePaths(Tree& tree, RequestBarrier& barrier, const Clock& clock)
      : tree_(tree), barrier_(barrier), clock_(clock) {}

  // A name may be created by a sample that is still in the socket, and by a look into its
  // directory.
  Result<NodeInfo> find_name(NodeId parent, std::string_view name);
  // Tells the directory that it is entered, so that it can make its entries.
  void look_into(NodeId directory);
  // The node, or, if it was removed, the one that has its path now. kNotFound: no node has it.
  // kStale: too many were removed since then.
  Result<NodeId> successor(NodeId node);

  // attempt(node), and, as long as that is kStale, with the node that has its path then. kNotFound:
  // no node has it.
  template <typename Attempt>
  auto at_its_path(NodeId node, Attempt attempt) -> decltype(attempt(node)) {
    auto first = attempt(node);
    if (first || first.error().code != ErrorCode::kStale) return first;
    for (int left = kAttempts; left != 0; --left) {
      const auto current = successor(node);
      if (!current) return current.error();
      auto done = attempt(current.value());
      if (done || done.error().code != ErrorCode::kStale) return done;
    }
    return Error{ErrorCode::kNotFound, "it was removed meanwhile"};
  }
  // The tree's info of the node, by at_its_path().
  Result<NodeInfo> info(NodeId node) {
    return at_its_path(node, [this](NodeId current) { return tree_.info(current); });
  }

 private:
  // How often a request is tried again because its node was removed meanwhile.
  static constexpr int kAttempts = 100;

  Result<NodeId> follow(const Tree::Path& path);

  Tree& tree_;
  RequestBarrier& barrier_;
  const Clock& clock_;
};

}  // namespace tallyfs
