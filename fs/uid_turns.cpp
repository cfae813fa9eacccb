#include "fs/uid_turns.h"

namespace tallyfs {

std::optional<UidTurns::Waiting> UidTurns::next_of(uid_t uid) {
  const MutexLock lock(mutex_);
  const auto found = uids_.find(uid);
  OfUid& of = found->second;
  if (of.waiting.empty() || is_over_) {
    if (--of.at_work == 0 && of.waiting.empty()) uids_.erase(found);
    return std::nullopt;
  }
  Waiting next = std::move(of.waiting.front());
  of.waiting.pop_front();
  return next;
}

void UidTurns::end() {
  const MutexLock lock(mutex_);
  is_over_ = true;
}

std::vector<fuse_req_t> UidTurns::take_left() {
  const MutexLock lock(mutex_);
  std::vector<fuse_req_t> left;
  for (const auto& [uid, of] : uids_) {
    for (const Waiting& each : of.waiting) left.push_back(each.request);
  }
  uids_.clear();
  return left;
}

}  // namespace tallyfs
