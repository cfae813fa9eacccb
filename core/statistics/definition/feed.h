// Which uids may feed an interface: all of them, or its owner, root and the daemon's uid alone.
// Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tallyfs::statistics {

enum class Feed : std::uint8_t { kAny, kOwner };

// It is of the interface, so no definition line has it.
inline constexpr std::string_view kFeedKey = "feed=";

constexpr std::string_view spelled(Feed feed) { return feed == Feed::kAny ? "any" : "owner"; }

constexpr std::optional<Feed> parse_feed(std::string_view value) {
  for (const Feed feed : {Feed::kAny, Feed::kOwner}) {
    if (value == spelled(feed)) return feed;
  }
  return std::nullopt;
}

}  // namespace tallyfs::statistics
