// Reads every file of a tree. Confined to one thread.
#pragma once

#include <cstddef>

#include "core/tree/tree.h"

namespace tallyfs::fuzz {

inline void show_all(Tree& tree, NodeId directory, Timestamp now) {
  constexpr std::size_t kTextMax = 4u << 20;
  if (const auto rules = tree.rules(directory)) rules.value()->entered(now);
  const auto entries = tree.list(directory, 0, 1000);
  if (!entries) return;
  for (const NodeEntry& entry : entries.value()) {
    if (entry.info.kind == NodeKind::kDirectory) {
      show_all(tree, entry.info.id, now);
    } else if (const auto file = tree.file(entry.info.id)) {
      (void)file.value()->render(now, kTextMax);
    }
  }
}

}  // namespace tallyfs::fuzz
