// What the server before of the same mount has left in a reload: the objects of a state file, and
// those of the mount, which no file on a disk has (core/state/FORMAT.md). A value, confined to its
// holder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/branch/saved_object.h"
#include "core/branch/transferred_part.h"
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
  // Of the mount's objects the only one of its kind; nullptr: there is none.
  const SavedObject* find(SavedKind kind) const;
  std::vector<SavedObject> open_files() const;

 private:
  Predecessor(TransferredBytes bytes, StateFile file);

  TransferredBytes bytes_;  // which the objects point into
  StateFile file_;
  std::vector<SavedObject> of_mount_;
};

// Descriptors as the keeper holds them.
class HeldInQueue final : public TransferredFds::Holder {
 public:
  explicit HeldInQueue(const DescriptorQueue& queue) : queue_(queue) {}

  Result<void> hold(std::uint32_t number, int fd) override { return queue_.hold(number, fd); }
  std::size_t most() const override { return DescriptorQueue::most(); }
  Result<void> keep_only(std::span<const std::uint32_t> numbers) override {
    return queue_.keep_only(numbers);
  }

 private:
  const DescriptorQueue& queue_;
};

// Of the server before, that of its objects. Nothing: it had no pages. kInvalid.
std::optional<Result<Pages>> take_pages(const StateFile& file, const Pages::Layout& layout,
                                        TransferredFds& descriptors);

}  // namespace tallyfs
