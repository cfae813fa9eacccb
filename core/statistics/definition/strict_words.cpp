#include "core/statistics/definition/strict_words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/nearest.h"

namespace tallyfs::statistics {
namespace {

constexpr std::string_view kMark = "strict=1";
// So much of a word stands in a reason.
constexpr std::size_t kWordBytesShown = 64;

// With those that a definition prints of some types only.
constexpr std::array<std::string_view, 4> kReadOnlyKeys = {"hits_out_of_range", "hits_missed",
                                                           "started", "stopped"};

std::string quoted(std::string_view word) {
  std::string text = "'";
  append_escaped(text, word, kWordBytesShown, 0);
  return text.append("'");
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// [seconds.microseconds]
bool is_time(std::string_view text) {
  constexpr std::size_t kPlaces = 6;
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  text = text.substr(1, text.size() - 2);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  return is_digits(text.substr(0, point)) && is_digits(decimals) && decimals.size() == kPlaces;
}

bool is_as_printed(std::string_view key, std::string_view value) {
  return key.starts_with("hits_") ? is_digits(value) : is_time(value);
}

std::optional<Token> find_mark(std::string_view line) {
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    if (is_strict_mark(token->text)) return token;
  }
  return std::nullopt;
}

// The mark with the blanks that follow it: what is left out of a line.
std::size_t mark_bytes(std::string_view line, std::size_t at) {
  std::size_t end = at + kMark.size();
  while (end < line.size() && is_blank(line[end])) ++end;
  return end - at;
}

}  // namespace

bool is_strict_mark(std::string_view word) { return word == kMark; }

bool has_strict_mark(std::string_view line) { return find_mark(line).has_value(); }

std::string without_strict_mark(std::string_view line) {
  std::string text(line);
  if (const auto mark = find_mark(line)) text.erase(mark->at, mark_bytes(line, mark->at));
  return text;
}

Error without_strict_mark(Error error, std::string_view line) {
  const auto mark = find_mark(line);
  if (!mark) return error;
  const std::size_t bytes = mark_bytes(line, mark->at);
  const bool has_place = error.token_at != Error::kNoToken;
  if (has_place && error.token_at > mark->at) {
    error.token_at -= std::min(bytes, error.token_at - mark->at);
  }
  error.text = without_strict_mark(line);
  return error;
}

bool is_read_only_key(std::string_view key) { return std::ranges::count(kReadOnlyKeys, key) != 0; }

Error StrictWords::unknown(std::string_view key, std::size_t at) const {
  std::string reason = "there is no key " + quoted(key);
  if (const std::string meant = did_you_mean(key, keys_); !meant.empty()) {
    return invalid(reason + meant, at);
  }
  reason.append("; the keys are");
  for (const std::string& each : keys_) reason.append(" ").append(each);
  return invalid(std::move(reason), at);
}

Result<void> StrictWords::take(const Token& word) {
  const std::size_t equals = word.text.find('=');
  if (equals == std::string_view::npos) {
    return invalid(quoted(word.text) + " is no key=value, and values have no blanks", word.at);
  }
  const std::string_view key = word.text.substr(0, equals);
  const std::string_view value = word.text.substr(equals + 1);
  const bool is_data = key == "data";
  if ((is_read_only_key(key) || is_data) && is_as_printed(key, value)) return {};
  if (is_read_only_key(key)) return invalid(std::string(key) + " is read-only", word.at);
  if (!is_strict_mark(word.text) && std::ranges::count(keys_, key) == 0) {
    return unknown(key, word.at);
  }
  if (is_data && value != "reset") return invalid("the only value of data is reset", word.at);
  if (std::ranges::count(seen_, key) != 0) {
    return invalid(std::string(key) + " is given twice", word.at);
  }
  seen_.push_back(key);
  return {};
}

}  // namespace tallyfs::statistics
