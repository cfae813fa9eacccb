// Saves and loads open files for a successor in a reload: their numbers, and each file by itself
// (core/state/FORMAT.md, kinds 34 and 35). Confined to the main thread; but for hold_returned(),
// called while there are no requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/saved_object.h"
#include "core/tree/tree.h"
#include "fs/handles.h"

namespace tallyfs {

class OpenFiles {
 public:
  // All outlive this.
  OpenFiles(Handles& handles, const Tree& tree, const Clock& clock)
      : handles_(handles), tree_(tree), clock_(clock) {}

  void save(ObjectSink& sink) const;
  // Whether the numbers of open files can be loaded: without them, those of nodes must not go on.
  static bool can_load(const SavedObject& handles);
  // Called when the tree is as it was. Returns a line for each open file that is left out.
  // kInvalid: nothing was taken, which can_load() rules out.
  Result<std::vector<std::string>> load(const SavedObject& handles,
                                        const std::vector<SavedObject>& files);
  // Called once, when the tree has all that feeders enter again: their open files are held from now
  // on, see File::hold().
  void hold_returned();

 private:
  Handles& handles_;
  const Tree& tree_;
  const Clock& clock_;
  // The open files that the tree did not have when they were loaded.
  std::vector<std::uint64_t> absent_;
};

}  // namespace tallyfs
