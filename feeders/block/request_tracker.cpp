#include "feeders/block/request_tracker.h"

namespace tallyfs {

// Sectors are multiples of 8 and devices differ in their lower bits: both are spread over the
// word by odd constants before boost mixes it once more.
std::size_t RequestTracker::KeyHash::operator()(const Key& key) const {
  const std::uint64_t who =
      std::uint64_t{key.device} << 8 | static_cast<unsigned char>(key.operation);
  return key.sector * 0x9E3779B97F4A7C15u ^ who * 0xC2B2AE3D27D4EB4Fu;
}

RequestTracker::Key RequestTracker::key_of(const RequestEvent& event) {
  return {event.device, event.operation, event.sector};
}

std::uint32_t& RequestTracker::pending(const Key& key) {
  return pending_[key.device][static_cast<std::size_t>(direction_of(key.operation))];
}

std::optional<std::uint32_t> RequestTracker::issue(const RequestEvent& event) {
  if (free_.empty()) {
    if (slots_.size() >= kInFlightMax) return std::nullopt;
    free_.push_back(static_cast<Slot>(slots_.size()));
    slots_.emplace_back();
  }
  const Slot slot = free_.back();
  free_.pop_back();
  slots_[slot] = {.sectors_left = event.sectors, .bytes = event.bytes, .issued = event.time};
  const Key key = key_of(event);
  append(key, slot);
  return ++pending(key);
}

std::optional<RequestTracker::Finished> RequestTracker::complete(const RequestEvent& event) {
  const Key key = key_of(event);
  const Slot slot = take(key, event);
  if (slot == kNone) return std::nullopt;
  Request& request = slots_[slot];
  if (event.sectors < request.sectors_left) {
    request.sectors_left -= event.sectors;
    append({key.device, key.operation, key.sector + event.sectors}, slot);
    return std::nullopt;
  }
  const Finished finished{.bytes = request.bytes, .latency = event.time - request.issued};
  release(key, slot);
  return finished;
}

void RequestTracker::requeue(const RequestEvent& event) {
  const Key key = key_of(event);
  if (const Slot slot = take(key, event); slot != kNone) release(key, slot);
}

void RequestTracker::forget_all() {
  by_key_.clear();
  slots_.clear();
  free_.clear();
  pending_.clear();
}

void RequestTracker::append(const Key& key, Slot slot) {
  slots_[slot].next = kNone;
  const auto [found, added] = by_key_.try_emplace(key, Chain{slot, slot});
  if (added) return;
  slots_[found->second.last].next = slot;
  found->second.last = slot;
}

void RequestTracker::drop_orphans(const Key& key, Chain& chain, std::chrono::nanoseconds now) {
  while (chain.first != kNone && now - slots_[chain.first].issued > kOrphanedAfter) {
    const Slot orphan = chain.first;
    unlink(chain, orphan);
    release(key, orphan);
    orphaned_ += 1;
  }
}

RequestTracker::Slot RequestTracker::take(const Key& key, const RequestEvent& event) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return kNone;
  drop_orphans(key, found->second, event.time);
  const Slot slot = found->second.first == kNone ? kNone : choose(found->second, event.sectors);
  if (slot != kNone) unlink(found->second, slot);
  if (found->second.first == kNone) by_key_.erase(found);
  return slot;
}

RequestTracker::Slot RequestTracker::choose(const Chain& chain, std::uint32_t sectors) const {
  Slot longer = kNone;
  for (Slot slot = chain.first; slot != kNone; slot = slots_[slot].next) {
    if (slots_[slot].sectors_left == sectors) return slot;
    if (longer == kNone && slots_[slot].sectors_left > sectors) longer = slot;
  }
  return longer != kNone ? longer : chain.first;
}

void RequestTracker::unlink(Chain& chain, Slot slot) {
  const Slot next = slots_[slot].next;
  if (chain.first == slot) {
    chain.first = next;
    return;
  }
  Slot before = chain.first;
  while (slots_[before].next != slot) before = slots_[before].next;
  slots_[before].next = next;
  if (chain.last == slot) chain.last = before;
}

void RequestTracker::release(const Key& key, Slot slot) {
  free_.push_back(slot);
  pending(key) -= 1;
}

}  // namespace tallyfs
