#include "feeders/statsd/series/series_name.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::statsd {
namespace {

void append_percent(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
}

// `character` is one of UTF-8.
bool is_plain(std::string_view character) {
  constexpr std::string_view kOurs = "%{},/=~";
  return is_units(character) && (character.size() > 1 || kOurs.find(character) == kOurs.npos);
}

bool has(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

void append_encoded(std::string& out, std::string_view text) {
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && is_plain(character)) {
      out.append(character);
    } else {
      append_percent(out, character);
    }
    text.remove_prefix(character.size());
  }
}

std::string encoded_name(std::string_view name) {
  std::string out;
  if (name == "." || name == "..") {
    append_percent(out, name);
  } else {
    append_encoded(out, name);
  }
  return out;
}

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
