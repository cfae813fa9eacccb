// Prepares the Client for a fork, and resets it in the child. The forking thread calls before()
// first, and one of the others after the fork. Between the two calls it holds the Client's lock and
// those of all buffers. `own` is the buffer of the forking thread, if it has one: the child has no
// other thread.
#pragma once

#include "feeders/client/daemon_connection.h"
#include "feeders/client/event_feed.h"
#include "feeders/client/inherited_switches.h"
#include "feeders/client/ordered_changes.h"
#include "feeders/client/publisher.h"
#include "feeders/client/ring_replay.h"
#include "feeders/client/sample_path.h"

namespace tallyfs {

class ForkHandlers {
 public:
  struct Dependencies {
    Mutex& mutex;
    Registry& registry;
    InheritedSwitches& inherited;
    SamplePath& samples;
    ThreadBuffers& buffers;
    Delivery& delivery;
    LaneProgress& progress;
    RingReplay& replay;
    Registrar& registrar;
    Publisher& publisher;
    EventFeed& events;
    OrderedChanges& changes;
    DaemonConnection& connection;
    Reports& reports;
    BackgroundThread& thread;
    UpkeepSignals& upkeep;
  };
  explicit ForkHandlers(const Dependencies& dependencies) : its_(dependencies) {}

  void before(const ThreadBuffer* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_in_parent(const ThreadBuffer* own = nullptr) NO_THREAD_SAFETY_ANALYSIS;
  void after_in_child(ThreadBuffer* own) NO_THREAD_SAFETY_ANALYSIS;
  // In the child, any call: starts the thread that the child does not have. Adding samples does so
  // by SamplePath.
  void wake_up_in_child();

 private:
  const Dependencies its_;
};

}  // namespace tallyfs
