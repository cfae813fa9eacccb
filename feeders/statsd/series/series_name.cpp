#include "feeders/statsd/series/series_name.h"

#include <algorithm>

#include "core/base/encoded_name.h"

namespace tallyfs::statsd {
namespace {

bool has(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

bool TagFilter::passes(std::string_view tag) const {
  const std::string_view key = key_of(tag);
  return (keeps_all || has(keep, key)) && !has(drop, key);
}

bool is_agents_own(std::string_view tag) {
  return tag.starts_with("dd.internal.") || tag.starts_with("jmx_check_name:");
}

std::string tags_text(const std::vector<std::string_view>& tags,
                      const std::vector<const TagFilter*>& filters) {
  std::vector<std::string> kept;
  for (const std::string_view tag : tags) {
    const bool passes = std::all_of(filters.begin(), filters.end(),
                                    [tag](const TagFilter* each) { return each->passes(tag); });
    if (tag.empty() || is_agents_own(tag) || !passes) continue;
    std::string& text = kept.emplace_back();
    if (tag == "*") {
      append_percent(text, tag);
    } else {
      append_encoded(text, tag);
    }
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  std::string out;
  for (const std::string& tag : kept) {
    out.push_back(out.empty() ? '{' : ',');
    out.append(tag);
  }
  if (!out.empty()) out.push_back('}');
  return out;
}

void split_tags(std::string_view text, std::vector<std::string_view>& tags) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    tags.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace tallyfs::statsd
