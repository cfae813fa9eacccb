#include "core/blob/rates.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "core/base/int128.h"
#include "core/base/text.h"

namespace tally::blob {
namespace {

using Fault = std::optional<RatesFault>;

// Decimal digits and nothing else, into 32 bits.
bool parse_digits(std::string_view text, std::uint32_t& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

struct Spec {
  std::optional<std::string_view> name;
  std::uint32_t hash = 0;
};

// NULL, or what is wrong.
const char* parse_spec(std::string_view text, Spec& spec) {
  if (text.size() > kSpecBytesMax) return "a template spec has at most 76 bytes";
  std::string_view rest;
  if (!text.empty() && text.front() == '"') {
    const std::size_t mark = text.find('"', 1);
    if (mark == text.npos) return "the name's second \" is missing";
    spec.name = text.substr(1, mark - 1);
    rest = text.substr(mark + 1);
    if (!rest.empty() && rest.front() != ':') return "behind the name comes :HASH or =PERCENT";
  } else {
    const std::size_t colon = text.find(':');
    if (colon != 0 && !text.empty()) spec.name = text.substr(0, colon);
    rest = colon == text.npos ? std::string_view{} : text.substr(colon);
  }
  if (rest.size() > 1 && !parse_digits(rest.substr(1), spec.hash))
    return "a hash is a number of 32 bits";
  return !spec.name && spec.hash == 0 ? "a template has a name or a hash" : nullptr;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const UInt128 product = UInt128{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// 64 evenly distributed bits to 0..99: each number has 2^64/100 of them, to one in 10^17.
unsigned to_hundredth(std::uint64_t bits) {
  return static_cast<unsigned>(UInt128{bits} * 100 >> 64);
}

}  // namespace

std::variant<Rates, RatesFault> parse_rates(std::string_view text, const FindTemplate& find) {
  Rates rates;
  std::uint64_t sum = 0;
  for (std::size_t at = 0;;) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return rates;
    const std::size_t equals = text.find('=', at);
    if (equals == text.npos) return RatesFault{EINVAL, at, "pairs are SPEC=PERCENT"};
    Spec spec;
    if (const char* const reason = parse_spec(text.substr(at, equals - at), spec))
      return RatesFault{EINVAL, at, reason};
    const int id = find(spec.name, spec.hash);
    if (id < 0) return RatesFault{ESRCH, at, "no such template"};

    const std::size_t comma = std::min(text.find(',', equals), text.size());
    std::string_view value = text.substr(equals + 1, comma - equals - 1);
    while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
    std::uint32_t percent = 0;
    if (!parse_digits(value, percent))
      return RatesFault{EINVAL, equals + 1, "a rate is a number of percent"};
    sum += percent;
    if (sum > 100)
      return RatesFault{EINVAL, equals + 1, "rates are 100 percent at most, all together"};
    if (rates.size() == kRatesMax) return RatesFault{EINVAL, at, "too many rates"};
    rates.push_back({id, percent});
    at = std::min(comma + 1, text.size());
  }
}

std::string print_rates(const Rates& rates, const SpecOfTemplate& spec) {
  std::string out;
  for (const stats_tpl_sample_rate& rate : rates) {
    const auto called = spec(rate.tpl_slot_id);
    if (!called) continue;
    if (!out.empty()) out += ',';
    out += *called;
    out += '=';
    append_number(out, std::uint64_t{rate.tpl_sample_pct});
  }
  return out;
}

int choose(const stats_tpl_sample_rate* rates, std::size_t count, unsigned hundredth) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < count; ++i) {
    below += rates[i].tpl_sample_pct;
    if (hundredth < below) return rates[i].tpl_slot_id;
  }
  return -1;
}

// Every bit of the seed reaches every bit of the result by multiplications of 64 by 64 bits, each
// folded into 64.
unsigned hundredth_of_seed(std::string_view seed) {
  constexpr std::uint64_t kOne = 0x9E3779B97F4A7C15, kTwo = 0xD1B54A32D192ED03;
  std::uint64_t hash = mix(seed.size() ^ kOne, kTwo);
  while (!seed.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(seed.size(), sizeof word);
    std::memcpy(&word, seed.data(), taken);
    seed.remove_prefix(taken);
    hash = mix(hash ^ word ^ kOne, (hash + kTwo) | 1);
  }
  hash = mix(hash ^ hash >> 32, kOne);
  return to_hundredth(mix(hash ^ kTwo, hash ^ kOne) ^ hash);
}

// SplitMix64.
unsigned random_hundredth() {
  thread_local std::uint64_t state = [] {
    std::uint64_t seed = 0;
    if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
      seed =
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    return seed;
  }();
  state += 0x9E3779B97F4A7C15;
  std::uint64_t bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return to_hundredth(bits ^ bits >> 31);
}

}  // namespace tally::blob
