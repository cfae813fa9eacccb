// Orders to the feeder of the kernel's events: the source of tracing/events, of probes, and of
// tracing/latency_hist at once.
//
// Thread-safe. A thread of its own receives the replies, and calls the Listeners. No lock is held
// during a wait for the feeder, or while a Listener is called. A call waits for its own orders, and
// for those of others that switch on an event which it wants too. An order without a response in
// time may still be carried out: when the response comes, the feeder gets the current demand anew.
// Remembers at most kPlacesMax names of addresses; with one more all are requested again.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/latency_hist/branch/kernel_source.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/branch/probe_source.h"
#include "core/wire/order.h"
#include "fs/daemon/kernel_feeder/feeder_dialogue.h"
#include "fs/daemon/kernel_feeder/kernel_texts.h"

namespace tallyfs {

class OrderedFeeder final : public KernelSource, public EventSource, public ProbeSource {
 public:
  // The longest wait for one order, while the feeder is at work (see FeederDialogue).
  static constexpr std::chrono::seconds kWantMax{10};
  static constexpr std::chrono::milliseconds kDrainMax{100};
  static constexpr std::chrono::milliseconds kPlaceMax{500};
  static constexpr std::size_t kPlacesMax = 65'536;
  // More events take several orders. Each event takes the kernel up to some milliseconds.
  static constexpr std::size_t kEventsPerOrderMax = 64;
  // Places of probes that a new feeder is told of before it has answered.
  static constexpr std::size_t kUnansweredPlacesMax = 32;

  enum class Asked { kForLatencyHist, kForEvents };

  // Notifications of the feeder's state, called on the listening thread; all objects in them
  // outlive that thread.
  struct Listeners {
    // Another feeder feeds than before, or none any more.
    std::function<void()> changed;
    // The demand of latency_hist, for a new feeder.
    std::function<WantedEvents()> wanted;
    // A new feeder has arrived, and all of its offers have been sent to the socket; or it says why
    // there are none. Orders that are given meanwhile on this thread are not waited for. False:
    // some of the offers went to the server before, and another feeder has to make them anew.
    std::function<bool(const std::string& without_events)> arrived = [](const std::string&) {
      return true;
    };
    // The feeder has refused an order that no thread waits for.
    std::function<void(Asked, const Error&)> refused = [](Asked, const Error&) {};
    // The feeder has ended, for this reason. Called before changed, and not when the daemon itself
    // ends the feeder.
    std::function<void(const std::string&)> gone = [](const std::string&) {};
    // The threads whose events are left out have changed: the daemon's own threads, and the feeder.
    // On any thread.
    std::function<void(std::vector<pid_t>)> left_out = [](std::vector<pid_t>) {};
    // The probes that a new feeder has to make, or to keep, and what becomes of each. Their serials
    // are asked for last.
    std::function<std::vector<ProbePlace>()> probe_places = [] {
      return std::vector<ProbePlace>();
    };
    std::function<std::vector<std::uint64_t>()> probe_serials = [] {
      return std::vector<std::uint64_t>();
    };
    std::function<void(std::uint64_t, const MadeProbe&)> probe_made =
        [](std::uint64_t, const MadeProbe&) {};
    std::function<void(std::uint64_t, const Error&)> probe_refused = [](std::uint64_t,
                                                                        const Error&) {};
    // A place was made whose write has given up. False: there is no probe that it was added to.
    std::function<bool(std::uint64_t, const MadeProbe&)> place_made_late =
        [](std::uint64_t, const MadeProbe&) { return false; };
    // The first feeder has arrived, or is not likely to: called once. One that is replaced is none.
    std::function<void()> settled = [] {};
  };

  // channel: the socket to the feeder. taken_in: takes in all that the feeder has sent to the
  // daemon's socket; called on the draining thread. cut: called when a drain has given up. look:
  // what the feeder does, for tests.
  OrderedFeeder(Fd channel, std::function<void()> taken_in, std::function<void()> cut,
                FeederDialogue::Look look = feeder_activity)
      : EventSource(Delay::kLate),
        dialogue_(std::move(channel), std::move(look)),
        taken_in_(std::move(taken_in)),
        cut_(std::move(cut)) {}
  ~OrderedFeeder() override;

  // Begins to listen.
  void start(Listeners listeners);
  // Called before start(): the feeder that a server before has given orders to ends, and its
  // supervisor starts the next.
  void replace_feeder();
  // Stops listening: later replies are dropped.
  void stop();
  // The daemon is about to end: calls that wait are interrupted, and later ones do not wait.
  void end_waits() { dialogue_.end_waits(); }

  Result<void> want(const std::function<WantedEvents()>& wanted,
                    const CancellationToken& cancel) override;
  Result<void> want(const EventSource::Wanted& wanted, const CancellationToken& cancel) override
      EXCLUDES(mutex_);
  void drain(const CancellationToken& cancel) override;
  EventSource& events() override { return *this; }
  Result<MadeProbe> define(const ProbePlace& place, const CancellationToken& cancel) override;
  Result<void> remove(const std::vector<std::uint64_t>& serials,
                      const CancellationToken& cancel) override;
  // A feeder is there and takes orders.
  bool is_there() const { return dialogue_.is_there(); }
  std::unique_ptr<const Symbols> symbols(CancellationToken cancel) const override;
  std::string printk_formats(const CancellationToken& cancel) const override EXCLUDES(mutex_);

 private:
  class SymbolsOfCall;
  using Place = Symbols::Place;
  using Time = FeederDialogue::Time;
  using Number = FeederDialogue::Number;

  bool is_listener() const { return std::this_thread::get_id() == listening_.load(); }

