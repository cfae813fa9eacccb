// How the name of a metric and its tags become the name of a statistic: `name{k:v,k2}`, tags sorted
// bytewise and each one once. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::statsd {

// Which tags stay, by their keys.
struct TagFilter {
  bool keeps_all = true;
  std::vector<std::string> keep{};  // unless keeps_all
  std::vector<std::string> drop{};

  bool passes(std::string_view tag) const;
};

// The key ends at the first ':'.
inline std::string_view key_of(std::string_view tag) { return tag.substr(0, tag.find(':')); }

// True for a tag that an Agent adds for itself: `dd.internal.*` and `jmx_check_name:*`.
bool is_agents_own(std::string_view tag);

// `{...}` of tags as they were sent, or nothing if none is left. Empty tags and an Agent's own are
// left out, and those that do not pass all filters.
std::string tags_text(const std::vector<std::string_view>& tags,
                      const std::vector<const TagFilter*>& filters);

// Appends the pieces between commas.
void split_tags(std::string_view text, std::vector<std::string_view>& tags);

}  // namespace tallyfs::statsd
