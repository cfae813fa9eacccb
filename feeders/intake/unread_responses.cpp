#include "feeders/intake/unread_responses.h"

#include <algorithm>
#include <string_view>

namespace tallyfs {
namespace {

// The kernel reckons so much for a datagram, at most: memory comes in powers of two.
std::size_t cost_of(std::size_t bytes) { return 2 * bytes + 1024; }

}  // namespace

bool UnreadResponses::may_send(uid_t uid, std::size_t bytes) {
  if (ownership_.is_trusted(uid)) return true;
  // Early enough, so that a feeder that is just reading is seen to have read before its share is
  // full.
  if (!has_room(uid, cost_of(bytes) + room_ / kShares / 2)) look();
  return has_room(uid, cost_of(bytes));
}

bool UnreadResponses::has_room(uid_t uid, std::size_t bytes) const {
  const auto found = by_uid_.find(uid);
  const std::size_t held = found == by_uid_.end() ? 0 : found->second;
  const std::size_t of_others = total_ - held;
  const std::size_t of_strangers = room_ - room_ / kShares;
  const std::size_t left = of_strangers - std::min(of_strangers, of_others);
  return held + bytes <= std::max(left / kLeftToOthers, std::min(left, kFew));
}

void UnreadResponses::sent(uid_t uid, std::string_view name, std::size_t bytes) {
  if (ownership_.is_trusted(uid)) return;
  const std::size_t cost = cost_of(bytes);
  Unread& unread = by_name_[std::string(name)];
  // An earlier socket of that name is gone, and its unread answers with it.
  if (unread.uid != uid) {
    forget(unread);
    unread = {.uid = uid};
  }
  unread.bytes += cost;
  by_uid_[uid] += cost;
  total_ += cost;
}

void UnreadResponses::save(ByteWriter& out) const {
  out.put(static_cast<std::uint32_t>(by_name_.size()));
  for (const auto& [name, unread] : by_name_) {
    out.put_text(name);
    out.put(std::uint32_t{unread.uid});
    out.put(std::uint64_t{unread.bytes});
  }
}

void UnreadResponses::load(ByteReader& in) {
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    const std::string name(in.get_text());
    const uid_t uid = in.get<std::uint32_t>();
    const auto bytes = in.get<std::uint64_t>();
    if (!in.ok() || bytes > room_ - total_ || by_name_.contains(name)) return in.fail();
    by_name_[name] = {.uid = uid, .bytes = bytes};
    by_uid_[uid] += bytes;
    total_ += bytes;
  }
}

void UnreadResponses::forget(const Unread& unread) {
  if (unread.bytes == 0) return;
  total_ -= unread.bytes;
  std::size_t& held = by_uid_[unread.uid];
  held -= unread.bytes;
  if (held == 0) by_uid_.erase(unread.uid);
}

// A feeder whose socket is gone or empty has read all. Where the kernel does not tell, no uid is
// held to a share: the bound of all is the kernel's own.
void UnreadResponses::look() {
  const auto begun = clock_.now().monotonic;
  if (begun < next_look_) return;
  for (auto& [name, unread] : by_name_) unread.stays = false;
  look_([this](std::string_view name, UnixSockets::Inbox inbox) {
    const auto found = by_name_.find(std::string(name));
    if (found == by_name_.end()) return;
    found->second.stays = inbox == UnixSockets::Inbox::kHasUnread;
  });
  boost::unordered::erase_if(by_name_, [&](const auto& entry) {
    if (entry.second.stays) return false;
    forget(entry.second);
    return true;
  });
  const auto ended = clock_.now().monotonic;
  next_look_ = ended + std::max<std::chrono::nanoseconds>(kLookPause, kLookShare * (ended - begun));
}

}  // namespace tallyfs
