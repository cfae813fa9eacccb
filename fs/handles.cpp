#include "fs/handles.h"

namespace tally {

std::size_t Handles::bytes_left(uid_t uid) const {
  const MutexLock lock(mutex_);
  const auto found = held_.find(uid);
  if (found == held_.end()) return limits_.bytes_per_uid;
  if (found->second.files >= limits_.files_per_uid) return 0;
  return limits_.bytes_per_uid - found->second.bytes;
}

Result<std::uint64_t> Handles::add(std::shared_ptr<OpenFile> file) {
  const MutexLock lock(mutex_);
  const auto found = held_.find(file->uid);
  const Held before = found == held_.end() ? Held{} : found->second;
  if (before.files >= limits_.files_per_uid ||
      file->text.size() > limits_.bytes_per_uid - before.bytes) {
    return Error{ErrorCode::kTooManyFiles, "too many open files, or bytes in them, for this uid"};
  }
  held_[file->uid] = {before.files + 1, before.bytes + file->text.size()};
  return files_.add(std::move(file));
}

std::shared_ptr<OpenFile> Handles::find(std::uint64_t handle) const {
  const MutexLock lock(mutex_);
  const auto* const found = files_.find(handle);
  return found ? *found : nullptr;
}

std::shared_ptr<OpenFile> Handles::find_node(NodeId node) const {
  const MutexLock lock(mutex_);
  const auto* const found =
      files_.find_if([node](const OpenFile& file) { return file.node.id == node; });
  return found ? *found : nullptr;
}

void Handles::remove(std::uint64_t handle) {
  std::shared_ptr<OpenFile> removed;  // dies after the lock
  const MutexLock lock(mutex_);
  removed = files_.remove(handle);
  if (!removed) return;
  Held& held = held_[removed->uid];
  held.files -= 1;
  held.bytes -= removed->text.size();
  if (held.files == 0) held_.erase(removed->uid);
}

std::size_t Handles::size() const {
  const MutexLock lock(mutex_);
  return files_.size();
}

}  // namespace tally
