#include "core/statistics/types/list_statistic.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/decimal.h"
#include "core/base/json_column.h"
#include "core/base/keyed_hash.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/sums/saved.h"
#include "core/sums/text_length.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kListVersion = 1;
constexpr std::size_t kSavedEntryBytes = 16;

// A decimal is never shown in hexadecimal.
bool is_hexadecimal(Base base, unsigned decimals) {
  return base == Base::kHexadecimal && decimals == 0;
}

void append_x(std::string& out, std::int64_t x, Base base, unsigned decimals) {
  if (!is_hexadecimal(base, decimals)) return append_fixed(out, x, decimals);
  append_hex(out, static_cast<std::uint64_t>(x));
}

std::uint64_t length_of_x(std::int64_t x, Base base, unsigned decimals) {
  return is_hexadecimal(base, decimals) ? hex_length(static_cast<std::uint64_t>(x))
                                        : fixed_length(x, decimals);
}

}  // namespace

std::size_t ListStatistic::Hash::operator()(std::int64_t x) const {
  return keyed_hash({reinterpret_cast<const char*>(&x), sizeof x});
}

// Boost's flat table: a power of two of groups, at least two, 15 elements and 16 bytes of their own
// each, filled to 7/8 at most. (Counting what it allocates for 1 to 1,048,576 X agrees.) The table
// itself counts with the statistic.
std::uint64_t ListStatistic::worst_case_bytes(const ListSettings& settings) {
  constexpr std::uint64_t kGroupBytes = 15 * sizeof(std::pair<std::int64_t, std::uint64_t>) + 16;
  const std::uint64_t slots = std::uint64_t{settings.entries_max} * 8 / 7 + 1;
  return std::max<std::uint64_t>(2, std::bit_ceil(slots / 15 + 1)) * kGroupBytes;
}

bool ListStatistic::merge(const ListStatistic& other) {
  bool saturated = add_saturating(kept_->missed, other.missed());
  for (const auto& [x, total] : other.largest(other.lines())) {
    const Sample sample{.x = x, .y = total};
    saturated |= add({&sample, 1});
  }
  return saturated;
}

bool ListStatistic::add(std::span<const Sample> samples) {
  auto& [totals, missed] = *kept_;
  bool saturated = false;
  for (const Sample& sample : samples) {
    if (totals.size() < entries_max_) {
      saturated |= add_saturating(totals[sample.x], sample.y);
    } else if (const auto found = totals.find(sample.x); found != totals.end()) {
      saturated |= add_saturating(found->second, sample.y);
    } else {
      saturated |= add_saturating(missed, 1);
    }
  }
  return saturated;
}

ListStatistic::Snapshot ListStatistic::snapshot() const {
  Snapshot copy;
  copy.totals_.assign(kept_->totals.begin(), kept_->totals.end());
  copy.base_ = base_;
  return copy;
}

std::uint64_t ListStatistic::Snapshot::text_length(std::string_view name, unsigned decimals) const {
  std::uint64_t length = totals_.size() * (name.size() + 3);  // two blanks and the newline
  for (const auto& [x, total] : totals_) {
    length += length_of_x(x, base_, decimals) + number_length(total);
  }
  return length;
}

void ListStatistic::Snapshot::sort(std::size_t count) {
  const auto before = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  if (count < totals_.size()) {
    std::ranges::nth_element(totals_, totals_.begin() + static_cast<std::ptrdiff_t>(count), before);
    totals_.resize(count);
  }
  std::ranges::sort(totals_, before);
}

ListStatistic::Entries ListStatistic::largest(std::size_t count) const {
  Snapshot copy = snapshot();
  copy.sort(count);
  return std::move(copy.totals_);
}

void ListStatistic::Snapshot::render(std::string_view name, std::string& out, unsigned decimals) {
  sort(totals_.size());
  for (const auto& [x, total] : totals_) {
    out.append(name).push_back(' ');
    append_x(out, x, base_, decimals);
    out.push_back(' ');
    append_number(out, total);
    out.push_back('\n');
  }
}

void ListStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  const Entries all = largest(lines());
  json.begin_object();
  write_column(json, "x", all.size(), [&](std::size_t i) { json.fixed(all[i].first, decimals); });
  write_column(json, "totals", all.size(), [&](std::size_t i) { json.number(all[i].second); });
  json.end_object();
}

void ListStatistic::save(ByteWriter& out) const {
  out.put(kListVersion);
  out.put(missed());
  out.put(static_cast<std::uint32_t>(lines()));
  for (const auto& [x, total] : kept_->totals) {
    out.put(x);
    out.put(total);
  }
}

void ListStatistic::load(ByteReader& in) {
  expect_version(in, kListVersion);
  kept_->missed = in.get<std::uint64_t>();
  const auto size = in.get<std::uint32_t>();
  if (size > entries_max_ || size > in.left() / kSavedEntryBytes) return in.fail();
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto x = in.get<std::int64_t>();
    if (!kept_->totals.emplace(x, in.get<std::uint64_t>()).second) return in.fail();
  }
}

}  // namespace tallyfs::statistics
