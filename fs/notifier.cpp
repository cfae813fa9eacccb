#include "fs/notifier.h"

namespace tally {

Notifier::Notifier(fuse_session* session, NodeId root)
    : session_(session), root_(root), thread_([this] { run(); }) {}

Notifier::~Notifier() { stop(); }

void Notifier::stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  told_changed_.notify_all();
  thread_.join();
}

void Notifier::gives_attributes(NodeId directory) {
  const MutexLock lock(mutex_);
  cached_.insert(directory);
}

void Notifier::withholds_attributes(NodeId directory) {
  const MutexLock lock(mutex_);
  cached_.erase(directory);
}

std::size_t Notifier::given() const {
  const MutexLock lock(mutex_);
  return cached_.size();
}

void Notifier::has_introduced(NodeId directory) {
  const MutexLock lock(mutex_);
  if (!cached_.contains(directory)) push(directory);
}

void Notifier::entry_removed(NodeId, std::string_view, NodeId removed) {
  const MutexLock lock(mutex_);
  cached_.erase(removed);
  push(removed);
}

void Notifier::directory_changed(NodeId directory) {
  const MutexLock lock(mutex_);
  // One for which there is no room is still cached, and its next change is told.
  if (cached_.contains(directory) && push(directory)) cached_.erase(directory);
}

bool Notifier::push(NodeId node) {
  if (stopping_ || pending_.size() == kPendingMax) return false;
  pending_.push_back(node);
  pushed_ += 1;
  changed_.notify_one();
  return true;
}

void Notifier::settle() {
  const auto until = std::chrono::steady_clock::now() + kSettleMax;
  const MutexLock lock(mutex_);
  const std::uint64_t all = pushed_;
  while (!stopping_ && told_ < all) {
    if (told_changed_.wait_until(mutex_, until) == std::cv_status::timeout) return;
  }
}

std::optional<NodeId> Notifier::wait_for_notice() {
  const MutexLock lock(mutex_);
  while (!stopping_ && pending_.empty()) changed_.wait(mutex_);
  if (stopping_) return std::nullopt;
  const NodeId node = pending_.front();
  pending_.pop_front();
  return node;
}

void Notifier::run() {
  while (const auto node = wait_for_notice()) {
    // Failure means that the kernel has nothing cached, which is what is wanted.
    fuse_lowlevel_notify_inval_inode(session_, *node == root_ ? Tree::kRoot : *node, -1, 0);
    const MutexLock lock(mutex_);
    told_ += 1;
    told_changed_.notify_all();
  }
}

}  // namespace tally
