// What the server before has left in a reload: the objects of a state file (core/state/FORMAT.md),
// and those that only a running mount has. A value, confined to its holder.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/branch/saved_object.h"
#include "core/state/state_file.h"
#include "fs/keeper/handover.h"

namespace tallyfs {

class HandedState {
 public:
  // Nothing: none was left, or it cannot be read, which the log says.
  static std::optional<HandedState> take(Handover& handover);

  // The objects of the branches.
  const StateFile& branches() const { return branches_; }
  // Of the others, the only one of its kind; nullptr: there is none.
  const SavedObject* find(SavedKind kind) const;

 private:
  HandedState(HandedBytes bytes, StateFile file);

  HandedBytes bytes_;  // which the objects point into
  StateFile branches_;
  std::vector<SavedObject> others_;
};

}  // namespace tallyfs
