// Whether a daemon is there: finds it, notices its end and its successor, and keeps in touch.
// Confined to the Client's lock.
#pragma once

#include <chrono>
#include <cstdint>

#include "feeders/client/cell_file.h"
#include "feeders/client/conversation.h"
#include "feeders/client/delivery.h"
#include "feeders/client/lane_progress.h"
#include "feeders/client/link.h"
#include "feeders/client/registrar.h"
#include "feeders/client/reports.h"
#include "feeders/client/ring_replay.h"
#include "feeders/client/sample_counts.h"

namespace tallyfs {

class DaemonConnection {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kPauseMin = std::chrono::milliseconds(50);
  // An idle feeder sends a ping now and then: only sending shows whether the daemon lives.
  static constexpr Time kIdlePause = std::chrono::seconds(1);

  struct Dependencies {
    Link& link;
    Conversation& conversation;
    Registrar& registrar;
    CellFiles& cell_files;
    ThreadBuffers& buffers;
    Delivery& delivery;
    LaneProgress& progress;
    RingReplay& replay;
    const SampleCounts& counts;
    Reports& reports;
    const SocketPath& socket;
  };
  explicit DaemonConnection(const Dependencies& dependencies) : its_(dependencies) {}

  // Connects if there is no connection, and a try is due.
  void connect(Time now);
  // The next connect() tries in any case.
  void connect_at_once() { connect_at_ = Time(0); }
  Time connect_at() const { return connect_at_; }
  // If the daemon is gone since the last call: what it has not confirmed is lost.
  void notice_end(Time now);
  // The first response of a daemon has come. Once no thread is sending, no datagram that is being
  // made holds a number of the epoch before.
  void enter_epoch(std::uint64_t epoch);
  // Frees the lane file of the daemon before, when no thread is in it and its rings are empty.
  void release_cell_files();
  // Asks how far the daemon has come, and tells it how many samples were dropped.
  void keep_in_touch(Time now);
  // In a forked child, which has no connection yet.
  void reset_in_child();

 private:
  void record_answer();
  void report_sending();
  void book_cells();
  void report_dropped();

  const Dependencies its_;
  Time connect_at_{0};  // zero is long ago
  Time pause_ = kPauseMin;
  Time touched_at_{0};
  bool was_connected_ = false;
  bool reported_missing_ = false;
  bool reported_sending_ = false;  // to this daemon
  std::uint64_t reported_dropped_ = 0;
};

}  // namespace tallyfs
