// Orders and their replies, over the socket that only the daemon and its feeder of the kernel's
// events have (core/wire/order.h).
//
// Thread-safe. Of those who wait for an answer one has its turn at a time. A feeder that owes an
// answer for kSilenceMax is silent: from then on nobody gets a turn, and at once, until it says
// something or another one takes its place. So it holds up the daemon for kSilenceMax once, and not
// anew with each order. The listening thread tells here what it has heard, and waits for nothing.
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
  // What became of an order; empty if it was no question.
  using Answer = Result<wire::Placed>;

  static constexpr std::chrono::seconds kSilenceMax{1};
  // A feeder that has just been started, or lost, is waited for that long.
  static constexpr std::chrono::seconds kHelloMax{1};

  // The right to have one order answered, as long as it lives. Confined to one thread.
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
    // For what was sent last. kNoDevice: the feeder has gone; kTimedOut: no answer until the
    // deadline, or for as long as the feeder may be silent. If that answer comes later, answered()
    // says kLate.
    Answer wait(Time deadline) { return dialogue_->wait(deadline, cancel_); }

   private:
    FeederDialogue* dialogue_;
    CancellationToken cancel_;
  };

  explicit FeederDialogue(Fd channel) : channel_(std::move(channel)) {}

  int fd() const { return channel_.get(); }
  bool is_there() const EXCLUDES(mutex_);
  // kNoDevice: there is no feeder; kTimedOut: it is silent, or others had their turns until then;
  // kInterrupted: the call was cancelled; its token holds for the turn's wait() as well.
  Result<Turn> take_turn(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);

  // ---- the listening thread's

  // An order whose answer nobody waits for. Nothing: the channel is full of orders that the feeder
  // has not read yet, and it will not hear of this one.
  std::optional<Number> tell(wire::Order order) EXCLUDES(mutex_);
  // A new feeder has come; others give it orders after open(). Whether it is the first.
  bool begin() EXCLUDES(mutex_);
  void open() EXCLUDES(mutex_);
  // There is none any more. Whether there was.
  bool end(const std::string& reason) EXCLUDES(mutex_);
  enum class Heard { kAwaited, kUnasked, kLate };
  Heard answered(Number number, Answer answer) EXCLUDES(mutex_);

 private:
  Number send_awaited(wire::Order order) EXCLUDES(mutex_);
  Answer wait(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);
  void end_turn() EXCLUDES(mutex_);
  // Whether there was room for it. It has its number in any case.
  bool send(wire::Order& order) REQUIRES(mutex_);
  // When it is over for who may wait until the deadline.
  Time end_of(Time deadline) const REQUIRES(mutex_);
  bool wait_until(Time time, const CancellationToken& cancel) REQUIRES(mutex_);

  const Fd channel_;
  mutable Mutex mutex_{LockRank::kFeederDialogue};
  std::condition_variable_any news_;  // waits on mutex_
  bool is_there_ GUARDED_BY(mutex_) = false;
  bool is_busy_ GUARDED_BY(mutex_) = false;  // somebody has the turn
  Number number_ GUARDED_BY(mutex_) = 0;     // the last that was sent
  Number awaited_ GUARDED_BY(mutex_) = 0;    // 0: none
  std::optional<Answer> answer_ GUARDED_BY(mutex_);
  std::vector<Number> given_up_ GUARDED_BY(mutex_);    // as many as fit into a silence
  std::optional<Time> owes_since_ GUARDED_BY(mutex_);  // an answer, or has said nothing since
  std::string gone_ GUARDED_BY(mutex_) = "it has not started yet";
};

}  // namespace tallyfs
