#include "core/base/quantile_list.h"

#include <algorithm>

namespace tallyfs {
namespace {

constexpr std::size_t kWholeDigits = 2;  // below 100
constexpr std::size_t kPlaces = 4;
constexpr std::uint32_t kPerPercent = 10'000;

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::uint32_t number(std::string_view digits, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value = value * 10 + (i < digits.size() ? static_cast<std::uint32_t>(digits[i] - '0') : 0);
  }
  return value;
}

// `99.9` as 999,000; nothing unless it is above 0 and has no more digits than allowed.
std::optional<std::uint32_t> parse_millionths(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const bool is_cut_off = point != text.size() && decimals.empty();
  if (whole.empty() || whole.size() > kWholeDigits || decimals.size() > kPlaces || is_cut_off ||
      !is_digits(whole) || !is_digits(decimals)) {
    return std::nullopt;
  }
  const std::uint32_t value = number(whole, whole.size()) * kPerPercent + number(decimals, kPlaces);
  if (value == 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<QuantileList> QuantileList::parse(std::string_view text) {
  auto content = std::make_unique<Content>();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto millionths = parse_millionths(text.substr(at, end - at));
    if (!millionths || content->size == kBound) return std::nullopt;
    const std::size_t i = content->size++;
    if (i != 0 && *millionths <= content->millionths[i - 1]) return std::nullopt;
    content->millionths[i] = *millionths;
    content->label_at[i] = static_cast<std::uint8_t>(at);
    content->label_bytes[i] = static_cast<std::uint8_t>(end - at);
    at = end + 1;
  }
  content->text = text;
  QuantileList list;
  list.content_ = std::move(content);
  return list;
}

std::string QuantileList::number(std::size_t i) const {
  std::string text = std::to_string(kPerPercent + millionths(i) % kPerPercent);
  text[0] = '.';
  text.erase(text.find_last_not_of('0') + 1);
  if (text.size() == 1) text.clear();
  return text.insert(0, std::to_string(millionths(i) / kPerPercent));
}

}  // namespace tallyfs
