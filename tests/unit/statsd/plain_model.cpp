#include "tests/unit/statsd/plain_model.h"

#include <algorithm>
#include <map>

namespace tallyfs::statsd {
namespace {

std::vector<std::string> plain_split(const std::string& text, char at) {
  std::vector<std::string> pieces{""};
  for (const char c : text) {
    if (c == at) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

bool all_digits(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct PlainNumber {
  bool is_negative = false;
  std::string whole;
  std::string decimals;
};

std::optional<PlainNumber> plain_number(std::string text) {
  PlainNumber number;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    number.is_negative = text[0] == '-';
    text.erase(0, 1);
  }
  int exponent = 0;
  if (const auto e = text.find_first_of("eE"); e != text.npos) {
    std::string digits = text.substr(e + 1);
    const bool is_down = !digits.empty() && digits[0] == '-';
    if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.erase(0, 1);
    if (digits.empty() || !all_digits(digits)) return std::nullopt;
    exponent = (is_down ? -1 : 1) * std::stoi(digits.substr(0, 6));
    text.erase(e);
  }
  const auto sides = plain_split(text, '.');
  if (sides.size() > 2) return std::nullopt;
  number.whole = sides[0];
  number.decimals = sides.size() == 2 ? sides[1] : "";
  if (number.whole.empty() && number.decimals.empty()) return std::nullopt;
  if (!all_digits(number.whole) || !all_digits(number.decimals)) return std::nullopt;
  for (; exponent > 0; --exponent) {
    if (number.decimals.empty()) number.decimals = "0";
    number.whole += number.decimals[0];
    number.decimals.erase(0, 1);
  }
  for (; exponent < 0; ++exponent) {
    if (number.whole.empty()) number.whole = "0";
    number.decimals.insert(0, 1, number.whole.back());
    number.whole.pop_back();
  }
  return number;
}

std::string without_zeros(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits.empty() ? "0" : digits;
}

std::string plus_one(std::string digits) {
  digits.insert(0, 1, '0');
  auto at = digits.rbegin();
  for (; *at == '9'; ++at) *at = '0';
  *at = static_cast<char>(*at + 1);
  return digits;
}

std::optional<std::string> plain_x(PlainNumber number, int scale) {
  for (; scale > 0; --scale) {
    if (number.decimals.empty()) number.decimals = "0";
    number.whole += number.decimals[0];
    number.decimals.erase(0, 1);
  }
  std::string x = without_zeros(number.whole);
  std::string rest = number.decimals;
  while (!rest.empty() && rest.back() == '0') rest.pop_back();
  const bool is_odd = (x.back() - '0') % 2 == 1;
  if (rest > "5" || (rest == "5" && is_odd)) x = without_zeros(plus_one(x));
  const std::string most = number.is_negative ? "9223372036854775808" : "9223372036854775807";
  if (x.size() > most.size() || (x.size() == most.size() && x > most)) return std::nullopt;
  return number.is_negative && x != "0" ? "-" + x : x;
}

// 1/rate without its rest.
std::optional<std::uint64_t> plain_weight(const std::string& text) {
  auto number = plain_number(text);
  if (!number || number->is_negative) return std::nullopt;
  constexpr std::uint64_t kOne = 1'000'000'000'000'000'000;
  const auto parts = plain_x(*number, 18);  // of 10^-18
  if (!parts) return std::nullopt;
  const std::uint64_t rate = std::stoull(*parts);
  if (rate == 0 || rate > kOne) return std::nullopt;
  return kOne / rate;
}

const std::map<std::string, std::string> kTypes{{"c", "c"}, {"m", "c"},  {"g", "g"}, {"ms", "t"},
                                                {"h", "h"}, {"kv", "h"}, {"d", "h"}, {"s", "s"}};
const std::map<std::string, int> kScales{{"c", 0}, {"g", 3}, {"t", 3}, {"h", 6}};

bool add_samples(PlainMetric& metric, const std::string& type, const std::string& values,
                 std::uint64_t weight) {
  std::size_t count = 0;
  for (const auto& value : type == "s" ? std::vector{values} : plain_split(values, ':')) {
    if (value.empty()) continue;
    ++count;
    if (type == "s") {
      metric.samples.push_back({type, value, 1});
      continue;
    }
    const auto number = plain_number(value);
    const auto x = number ? plain_x(*number, kScales.at(type)) : std::nullopt;
    if (!x || (type == "t" && x->front() == '-')) return false;
    metric.samples.push_back({type, *x, type == "g" ? 1 : weight});
  }
  return count != 0;
}

// The line's part that begins at pieces[at], whose values are given. Moves `at` behind it, and sets
// `next` to the values of the part behind it, if there is one.
bool read_plain_part(PlainMetric& metric, const std::vector<std::string>& pieces, std::size_t& at,
                     const std::string& values, std::optional<std::string>& next) {
  next.reset();
  if (at >= pieces.size()) return false;
  const auto cut = [&](std::string text) {
    const auto colon = text.find(':');
    if (colon != text.npos) next = text.substr(colon + 1);
    return text.substr(0, colon);
  };
  const auto type = kTypes.find(cut(pieces[at++]));
  if (type == kTypes.end()) return false;
  std::uint64_t weight = 1;
  if (!next && at < pieces.size() && pieces[at].starts_with("@")) {
    const auto own = plain_weight(cut(pieces[at++].substr(1)));
    if (!own) return false;
    weight = *own;
  }
  // A rate may stand in a field, too; the last one counts.
  for (std::size_t each = at; !next && each < pieces.size(); ++each) {
    if (!pieces[each].starts_with("@")) continue;
    const auto other = plain_weight(pieces[each].substr(1));
    if (!other) return false;
    weight = *other;
  }
  return add_samples(metric, type->second, values, weight);
}

}  // namespace

std::optional<PlainMetric> plain_parse(const std::string& line) {
  PlainMetric metric;
  const auto pieces = plain_split(line, '|');
  const auto colon = pieces[0].find(':');
  if (pieces.size() < 2 || colon == 0 || colon == std::string::npos) return std::nullopt;
  metric.name = pieces[0].substr(0, colon);
  std::optional<std::string> values = pieces[0].substr(colon + 1);
  std::size_t at = 1;
  while (values) {
    std::optional<std::string> next;
    if (!read_plain_part(metric, pieces, at, *values, next)) return std::nullopt;
    values = next;
  }
  for (; at < pieces.size(); ++at) {
    if (pieces[at].starts_with("#")) metric.tags = pieces[at].substr(1);
    if (!pieces[at].starts_with("T")) continue;
    const std::string seconds = pieces[at].substr(1);
    if (!all_digits(seconds) || without_zeros(seconds) == "0" || seconds.size() > 18) {
      return std::nullopt;
    }
  }
  return metric;
}

}  // namespace tallyfs::statsd
