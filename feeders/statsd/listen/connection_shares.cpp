#include "feeders/statsd/listen/connection_shares.h"

#include <algorithm>
#include <map>

namespace tallyfs::statsd {

std::size_t choose_giving_way(std::span<const ConnectionOwner> owners,
                              const ConnectionOwner& newcomer) {
  std::map<ConnectionOwner, std::size_t> counts{{newcomer, 1}};
  for (const ConnectionOwner& each : owners) counts[each] += 1;
  std::size_t most = 0;
  for (const auto& [owner, count] : counts) most = std::max(most, count);
  const bool is_own = counts[newcomer] == most && most > 1;
  const auto found = std::ranges::find_if(owners, [&](const ConnectionOwner& each) {
    return is_own ? each == newcomer : counts[each] == most;
  });
  return static_cast<std::size_t>(found - owners.begin());
}

}  // namespace tallyfs::statsd
