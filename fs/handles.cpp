#include "fs/handles.h"

#include <algorithm>
#include <utility>

namespace tallyfs {

std::shared_ptr<File> HandleFile::current() const {
  if (tree_) {
    if (auto entered = tree_->file(node_)) return std::move(entered.value());
  }
  return file_;
}

std::optional<std::uint64_t> news_of(File& file, Timestamp now) {
  if (const Stream* const stream = file.stream()) return stream->has_some(now) ? 1 : 0;
  return file.news(now);
}

std::size_t Handles::bytes_left(uid_t uid, Shows shows) const {
  const MutexLock lock(mutex_);
  return bytes_left_locked(uid, shows);
}

std::size_t Handles::bytes_left_locked(uid_t uid, Shows shows) const {
  const auto found = held_.find(uid);
  const std::size_t held = found == held_.end() ? 0 : found->second.bytes;
  const auto less = [](std::size_t limit, std::size_t of_it) {
    return limit - std::min(limit, of_it);
  };
  const std::size_t left = std::min(less(limits_.bytes_per_uid, held),
                                    less(reserve_.limit_for(uid, limits_.bytes_total), bytes_));
  return is_beyond_bounds(uid, shows) ? std::max(left, kOwnBytesMax) : left;
}

Result<void> Handles::check_files(uid_t uid, Shows shows) const {
  const MutexLock lock(mutex_);
  return check_files_locked(uid, shows);
}

Result<void> Handles::check_files_locked(uid_t uid, Shows shows) const {
  const auto found = held_.find(uid);
  const std::size_t files = found == held_.end() ? 0 : found->second.files;
  const std::size_t beyond = is_beyond_bounds(uid, shows) ? kOwnFilesMax : 0;
  if (files < limits_.files_per_uid + beyond) return {};
  return Error{ErrorCode::kTooManyFiles, "it has " + std::to_string(files) + " files open"};
}

Result<void> Handles::check_bytes(uid_t uid, Shows shows, std::size_t bytes) const {
  const std::size_t left = bytes_left_locked(uid, shows);
  if (bytes <= left) return {};
  return Error{ErrorCode::kTooManyFiles, "its text of " + std::to_string(bytes) +
                                             " bytes is longer than what is left for it, " +
                                             std::to_string(left)};
}

Result<std::uint64_t> Handles::add(std::shared_ptr<OpenFile> file) {
  const MutexLock lock(mutex_);
  if (const auto room = check_files_locked(file->uid, file->shows); !room) return room.error();
  if (const auto room = check_bytes(file->uid, file->shows, file->text.size()); !room) {
    return room.error();
  }
  count(*file);
  return files_.add(std::move(file));
}

void Handles::count(const OpenFile& file) {
  const std::size_t bytes = file.text.size() + file.later_bytes;
  Held& held = held_[file.uid];
  held.files += 1;
  held.bytes += bytes;
  bytes_ += bytes;
}

Result<void> Handles::replace_later(std::uint64_t handle, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const auto* const found = files_.find(handle);
  if (!found) return Error{ErrorCode::kStale, "it was closed meanwhile"};
  OpenFile& file = **found;
  Held& held = held_[file.uid];
  const std::size_t before = file.later_bytes;
  held.bytes -= before;
  bytes_ -= before;
  const auto room = check_bytes(file.uid, file.shows, bytes);
  file.later_bytes = room ? bytes : before;
  held.bytes += file.later_bytes;
  bytes_ += file.later_bytes;
  return room;
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

void Handles::hold(std::uint64_t handle, std::shared_ptr<const void> held) {
  // The former object is destroyed with the parameter, after the lock is released.
  const MutexLock lock(mutex_);
  const auto* const found = files_.find(handle);
  if (found) std::swap((*found)->held, held);
}

std::size_t Handles::remove(std::uint64_t handle) {
  // Destroyed after the lock is released.
  std::shared_ptr<OpenFile> removed;
  std::shared_ptr<const void> open_mark;
  const MutexLock lock(mutex_);
  removed = files_.remove(handle);
  if (!removed) return 0;
  // Released now, not when the last request that uses it ends: close(2) returns before that.
  open_mark = std::move(removed->held);
  Held& held = held_[removed->uid];
  const std::size_t bytes = removed->text.size() + removed->later_bytes;
  held.files -= 1;
  held.bytes -= bytes;
  bytes_ -= bytes;
  if (held.files == 0) held_.erase(removed->uid);
  return bytes;
}

std::size_t Handles::size() const {
  const MutexLock lock(mutex_);
  return files_.size();
}

}  // namespace tallyfs
