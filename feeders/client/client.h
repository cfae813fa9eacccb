// libtally's side of a feeder: a facade that owns the parts and wires them. Each part has one duty
// and says so in its header:
//
//   samples()               the way of a sample, lock-free: cells, rings, buffers of threads
//   statistics()            the calls of statistic.h about interfaces and statistics
//   publishing(), events()  the calls of publish.h and event.h
//   forking()               what a fork takes along
//
// Threads: those of the program, and the background thread. Lock order: mutex_, then a buffer's.
// What has GUARDED_BY is confined to mutex_ and says "the Client's lock"; the rest is thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <string>

#include "core/base/mutex.h"
#include "feeders/client/client_settings.h"
#include "feeders/client/event_calls.h"
#include "feeders/client/fork_handlers.h"
#include "feeders/client/publish_calls.h"
#include "feeders/client/statistic_calls.h"
#include "feeders/client/upkeep_round.h"

namespace tallyfs {

class Client {
 public:
  using Settings = ClientSettings;
  using Time = std::chrono::nanoseconds;

  explicit Client(Settings settings);
  ~Client() { finish(std::chrono::milliseconds(0)); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  SamplePath& samples() { return samples_; }
  ThreadBuffers& buffers() { return buffers_; }
  StatisticCalls& statistics() { return statistics_; }
  PublishCalls& publishing() { return publishing_; }
  EventCalls& events() { return event_calls_; }
  ForkHandlers& forking() { return forking_; }

  // ---- delivery; 0 or a negative errno

  int flush() EXCLUDES(mutex_);
  int sync(std::chrono::milliseconds time_max) EXCLUDES(mutex_);
  void count(statistic_counts& counts) const { counts_.read(counts); }
  // Ends the background thread, after what is held was sent as far as that is possible in time_max.
  void finish(std::chrono::milliseconds time_max) EXCLUDES(mutex_);

  // ---- the background thread; tests may call these instead, see BackgroundThread::Rounds

  Time run_round() EXCLUDES(mutex_);
  bool fall_asleep() EXCLUDES(mutex_);

 private:
  void deliver_reports() EXCLUDES(mutex_);
  void report_unsent() EXCLUDES(mutex_);
  // Makes rounds until check(), called with mutex_ held, returns something else than -EINPROGRESS.
  // At the deadline -ENOTCONN or -ETIMEDOUT.
  int wait_until(Time deadline, const std::function<int()>& check) EXCLUDES(mutex_);

  // First, since its first members are read with every sample.
  SamplePath samples_;
  const Settings settings_;
  ThreadBuffers buffers_;
  UpkeepSignals signals_;
  InheritedSwitches inherited_;
  Link link_;
  Delivery delivery_;
  RingAccess rings_;
  LaneProgress progress_;
  RecordCounts record_counts_;
  SampleCounts counts_;
  BackgroundThread thread_;

  Mutex mutex_{LockRank::kClient};
  Reports reports_ GUARDED_BY(mutex_);
  Registry registry_ GUARDED_BY(mutex_);
  Switches switches_ GUARDED_BY(mutex_);
  Shapes shapes_ GUARDED_BY(mutex_);
  Conversation conversation_ GUARDED_BY(mutex_);
  Registrar registrar_ GUARDED_BY(mutex_);
  Publisher publisher_ GUARDED_BY(mutex_);
  EventFeed events_ GUARDED_BY(mutex_);
  RingReplay replay_ GUARDED_BY(mutex_);
  DaemonConnection connection_ GUARDED_BY(mutex_);
  RegistrationTimer timer_ GUARDED_BY(mutex_);
  OrderedChanges changes_ GUARDED_BY(mutex_);
  UpkeepRound round_ GUARDED_BY(mutex_);

  StatisticCalls statistics_;
  PublishCalls publishing_;
  EventCalls event_calls_;
  ForkHandlers forking_;
  // The background thread's: the reports that it delivers.
  std::deque<std::string> delivering_;
};

}  // namespace tallyfs
