// Sends orders to the kernel's feeder (tally-feed-tracefs), and is by them the source of
// tracing/events, of probes, and of tracing/latency_hist. A "place" is the symbol at an address, or
// a probe's place in a program.
//
// Thread-safe. A thread of its own, the listening thread, receives the replies and calls the
// Listeners. No lock is held during a wait for the feeder, or while a Listener is called. A call
// waits for its own orders, and for other threads' orders that switch on an event which it wants
// too. An order without a response in time may still be carried out: when the response comes, the
// feeder gets the current demand again. Remembers at most kPlacesMax names of addresses; at one
// more all are forgotten, and requested again when they are needed.
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

class OrderedFeeder final : public latency_hist::KernelSource,
                            public tracing::EventSource,
                            public tracing::ProbeSource {
 public:
  // The longest wait for one order, while the feeder is at work (see FeederDialogue).
  static constexpr std::chrono::seconds kWantMax{10};
  static constexpr std::chrono::milliseconds kDrainMax{100};
  static constexpr std::chrono::milliseconds kPlaceMax{500};
  static constexpr std::size_t kPlacesMax = 65'536;
  // More events need several orders. The kernel needs up to some milliseconds for each event.
  static constexpr std::size_t kEventsPerOrderMax = 64;
  // How many orders for probes a new feeder gets before it has answered the first.
  static constexpr std::size_t kUnansweredPlacesMax = 32;
  // The most replies that one hits() reads. A feeder that works needs half of them at most, even
  // for twice the text that places may have.
  static constexpr int kProfiledMax = 1'024;

  enum class Asked { kForLatencyHist, kForEvents };

  // Notifications of the feeder's state, called on the listening thread; all objects in them
  // outlive that thread.
  struct Listeners {
    // Another feeder has taken the place of the last one, or there is none any more.
    std::function<void()> changed;
    // Returns the demand of latency_hist, for a new feeder.
    std::function<WantedEvents()> wanted;
    // A new feeder has arrived, and has sent all of its offers to the socket; or without_events
    // says why there are none (empty: there are). Orders that the callback gives are sent without a
    // wait for their replies. The callback returns false if some offers went to the predecessor:
    // then this feeder ends, and the next one offers again.
    std::function<bool(const std::string& without_events)> arrived = [](const std::string&) {
      return true;
    };
    // The feeder has refused an order for whose reply no thread waits.
    std::function<void(Asked, const Error&)> refused = [](Asked, const Error&) {};
    // The feeder has ended, for this reason. Called before `changed`, and not when the daemon
    // itself ends the feeder.
    std::function<void(const std::string&)> gone = [](const std::string&) {};
    // The threads whose events are left out have changed: they are the daemon's own threads and the
    // feeder. Called on any thread.
    std::function<void(std::vector<pid_t>)> left_out = [](std::vector<pid_t>) {};
    // Returns the probes that a new feeder has to make or to keep; probe_made or probe_refused
    // reports the result of each. probe_serials is called after all of these results.
    std::function<std::vector<tracing::ProbePlace>()> probe_places = [] {
      return std::vector<tracing::ProbePlace>();
    };
    std::function<std::vector<std::uint64_t>()> probe_serials = [] {
      return std::vector<std::uint64_t>();
    };
    // Returns whether `places` more places, with `bytes` of text, may be made.
    std::function<Result<void>(std::size_t places, std::size_t bytes)> may_add_places =
        [](std::size_t, std::size_t) { return Result<void>(); };
    std::function<void(const tracing::ProbePlace&, const tracing::MadeProbe&)> probe_made =
        [](const tracing::ProbePlace&, const tracing::MadeProbe&) {};
    std::function<void(std::uint64_t, const Error&)> probe_refused = [](std::uint64_t,
                                                                        const Error&) {};
    // A place was made after the write that ordered it had given up. The callback returns false if
    // it has no probe for the place, which is then removed.
    std::function<bool(const tracing::ProbePlace&, const tracing::MadeProbe&)> place_made_late =
        [](const tracing::ProbePlace&, const tracing::MadeProbe&) { return false; };
    // Called once, as soon as the daemon need not wait for a feeder any more: one has arrived, it
    // ended, or none came within 10 s. After replace_feeder() the predecessor's feeder does not
    // count, and the next one has arrived when it has its orders for all probes, too.
    std::function<void()> ready = [] {};
  };

  // channel: the socket to the feeder. drain_socket: processes all that the feeder has sent to the
  // daemon's socket; called on the listening thread, and by drain() and define() on their caller's.
  // drain_failed: called when a drain() has given up. look: reports the feeder's activity; tests
  // pass their own.
  OrderedFeeder(Fd channel, std::function<void()> drain_socket, std::function<void()> drain_failed,
                FeederDialogue::Look look = feeder_activity)
      : tracing::EventSource(Delay::kLate),
        dialogue_(std::move(channel), std::move(look)),
        drain_socket_(std::move(drain_socket)),
        drain_failed_(std::move(drain_failed)) {}
  ~OrderedFeeder() override;

  // Starts the listening thread.
  void start(Listeners listeners);
  // Call before start(), after a reload: orders the predecessor's feeder to end. The supervisor
  // then starts the next.
  void replace_feeder();
  // Ends the listening thread: later replies are dropped.
  void stop();
  // Call when the daemon is about to end: interrupts calls that wait; later calls do not wait.
  void end_waits() { dialogue_.end_waits(); }

  Result<void> want(const std::function<WantedEvents()>& wanted,
                    const CancellationToken& cancel) override;
  Result<void> want(const tracing::EventSource::Wanted& wanted,
                    const CancellationToken& cancel) override EXCLUDES(mutex_);
  void drain(const CancellationToken& cancel) override;
  tracing::EventSource& events() override { return *this; }
  Result<tracing::MadeProbe> define(const tracing::ProbePlace& place,
                                    const CancellationToken& cancel) override;
  Result<std::string> find(tracing::ProbeKind kind, const std::string& place,
                           const CancellationToken& cancel) override;
  Result<void> remove(const std::vector<std::uint64_t>& serials,
                      const CancellationToken& cancel) override;
  Result<tracing::ProbeHits> hits(const CancellationToken& cancel) override;
  // True if there is a feeder that takes orders.
  bool is_there() const { return dialogue_.is_there(); }
  std::unique_ptr<const Symbols> symbols(CancellationToken cancel) const override;
  std::string printk_formats(const CancellationToken& cancel) const override EXCLUDES(mutex_);

 private:
  class SymbolsOfCall;
  using Place = Symbols::Place;
  using Time = FeederDialogue::Time;
  using Number = FeederDialogue::Number;

  bool is_listener() const { return std::this_thread::get_id() == listening_.load(); }

  // Returns the daemon's threads, and calls `left_out` if they have changed.
  std::vector<pid_t> without() EXCLUDES(mutex_);
  // How the feeder records an event, and the number of the last order that says so.
  struct OrderedEvent {
    wire::WatchedEvent event;
    Number order = 0;
  };
  // The events of an order, and its number. Without events, `order` is the last order that says how
  // a wanted event is recorded.
  struct Sent {
    std::vector<wire::WatchedEvent> events;
    Number order = 0;
  };
  // Sends the order that changes the feeder's state to the wanted one, as far as one order can,
  // unless nothing is to be changed. ordered_events_ has the new state from then on. untried:
  // events that are left unchanged.
  using Send = std::function<Number(const wire::EventsOrder&)>;
  Sent send_changes(const tracing::EventSource::Wanted& wanted,
                    const std::vector<std::uint32_t>& untried, const Send& send) EXCLUDES(mutex_);
  Result<Sent> send_changes_in_turn(const tracing::EventSource::Wanted& wanted,
                                    const std::vector<std::uint32_t>& untried, Time deadline,
                                    const CancellationToken& cancel) EXCLUDES(mutex_);
  Number last_order(const std::vector<tracing::WantedEvent>& wanted) const REQUIRES(mutex_);
  std::vector<wire::WatchedEvent> changes(const std::vector<tracing::WantedEvent>& wanted) const
      REQUIRES(mutex_);
  // Call for events whose order was refused or not sent: their state in the feeder is unknown.
  void mark_uncertain(const std::vector<wire::WatchedEvent>& events) EXCLUDES(mutex_);
  Result<void> order_changes(const tracing::EventSource::Wanted& wanted,
                             const CancellationToken& cancel) EXCLUDES(mutex_);

  // Calls `order` once no other thread sends one, and sends its result. Returns the order's number,
  // for FeederDialogue::wait().
  Result<Number> send_in_turn(Time deadline, const CancellationToken& cancel,
                              const std::function<wire::Order()>& order) const;
  Result<void> order_drain(const CancellationToken& cancel);

  // nullopt: the place has to be requested.
  std::optional<Place> known_place(std::uint64_t address) const EXCLUDES(mutex_);
  // kNoDevice, kTimedOut, kInterrupted: no response came. A later response is remembered.
  Result<Place> request_place(std::uint64_t address, const CancellationToken& cancel) const
      EXCLUDES(mutex_);
  using Texts = std::shared_ptr<const KernelTexts>;
  // The texts of the last response.
  Texts known_texts() const EXCLUDES(mutex_);
  // Has the errors of request_place().
  Result<Texts> request_texts(const CancellationToken& cancel) const EXCLUDES(mutex_);
  Place remember(std::uint64_t address, wire::Placed placed) const REQUIRES(mutex_);

  void discard_replies();
  void end_feeder();
  void order_end();
  void listen();
  bool wait_for_reply(Time until);
  void report_ready();
  void tell_latencies(const WantedEvents& wanted) EXCLUDES(mutex_);
  void tell_events(const tracing::EventSource::Wanted& wanted) EXCLUDES(mutex_);
  // Call after each answer: sends orders again that found no room, or whose answers came late.
  void send_outstanding(FeederDialogue::Heard heard) EXCLUDES(mutex_);
  void tell_again() EXCLUDES(mutex_);
  void send_end_of_orders() EXCLUDES(mutex_);
  void tell_probes() EXCLUDES(mutex_);
  void hear(const wire::Hello& reply) EXCLUDES(mutex_);
  void hear(const wire::Done& reply) EXCLUDES(mutex_);
  void hear(const wire::Failed& reply) EXCLUDES(mutex_);
  void hear(const wire::Gone& reply);
  void hear(const wire::Placed& reply) EXCLUDES(mutex_);
  void hear(const wire::Texts& reply) EXCLUDES(mutex_);
  void hear(const wire::Probed& reply) EXCLUDES(mutex_);
  void hear(const wire::Refused& reply) EXCLUDES(mutex_);
  void hear(const wire::Found& reply) EXCLUDES(mutex_);
  void hear(const wire::Profiled& reply) EXCLUDES(mutex_);
  void hear(const wire::Working&) { dialogue_.note_at_work(); }
  std::optional<tracing::ProbePlace> take_told_probe(Number number);
  // Orders for these places are the next to be sent.
  Result<void> add_found(std::vector<tracing::ProbePlace> places);
  // Remembers the place for an answer that comes after the write has given up.
  void remember_ordered(Number number, const tracing::ProbePlace& place) EXCLUDES(mutex_);
  // Returns a place without a line if the order is not remembered any more.
  tracing::ProbePlace take_ordered(Number number, std::uint64_t serial) EXCLUDES(mutex_);

  mutable FeederDialogue dialogue_;
  const std::function<void()> drain_socket_;
  const std::function<void()> drain_failed_;
  std::atomic<Number> given_up_drain_ = 0;  // the last one
  Listeners listeners_;
  // Members of the listening thread.
  bool is_ready_ = false;                     // Listeners::ready was called
  int replaced_ = 0;                          // how often a feeder was ordered to end
  bool is_end_unsent_ = false;                // the last such order: there was no room
  bool is_replacing_ = false;                 // until the next feeder has arrived, or cannot start
  bool is_end_told_ = false;                  // of the feeder that is replaced
  std::atomic<bool> is_stopping_ = false;     // set by stop()
  Number told_latencies_ = 0;                 // the last order for latencies without a wait
  bool is_untold_ = false;                    // an order was not sent, since there was no room
  bool tells_probes_ = false;                 // a new feeder gets orders for them
  bool owes_probes_ = false;                  // a feeder lacks some of them, also after its end
  bool has_lost_one_ = false;                 // a feeder has ended: the next gets orders for probes
  std::deque<tracing::ProbePlace> untold_probes_;
  std::map<Number, tracing::ProbePlace> told_probes_;  // by orders without an answer
  std::thread listener_;                      // joined by stop()
  std::atomic<std::thread::id> listening_{};  // set by the thread itself; none: it has ended

  mutable Mutex mutex_{LockRank::kOrderedFeeder};
  pid_t feeder_ GUARDED_BY(mutex_) = 0;
  std::vector<pid_t> left_out_ GUARDED_BY(mutex_);  // as listeners were notified last
  // How the feeder records events that are on, or may be, by their ids.
  boost::unordered_flat_map<std::uint32_t, OrderedEvent> ordered_events_ GUARDED_BY(mutex_);
  tracing::EventSource::Wanted wanted_ GUARDED_BY(mutex_);  // of the last call of want()
  mutable boost::unordered_flat_map<std::uint64_t, Place> places_ GUARDED_BY(mutex_);
  mutable Texts texts_ GUARDED_BY(mutex_) = std::make_shared<KernelTexts>();  // and symbols
  // The places of writes by orders that are not answered yet; at most kUnansweredMax.
  std::map<Number, tracing::ProbePlace> ordered_ GUARDED_BY(mutex_);
  // Orders for names that are not answered yet, with the addresses.
  mutable boost::unordered_flat_map<Number, std::uint64_t> late_places_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
