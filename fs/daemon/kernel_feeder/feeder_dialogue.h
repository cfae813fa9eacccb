// Orders and their responses, over the socket that only the daemon and its feeder of the kernel's
// events have (core/wire/order.h).
//
// Thread-safe. A thread takes its turn to send an order, and gives it back before it waits: each
// thread waits for the response to its own order only. The feeder carries out orders one after the
// other. The listening thread passes responses on to here, and never waits.
//
// While the feeder owes a response, threads that wait look at what it does (FeederActivity). It is
// at work while it is runnable, or has used CPU time since. One that is stopped, or has not been at
// work for kSilenceMax, is silent: turns are refused and waits end, until it answers, is at work
// again, or is replaced.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/wire/order.h"
#include "fs/daemon/kernel_feeder/feeder_activity.h"

namespace tallyfs {

class FeederDialogue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Number = std::uint64_t;
  // The response to an order; its value is empty unless the order was a question.
  using Answer = std::variant<std::monostate, wire::Placed, wire::Texts, wire::Probed, wire::Found,
                              wire::Profiled>;
  using Response = Result<Answer>;
  using Look = std::function<FeederActivity(pid_t feeder)>;

  static constexpr std::chrono::seconds kSilenceMax{1};
  // The longest wait for a feeder that has just been started, or lost.
  static constexpr std::chrono::seconds kHelloMax{1};
  // Waits that last longer than kSilenceMax, of all kinds together; further ones end then. They
  // take serving threads, of which some stay free.
  static constexpr int kLongWaitsMax = 6;
  // Orders without a response that leave room for one more.
  static constexpr Number kUnansweredMax = 64;

  // The right to send an order. Confined to one thread, which does not wait meanwhile.
  class Turn {
   public:
    explicit Turn(FeederDialogue& dialogue) : dialogue_(&dialogue) {}
    Turn(Turn&& other) noexcept : dialogue_(std::exchange(other.dialogue_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (dialogue_) dialogue_->end_turn();
    }

    // Does not wait. The order gets its number here, and the sender has to wait() for it.
    Number send(wire::Order order) { return dialogue_->send_awaited(std::move(order)); }

   private:
    FeederDialogue* dialogue_;
  };

  FeederDialogue(Fd channel, Look look) : channel_(std::move(channel)), look_(std::move(look)) {}

  int fd() const { return channel_.get(); }
  bool is_there() const EXCLUDES(mutex_);
  // kNoDevice: there is no feeder. kTimedOut: it is silent, or has kUnansweredMax orders, or
  // kLongWaitsMax others wait. kInterrupted: the call was cancelled, or end_waits() was called.
  Result<Turn> take_turn(Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);
  // Waits for the response to an order that this thread has sent. kNoDevice: the feeder has ended.
  // kTimedOut: no response until the deadline, or the feeder is silent, or kLongWaitsMax others
  // wait. kInterrupted: as of take_turn(). If the response comes later, answered() returns kLate.
  Response wait(Number number, Time deadline, const CancellationToken& cancel) EXCLUDES(mutex_);
  // Waits until an order of any thread is answered, whatever the answer. Errors as of wait().
  Result<void> wait_until_answered(Number number, Time deadline, const CancellationToken& cancel)
      EXCLUDES(mutex_);
  // Whether the feeder that the order was for has ended.
  bool is_lost(Number number) const EXCLUDES(mutex_);
  // The daemon is about to end: all waits end now, and later ones do not begin.
  void end_waits() EXCLUDES(mutex_);

  // ---- for the listening thread

  // Sends an order without a wait for its response. Nothing: the channel is full of orders that the
  // feeder has not read yet, and the order is not sent.
  std::optional<Number> tell(wire::Order order) EXCLUDES(mutex_);
  // A new feeder has come; other threads send it orders after open(). Returns whether it is the
  // first.
  bool begin(pid_t feeder) EXCLUDES(mutex_);
  void open() EXCLUDES(mutex_);
  // There is no feeder any more. Returns whether there was one.
  bool end(const std::string& reason) EXCLUDES(mutex_);
  // The feeder has said that an order takes long.
  void note_at_work() EXCLUDES(mutex_);
  enum class Heard { kAwaited, kUnasked, kLate };
  Heard answered(Number number, Response response) EXCLUDES(mutex_);

 private:
  Number send_awaited(wire::Order order) EXCLUDES(mutex_);
  void end_turn() EXCLUDES(mutex_);
  // Returns whether there was room for the order. It gets its number in any case.
  bool send(wire::Order& order) REQUIRES(mutex_);
  // Fails what is awaited of orders up to this one.
  void fail_awaited(Number last, const Error& error) REQUIRES(mutex_);
  bool owes_response() const REQUIRES(mutex_) { return number_ > answered_; }
  bool is_silent() const REQUIRES(mutex_);
  bool may_send() const REQUIRES(mutex_);
  // Until when one thread waits. A wait counts as a long one once it has lasted kSilenceMax, and
  // ends then if there are kLongWaitsMax. Confined to mutex_. all: the number of long waits.
  class Patience {
   public:
    Patience(int& all, Time deadline) : all_(all), deadline_(deadline) {}
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() { all_ -= is_long_ ? 1 : 0; }
    // Asked for again after each piece of the wait.
    Time until();

   private:
    int& all_;
    const Time deadline_;
    const Time long_from_ = std::chrono::steady_clock::now() + kSilenceMax;
    bool is_long_ = false;
  };
  // Waits for news, until the time. The token, which may read a file, is polled and the feeder is
  // looked at without the lock: the caller looks at the state anew.
  enum class Wait { kGoesOn, kTimedOut, kCancelled };
  Wait wait_until(Time time, const CancellationToken& cancel) REQUIRES(mutex_);
  void look() REQUIRES(mutex_);
  Error refusal(Wait last) const REQUIRES(mutex_);

  const Fd channel_;
  const Look look_;
  mutable Mutex mutex_{LockRank::kFeederDialogue};
  std::condition_variable_any news_;  // waits on mutex_
  pid_t feeder_ GUARDED_BY(mutex_) = 0;
  bool is_there_ GUARDED_BY(mutex_) = false;
  bool is_busy_ GUARDED_BY(mutex_) = false;  // a thread has the turn
  bool has_ended_waits_ GUARDED_BY(mutex_) = false;
  int long_waits_ GUARDED_BY(mutex_) = 0;
  Number number_ GUARDED_BY(mutex_) = 0;    // the last that was sent
  Number answered_ GUARDED_BY(mutex_) = 0;  // the last with a response, as are all before
  Number lost_ GUARDED_BY(mutex_) = 0;      // the last for a feeder that has ended
  std::map<Number, std::optional<Response>> awaited_ GUARDED_BY(mutex_);
  std::vector<Number> given_up_ GUARDED_BY(mutex_);  // at most kUnansweredMax
  // When a feeder that owes a response was last seen at work.
  Time active_ GUARDED_BY(mutex_);
  FeederActivity seen_ GUARDED_BY(mutex_);
  std::string gone_ GUARDED_BY(mutex_) = "it has not started yet";
};

}  // namespace tallyfs
