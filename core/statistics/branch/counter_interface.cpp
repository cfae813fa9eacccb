#include "core/statistics/branch/counter_interface.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tallyfs::statistics {
namespace {

std::string definition_of(const DaemonCounter::Row& row) {
  return std::string("on=1 ").append(row.type).append(" units=").append(row.units);
}

}  // namespace

CounterInterface::CounterInterface(std::shared_ptr<Interface> interface, Timestamp now)
    : interface_(std::move(interface)) {
  interface_->set_feed(Feed::kOwner, now);
  for (const DaemonCounter::Row& row : DaemonCounter::kRows) {
    const auto made = interface_->create_statistic(row.name, definition_of(row), now);
    if (!made) {
      std::fprintf(stderr, "tallyfs: counter %s cannot be made: %s\n", row.name.data(),
                   made.error().reason.c_str());
      std::abort();
    }
    statistics_.push_back(made.value());
  }
}

void CounterInterface::record(DaemonCounter what, std::int64_t x, std::uint64_t count,
                              Timestamp now) {
  const Sample sample{.x = x, .y = count, .time = now.monotonic};
  const Run run{statistics_[what.index()], {&sample, 1}};
  interface_->add({&run, 1}, now);
}

Result<void> CounterInterface::resume_from(Interface& before, Timestamp now) {
  std::string names;
  for (const std::string& each : interface_->take_data(before, now)) {
    names.append(names.empty() ? "" : ", ").append(each);
  }
  if (names.empty()) return {};
  return Error{ErrorCode::kNoSpace, "there is no room for " + names + ", all else goes on"};
}

}  // namespace tallyfs::statistics
