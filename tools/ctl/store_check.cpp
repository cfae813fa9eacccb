#include "tools/ctl/store_check.h"

#include "tools/ctl/terminal.h"
#include "tools/past/store_reader.h"

namespace tallyfs {
namespace {

// A recorder writes each 10 s.
constexpr std::uint64_t kLateUs = 60'000'000;

constexpr const char* kHowToName =
    ": no past is recorded there; $TALLY_STORE names the directory of tallyctl record --store";

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

}  // namespace tallyfs
