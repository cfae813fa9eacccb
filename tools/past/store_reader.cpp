#include "tools/past/store_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tools/past/block.h"

namespace tallyfs::past {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t down(std::uint64_t moment, std::uint64_t step) { return moment - moment % step; }
std::uint64_t up(std::uint64_t moment, std::uint64_t step) { return down(moment + step - 1, step); }
std::uint64_t nearest(std::uint64_t moment, std::uint64_t step) {
  return down(moment + step / 2, step);
}

// The finest tier that reaches back to the moment, or the coarsest.
std::size_t finest_at(std::uint64_t moment, const std::vector<std::uint64_t>& oldest) {
  for (std::size_t i = 0; i < oldest.size(); ++i) {
    if (oldest[i] <= moment) return i;
  }
  return oldest.size() - 1;
}

// The coarsest tier that reaches back to the moment, of that precision, or else of the highest one.
std::size_t coarsest_for(std::uint64_t moment, const Tiers& tiers,
                         const std::vector<std::uint64_t>& oldest, unsigned precision) {
  const auto has = [&](std::size_t tier) { return std::min(precision_of(tiers[tier]), precision); };
  std::size_t found = tiers.size() - 1;
  for (std::size_t i = tiers.size(); i-- > 0;) {
    if (oldest[i] > moment) continue;
    if (has(i) > has(found)) found = i;
  }
  return found;
}

class Coverer {
 public:
  Coverer(const Tiers& tiers, std::vector<TierSpan>& made) : tiers_(tiers), made_(made) {}

  // `finest`: the ends lie on its pieces.
  void cover(const Span& span, std::size_t tier) {
    if (span.begin_us >= span.end_us) return;
    const std::uint64_t step = tiers_[tier].step_us;
    const Span whole{up(span.begin_us, step), down(span.end_us, step)};
    if (tier == 0 || whole.begin_us >= whole.end_us) {
      if (tier == 0) return put(0, span);
      return cover(span, tier - 1);
    }
    // The newest first: blocks there are rewritten.
    cover({whole.end_us, span.end_us}, tier - 1);
    put(tier, whole);
    cover({span.begin_us, whole.begin_us}, tier - 1);
  }

 private:
  void put(std::size_t tier, const Span& span) { made_.push_back({tier, span}); }

  const Tiers& tiers_;
  std::vector<TierSpan>& made_;
};

Error with_advice(Error error, const std::string& directory) {
  if (error.code == ErrorCode::kNotFound) {
    error.reason = "there is no store of the past in " + directory +
                   ": systemctl enable --now tally-record, or tallyctl record --store " +
                   directory + ", makes one; --store names another";
  } else if (error.code == ErrorCode::kNoAccess) {
    error.reason.append("; the store is for root and the group that owns it");
  }
  return error;
}

StoredSeries series_of(const Statement& row) {
  return {row.number(0), std::string(row.text(1)), std::string(row.text(2)),
          std::string(row.text(3))};
}

constexpr std::uint64_t kLastSeries = INT64_MAX;  // SQLite's largest number

// `ids`: of the series, and of those from which they are derived; ascending.
WantedSeries wanted_of(const StoreReader::Wanted& series, const std::vector<std::uint64_t>& ids) {
  return {ids.back(), [&](std::uint64_t number) { return series.contains(number); }};
}

}  // namespace

std::vector<TierSpan> cover(const Span& span, const Tiers& tiers,
                            const std::vector<std::uint64_t>& oldest, unsigned precision) {
  const std::uint64_t begin_step = tiers[finest_at(span.begin_us, oldest)].step_us;
  const std::uint64_t end_step = tiers[finest_at(span.end_us, oldest)].step_us;
  Span rounded{nearest(span.begin_us, begin_step), nearest(span.end_us, end_step)};
  // A span that is shorter than a point has the one in which it begins.
  if (rounded.begin_us >= rounded.end_us) {
    rounded.begin_us = down(span.begin_us, begin_step);
    rounded.end_us = rounded.begin_us + begin_step;
  }
  std::vector<TierSpan> made;
  Coverer(tiers, made).cover(rounded, coarsest_for(rounded.begin_us, tiers, oldest, precision));
  return made;
}

Result<StoreReader> StoreReader::open(const std::string& directory,
                                      std::chrono::milliseconds hold_max) {
  auto database = Database::open_to_read(file_of(directory));
  if (!database) return with_advice(database.error(), directory);
  auto tiers = read_tiers(database.value());
  if (!tiers) return Error{tiers.error().code, directory + ": " + tiers.error().reason};
  return StoreReader(std::move(database).value(), std::move(tiers).value(), hold_max);
}

