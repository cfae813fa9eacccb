#include "core/stats3/blob/rates.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/base/int128.h"
#include "core/base/text.h"

namespace tallyfs::stats3::blob {
namespace {

std::string_view without_blanks_before(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// The digits that a text begins with, behind blanks and a plus sign; 0 if there are none, nothing
// if they are no number of 32 bits. What follows them is left in `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::string_view digits = without_blanks_before(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) return std::nullopt;
  if (error == std::errc{}) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// All of a text as a rate.
bool parse_percent(std::string_view text, std::uint32_t& percent) {
  const std::size_t before = text.size();
  const auto number = take_number(text);
  if (!number || text.size() == before || !without_blanks_before(text).empty()) return false;
  percent = *number;
  return true;
}

struct Spec {
  std::optional<std::string_view> name;
  std::optional<std::uint32_t> hash;  // 0: any; nothing: a number that no hash can be
};

// Where :HASH begins: a name between marks may have colons of its own.
std::size_t hash_mark(std::string_view text) {
  const std::size_t end = text.starts_with('"') ? text.find('"', 1) : text.npos;
  return text.find(':', end == text.npos ? 0 : end);
}

// Parses as FreeBSD does: marks may be missing, and only the leading digits of the hash count.
// Returns NULL, or the fault.
const char* parse_spec(std::string_view text, Spec& spec) {
  if (text.size() > kSpecBytesMax) return "a template spec has at most 76 bytes";
  const std::size_t colon = std::min(hash_mark(text), text.size());
  std::string_view name = text.substr(0, colon),
                   hash = text.substr(std::min(colon + 1, text.size()));
  if (name.empty() && hash.empty()) return "a template has a name or a hash";
  spec.hash = take_number(hash);
  const bool is_marked = name.starts_with('"');
  if (is_marked) name.remove_prefix(1);
  if (name.ends_with('"')) name.remove_suffix(1);
  // "" is the template without a name, unless a hash says which.
  if (!name.empty() || (is_marked && spec.hash == 0u)) spec.name = name;
  return nullptr;
}

// The result of `find`, which is not called for an impossible spec.
int find_spec(const Spec& spec, const FindTemplate& find) {
  if (!spec.hash || (!spec.name && *spec.hash == 0)) return -ESRCH;
  return find(spec.name, *spec.hash);
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

Result<Rates> parse_rates(std::string_view text, const FindTemplate& find, std::size_t rates_max) {
  Rates rates;
  std::uint64_t sum = 0;
  for (std::size_t at = 0;;) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return rates;
    const std::size_t equals = text.find('=', at);
    if (equals == text.npos) return invalid("pairs are SPEC=PERCENT", at);
    Spec spec;
    if (const char* const reason = parse_spec(text.substr(at, equals - at), spec))
      return invalid(reason, at);
    const std::size_t comma = std::min(text.find(',', equals), text.size());
    std::uint32_t percent = 0;
    if (!parse_percent(text.substr(equals + 1, comma - equals - 1), percent))
      return invalid("a rate is a number of percent", equals + 1);
    sum += percent;
    if (sum > 100) return invalid("rates are 100 percent at most, all together", equals + 1);
    if (rates.size() == rates_max) return invalid("too many rates", at);
    const int id = find_spec(spec, find);
    if (id < 0) return Error{ErrorCode::kNoTemplate, "no such template", at};
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

namespace {

// Counts up in each child of a fork, which has its parent's generators.
std::atomic<std::uint32_t> g_forks{1};

[[gnu::constructor]] void watch_forks() {
  (void)::pthread_atfork(nullptr, nullptr, [] { g_forks += 1; });
}

std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) {
    seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
           static_cast<std::uint64_t>(::getpid()) << 32;
  }
  return seed;
}

}  // namespace

// SplitMix64.
unsigned random_hundredth() {
  thread_local std::uint64_t state = 0;
  thread_local std::uint32_t seeded_in = 0;
  const std::uint32_t forks = g_forks.load(std::memory_order_relaxed);
  if (std::exchange(seeded_in, forks) != forks) {
    state = fresh_seed();
  }
  state += 0x9E3779B97F4A7C15;
  std::uint64_t bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return to_hundredth(bits ^ bits >> 31);
}

}  // namespace tallyfs::stats3::blob
