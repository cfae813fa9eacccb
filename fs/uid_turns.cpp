#include "fs/uid_turns.h"

#include <algorithm>
#include <iterator>

namespace tallyfs {

std::optional<UidTurns::Waiting> UidTurns::next_after(uid_t done) {
  const MutexLock lock(mutex_);
  const auto it = uids_.find(done);
  --it->second.at_work;
  --at_work_;
  const auto is_ready = [](const auto& each) {
    return !each.second.waiting.empty() && each.second.at_work < kAtOnceMax;
  };
  auto next = uids_.end();
  if (!is_over_) {
    const auto behind = std::next(it);
    next = std::find_if(behind, uids_.end(), is_ready);
    if (next == uids_.end()) {
      next = std::find_if(uids_.begin(), behind, is_ready);
      if (next == behind) next = uids_.end();
    }
  }
  std::optional<Waiting> taken;
  if (next != uids_.end()) {
    taken = std::move(next->second.waiting.front());
    next->second.waiting.pop_front();
    ++next->second.at_work;
    ++at_work_;
  }
  if (it->second.at_work == 0 && it->second.waiting.empty()) uids_.erase(it);
  return taken;
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