Result<std::optional<Span>> StoreReader::extent() {
  const auto begin = database_.number("SELECT min(begin_us) FROM block");
  if (!begin) return begin.error();
  const auto end = database_.number("SELECT max(end_us) FROM block WHERE tier=0");
  if (!end) return end.error();
  if (begin.value() == 0) return std::optional<Span>();
  return std::optional(Span{begin.value(), end.value()});
}

Result<std::optional<Span>> StoreReader::extent(std::size_t tier) {
  const std::string of = " FROM block WHERE tier=" + std::to_string(tier);
  const auto begin = database_.number("SELECT min(begin_us)" + of);
  if (!begin) return begin.error();
  const auto end = database_.number("SELECT max(end_us)" + of);
  if (!end) return end.error();
  if (begin.value() == 0) return std::optional<Span>();
  return std::optional(Span{begin.value(), end.value()});
}

Result<std::optional<std::uint64_t>> StoreReader::next_block(std::size_t tier,
                                                             std::uint64_t moment_us) {
  auto statement = database_.prepare(
      "SELECT begin_us FROM block WHERE tier=? AND begin_us>? AND end_us>?"
      " ORDER BY begin_us LIMIT 1");
  if (!statement) return statement.error();
  const std::uint64_t block_us = tiers_[tier].step_us * kBlockPoints;
  Statement& row = statement.value();
  row.bind(std::uint64_t{tier}).bind(moment_us - std::min(moment_us, block_us)).bind(moment_us);
  const auto found = row.step();
  if (!found) return found.error();
  return found.value() ? std::optional(row.number(0)) : std::nullopt;
}

Result<std::vector<StoredSeries>> StoreReader::series() {
  auto statement = database_.prepare(
      "SELECT id, interface, name, shape FROM series ORDER BY interface, name, id");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  std::vector<StoredSeries> made;
  const auto done = row.each_row([&] { made.push_back(series_of(row)); });
  if (!done) return done.error();
  return made;
}

Result<std::optional<StoredSeries>> StoreReader::find_series(std::uint64_t id) {
  auto statement = database_.prepare("SELECT id, interface, name, shape FROM series WHERE id=?");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  const auto found = row.bind(id).step();
  if (!found) return found.error();
  return found.value() ? std::optional(series_of(row)) : std::nullopt;
}

// The begin of the oldest point of each tier.
Result<std::vector<std::uint64_t>> StoreReader::oldest() {
  std::vector<std::uint64_t> made;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    const auto begin =
        database_.number("SELECT min(begin_us) FROM block WHERE tier=" + std::to_string(i));
    if (!begin) return begin.error();
    made.push_back(begin.value());
  }
  // Before the store began no tier has anything: no end has to be moved for that.
  const std::uint64_t began = *std::ranges::min_element(made) + tiers_.back().step_us;
  for (std::uint64_t& each : made) {
    if (each <= began) each = 0;
  }
  return made;
}

Result<std::vector<TierSpan>> StoreReader::cover(const Span& span, unsigned precision) {
  const auto begins = oldest();
  if (!begins) return begins.error();
  return past::cover(span, tiers_, begins.value(), precision);
}

Result<std::size_t> StoreReader::finest_tier(std::uint64_t moment_us) {
  const auto begins = oldest();
  if (!begins) return begins.error();
  return finest_at(moment_us, begins.value());
}

// A store that no writer of this format has opened has no such table.
Result<StoreReader::Ids> StoreReader::ids_of(const Wanted& series) {
  Ids made;
  for (const auto& [id, precision] : series) made.push_back(id);
  const auto has_derived =
      database_.number("SELECT count(*) FROM sqlite_schema WHERE type='table' AND name='derived'");
  if (!has_derived) return has_derived.error();
  if (has_derived.value() == 0) return made;
  auto statement =
      database_.prepare("SELECT series, source FROM derived WHERE series BETWEEN ? AND ?");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  row.bind(made.front()).bind(made.back());
  const auto done = row.each_row([&] {
    if (series.contains(row.number(0))) made.push_back(row.number(1));
  });
  if (!done) return done.error();
  std::ranges::sort(made);
  return made;
}

