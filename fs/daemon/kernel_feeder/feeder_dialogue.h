// Orders and their replies, over the socket that only the daemon and its feeder of the kernel's
// events have (core/wire/order.h).
//
// Thread-safe. One thread at a time has its turn to wait for a response. A feeder that owes an
// answer for kSilenceMax is silent: turns are refused at once, until the feeder sends something or
// another feeder replaces it. So a silent feeder delays the daemon for kSilenceMax once, and not
// with each order. The listening thread passes replies on to here, and never waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/wire/order.h"

namespace tallyfs {

class FeederDialogue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Number = std::uint64_t;
  // The response to an order; its value is empty unless the order was a question.
  using Response = Result<wire::Placed>;

  static constexpr std::chrono::seconds kSilenceMax{1};
  // The longest wait for a feeder that has just been started, or lost.
  static constexpr std::chrono::seconds kHelloMax{1};

  // The right to wait for the response to one order, as long as it lives. Confined to one thread.
  class Turn {
   public:
    Turn(FeederDialogue& dialogue, CancellationToken cancel)
        : dialogue_(&dialogue), cancel_(std::move(cancel)) {}
    Turn(Turn&& other) noexcept
        : dialogue_(std::exchange(other.dialogue_, nullptr)), cancel_(std::move(other.cancel_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (dialogue_) dialogue_->end_turn();
    }

    // Does not wait. The order gets its number here.
    Number send(wire::Order order) { return dialogue_->send_awaited(std::move(order)); }
    // Waits for the response to the last order. kNoDevice: the feeder has ended. kTimedOut: no
    // response until the deadline, or for as long as the feeder may be silent. If the response
    // comes later, answered() returns kLate.
    Response wait(Time deadline) { return dialogue_->wait(deadline, cancel_); }
    // Waits until orders that were told are answered, whatever the answer. Errors as of wait().
    Result<void> wait_for_told(Time deadline) {
      return dialogue_->wait_for_told(deadline, cancel_);
    }

   private:
    FeederDialogue* dialogue_;
    CancellationToken cancel_;
  };

  explicit FeederDialogue(Fd channel) : channel_(std::move(channel)) {}

  int fd() const { return channel_.get(); }
  bool is_there() const EXCLUDES(mutex_);
  // kNoDevice: there is no feeder. kTimedOut: it is silent, or other threads had their turns until
  // then. kInterrupted: the call was cancelled. The token also applies to the turn's wait().
  Result<Turn> take_turn(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);

  // ---- for the listening thread

  // Sends an order without a wait for its response. Nothing: the channel is full of orders that the
  // feeder has not read yet, and the order is not sent.
  std::optional<Number> tell(wire::Order order) EXCLUDES(mutex_);
  // A new feeder has come; other threads send it orders after open(). Returns whether it is the
  // first.
  bool begin() EXCLUDES(mutex_);
  void open() EXCLUDES(mutex_);
  // There is no feeder any more. Returns whether there was one.
  bool end(const std::string& reason) EXCLUDES(mutex_);
  // The feeder is at work on its order: the silence begins anew.
  void note_working() EXCLUDES(mutex_);
  enum class Heard { kAwaited, kUnasked, kLate };
  Heard answered(Number number, Response response) EXCLUDES(mutex_);

 private:
  Number send_awaited(wire::Order order) EXCLUDES(mutex_);
  Response wait(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);
  Result<void> wait_for_told(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);
  void end_turn() EXCLUDES(mutex_);
  // Returns whether there was room for the order. It gets its number in any case.
  bool send(wire::Order& order) REQUIRES(mutex_);
  // The time at which a wait until the deadline has to end.
  Time end_of(Time deadline) const REQUIRES(mutex_);
  // Waits for news, until the time. The token, which may read a file, is polled without the lock:
  // the caller looks at the state anew.
  enum class Wait { kGoesOn, kTimedOut, kCancelled };
  Wait wait_until(Time time, const CancellationToken& cancel) REQUIRES(mutex_);

  const Fd channel_;
  mutable Mutex mutex_{LockRank::kFeederDialogue};
  std::condition_variable_any news_;  // waits on mutex_
  bool is_there_ GUARDED_BY(mutex_) = false;
  bool is_busy_ GUARDED_BY(mutex_) = false;  // a thread has the turn
  Number number_ GUARDED_BY(mutex_) = 0;     // the last that was sent
  Number awaited_ GUARDED_BY(mutex_) = 0;    // 0: none
  std::optional<Response> response_ GUARDED_BY(mutex_);
  std::vector<Number> given_up_ GUARDED_BY(mutex_);    // as many as fit into a silence
  std::optional<Time> owes_since_ GUARDED_BY(mutex_);  // a response; anew with each message
  std::string gone_ GUARDED_BY(mutex_) = "it has not started yet";
};

}  // namespace tallyfs
