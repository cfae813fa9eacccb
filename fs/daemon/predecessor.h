// What the server before of the same mount has left in a reload: the objects of a state file, and
// those of the mount, which no file on a disk has (core/state/FORMAT.md). A value, confined to its
// holder.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/branch/saved_object.h"
#include "core/state/state_file.h"
#include "fs/keeper/handover.h"

namespace tallyfs {

class Predecessor {
 public:
  // Nothing: it has left nothing. What it left is taken, and is not there for another server.
  // kInvalid: it cannot be read.
  static std::optional<Result<Predecessor>> read(Handover& handover);

  // Without the objects of the mount.
  const StateFile& file() const { return file_; }
  // Of the mount's objects the only one of its kind; nullptr: there is none.
  const SavedObject* find(SavedKind kind) const;
  std::vector<SavedObject> open_files() const;

 private:
  Predecessor(HandedBytes bytes, StateFile file);

  HandedBytes bytes_;  // which the objects point into
  StateFile file_;
  std::vector<SavedObject> of_mount_;
};

}  // namespace tallyfs
