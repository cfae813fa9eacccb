#include "tools/past/store.h"

#include <algorithm>
#include <cstdlib>

#include "program/duration.h"

namespace tallyfs::past {
namespace {

constexpr std::size_t kTiersMax = 4;

constexpr const char* kTables =
    "CREATE TABLE tier(number INTEGER PRIMARY KEY, step_us INTEGER, keep_us INTEGER);"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, interface TEXT, name TEXT, shape TEXT,"
    " last_us INTEGER);"
    "CREATE TABLE block(id INTEGER PRIMARY KEY, tier INTEGER, begin_us INTEGER, end_us INTEGER,"
    " first_series INTEGER, last_series INTEGER, data BLOB);"
    "CREATE INDEX block_by_time ON block(tier, begin_us);"
    "CREATE TABLE fact(id INTEGER PRIMARY KEY, begin_us INTEGER, end_us INTEGER, interface TEXT,"
    " name TEXT, reason TEXT);"
    "CREATE INDEX fact_by_time ON fact(end_us);";

// What format 2 lacks.
constexpr const char* kDerivedTable =
    "CREATE TABLE derived(series INTEGER, source INTEGER, PRIMARY KEY(series, source))"
    " WITHOUT ROWID;";

std::string set_format() { return "PRAGMA user_version=" + std::to_string(kStoreFormat) + ";"; }

Result<Tier> parse_tier(std::string_view text) {
  const std::size_t colon = text.find(':');
  Tier made{.step_us = parse_duration(text.substr(0, colon)).value_or(0)};
  if (colon != std::string_view::npos) {
    made.keep_us = parse_duration(text.substr(colon + 1)).value_or(0);
  }
  constexpr std::uint64_t kSecondUs = 1'000'000;
  const bool is_whole = made.step_us % kSecondUs == 0;
  if (made.step_us > 0 && is_whole && made.keep_us >= made.step_us) return made;
  return invalid("'" + std::string(text) + "' is no tier, as 10s:1d: points of 10 s for a day");
}

}  // namespace

std::string store_named(const std::string& given) {
  if (!given.empty()) return given;
  const char* const named = std::getenv("TALLY_STORE");
  return named && *named ? named : kDefaultStore;
}

std::string file_of(const std::string& directory) { return directory + "/past.sqlite"; }

Result<Tiers> parse_tiers(std::string_view text) {
  Tiers made;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto tier = parse_tier(text.substr(at, end - at));
    if (!tier) return tier.error();
    if (!made.empty() && (tier.value().step_us % made.back().step_us != 0 ||
                          tier.value().step_us == made.back().step_us)) {
      return invalid("the step of each tier is a multiple of the one before");
    }
    made.push_back(tier.value());
    at = end + 1;
  }
  if (made.size() > kTiersMax) return invalid("a store has four tiers at most");
  return made;
}

std::string tiers_text(const Tiers& tiers) {
  std::string made;
  for (const Tier& each : tiers) {
    if (!made.empty()) made.append(",");
    made.append(duration_text(each.step_us)).append(":").append(duration_text(each.keep_us));
  }
  return made;
}

Result<void> make_tables(Database& database, const Tiers& tiers) {
  std::string sql("BEGIN;");
  sql.append(kTables).append(kDerivedTable);
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    sql.append("INSERT INTO tier VALUES(").append(std::to_string(i)).append(",");
    sql.append(std::to_string(tiers[i].step_us)).append(",");
    sql.append(std::to_string(tiers[i].keep_us)).append(");");
  }
  return database.run(sql.append(set_format()).append("COMMIT"));
}

Result<void> upgrade_tables(Database& database) {
  const auto format = database.number("PRAGMA user_version");
  if (!format) return format.error();
  if (format.value() == kStoreFormat) return {};
  const auto done =
      database.run(std::string("BEGIN IMMEDIATE;") + kDerivedTable + set_format() + "COMMIT");
  if (!done) (void)database.run("ROLLBACK");
  return done;
}

Result<Tiers> read_tiers(Database& database) {
  const auto format = database.number("PRAGMA user_version");
  if (!format) return format.error();
  if (format.value() > kStoreFormat) {
    return invalid("the store has format " + std::to_string(format.value()) +
                   ", and this program knows formats up to " + std::to_string(kStoreFormat) +
                   "; use the tallyctl that wrote it");
  }
  if (format.value() > 0 && format.value() < kOldestFormat) {
    return invalid("the store has format " + std::to_string(format.value()) +
                   " of an earlier tallyctl; read it with that one, and record into another "
                   "directory, or move this one away");
  }
  auto statement = database.prepare("SELECT step_us, keep_us FROM tier ORDER BY number");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  Tiers made;
  const auto done = row.each_row([&] { made.push_back({row.number(0), row.number(1)}); });
  if (!done) return done.error();
  if (std::ranges::count(made, 0u, &Tier::step_us) != 0) {
    return invalid("the store is damaged: a tier without a step");
  }
  if (made.empty()) return invalid("the store is damaged: it has no tiers");
  return made;
}

}  // namespace tallyfs::past
