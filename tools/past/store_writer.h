// The one writer of a store. Points come moment by moment; tiers are kept in memory, and each flush
// writes, in one transaction, what has ended and what is open. A kill loses what came after the
// last flush, and nothing before.
//
// A full disk, and a reader that holds the log (-wal) until it has `wal_bytes_max`, stop the
// writing alone: flush() fails, and later ones try again. What could not be kept meanwhile is a gap
// with its reason. Bounds: `bytes_max` of file and log, beyond which the oldest blocks of the
// finest tier go first; kFactsMax facts. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "tools/past/open_tier.h"
#include "tools/past/store_log.h"

namespace tallyfs::past {

class StoreWriter {
 public:
  static constexpr std::uint64_t kFactsMax = 100'000;
  static constexpr std::uint64_t kFlushUs = 10'000'000;

  struct Settings {
    Tiers tiers;
    std::uint64_t bytes_max = std::uint64_t{1} << 30;
    std::uint64_t wal_bytes_max = kLogBytesMax;
  };

  // Makes the directory, 0750, and the store, where there are none. kBusy: another writer has it.
  // kInvalid: it has other tiers, is damaged or of a newer format.
  static Result<std::unique_ptr<StoreWriter>> open(const std::string& directory, Settings settings);

  // The number of a statistic with this shape (point.h), whose JSON it is.
  std::uint64_t series(const std::string& interface, const std::string& name,
                       const std::string& shape);
  // Whether the number is still that of a statistic: one without points for longer than all tiers
  // keep them is forgotten.
  bool knows(std::uint64_t series) const { return by_id_.contains(series); }
  // Pieces of time before that of this moment end.
  void go_to(std::uint64_t moment_us);
  // Adds to the moment's piece.
  void add(std::uint64_t series, const Point& point, const Adding& adding = {});
  void note(Fact fact);

  // The end of what was written before; 0 if nothing was.
  std::uint64_t written_until_us() const { return written_until_us_; }
  std::uint64_t step_us() const { return settings_.tiers.front().step_us; }
  // True when it is time to flush().
  bool is_due() const;
  Result<void> flush();
  // Ends all pieces and blocks, and flushes.
  Result<void> end();

 private:
  struct Series {
    std::uint64_t id = 0;
    std::uint64_t last_us = 0;
    bool is_written = false;
  };
  using Name = std::tuple<std::string, std::string, std::string>;

  StoreWriter(Settings settings, std::string directory, Fd lock, Database database);
  Result<void> load();
  Result<void> check_log();
  Result<void> write();
  Result<void> write_series();
  Result<void> delete_open();
  Result<void> write_block(const PackedBlock& block);
  using Views = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // each with its source
  Result<void> write_derived(const Views& views);
  Result<void> write_facts();
  Result<void> prune();
  Result<void> prune_series();
  Result<void> prune_to_size();
  Result<std::uint64_t> used_bytes();
  void keep_closed(const Error& error);

  const Settings settings_;
  const std::string directory_;
  const Fd lock_;
  Database database_;
  std::vector<OpenTier> tiers_;
  std::map<Name, Series> series_;
  std::map<std::uint64_t, Series*> by_id_;
  std::vector<const Name*> unwritten_;
  std::vector<PackedBlock> closed_;
  std::vector<std::uint64_t> open_ids_;  // of blocks in the file that are not closed
  Views derived_;                        // of the table
  std::vector<Fact> facts_;
  std::uint64_t next_series_ = 1;
  std::uint64_t next_block_ = 1;
  std::uint64_t now_us_ = 0;
  std::uint64_t flushed_us_ = 0;
  std::uint64_t pruned_us_ = 0;
  std::uint64_t written_until_us_ = 0;
};

}  // namespace tallyfs::past
