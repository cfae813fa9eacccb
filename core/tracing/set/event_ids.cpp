#include "core/tracing/set/event_ids.h"

#include <algorithm>

namespace tallyfs::tracing {

EventIds::Id EventIds::of(std::string_view system, std::string_view name) {
  Key key{std::string(system), std::string(name)};
  if (Id id = known(key)) return id;
  for (std::size_t tries = 0; tries < kIds; ++tries) {
    const std::size_t at = next_;
    next_ = (next_ + 1) % kIds;
    if (at == holders_.size()) holders_.push_back({.id = {}, .name = by_name_.end()});
    if (holders_[at].id.expired()) return give(at, std::move(key));
  }
  return nullptr;
}

EventIds::Id EventIds::of(std::string_view system, std::string_view name, std::uint16_t id) {
  Key key{std::string(system), std::string(name)};
  if (Id its = known(key)) return its;
  if (id < kFirst) return of(system, name);
  const std::size_t at = id - kFirst;
  while (holders_.size() <= at) holders_.push_back({.id = {}, .name = by_name_.end()});
  if (!holders_[at].id.expired()) return of(system, name);
  // Ids are given again as late as can be, as they were before the restart.
  next_ = std::max(next_, at + 1) % kIds;
  return give(at, std::move(key));
}

EventIds::Id EventIds::known(const Key& key) {
  const auto found = by_name_.find(key);
  if (found == by_name_.end()) return nullptr;
  Holder& holder = holders_[found->second];
  if (Id id = holder.id.lock()) return id;
  holder.name = by_name_.end();
  by_name_.erase(found);
  return nullptr;
}

EventIds::Id EventIds::give(std::size_t at, Key key) {
  Holder& holder = holders_[at];
  if (holder.name != by_name_.end()) by_name_.erase(holder.name);
  Id id = std::make_shared<const std::uint16_t>(static_cast<std::uint16_t>(kFirst + at));
  holder = {.id = id, .name = by_name_.emplace(std::move(key), at).first};
  return id;
}

}  // namespace tallyfs::tracing
