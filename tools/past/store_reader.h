// Reads a store beside its writer: which statistics it has, what each counted in a span, and in
// each point of one. A span is added up from the coarsest tier whose pieces fit in it, and its ends
// from finer ones, as far as those are kept. A block that is damaged is a gap. Confined to one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/past/block.h"
#include "tools/past/point.h"
#include "tools/past/store.h"

namespace tallyfs::past {

struct StoredSeries {
  std::uint64_t id = 0;
  std::string interface {};
  std::string name{};
  std::string shape{};  // JSON, see point.h
};

// The sums of the series that were observed in the span, by series. Point::known is in steps of the
// finest tier.
using Sums = std::map<std::uint64_t, Point>;

// Parts of a span, each with the tier that has it.
struct TierSpan {
  std::size_t tier = 0;
  Span span;

  bool operator==(const TierSpan&) const = default;
};
// `oldest`: of each tier, the begin of its oldest point. Ends that no tier has so finely are moved
// to the nearest piece of one that has them, whatever the precision. Tiers of a lower precision
// than that are used where the others do not reach.
std::vector<TierSpan> cover(const Span& span, const Tiers& tiers,
                            const std::vector<std::uint64_t>& oldest, unsigned precision);

class StoreReader {
 public:
  // The writer cannot shorten its log while a transaction of a reader lasts.
  static constexpr std::chrono::milliseconds kHoldMax{500};

  // kNotFound, kNoAccess: there is none, or none to read for this user; the reason says what to do.
  // kInvalid: it is damaged, or of a newer format. hold_max: how long a transaction lasts; the next
  // one reads the rest.
  static Result<StoreReader> open(const std::string& directory,
                                  std::chrono::milliseconds hold_max = kHoldMax);

  const Tiers& tiers() const { return tiers_; }
  // Reaches from the oldest point to the end of the newest; nothing in an empty store.
  Result<std::optional<Span>> extent();
  // extent() of one tier.
  Result<std::optional<Span>> extent(std::size_t tier);
  // The begin of the oldest block of the tier that ends after moment_us; nullopt: there is none.
  Result<std::optional<std::uint64_t>> next_block(std::size_t tier, std::uint64_t moment_us);
  // They come in order of names, and the newest of one name last.
  Result<std::vector<StoredSeries>> series();
  // The reader returns nothing if that statistic is gone.
  Result<std::optional<StoredSeries>> find_series(std::uint64_t id);
  // For quantiles of that precision; 0 for all else, whose points are as exact in coarse tiers.
  Result<std::vector<TierSpan>> cover(const Span& span, unsigned precision);
  // `series`: with the precision of their quantiles, else 0.
  using Wanted = std::map<std::uint64_t, unsigned>;
  Result<Sums> sums(const std::vector<TierSpan>& parts, const Wanted& series);
  // The finest tier whose points reach back to that moment; the coarsest, if none does.
  Result<std::size_t> finest_tier(std::uint64_t moment_us);
  // Calls take() for each point of the part that was observed, with the moment at which it begins;
  // those of one statistic ascend. What a damaged block has before the damage is taken.
  using TakePiece = std::function<void(std::uint64_t series, std::uint64_t begin_us, Point&&)>;
  Result<void> points(const TierSpan& part, const Wanted& series, const TakePiece& take);
  // Calls take() likewise for all that has() wants; quantiles are as fine as in the tier.
  Result<void> points(const TierSpan& part, const std::function<bool(std::uint64_t series)>& has,
                      const TakePiece& take);
  // The highest that all of the parts have.
  unsigned precision(const std::vector<TierSpan>& parts) const;
  // Returns those that touch the span, oldest first. What has no beginning begins with the span.
  Result<std::vector<Fact>> facts(const Span& span);
  // The times of the blocks that were damaged, of all that were read; each once.
  const std::vector<Fact>& damaged() const { return damaged_; }

 private:
  struct Block {
    Span span;
    std::string bytes;
  };
  using Blocks = std::map<std::uint64_t, Block>;  // by id

  StoreReader(Database database, Tiers tiers, std::chrono::milliseconds hold_max)
      : database_(std::move(database)), tiers_(std::move(tiers)), hold_max_(hold_max) {}
  Result<std::vector<std::uint64_t>> oldest();
  // The ids of series whose blocks are wanted, ascending; all, if there are none.
  using Ids = std::vector<std::uint64_t>;
  // Those that are wanted, and the sources from which some of their points are derived.
  Result<Ids> ids_of(const Wanted& series);
  Result<std::vector<std::uint64_t>> find_blocks(const TierSpan& part, const Ids& ids);
  // The reader returns nothing for a block that was deleted meanwhile, since it is too old.
  Result<std::optional<Block>> load_block(std::uint64_t id);
  // The blocks after `id` that are open: the writer deletes them with its next flush, and writes
  // them again with more points.
  Result<Blocks> load_open(const TierSpan& part, std::uint64_t id, const Ids& ids);
  // The reader returns false if the block is damaged, which it notes.
  bool read_block_of(const Block& block, const TierSpan& part, const WantedSeries& wanted,
                     const TakePiece& take);
  Result<void> in_transaction(const std::function<Result<void>()>& read);
  Result<void> read_blocks(const TierSpan& part, const Ids& ids, const WantedSeries& wanted,
                           const TakePiece& take);
  // Passes points on with at most that precision.
  TakePiece with_precision(const TierSpan& part, const Wanted& series, unsigned precision,
                           const TakePiece& take) const;
  Result<void> add_block(std::uint64_t id, const TierSpan& part, const Wanted& series,
                         const Ids& ids, unsigned precision, Sums& sums);

  Database database_;
  Tiers tiers_;
  std::chrono::milliseconds hold_max_;
  std::vector<Fact> damaged_;
};

}  // namespace tallyfs::past
