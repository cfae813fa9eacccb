#include "fs/notifier.h"

#include <cerrno>
#include <utility>

namespace tallyfs {

Notifier::Notifier(fuse_session* session, NodeId root)
    : Notifier([session, root](NodeId node) {
        const NodeId number = node == root ? Tree::kRoot : node;
        return fuse_lowlevel_notify_inval_inode(session, number, -1, 0) != -ENOENT;
      }) {}

Notifier::Notifier(Tell tell) : tell_(std::move(tell)), thread_([this] { run(); }) {}

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
  if (!cached_.contains(directory)) push({directory, Given::kYes});
}

void Notifier::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  std::map<NodeId, bool> known;  // whether a notice is left
  for (const NodeId directory : cached_) known[directory] = false;
  for (const Notice& notice : pending_) known[notice.node] = true;
  for (const auto& [when, notice] : repeated_) known[notice.node] = true;
  out.put(static_cast<std::uint32_t>(known.size()));
  for (const auto& [node, is_left] : known) {
    out.put(std::uint64_t{node});
    out.put(static_cast<std::uint8_t>(is_left));
  }
}

Result<std::vector<NodeId>> Notifier::resume(std::string_view saved) {
  ByteReader in(saved);
  std::vector<NodeId> known, left;
  for (auto count = in.get<std::uint32_t>(); count != 0 && in.ok(); --count) {
    known.push_back(in.get<std::uint64_t>());
    if (in.get_flag()) left.push_back(known.back());
  }
  if (!in.ok() || in.left() != 0) {
    return Error{ErrorCode::kInvalid, "these are no directories that the kernel knows"};
  }
  const MutexLock lock(mutex_);
  cached_.insert(known.begin(), known.end());
  return left;
}

void Notifier::entry_removed(NodeId, std::string_view, NodeId removed) {
  const MutexLock lock(mutex_);
  const bool was_given = cached_.erase(removed) != 0;
  push({removed, was_given ? Given::kYes : Given::kNo});
}

void Notifier::directory_changed(NodeId directory) {
  const MutexLock lock(mutex_);
  // One for which there is no room is still cached, and its next change is told.
  if (cached_.contains(directory) && push({directory, Given::kYes})) cached_.erase(directory);
}

bool Notifier::push(const Notice& notice) {
  if (pending_.size() == kPendingMax) return false;
  pending_.push_back(notice);
  pushed_ += 1;
  changed_.notify_one();
  return true;
}

void Notifier::wait_for_notices() {
  const auto until = std::chrono::steady_clock::now() + kSettleMax;
  const MutexLock lock(mutex_);
  const std::uint64_t all = pushed_;
  while (!stopping_ && told_ < all) {
    if (told_changed_.wait_until(mutex_, until) == std::cv_status::timeout) return;
  }
}

std::optional<Notifier::Notice> Notifier::wait_for_notice() {
  const MutexLock lock(mutex_);
  while (!stopping_ && pending_.empty()) {
    if (repeated_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const auto first = repeated_.begin();
    if (std::chrono::steady_clock::now() >= first->first) {
      return repeated_.extract(first).mapped();
    }
    changed_.wait_until(mutex_, Time(first->first));
  }
  if (stopping_) return std::nullopt;
  const Notice notice = pending_.front();
  pending_.pop_front();
  return notice;
}

void Notifier::has_told(Notice notice, bool is_known) {
  const MutexLock lock(mutex_);
  if (notice.repeats == 0) told_ += 1;
  told_changed_.notify_all();
  const bool is_over = is_known || notice.given == Given::kNo || notice.repeats == kRepeats.size();
  if (is_over || repeated_.size() == kPendingMax) return;
  const Time when = std::chrono::steady_clock::now() + kRepeats[notice.repeats];
  notice.repeats += 1;
  repeated_.emplace(when, notice);
}

// A failure but for a node that is not there means that the kernel has nothing cached.
void Notifier::run() {
  while (const auto notice = wait_for_notice()) has_told(*notice, tell_(notice->node));
}

}  // namespace tallyfs
