#include "fs/handles.h"

#include <algorithm>
#include <utility>

namespace tally {

std::size_t Handles::bytes_left(uid_t uid) const {
  const MutexLock lock(mutex_);
  return bytes_left_locked(uid);
}

std::size_t Handles::bytes_left_locked(uid_t uid) const {
  const auto found = held_.find(uid);
  if (found != held_.end() && found->second.files >= limits_.files_per_uid) return 0;
  const std::size_t held = found == held_.end() ? 0 : found->second.bytes;
  return std::min(limits_.bytes_per_uid - held, limits_.bytes_total - bytes_);
}

Result<void> Handles::check_room(const OpenFile& file) const {
  const auto refusal = [&](const std::string& what) -> Result<void> {
    return Error{ErrorCode::kTooManyFiles, what};
  };
  const auto found = held_.find(file.uid);
  if (found != held_.end() && found->second.files >= limits_.files_per_uid) {
    return refusal("it has " + std::to_string(limits_.files_per_uid) + " files open");
  }
  const std::size_t left = bytes_left_locked(file.uid);
  if (file.text.size() <= left) return {};
  return refusal("its text of " + std::to_string(file.text.size()) +
                 " bytes is longer than what is left for it, " + std::to_string(left));
}

Result<std::uint64_t> Handles::add(std::shared_ptr<OpenFile> file) {
  const MutexLock lock(mutex_);
  if (const auto room = check_room(*file); !room) return room.error();
  Held& held = held_[file->uid];
  held.files += 1;
  held.bytes += file->text.size();
  bytes_ += file->text.size();
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

std::size_t Handles::remove(std::uint64_t handle) {
  std::shared_ptr<OpenFile> removed;  // dies after the lock
  const MutexLock lock(mutex_);
  removed = files_.remove(handle);
  if (!removed) return 0;
  Held& held = held_[removed->uid];
  held.files -= 1;
  held.bytes -= removed->text.size();
  bytes_ -= removed->text.size();
  if (held.files == 0) held_.erase(removed->uid);
  return removed->text.size();
}

std::size_t Handles::size() const {
  const MutexLock lock(mutex_);
  return files_.size();
}

}  // namespace tally
