// The store of the past, as writer and readers share it: its place, its tiers, its facts, its
// format (FORMAT.md). Times are of the wall clock, in microseconds. Values, pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tools/past/database.h"

namespace tallyfs::past {

// user_version of the file. Others are refused by their number, but for the oldest that is read: it
// lacks the derived views, and the writer turns it into this one.
inline constexpr std::uint64_t kStoreFormat = 3;
inline constexpr std::uint64_t kOldestFormat = 2;
// The package's service writes this one.
inline constexpr const char* kDefaultStore = "/var/lib/tally-record";

// `given`, else $TALLY_STORE, else kDefaultStore.
std::string store_named(const std::string& given);
std::string file_of(const std::string& directory);

// Points of `step_us` are kept for `keep_us`. Each step is a multiple of the one before.
struct Tier {
  std::uint64_t step_us = 0;
  std::uint64_t keep_us = 0;

  bool operator==(const Tier&) const = default;
};
using Tiers = std::vector<Tier>;

// Whether a tier is kept for weeks: small blocks matter more there than fine points.
inline bool is_coarse(const Tier& tier) { return tier.step_us >= 60'000'000; }
// The precision of quantiles' buckets in a tier, at most: from a minute on they are merged to 9 %,
// since a month of the finer ones would be several times as large.
inline unsigned precision_of(const Tier& tier) { return is_coarse(tier) ? 3 : 8; }

inline constexpr const char* kDefaultTiers = "1s:1h,10s:1d,1m:30d";
// kInvalid says what is wrong.
Result<Tiers> parse_tiers(std::string_view text);
std::string tiers_text(const Tiers& tiers);

// The time from `begin_us` up to `end_us`, without it.
struct Span {
  std::uint64_t begin_us = 0;
  std::uint64_t end_us = 0;

  bool operator==(const Span&) const = default;
};

// A reason why something is not known, or counts otherwise: a gap, a reset, a restart.
struct Fact {
  Span span;
  std::string interface {};  // empty: of all
  std::string statistic{};
  std::string reason{};

  bool operator==(const Fact&) const = default;
};

// The reason of a gap after which the first point has what was counted in it, too.
inline constexpr const char* kReadLate = "not read in time";
// The reason of a point of time at which a statistic was found reset.
inline constexpr const char* kReset = "reset";

// Makes the tables in an empty file, with these tiers.
Result<void> make_tables(Database& database, const Tiers& tiers);
// Makes this format of an older one that is read, and leaves the newest as it is.
Result<void> upgrade_tables(Database& database);
// The tiers of a store. kInvalid: it is none, or of a format that is not read.
Result<Tiers> read_tiers(Database& database);

}  // namespace tallyfs::past
