#include "tools/ctl/store_check.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "core/base/text.h"
#include "tools/ctl/terminal.h"
#include "tools/display/summary.h"
#include "tools/past/ranked_pasts.h"
#include "tools/past/store_log.h"
#include "tools/past/store_reader.h"

namespace tallyfs {
namespace {

// A recorder writes each 10 s.
constexpr std::uint64_t kLateUs = 60'000'000;
// Doctor waits no longer for ten minutes of a large store to be read.
constexpr std::chrono::seconds kReadMax{2};
// The newest minute, and the least that it is compared with.
constexpr std::uint64_t kPastMin =
    past::StoredPasts::kSpanUs * (1 + past::RankedPasts::kBaselineMin);

constexpr const char* kShowChanged = "tallyctl show --changed --last 1m";

constexpr const char* kHowToName =
    ": no past is recorded there; $TALLY_STORE names the directory of tallyctl record --store";

// SQLite tidies the log at 4 MiB, and one transaction may have some more.
constexpr std::uint64_t kLogGrown = std::uint64_t{16} << 20;

// "process 4711 (sqlite3)"; a name is what its program says.
std::string process_text(int process) {
  std::string text = "process " + std::to_string(process);
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  if (!std::getline(file, name)) return text;
  append_escaped(text.append(" ("), name, kNameBytesMax, 0);
  return text.append(")");
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// "; web/errors silent since 12:03:10, and 2 more"; empty, if none is.
std::string silent_text(const past::RankedPasts& ranked, const view::Look& look) {
  if (ranked.silent().empty()) return "";
  const view::SilentRow& row = ranked.silent().front();
  const auto& first = ranked.first(row);
  std::string text = "; " + (row.members.size() == 1
                                 ? view::shown_name(first.interface, first.name)
                                 : first.interface + ", " + std::to_string(row.members.size()));
  text.append(" silent since ").append(look.moment(ranked.since_us(row)));
  const std::size_t more = view::count_members(ranked.silent()) - row.members.size();
  return more == 0 ? text : text.append(", and " + std::to_string(more) + " more");
}

Finding damaged(const std::string& reason) {
  return {Level::kFailure, "store", reason,
          "move the directory away, and systemctl restart tally-record"};
}

}  // namespace

Findings check_store(const std::string& directory, std::uint64_t realtime_us, bool utc) {
  auto store = past::StoreReader::open(directory);
  // A tallyctl that was built without the store has another error.
  const bool is_absent = !store && store.error().code == ErrorCode::kNotFound;
  if (is_absent) return {{Level::kOk, "store", "none in " + directory + kHowToName, ""}};
  if (!store && store.error().code != ErrorCode::kInvalid) return {};
  if (!store) return {damaged(store.error().reason)};
  const auto extent = store.value().extent();
  if (!extent) return {damaged(extent.error().reason)};
  if (!extent.value()) return {{Level::kOk, "store", directory + ", empty as yet", ""}};
  const past::Span& span = *extent.value();
  if (span.end_us + kLateUs < realtime_us) {
    return {
        {Level::kWarning, "store",
         directory + " ends at " + dated(span.end_us, utc) + ": nothing is recorded",
         "systemctl restart tally-record; journalctl -u tally-record says why, as a full disk"}};
  }
  return {{Level::kOk, "store", directory + ", from " + dated(span.begin_us, utc) + " on", ""}};
}

Findings check_changed(const std::string& directory, std::uint64_t realtime_us,
                       const view::Look& look) {
  past::StoredPasts pasts(directory);
  const auto done = pasts.read(past::StoredPasts::Clock::now() + kReadMax);
  if (!done || !done.value() || pasts.span().end_us + kLateUs < realtime_us) return {};
  const past::RankedPasts ranked(pasts, 1);
  if (ranked.ranked() == 0) {
    const bool is_young = pasts.span().end_us - pasts.span().begin_us < kPastMin;
    return {{Level::kOk, "changed",
             is_young ? "too little past as yet: three minutes of the store are needed"
                      : "no statistic of the newest minute was there for the two before it",
             ""}};
  }
  std::string of = ", of " + std::to_string(ranked.ranked()) + " statistics";
  const std::string silent = silent_text(ranked, look);
  if (pasts.left_out() > 0) of.append(", without " + std::to_string(pasts.left_out()) + " more");
  if (!ranked.is_unusual()) {
    return {{Level::kOk, "changed",
             "nothing unusual in the newest minute of the store" + of + silent,
             silent.empty() ? "" : kShowChanged}};
  }
  const view::ChangedRow& row = ranked.rows().front();
  const auto& first = ranked.first(row);
  const std::string name = row.members.size() == 1
                               ? view::shown_name(first.interface, first.name)
                               : first.interface;
  return {{Level::kOk, "changed",
           name + " since " + look.moment(ranked.since_us(row)) + ": " + ranked.reason(row, look) +
               of + silent,
           kShowChanged}};
}

Findings check_store_log(const std::string& directory,
                         const std::vector<past::LogHolder>& held_before) {
  const std::uint64_t bytes = past::log_bytes(directory);
  if (bytes < kLogGrown) return {};
  const bool is_full = bytes >= past::kLogBytesMax;
  for (const past::LogHolder& each : past::log_holders(directory)) {
    if (std::ranges::count(held_before, each) == 0) continue;
    // An export, one short transaction after the other, is behind for a moment only. While the log
    // is full nothing is committed, so that a reader that begins then is not behind.
    if (!each.is_behind && !is_full) continue;
    return {{Level::kWarning, "store-log",
             past::log_of(directory) + " has " + mebibytes(bytes) + ": " +
                 process_text(each.process) + " holds the store" +
                 (is_full ? ", and nothing is recorded"
                          : "; from " + mebibytes(past::kLogBytesMax) + " on nothing is recorded"),
             "end its transaction, or kill " + std::to_string(each.process) +
                 ": a reader may hold a store for a second"}};
  }
  return {};
}

}  // namespace tallyfs
