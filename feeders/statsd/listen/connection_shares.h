// Which connection of a full listener gives way to a further one: that which has been idle longest,
// of the user with most. So a user with many connections shuts out no others. Pure functions.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>

namespace tallyfs::statsd {

// The user at the other end. Nothing: the kernel does not say, as of TCP; these share one part.
using ConnectionOwner = std::optional<uid_t>;

// The index of the connection that gives way to one of the newcomer. owners: of the connections,
// idle longest first; at least one. Among users with equally many, counting the newcomer's, it is
// the newcomer's own if there is one.
std::size_t choose_giving_way(std::span<const ConnectionOwner> owners,
                              const ConnectionOwner& newcomer);

}  // namespace tallyfs::statsd