  // The daemon's threads. Listeners are notified when they have changed.
  std::vector<pid_t> without() EXCLUDES(mutex_);
  // How the feeder records an event, by the order that says so.
  struct Told {
    wire::WatchedEvent event;
    Number order = 0;
  };
  // The events of an order, and its number. Of no events: the last order that says how a wanted
  // event is recorded.
  struct Sent {
    std::vector<wire::WatchedEvent> events;
    Number order = 0;
  };
  // Sends the order that changes the feeder's state to the wanted one, as far as it fits into one
  // order, unless it is empty. From then on it counts as told. untried: events that are left
  // unchanged.
  using Send = std::function<Number(const wire::EventsOrder&)>;
  Sent send_changes(const EventSource::Wanted& wanted, const std::vector<std::uint32_t>& untried,
                    const Send& send) EXCLUDES(mutex_);
  Result<Sent> send_changes_in_turn(const EventSource::Wanted& wanted,
                                    const std::vector<std::uint32_t>& untried, Time deadline,
                                    const CancellationToken& cancel) EXCLUDES(mutex_);
  Number last_order(const std::vector<WantedEvent>& wanted) const REQUIRES(mutex_);
  std::vector<wire::WatchedEvent> changes(const std::vector<WantedEvent>& wanted) const
      REQUIRES(mutex_);
  // Events that were refused, or not told: their state in the feeder is unknown.
  void note_uncertain(const std::vector<wire::WatchedEvent>& events) EXCLUDES(mutex_);
  Result<void> order_changes(const EventSource::Wanted& wanted, const CancellationToken& cancel)
      EXCLUDES(mutex_);

  // The order is made once no other thread sends one. Its number is to be waited for.
  Result<Number> send_in_turn(Time deadline, const CancellationToken& cancel,
                              const std::function<wire::Order()>& order) const;
  Result<void> order_drain(const CancellationToken& cancel);

  // Nothing: it has to be requested.
  std::optional<Place> known_place(std::uint64_t address) const EXCLUDES(mutex_);
  // kNoDevice, kTimedOut, kInterrupted: no response came. It may come later, and is remembered
  // then.
  Result<Place> request_place(std::uint64_t address, const CancellationToken& cancel) const
      EXCLUDES(mutex_);
  using Texts = std::shared_ptr<const KernelTexts>;
  // As they were requested last.
  Texts known_texts() const EXCLUDES(mutex_);
  // Errors as of request_place().
  Result<Texts> request_texts(const CancellationToken& cancel) const EXCLUDES(mutex_);
  Place remember(std::uint64_t address, wire::Placed placed) const REQUIRES(mutex_);

  void discard_replies();
  void end_feeder();
  void order_end();
  void listen();
  bool wait_for_word(Time until);
  void settle();
  void tell_latencies(const WantedEvents& wanted) EXCLUDES(mutex_);
  void tell_events(const EventSource::Wanted& wanted) EXCLUDES(mutex_);
  // The feeder has answered.
  void note_heard(FeederDialogue::Heard heard) EXCLUDES(mutex_);
  void tell_again() EXCLUDES(mutex_);
  void tell_that_is_all() EXCLUDES(mutex_);
  void tell_probes() EXCLUDES(mutex_);
  void hear(const wire::Hello& reply) EXCLUDES(mutex_);
  void hear(const wire::Done& reply) EXCLUDES(mutex_);
  void hear(const wire::Failed& reply) EXCLUDES(mutex_);
  void hear(const wire::Gone& reply);
  void hear(const wire::Placed& reply) EXCLUDES(mutex_);
  void hear(const wire::Texts& reply) EXCLUDES(mutex_);
  void hear(const wire::Probed& reply) EXCLUDES(mutex_);
  void hear(const wire::Refused& reply) EXCLUDES(mutex_);
  std::optional<std::uint64_t> take_told_probe(Number number);

  mutable FeederDialogue dialogue_;
  const std::function<void()> taken_in_;
  const std::function<void()> cut_;
  std::atomic<Number> given_up_drain_ = 0;  // the last one
  Listeners listeners_;
  // The listening thread's members.
  bool settled_ = false;
  int replaced_ = 0;                          // how often a feeder was ordered to end
  bool is_end_unsent_ = false;                // the last such order: there was no room
  bool is_replacing_ = false;                 // until the next feeder has arrived, or cannot start
  bool is_end_told_ = false;                  // of the feeder that is replaced
  std::atomic<bool> is_stopping_ = false;     // set by stop()
  Number told_latencies_ = 0;                 // the last order for latencies without a wait
  bool is_untold_ = false;                    // an order is not sent, since there was no room
  bool tells_probes_ = false;                 // a new feeder is told of them
  std::deque<ProbePlace> untold_probes_;
  std::map<Number, std::uint64_t> told_probes_;  // serials, by orders without an answer
  std::thread listener_;                      // joined by stop()
  std::atomic<std::thread::id> listening_{};  // set by the thread itself; none: it has ended

  mutable Mutex mutex_{LockRank::kOrderedFeeder};
  pid_t feeder_ GUARDED_BY(mutex_) = 0;
  std::vector<pid_t> left_out_ GUARDED_BY(mutex_);  // as listeners were notified last
  // How the feeder records events that are on, or may be, by their ids.
  boost::unordered_flat_map<std::uint32_t, Told> told_ GUARDED_BY(mutex_);
  EventSource::Wanted wanted_ GUARDED_BY(mutex_);  // as it was asked last
  mutable boost::unordered_flat_map<std::uint64_t, Place> places_ GUARDED_BY(mutex_);
  mutable Texts texts_ GUARDED_BY(mutex_) = std::make_shared<KernelTexts>();  // and symbols
  // Orders for names that are not answered yet, with the addresses.
  mutable boost::unordered_flat_map<Number, std::uint64_t> late_places_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
