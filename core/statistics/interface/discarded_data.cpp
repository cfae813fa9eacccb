#include "core/statistics/interface/discarded_data.h"

#include <utility>

namespace tallyfs::statistics {

const Discarded* DiscardedData::find(const Statistic& statistic) const {
  const auto found = kept_.find(&statistic);
  return found == kept_.end() ? nullptr : found->second.get();
}

void DiscardedData::keep(const Statistic& statistic, Discarded discarded) {
  kept_.insert_or_assign(&statistic, std::make_unique<Discarded>(std::move(discarded)));
}

Discarded DiscardedData::take(const Statistic& statistic) {
  const auto found = kept_.find(&statistic);
  Discarded taken = std::move(*found->second);
  kept_.erase(found);
  return taken;
}

std::uint64_t DiscardedData::forget(const Statistic& statistic) {
  return find(statistic) ? take(statistic).bytes : 0;
}

std::uint64_t DiscardedData::forget_expired(std::chrono::nanoseconds now) {
  std::uint64_t bytes = 0;
  boost::unordered::erase_if(kept_, [&](const auto& each) {
    if (now < each.second->until) return false;
    bytes += each.second->bytes;
    return true;
  });
  return bytes;
}

}  // namespace tallyfs::statistics
