// The calls of tally/statistic.h about interfaces and statistics; see there for what they promise.
// Thread-safe: each call holds the Client's lock. An int is 0 or a negative errno.
#pragma once

#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "feeders/client/background_thread.h"
#include "feeders/client/ordered_changes.h"
#include "feeders/client/registration_timer.h"

namespace tallyfs {

class StatisticCalls {
 public:
  struct Dependencies {
    Mutex& mutex;
    Registry& registry;
    Registrar& registrar;
    ThreadBuffers& buffers;
    Delivery& delivery;
    OrderedChanges& changes;
    RegistrationTimer& timer;
    BackgroundThread& thread;
    UpkeepSignals& upkeep;
  };
  explicit StatisticCalls(const Dependencies& dependencies);

  int create_interface(FedInterface** interface, std::string_view name, unsigned flags)
      EXCLUDES(mutex_);
  int create_statistic(FedStatistic** statistic, FedInterface& interface, std::string_view name,
                       std::string_view units) EXCLUDES(mutex_);
  int create_view(FedStatistic** view, FedStatistic& source, std::string_view name)
      EXCLUDES(mutex_);
  void drop(FedInterface& interface, ServerSide side) EXCLUDES(mutex_);
  void drop(FedStatistic& statistic, ServerSide side) EXCLUDES(mutex_);
  int define(FedStatistic& statistic, std::string type) EXCLUDES(mutex_);
  int define_decimals(FedStatistic& statistic, unsigned decimals) EXCLUDES(mutex_);
  int define_help(FedStatistic& statistic, std::string_view text) EXCLUDES(mutex_);
  int switch_on(FedStatistic& statistic) EXCLUDES(mutex_);
  int switch_off(FedStatistic& statistic) EXCLUDES(mutex_);
  int reset(FedStatistic& statistic) EXCLUDES(mutex_);

 private:
  int set_started(FedStatistic& statistic, bool on) EXCLUDES(mutex_);
  void note_definition(FedStatistic& statistic) REQUIRES(mutex_);

  Mutex& mutex_;
  Registry& registry_ GUARDED_BY(mutex_);
  Registrar& registrar_ GUARDED_BY(mutex_);
  OrderedChanges& changes_ GUARDED_BY(mutex_);
  RegistrationTimer& timer_ GUARDED_BY(mutex_);
  ThreadBuffers& buffers_;
  Delivery& delivery_;
  BackgroundThread& thread_;
  UpkeepSignals& upkeep_;
};

}  // namespace tallyfs
