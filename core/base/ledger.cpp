#include "core/base/ledger.h"

#include <algorithm>
#include <string>

namespace tallyfs {
namespace {

struct Bound {
  std::uint64_t Holdings::*what;
  const char* name;
};
constexpr Bound kBounds[] = {{&Holdings::interfaces, "interfaces"},
                             {&Holdings::statistics, "statistics"},
                             {&Holdings::bytes, "bytes of data"}};

// The first bound that held + more would pass, or nothing.
const Bound* passed(const Holdings& held, const Holdings& more, const Holdings& limit) {
  for (const Bound& bound : kBounds) {
    // Root may have passed the limit of others.
    const std::uint64_t room = limit.*bound.what - std::min(held.*bound.what, limit.*bound.what);
    if (more.*bound.what > room) return &bound;
  }
  return nullptr;
}

Error refusal(const Bound& bound, const Holdings& limit, const std::string& whose) {
  return {ErrorCode::kNoSpace, "the limit of " + std::to_string(limit.*bound.what) + " " +
                                   bound.name + " " + whose + " is reached"};
}

}  // namespace

Result<void> Ledger::reserve(uid_t uid, const Holdings& more) {
  const MutexLock lock(mutex_);
  Holdings limit;
  for (const Bound& bound : kBounds) {
    limit.*bound.what = reserve_.limit_for(uid, limits_.total.*bound.what);
  }
  if (const Bound* bound = passed(total_, more, limit)) {
    return refusal(*bound, limit,
                   reserve_.is_for(uid) ? "for the whole daemon" : "for all uids but root");
  }
  const auto found = by_uid_.find(uid);
  const Holdings held = found == by_uid_.end() ? Holdings{} : found->second;
  if (const Bound* bound = passed(held, more, limits_.per_uid)) {
    return refusal(*bound, limits_.per_uid, "for uid " + std::to_string(uid));
  }
  Holdings& entry = by_uid_[uid];
  for (const Bound& bound : kBounds) {
    entry.*bound.what += more.*bound.what;
    total_.*bound.what += more.*bound.what;
  }
  return {};
}

void Ledger::release(uid_t uid, const Holdings& less) {
  const MutexLock lock(mutex_);
  Holdings& entry = by_uid_[uid];
  std::uint64_t left = 0;
  for (const Bound& bound : kBounds) {
    entry.*bound.what -= less.*bound.what;
    total_.*bound.what -= less.*bound.what;
    left += entry.*bound.what;
  }
  if (left == 0) by_uid_.erase(uid);
}

Holdings Ledger::total() const {
  const MutexLock lock(mutex_);
  return total_;
}

}  // namespace tallyfs
