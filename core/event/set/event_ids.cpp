#include "core/event/set/event_ids.h"

namespace tallyfs {

EventIds::Id EventIds::of(std::string_view system, std::string_view name) {
  std::pair key{std::string(system), std::string(name)};
  if (const auto found = by_name_.find(key); found != by_name_.end()) {
    Holder& holder = holders_[found->second];
    if (Id id = holder.id.lock()) return id;
    holder.name = by_name_.end();
    by_name_.erase(found);
  }
  for (std::size_t tries = 0; tries < kIds; ++tries) {
    const std::size_t at = next_;
    next_ = (next_ + 1) % kIds;
    if (at == holders_.size()) holders_.push_back({.id = {}, .name = by_name_.end()});
    Holder& holder = holders_[at];
    if (!holder.id.expired()) continue;
    if (holder.name != by_name_.end()) by_name_.erase(holder.name);
    Id id = std::make_shared<const std::uint16_t>(static_cast<std::uint16_t>(kFirst + at));
    holder = {.id = id, .name = by_name_.emplace(std::move(key), at).first};
    return id;
  }
  return nullptr;
}

}  // namespace tallyfs
