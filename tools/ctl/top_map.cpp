#include "tools/ctl/top_map.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tools/display/change.h"
#include "tools/past/moment_source.h"
#include "tools/tree/mount_table.h"
#include "tools/tree/source.h"

namespace tallyfs {
namespace {

constexpr std::size_t kColumns = 240;

Result<void> read_columns(past::MomentSource& source, const view::Statistic& wanted,
                          std::uint64_t period_us, MapPast& made) {
  std::optional<view::Interface> before;
  for (auto next = Source::Next::kMoment; next != Source::Next::kEnd;) {
    auto now = read_interface(source, made.interface);
    if (!now) return now.error();
    const view::Statistic* const found = now.value().find(wanted.name);
    if (found && before) {
      const std::uint64_t end_us = now.value().realtime_us;
      const std::uint64_t begin_us = std::min(end_us, before->realtime_us + period_us);
      append_missed(made.columns,
                    {.end_us = end_us - std::min(end_us, period_us),
                     .length_us = end_us - begin_us,
                     .period_us = period_us},
                    kColumns);
      auto change = view::change_between(*before, now.value(), wanted.name);
      const bool is_alike = found->type == wanted.type && found->units == wanted.units;
      if (!is_alike) change.counted.reset();
      made.columns.push_back({.realtime_us = end_us, .counted = std::move(change.counted)});
    }
    if (found) before = std::move(now).value();
    const auto gone = source.next(std::chrono::microseconds(static_cast<std::int64_t>(period_us)));
    if (!gone) return gone.error();
    next = gone.value();
  }
  return {};
}

std::string fault_text(const Error& error) { return "no past of the map: " + error.reason; }

}  // namespace

std::string no_store_text(const std::string& store) {
  if (store == past::kDefaultStore) {
    return "no past is recorded: systemctl enable --now tally-record";
  }
  if (store.empty()) {
    return "no past is recorded: tallyctl record --store DIR, and TALLY_STORE=DIR for top";
  }
  return "no past is recorded in " + store + ": tallyctl record --store " + store;
}

std::string store_of_mount(const std::string& mount) {
  const char* const named = std::getenv("TALLY_STORE");
  if (named && *named) return named;
  return mount == kServiceMount ? past::kDefaultStore : "";
}

MapPast read_map_past(const std::string& store, const view::Interface& interface,
                      const view::Statistic& statistic, std::chrono::microseconds period) {
  MapPast made{interface.name, statistic.name, period};
  auto opened = past::StoreReader::open(store);
  if (!opened) {
    const bool is_absent = opened.error().code == ErrorCode::kNotFound;
    made.fault = is_absent ? no_store_text(store) : fault_text(opened.error());
    return made;
  }
  const auto period_us = static_cast<std::uint64_t>(period.count());
  const std::uint64_t end_us = interface.realtime_us;
  const std::uint64_t length_us = std::min(end_us, kColumns * period_us);
  auto source =
      past::MomentSource::open(std::move(opened).value(), {end_us - length_us, end_us},
                               {.interface = interface.name, .statistics = {statistic.name}});
  if (!source) {
    made.fault = fault_text(source.error());
    return made;
  }
  if (source.value()->period() > period) return made;
  const auto read = read_columns(*source.value(), statistic, period_us, made);
  // A statistic that the store does not have has no past.
  if (!read && read.error().code != ErrorCode::kNotFound) made.fault = fault_text(read.error());
  return made;
}

}  // namespace tallyfs
