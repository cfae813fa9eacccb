#include "core/tracing/branch/readings.h"

#include <string>
#include <utility>

#include "core/tracing/branch/tracing_instance.h"

namespace tallyfs::tracing {

Readings::Readings(uid_t owner, std::uint64_t bytes_max)
    : owner_(owner),
      bytes_max_(bytes_max),
      ledger_({.per_uid = {.bytes = bytes_max}, .total = {.bytes = bytes_max}}, owner) {}

Result<Reservation> Readings::reserve(std::uint64_t bytes) {
  auto share = Reservation::create(ledger_, owner_, {.bytes = bytes});
  if (share) return share;
  return Error{ErrorCode::kNoSpace, "open histograms and traces already take all of the " +
                                        std::to_string(bytes_max_) +
                                        " bytes that there are for that"};
}

Result<SharedHistReading> Readings::hist(TracingInstance& instance, EventNumber event) {
  LastHist& last = instance.last_hist;
  const std::uint64_t hits = instance.set.hists.hits(event);
  if (last.event == event && last.changes == instance.changes && last.hits == hits) {
    if (auto same = last.reading.lock()) return same;
  }
  HistCopy copy = instance.set.hists.copy(event);
  auto share = reserve(copy.kept_bytes());
  if (!share) return share.error();
  auto made = std::make_shared<const HistReading>(HistReading{
      .copy = std::move(copy), .share = std::move(share.value()), .serial = instance.changes});
  last = {.event = event, .changes = instance.changes, .hits = hits, .reading = made};
  return SharedHistReading(std::move(made));
}

}  // namespace tallyfs::tracing