Result<std::vector<std::uint64_t>> StoreReader::find_blocks(const TierSpan& part, const Ids& ids) {
  auto statement = database_.prepare(
      "SELECT id, first_series, last_series FROM block"
      " WHERE tier=? AND begin_us<? AND begin_us>? AND end_us>?"
      " AND first_series<=? AND last_series>=? ORDER BY id DESC");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  const std::uint64_t block_us = tiers_[part.tier].step_us * kBlockPoints;
  row.bind(std::uint64_t{part.tier}).bind(part.span.end_us);
  row.bind(part.span.begin_us - std::min(part.span.begin_us, block_us)).bind(part.span.begin_us);
  row.bind(ids.empty() ? kLastSeries : ids.back()).bind(ids.empty() ? 0 : ids.front());
  std::vector<std::uint64_t> made;
  const auto done = row.each_row([&] {
    // A source may have an id that is far from its view's.
    const auto next = std::ranges::lower_bound(ids, row.number(1));
    const bool has_one = ids.empty() || (next != ids.end() && *next <= row.number(2));
    if (has_one) made.push_back(row.number(0));
  });
  if (!done) return done.error();
  return made;
}

Result<std::optional<StoreReader::Block>> StoreReader::load_block(std::uint64_t id) {
  auto statement = database_.prepare("SELECT begin_us, end_us, data FROM block WHERE id=?");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  const auto found = row.bind(id).step();
  if (!found) return found.error();
  if (!found.value()) return std::optional<Block>();
  return std::optional(Block{{row.number(0), row.number(1)}, std::string(row.bytes(2))});
}

// The open blocks of a tier were written last, and begin with the same moment.
Result<StoreReader::Blocks> StoreReader::load_open(const TierSpan& part, std::uint64_t id,
                                                   const Ids& ids) {
  auto statement = database_.prepare(
      "SELECT id, begin_us, end_us, data FROM block WHERE tier=? AND begin_us="
      "(SELECT begin_us FROM block WHERE tier=? ORDER BY id DESC LIMIT 1)"
      " AND id>? AND begin_us<? AND end_us>? AND first_series<=? AND last_series>=?");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  row.bind(std::uint64_t{part.tier}).bind(std::uint64_t{part.tier}).bind(id);
  row.bind(part.span.end_us).bind(part.span.begin_us);
  row.bind(ids.empty() ? kLastSeries : ids.back()).bind(ids.empty() ? 0 : ids.front());
  Blocks made;
  const auto done = row.each_row([&] {
    made.emplace(row.number(0),
                 Block{{row.number(1), row.number(2)}, std::string(row.bytes(3))});
  });
  if (!done) return done.error();
  return made;
}

bool StoreReader::read_block_of(const Block& block, const TierSpan& part,
                                const WantedSeries& wanted, const TakePiece& take) {
  const std::uint64_t step_us = tiers_[part.tier].step_us;
  const std::uint64_t pieces = step_us / tiers_.front().step_us;
  const bool is_whole =
      read_block(block.bytes, pieces, wanted, [&](std::uint64_t number, unsigned at,
                                                  Point&& point) {
        const std::uint64_t moment = block.span.begin_us + at * step_us;
        if (moment < part.span.begin_us || moment >= part.span.end_us) return;
        take(number, moment, std::move(point));
      });
  if (!is_whole && std::ranges::count(damaged_, block.span, &Fact::span) == 0) {
    damaged_.push_back({.span = block.span, .reason = "damaged in the store"});
  }
  return is_whole;
}

StoreReader::TakePiece StoreReader::with_precision(const TierSpan& part, const Wanted& series,
                                                   unsigned precision,
                                                   const TakePiece& take) const {
  const unsigned own = precision_of(tiers_[part.tier]);
  return [=, &series, &take](std::uint64_t number, std::uint64_t moment, Point&& point) {
    lower_precision(point, std::min(series.at(number), own), precision);
    take(number, moment, std::move(point));
  };
}

Result<void> StoreReader::add_block(std::uint64_t id, const TierSpan& part, const Wanted& series,
                                    const Ids& ids, unsigned precision, Sums& sums) {
  std::map<std::uint64_t, Point> made;
  const TakePiece add_to = [&](std::uint64_t number, std::uint64_t, Point&& point) {
    add(made[number], point);
  };
  const auto block = load_block(id);
  if (!block) return block.error();
  if (!block.value()) return {};
  const bool is_whole = read_block_of(*block.value(), part, wanted_of(series, ids),
                                      with_precision(part, series, precision, add_to));
  if (!is_whole) return {};
  for (const auto& [number, point] : made) {
    // The sum so far came later.
    Point& sum = sums[number];
    const auto last = sum.last;
    add(sum, point);
    if (last) sum.last = last;
  }
  return {};
}

