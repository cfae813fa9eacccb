// What the server before of the same mount has left in a reload: the objects of a state file, those
// of the mount, which no file on a disk has (core/state/FORMAT.md), and descriptors. A value,
// confined to its holder.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/branch/handed_part.h"
#include "core/branch/saved_object.h"
#include "core/state/state_file.h"
#include "fs/daemon/pages.h"
#include "fs/keeper/handover.h"

namespace tallyfs {

class Predecessor {
 public:
  // Nothing: it has left nothing. What it left is taken, and is not there for another server.
  // kInvalid: it cannot be read.
  static std::optional<Result<Predecessor>> read(Handover& handover);

  // Without the objects of the mount.
  const StateFile& file() const { return file_; }
  // Those that its objects name.
  HandedDescriptors& descriptors() { return descriptors_; }
  // Once. Nothing: it had no pages, or is of an older version, which leaves none. kInvalid.
  std::optional<Result<Pages>> take_pages(const Pages::Layout& layout);
  // Of the mount's objects the only one of its kind; nullptr: there is none.
  const SavedObject* find(SavedKind kind) const;
  std::vector<SavedObject> open_files() const;

 private:
  Predecessor(HandedBytes bytes, StateFile file, std::vector<Fd> descriptors);

  HandedBytes bytes_;  // which the objects point into
  StateFile file_;
  std::vector<SavedObject> of_mount_;
  std::size_t received_;  // descriptors
  HandedDescriptors descriptors_;
};

}  // namespace tallyfs
