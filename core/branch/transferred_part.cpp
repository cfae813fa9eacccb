#include "core/branch/transferred_part.h"

#include <algorithm>

namespace tallyfs {

TransferredFds::TransferredFds(Holder* holder, Received received) : holder_(holder) {
  for (auto& [number, fd] : received) {
    last_number_ = std::max(last_number_, number);
    received_.emplace(number, std::move(fd));
  }
  held_ = received_.size();
}

std::uint32_t TransferredFds::add(int fd) {
  if (fd < 0) return kNone;
  const MutexLock lock(mutex_);
  const auto known = by_fd_.find(fd);
  if (known != by_fd_.end()) return known->second;
  const std::uint32_t number = last_number_ + 1;
  if (holder_ && !hold(number, fd)) return kNone;
  last_number_ = number;
  by_fd_.emplace(fd, number);
  return number;
}

Result<void> TransferredFds::hold(std::uint32_t number, int fd) {
  if (held_ >= holder_->most()) {
    removed_.clear();
    if (held_ > numbers().size()) (void)keep_only_these();
  } else if (held_since_ >= kHeldAtMost) {
    (void)keep_only_these();
  }
  if (held_ >= holder_->most()) return Error{ErrorCode::kNoSpace, "too many files"};
  if (auto held = holder_->hold(number, fd); !held) return held;
  held_ += 1;
  held_since_ += 1;
  return {};
}

Result<void> TransferredFds::keep_only_these() {
  const Numbers all = numbers();
  if (auto kept = holder_->keep_only(all); !kept) return kept;
  held_ = all.size();
  held_since_ = 0;
  return {};
}

void TransferredFds::remove(int fd) {
  const MutexLock lock(mutex_);
  const auto found = by_fd_.find(fd);
  if (found == by_fd_.end()) return;
  removed_.push_back(found->second);
  by_fd_.erase(found);
  has_useless_ = true;
}

// Descriptors of the server before that were not taken are of no use.
void TransferredFds::flush() {
  const MutexLock lock(mutex_);
  if (!has_useless_) return;
  received_.clear();
  removed_.clear();
  has_useless_ = holder_ && !keep_only_these();
}

void TransferredFds::forget_all() {
  const MutexLock lock(mutex_);
  by_fd_.clear();
  received_.clear();
  removed_.clear();
  has_useless_ = holder_ && !keep_only_these();
}

Fd TransferredFds::take(std::uint32_t number) {
  const MutexLock lock(mutex_);
  const auto found = received_.find(number);
  return found == received_.end() ? Fd() : std::move(found->second);
}

void TransferredFds::adopt(std::uint32_t number, int fd) {
  const MutexLock lock(mutex_);
  by_fd_.emplace(fd, number);
}

TransferredFds::Numbers TransferredFds::numbers() const {
  Numbers all = removed_;
  for (const auto& [fd, number] : by_fd_) all.push_back(number);
  for (const auto& [number, fd] : received_) {
    if (fd.valid()) all.push_back(number);
  }
  return all;
}

}  // namespace tallyfs
