#include "fs/notifier.h"

namespace tally {

Notifier::Notifier(fuse_session* session) : session_(session), thread_([this] { run(); }) {}

Notifier::~Notifier() { stop(); }

void Notifier::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Notifier::gave_attributes(NodeId directory) {
  const std::lock_guard lock(mutex_);
  cached_.insert(directory);
}

void Notifier::entry_removed(NodeId directory, std::string_view name) {
  const std::lock_guard lock(mutex_);
  push({directory, std::string(name)});
}

void Notifier::directory_changed(NodeId directory) {
  const std::lock_guard lock(mutex_);
  if (cached_.erase(directory) != 0) push({directory, {}});
}

void Notifier::push(Notice notice) {
  if (stopping_ || pending_.size() == kPendingMax) return;
  pending_.push_back(std::move(notice));
  changed_.notify_one();
}

void Notifier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (stopping_) return;
    const Notice notice = std::move(pending_.front());
    pending_.pop_front();
    lock.unlock();
    // Failure means that the kernel has nothing cached, which is what is wanted.
    if (notice.name.empty()) {
      fuse_lowlevel_notify_inval_inode(session_, notice.directory, -1, 0);
    } else {
      fuse_lowlevel_notify_inval_entry(session_, notice.directory, notice.name.data(),
                                       notice.name.size());
    }
    lock.lock();
  }
}

}  // namespace tally
