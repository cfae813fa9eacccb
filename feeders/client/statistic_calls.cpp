#include "feeders/client/statistic_calls.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/decimal.h"
#include "core/base/encoded_name.h"
#include "core/base/text.h"
#include "feeders/client/last_error.h"

namespace tallyfs {
namespace {

constexpr const char* kNoHelp = "-";  // in a definition line

}  // namespace

StatisticCalls::StatisticCalls(const Dependencies& dependencies)
    : mutex_(dependencies.mutex),
      registry_(dependencies.registry),
      registrar_(dependencies.registrar),
      changes_(dependencies.changes),
      timer_(dependencies.timer),
      buffers_(dependencies.buffers),
      delivery_(dependencies.delivery),
      thread_(dependencies.thread),
      upkeep_(dependencies.upkeep) {}

int StatisticCalls::create_interface(FedInterface** interface, std::string_view name,
                                     unsigned flags) {
  constexpr unsigned kFlags =
      STATISTIC_LIFETIME_FEEDER | STATISTIC_UNITS_EXACT | STATISTIC_FEED_OWNER;
  if ((flags & ~kFlags) != 0) {
    return fail_with(EINVAL, "a flag that is not known");
  }
  if (const int error = thread_.start(); error != 0) {
    return fail_with(-error, "no thread could be started");
  }
  const MutexLock lock(mutex_);
  const auto made = registry_.create_interface(name, flags);
  if (!made) return fail_with(made.error());
  *interface = made.value();
  timer_.start();
  return 0;
}

int StatisticCalls::create_statistic(FedStatistic** statistic, FedInterface& interface,
                                     std::string_view name, std::string_view units) {
  const MutexLock lock(mutex_);
  const auto made = registry_.create_statistic(interface, name, units);
  if (!made) return fail_with(made.error());
  *statistic = made.value();
  made.value()->units = units;
  made.value()->has_begun = made.value()->started = false;
  timer_.start();
  return 0;
}

int StatisticCalls::create_view(FedStatistic** view, FedStatistic& source, std::string_view name) {
  const MutexLock lock(mutex_);
  const auto made = registry_.create_statistic(*source.interface, name, "");
  if (!made) return fail_with(made.error());
  *view = made.value();
  made.value()->source = source.name;
  made.value()->asked_decimals = source.asked_decimals.load();
  made.value()->started = true;
  source.has_views = true;
  changes_.send_view(source, *made.value());
  timer_.start();
  return 0;
}

// Once no thread is sending, no datagram that is being made holds a number of what is void.
void StatisticCalls::drop(FedStatistic& statistic, ServerSide side) {
  const MutexLock lock(mutex_);
  delivery_.drain_all();
  changes_.remove(statistic, side);
  if (side == ServerSide::kDelete) {
    buffers_.wait_for_senders();
    registrar_.remove(path_of(statistic));
  }
  changes_.destroy_removed();
  upkeep_.sleep.wake();
}

void StatisticCalls::drop(FedInterface& interface, ServerSide side) {
  const MutexLock lock(mutex_);
  delivery_.drain_all();
  registry_.detach(interface);
  if (side == ServerSide::kDelete) {
    Registrar::forget(interface);
    registrar_.remove(interface.name);
  }
  if (interface.statistics.empty()) {
    registry_.erase(interface);
  } else {
    const std::vector<FedStatistic*> all(interface.statistics.begin(), interface.statistics.end());
    for (FedStatistic* const each : all) changes_.remove(*each, side);
    if (side == ServerSide::kDelete) buffers_.wait_for_senders();
    changes_.destroy_removed();
  }
  upkeep_.sleep.wake();
}

int StatisticCalls::define(FedStatistic& statistic, std::string type) {
  const MutexLock lock(mutex_);
  statistic.type = std::move(type);
  note_definition(statistic);
  return 0;
}

// The ranges of the other calls are numbers of so many places.
int StatisticCalls::define_decimals(FedStatistic& statistic, unsigned decimals) {
  if (decimals > kDecimalsMax) return fail_with(EINVAL, "decimals must be a number from 0 to 9");
  const MutexLock lock(mutex_);
  if (!statistic.source.empty()) return fail_with(EINVAL, "a view has the decimals of its source");
  if (!statistic.type.empty()) {
    return fail_with(EINVAL, "decimals come before all else that defines the statistic");
  }
  statistic.asked_decimals = static_cast<std::uint8_t>(decimals);
  if (statistic.number == 0) statistic.said_decimals = static_cast<std::uint8_t>(decimals);
  note_definition(statistic);
  return 0;
}

int StatisticCalls::define_help(FedStatistic& statistic, std::string_view text) {
  std::string help = encoded_help(text);
  if (help.size() > kNameBytesMax) {
    return fail_with(EINVAL, "help must be at most 255 bytes, of which a blank takes three");
  }
  const MutexLock lock(mutex_);
  // The daemon may already have the last help text.
  if (help.empty() && !statistic.help.empty()) help = kNoHelp;
  statistic.help = std::move(help);
  note_definition(statistic);
  return 0;
}

// The line that creates the statistic has it, or one that follows.
void StatisticCalls::note_definition(FedStatistic& statistic) {
  if (statistic.is_to_be_created() || statistic.was_there) return;
  statistic.pending_type = true;
  changes_.send(statistic);
  upkeep_.sleep.wake();
}

int StatisticCalls::switch_on(FedStatistic& statistic) { return set_started(statistic, true); }

int StatisticCalls::switch_off(FedStatistic& statistic) { return set_started(statistic, false); }

int StatisticCalls::set_started(FedStatistic& statistic, bool on) {
  const MutexLock lock(mutex_);
  const bool begins = !std::exchange(statistic.has_begun, true);
  const bool before = std::exchange(statistic.started, on);
  if (!begins) {
    if (!statistic.pending_on) statistic.started_before_pending = before;
    statistic.pending_on = on;
  } else if (statistic.is_to_be_created()) {
    // The line that creates the statistic says it.
  } else if (statistic.was_there) {
    return 0;
  } else {
    statistic.pending_begin = on;
  }
  changes_.send(statistic);
  // Samples that follow count, or do not, before the daemon has heard of it. Views may want them.
  if (on) statistic.set_switch(&FedStatistic::kOn);
  if (!on && !statistic.has_views) statistic.set_switch(&FedStatistic::kOff);
  upkeep_.sleep.wake();
  return 0;
}

int StatisticCalls::reset(FedStatistic& statistic) {
  const MutexLock lock(mutex_);
  if (statistic.number.load(std::memory_order_relaxed) == 0) buffers_.make_void(statistic);
  statistic.pending_reset = true;
  changes_.send(statistic);
  upkeep_.sleep.wake();
  return 0;
}

}  // namespace tallyfs
