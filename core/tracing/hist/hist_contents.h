// The counts of a histogram, as bytes that outlive the daemon (core/state/FORMAT.md, kind 11): its
// totals, its entries with their variables and saved fields, and the heads of its snapshots.
//
// HistContents is a value that shares the map's blocks. It is made under the EventSet's lock, and
// encoded outside of it. Loading is confined to the EventSet's lock. It checks each length, each
// key and each number that is an offset or a divisor later, and takes everything or nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {

class HistContents {
 public:
  HistContents(std::shared_ptr<const HistPlan> plan, HistTable& table);

  void encode(ByteWriter& out) const;

 private:
  std::shared_ptr<const HistPlan> plan_;  // shared with the trigger; the last owner frees it
  HistMap::View view_;
  std::uint64_t hits_, dropped_, expired_, unmatched_;
  std::uint32_t sweep_;
  std::vector<HistTable::Snapshot> snapshots_;
};

// Times that variables were set say something only about the boot of the machine in which they were
// taken.
enum class HistVariables { kKept, kUnset };

// Fills a table that is empty and was made for the plan. kInvalid: the table is empty as before;
// kExists: it was not empty.
Result<void> load_hist(ByteReader& in, const HistPlan& plan, HistTable& table,
                       HistVariables variables);

}  // namespace tallyfs::tracing
