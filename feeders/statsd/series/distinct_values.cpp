#include "feeders/statsd/series/distinct_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "core/base/keyed_hash.h"

namespace tallyfs::statsd {
namespace {

constexpr unsigned kPrecision = 12;
constexpr std::size_t kRegisters = std::size_t{1} << kPrecision;
constexpr unsigned kRankMax = 64 - kPrecision + 1;
constexpr std::size_t kSlotsMin = 16;

// Ertl's sigma and tau, section 4: the shares of registers at 0 and at the highest rank.
double sigma(double x) {
  double y = 1;
  double z = x;
  for (double before = -1; z != before; y += y) {
    x *= x;
    before = z;
    z += x * y;
  }
  return z;
}

double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1;
  double z = 1 - x;
  for (double before = -1; z != before;) {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  }
  return z / 3;
}

}  // namespace

void DistinctValues::add(std::string_view value) {
  const std::uint64_t hash = keyed_hash(value);
  if (registers_.empty()) {
    add_exact(hash);
  } else {
    add_to_registers(hash);
  }
}

std::uint64_t DistinctValues::count() const {
  return registers_.empty() ? exact_count_ : static_cast<std::uint64_t>(std::llround(estimate()));
}

void DistinctValues::clear() { *this = DistinctValues(); }

void DistinctValues::add_exact(std::uint64_t hash) {
  const std::uint64_t stored = std::max<std::uint64_t>(hash, 1);
  if (2 * (exact_count_ + 1) > exact_.size()) grow();
  std::size_t at = stored & (exact_.size() - 1);
  while (exact_[at] != 0 && exact_[at] != stored) at = (at + 1) & (exact_.size() - 1);
  if (exact_[at] == stored) return;
  if (exact_count_ < kExactMax) {
    exact_[at] = stored;
    exact_count_ += 1;
    return;
  }
  registers_.assign(kRegisters, 0);
  for (const std::uint64_t each : std::exchange(exact_, {})) {
    if (each != 0) add_to_registers(each);
  }
  exact_count_ = 0;
  add_to_registers(stored);
}

// Stays as it is where all values that are kept exactly have room.
void DistinctValues::grow() {
  if (exact_.size() == 2 * kExactMax) return;
  const auto before = std::exchange(
      exact_, std::vector<std::uint64_t>(std::max(kSlotsMin, 2 * exact_.size())));
  for (const std::uint64_t each : before) {
    if (each == 0) continue;
    std::size_t at = each & (exact_.size() - 1);
    while (exact_[at] != 0) at = (at + 1) & (exact_.size() - 1);
    exact_[at] = each;
  }
}

void DistinctValues::add_to_registers(std::uint64_t hash) {
  std::uint8_t& rank = registers_[hash >> (64 - kPrecision)];
  const std::uint64_t rest = hash << kPrecision;
  const unsigned zeros = std::min<unsigned>(static_cast<unsigned>(std::countl_zero(rest)),
                                            kRankMax - 1);
  rank = std::max(rank, static_cast<std::uint8_t>(zeros + 1));
}

// Algorithm 6 of the paper.
double DistinctValues::estimate() const {
  constexpr double kAll = kRegisters;
  std::array<std::uint32_t, kRankMax + 1> counts{};
  for (const std::uint8_t rank : registers_) counts[rank] += 1;
  double z = kAll * tau(1 - counts[kRankMax] / kAll);
  for (unsigned rank = kRankMax - 1; rank >= 1; --rank) z = 0.5 * (z + counts[rank]);
  z += kAll * sigma(counts[0] / kAll);
  return kAll * kAll / (2 * std::log(2.0) * z);
}

}  // namespace tallyfs::statsd
