// One round of the background thread: it connects, takes responses, registers what is new, and
// sends what has waited long enough. Confined to the Client's lock.
#pragma once

#include <chrono>

#include "feeders/client/daemon_connection.h"
#include "feeders/client/event_feed.h"
#include "feeders/client/inherited_switches.h"
#include "feeders/client/ordered_changes.h"
#include "feeders/client/publisher.h"
#include "feeders/client/registration_timer.h"
#include "feeders/client/ring_replay.h"

namespace tallyfs {

class UpkeepRound {
 public:
  using Time = std::chrono::nanoseconds;
  // While responses are awaited, or samples come, or did so lately.
  static constexpr Time kTick = std::chrono::milliseconds(10);

  struct Dependencies {
    const ClientSettings& settings;
    Registry& registry;
    InheritedSwitches& inherited;
    SampleTime& time;
    CellFiles& cell_files;
    ThreadBuffers& buffers;
    Link& link;
    UpkeepSignals& signals;
    Conversation& conversation;
    DaemonConnection& connection;
    Registrar& registrar;
    RegistrationTimer& timer;
    OrderedChanges& changes;
    Publisher& publisher;
    EventFeed& events;
    Delivery& delivery;
    RingReplay& replay;
  };
  explicit UpkeepRound(const Dependencies& dependencies) : its_(dependencies) {}

  enum class Urgency { kWhenDue, kNow };
  void run(Time now, Urgency urgency);
  // How long the next round may wait.
  Time next_due(Time now) const;
  // True if no round is due without a signal or an answer.
  bool is_idle(Time now) const;
  // Rounds follow each other by kTick for a while.
  void stay_active(Time now);

 private:
  void run_connected(Time now, Urgency urgency);
  void send_due(Time now);
  Time tick() const;

  const Dependencies its_;
  // Zero is long ago.
  Time active_until_{0};
  Time send_at_{0};
  Time reclaimed_at_{0};
  Time drain_at_{0};
  Time check_time_at_{0};
};

}  // namespace tallyfs