Result<Sums> StoreReader::sums(const std::vector<TierSpan>& parts, const Wanted& series) {
  Sums made;
  if (series.empty()) return made;
  const unsigned lowest = precision(parts);
  if (auto done = database_.run("BEGIN"); !done) return done.error();
  auto held_since = Clock::now();
  const auto ids = ids_of(series);
  if (!ids) return ids.error();
  // Blocks that are closed never change, so that only the newest, which come first, have to be of
  // one transaction.
  for (const TierSpan& part : parts) {
    const auto blocks = find_blocks(part, ids.value());
    if (!blocks) return blocks.error();
    for (const std::uint64_t each : blocks.value()) {
      if (auto done = add_block(each, part, series, ids.value(), lowest, made); !done) {
        return done.error();
      }
      if (Clock::now() - held_since < hold_max_) continue;
      if (auto done = database_.run("COMMIT; BEGIN"); !done) return done.error();
      held_since = Clock::now();
    }
  }
  if (auto done = database_.run("COMMIT"); !done) return done.error();
  return made;
}

Result<void> StoreReader::points(const TierSpan& part, const Wanted& series,
                                 const TakePiece& take) {
  if (series.empty()) return {};
  const auto of_series = with_precision(part, series, precision({part}), take);
  return in_transaction([&]() -> Result<void> {
    const auto ids = ids_of(series);
    if (!ids) return ids.error();
    return read_blocks(part, ids.value(), wanted_of(series, ids.value()), of_series);
  });
}

Result<void> StoreReader::points(const TierSpan& part,
                                 const std::function<bool(std::uint64_t)>& has,
                                 const TakePiece& take) {
  return in_transaction([&] { return read_blocks(part, {}, {kLastSeries, has}, take); });
}

Result<void> StoreReader::in_transaction(const std::function<Result<void>()>& read) {
  if (auto done = database_.run("BEGIN"); !done) return done;
  const auto done = read();
  const auto ended = database_.run("COMMIT");
  return done ? ended : done;
}

// The oldest come first, so that the points of a statistic ascend. The writer replaces blocks that
// are open, which come last: what is left of them is loaded before the first transaction ends.
Result<void> StoreReader::read_blocks(const TierSpan& part, const Ids& ids,
                                      const WantedSeries& wanted, const TakePiece& take) {
  auto held_since = Clock::now();
  auto blocks = find_blocks(part, ids);
  if (!blocks) return blocks.error();
  std::ranges::reverse(blocks.value());
  std::optional<Blocks> open;
  for (const std::uint64_t each : blocks.value()) {
    if (const auto kept = open ? open->extract(each) : Blocks::node_type()) {
      read_block_of(kept.mapped(), part, wanted, take);
      continue;
    }
    const auto block = load_block(each);
    if (!block) return block.error();
    if (block.value()) read_block_of(*block.value(), part, wanted, take);
    if (each == blocks.value().back() || Clock::now() - held_since < hold_max_) continue;
    if (!open) {
      auto loaded = load_open(part, each, ids);
      if (!loaded) return loaded.error();
      open = std::move(loaded).value();
    }
    if (auto done = database_.run("COMMIT; BEGIN"); !done) return done;
    held_since = Clock::now();
  }
  return {};
}

unsigned StoreReader::precision(const std::vector<TierSpan>& parts) const {
  unsigned made = ~0u;
  for (const TierSpan& each : parts) made = std::min(made, precision_of(tiers_[each.tier]));
  return made;
}

Result<std::vector<Fact>> StoreReader::facts(const Span& span) {
  auto statement = database_.prepare(
      "SELECT begin_us, end_us, interface, name, reason FROM fact WHERE end_us>? AND begin_us<?"
      " ORDER BY begin_us, id");
  if (!statement) return statement.error();
  Statement& row = statement.value();
  row.bind(span.begin_us).bind(span.end_us);
  std::vector<Fact> made;
  const auto done = row.each_row([&] {
    // The time before a store begins has no beginning.
    const std::uint64_t begin_us = row.number(0) == 0 ? span.begin_us : row.number(0);
    made.push_back({{begin_us, row.number(1)},
                    std::string(row.text(2)),
                    std::string(row.text(3)),
                    std::string(row.text(4))});
  });
  if (!done) return done.error();
  return made;
}

}  // namespace tallyfs::past
