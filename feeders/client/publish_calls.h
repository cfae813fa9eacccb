// The calls of tally/publish.h; see there for what they promise. Publisher has the blobs.
// Thread-safe: each call holds the Client's lock, but not while it calls the program. An int is 0
// or a negative errno.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "feeders/client/background_thread.h"
#include "feeders/client/publisher.h"
#include "feeders/client/registration_timer.h"
#include "feeders/client/reports.h"

namespace tallyfs {

class PublishCalls {
 public:
  struct Dependencies {
    Mutex& mutex;
    Publisher& publisher;
    RegistrationTimer& timer;
    Reports& reports;
    BackgroundThread& thread;
    UpkeepSignals& upkeep;
  };
  explicit PublishCalls(const Dependencies& dependencies);

  int create_object(FedObject** object, std::string_view subsystem, std::string_view name,
                    unsigned flags, Publisher::Holder holder) EXCLUDES(mutex_);
  void remove_object(FedObject& object) EXCLUDES(mutex_);
  int publish(FedObject& object, std::string_view blob) EXCLUDES(mutex_);
  int publish(std::string_view subsystem, std::string_view name, std::string_view blob)
      EXCLUDES(mutex_);
  // name empty: the subsystem. -ENOENT also for an object that has a handle.
  int withdraw(std::string_view subsystem, std::string_view name) EXCLUDES(mutex_);
  int follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                   std::size_t context_bytes, std::string rates) EXCLUDES(mutex_);
  // The background thread: passes rates that users have set to the program's callbacks.
  void deliver_rates(const std::vector<Publisher::NewRates>& new_rates) EXCLUDES(mutex_);

 private:
  Mutex& mutex_;
  Publisher& publisher_ GUARDED_BY(mutex_);
  RegistrationTimer& timer_ GUARDED_BY(mutex_);
  Reports& reports_ GUARDED_BY(mutex_);
  BackgroundThread& thread_;
  UpkeepSignals& upkeep_;
};

}  // namespace tallyfs
