// The calls of tally/event.h; see there for what they promise. EventFeed has the records.
// Thread-safe: each call holds the Client's lock. An int is 0 or a negative errno.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/mutex.h"
#include "feeders/client/background_thread.h"
#include "feeders/client/delivery.h"
#include "feeders/client/event_feed.h"
#include "feeders/client/registration_timer.h"

namespace tallyfs {

class EventCalls {
 public:
  struct Dependencies {
    Mutex& mutex;
    EventFeed& events;
    RegistrationTimer& timer;
    const ClientSettings& settings;
    Delivery& delivery;
    BackgroundThread& thread;
    UpkeepSignals& upkeep;
  };
  explicit EventCalls(const Dependencies& dependencies);

  int add(FedEvent** event, std::string_view system, std::string_view name, std::string_view fields)
      EXCLUDES(mutex_);
  void remove(FedEvent& event) EXCLUDES(mutex_);
  int write(FedEvent& event, const void* fields, std::size_t bytes) EXCLUDES(mutex_);

 private:
  Mutex& mutex_;
  EventFeed& events_ GUARDED_BY(mutex_);
  RegistrationTimer& timer_ GUARDED_BY(mutex_);
  const ClientSettings& settings_;
  Delivery& delivery_;
  BackgroundThread& thread_;
  UpkeepSignals& upkeep_;
};

}  // namespace tallyfs
