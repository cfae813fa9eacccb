// The daemon's side of the socket. One thread waits for datagrams (Asio) and takes them in turns
// of bounded time; a reader that wants everything sent so far (settle()) takes a turn itself, at
// once if nobody has it, else as the next. So a flood cannot keep readers out, and needs no
// second thread to be woken when there is none. Work that does not fit into a turn is left for the
// next, in its order; that of senders who ask for costly things, for turns between the others'
// (backlog.h).
//
// settle() may be called from any thread; everything else belongs to the thread that runs the
// EventLoop. What a turn touches is guarded by turn_.
#pragma once

#include <atomic>
#include <boost/asio/local/datagram_protocol.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/tree/barrier.h"
#include "feeders/intake/backlog.h"
#include "feeders/intake/dispatcher.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/feed_socket.h"
#include "feeders/intake/receiver.h"

namespace tallyfs {

class Intake final : public Barrier {
 public:
  // How long the thread works before it looks at its other duties and lets readers go first. A
  // turn ends between two lines or messages, so the longest single one comes on top.
  static constexpr std::chrono::milliseconds kTurnMax{2};
  // How long an open waits for the socket to be drained, at most. Reached only under a flood of
  // huge datagrams or costly commands; counted in drains_cut.
  static constexpr std::chrono::milliseconds kSettleMax{20};
  static constexpr std::chrono::seconds kLogPause{1};
  // What a settle() takes in a moment.
  static constexpr std::size_t kFewDatagrams = 4 * Receiver::kBatch;

  // All outlive the intake.
  Intake(EventLoop& loop, FeedSocket& socket, Statistics& statistics, Subsystems& subsystems,
         ErrorLog& errors, const Clock& clock, Dispatcher::SharedPage switches = {},
         LatencyHist* latencies = nullptr, UserEvents* events = nullptr,
         KernelFeed* kernel = nullptr);
  ~Intake() override;

  // Starts waiting for datagrams.
  void start();

  using Barrier::settle;
  void settle(const std::function<void()>& before_waiting) override EXCLUDES(turn_);

 private:
  using Deadline = std::chrono::nanoseconds;
  using Piece = Dispatcher::Piece;
  enum class Progress { kDone, kCut };

  // The one chain of the loop's turns: wait for a datagram, take turns until nothing of a batch is
  // left, wait again.
  void wait();
  void go_on() EXCLUDES(turn_);
  // One turn beside the chain, for what a reader left while that waits.
  void nudge();
  Progress take_turn() EXCLUDES(turn_);
  Progress work(Deadline deadline) REQUIRES(turn_);
  Progress drain(Deadline deadline, const std::function<void()>& before_waiting) REQUIRES(turn_);
  Progress finish_batch(Deadline deadline) REQUIRES(turn_);
  // The next of the batch. False if it is not done.
  bool take_next(Moment now, Deadline deadline) REQUIRES(turn_);
  bool go_on_with(const Datagram& datagram, Deadline deadline) REQUIRES(turn_);
  void put_off(const Datagram& datagram, Piece piece, const Result<void>& kept, Moment now)
      REQUIRES(turn_);
  // Takes what was put off.
  Progress catch_up(Deadline deadline) REQUIRES(turn_);
  bool is_past(Deadline deadline) const { return clock_.now().monotonic >= deadline; }
  void log_saturated(std::vector<std::string> names);

  EventLoop& loop_;
  const int fd_;
  const std::optional<unsigned> queue_length_;
  Statistics& statistics_;
  const Clock& clock_;
  boost::asio::local::datagram_protocol::socket readable_;  // for waiting only
  std::chrono::nanoseconds logged_{0};

  // Readers that want the turn. A plain lock would not let them have it: the thread that gives it
  // up under a flood takes it again before a sleeper has woken.
  std::atomic<int> readers_waiting_{0};
  std::atomic<unsigned> readers_served_{0};  // counts up, so that a waiter misses no change
  std::atomic<bool> nudged_{false};
  std::atomic<bool> works_{false};  // the loop's thread has the turn
  Mutex turn_{LockRank::kIntakeTurn};
  Receiver receiver_ GUARDED_BY(turn_);
  Dispatcher dispatcher_ GUARDED_BY(turn_);
  Backlog backlog_ GUARDED_BY(turn_);
  // What is left of the last batch; the first of them may be half done, inside the dispatcher.
  std::span<const Datagram> batch_ GUARDED_BY(turn_);
};

}  // namespace tallyfs
