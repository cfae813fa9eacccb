#include "fs/handles.h"

namespace tally {

Result<std::uint64_t> Handles::add(std::shared_ptr<OpenFile> file) {
  const MutexLock lock(mutex_);
  const auto found = held_.find(file->uid);
  const Held before = found == held_.end() ? Held{} : found->second;
  if (before.files >= limits_.files_per_uid ||
      file->text.size() > limits_.bytes_per_uid - before.bytes) {
    return Error{ErrorCode::kNoSpace, "too many open files, or bytes in them, for this uid"};
  }
  held_[file->uid] = {before.files + 1, before.bytes + file->text.size()};
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  slots_[index].file = std::move(file);
  return std::uint64_t{slots_[index].generation} << 32 | index;
}

const Handles::Slot* Handles::slot(std::uint64_t handle) const {
  const auto index = static_cast<std::uint32_t>(handle);
  if (index >= slots_.size() || slots_[index].generation != handle >> 32) return nullptr;
  return &slots_[index];
}

std::shared_ptr<OpenFile> Handles::find(std::uint64_t handle) const {
  const MutexLock lock(mutex_);
  const Slot* const found = slot(handle);
  return found ? found->file : nullptr;
}

std::shared_ptr<OpenFile> Handles::find_node(NodeId node) const {
  const MutexLock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.file && slot.file->node.id == node) return slot.file;
  }
  return nullptr;
}

void Handles::remove(std::uint64_t handle) {
  std::shared_ptr<OpenFile> removed;  // dies after the lock
  const MutexLock lock(mutex_);
  const auto index = static_cast<std::uint32_t>(handle);
  if (!slot(handle) || !slots_[index].file) return;
  removed = std::move(slots_[index].file);
  slots_[index].file = nullptr;
  slots_[index].generation += 1;
  free_.push_back(index);
  Held& held = held_[removed->uid];
  held.files -= 1;
  held.bytes -= removed->text.size();
  if (held.files == 0) held_.erase(removed->uid);
}

std::size_t Handles::size() const {
  const MutexLock lock(mutex_);
  return slots_.size() - free_.size();
}

}  // namespace tally
