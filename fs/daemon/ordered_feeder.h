// The daemon's side of its conversation with the feeder of the kernel's events (core/wire/order.h).
// It is the source of tracing/events and of tracing/latency_hist at once.
//
// Thread-safe. One order is under way at a time, and whoever has another waits for its turn; a
// thread of its own hears the replies, and calls the Listeners. No lock is held while somebody waits
// for the feeder, or while a Listener is called. Remembers at most kPlacesMax names of addresses.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/tree/event_source.h"
#include "core/tree/kernel_source.h"
#include "core/wire/order.h"

namespace tally {

class OrderedFeeder final : public KernelSource, public EventSource, private Symbols {
 public:
  // Switching trace events takes the kernel tens of milliseconds, and more on a busy machine.
  static constexpr std::chrono::seconds kWantMax{5};
  // A feeder that has just been started, or lost, is waited for that long.
  static constexpr std::chrono::seconds kHelloMax{2};
  static constexpr std::chrono::milliseconds kDrainMax{100};
  static constexpr std::chrono::milliseconds kPlaceMax{500};
  static constexpr std::size_t kPlacesMax = 65'536;

  // What becomes of the feeder, told on the listening thread; all outlive the listening.
  struct Listeners {
    // Another feeder feeds than before, or none any more.
    std::function<void()> changed;
    // What a new feeder is told for latency_hist.
    std::function<WantedEvents()> wanted;
    // A new one is there, and all that it offers has been sent to the socket. Orders that are given
    // meanwhile on this thread are not waited for.
    std::function<void()> arrived = [] {};
    // It is no more. Comes before changed.
    std::function<void()> gone = [] {};
    // The first has arrived, or will hardly do: once.
    std::function<void()> settled = [] {};
  };

  // channel: the socket on whose other end the feeder is. taken_in: has what the feeder has sent to
  // the daemon's socket taken in; called by whoever drains. cut: a drain has given up.
  OrderedFeeder(Fd channel, std::function<void()> taken_in, std::function<void()> cut)
      : channel_(std::move(channel)), taken_in_(std::move(taken_in)), cut_(std::move(cut)) {}
  ~OrderedFeeder() override;

  // Begins to listen.
  void start(Listeners listeners);
  // No reply is heard any more.
  void stop();

  Result<void> want(const std::function<WantedEvents()>& wanted) override EXCLUDES(mutex_);
  Result<void> want(const EventSource::Wanted& wanted) override EXCLUDES(mutex_);
  void drain() override EXCLUDES(mutex_);
  bool is_late() const override { return true; }
  const Symbols* symbols() const override { return this; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  // What became of an order.
  using Answer = std::variant<Result<void>, wire::Placed>;

  // The number of an order that is now this thread's to give; nothing if there is no feeder, or
  // another order is under way until the deadline.
  std::optional<std::uint64_t> begin(Time deadline) const EXCLUDES(mutex_);
  // What became of the order; nothing if there is no answer until the deadline.
  std::optional<Answer> finish(Time deadline) const EXCLUDES(mutex_);
  // The same of an order that is only carried out or refused. kNoDevice: there is no answer.
  Result<void> finish_order(Time deadline) const EXCLUDES(mutex_);
  void give_up_turn() const EXCLUDES(mutex_);
  void send(const std::string& text) const;
  Error no_feeder() const EXCLUDES(mutex_);
  bool is_listener() const { return std::this_thread::get_id() == listener_.get_id(); }

  // The changes from what the feeder has been told to what is wanted, in order of their ids.
  std::vector<wire::WatchedEvent> changes(const std::vector<WantedEvent>& wanted) const
      REQUIRES(mutex_);
  void note_told(const std::vector<wire::WatchedEvent>& events, std::size_t count) EXCLUDES(mutex_);
  // What it was told was refused: nobody knows how they are now.
  void note_refused(const std::vector<wire::WatchedEvent>& events, std::size_t count)
      EXCLUDES(mutex_);
  Result<void> order_changes(const EventSource::Wanted& wanted, Time deadline) EXCLUDES(mutex_);
  void send_changes(const EventSource::Wanted& wanted) EXCLUDES(mutex_);

  Place place(std::uint64_t address) const override EXCLUDES(mutex_);
  std::string syscall(std::uint64_t number) const override;

  void listen();
  void wait_for_first_word();
  void settle();
  void hear(const wire::Hello& reply) EXCLUDES(mutex_);
  void hear(const wire::Done& reply) EXCLUDES(mutex_);
  void hear(const wire::Failed& reply) EXCLUDES(mutex_);
  void hear(const wire::Gone& reply) EXCLUDES(mutex_);
  void hear(const wire::Placed& reply) EXCLUDES(mutex_);
  void answered(std::uint64_t number, Answer answer) EXCLUDES(mutex_);

  const Fd channel_;
  const std::function<void()> taken_in_;
  const std::function<void()> cut_;
  Listeners listeners_;
  bool settled_ = false;  // the listening thread's
  std::thread listener_;

  mutable Mutex mutex_;
  mutable std::condition_variable_any news_;  // waits on mutex_
  bool is_there_ GUARDED_BY(mutex_) = false;
  mutable bool is_busy_ GUARDED_BY(mutex_) = false;  // with an order
  mutable std::uint64_t number_ GUARDED_BY(mutex_) = 0;
  mutable std::optional<Answer> answer_ GUARDED_BY(mutex_);
  std::string gone_ GUARDED_BY(mutex_) = "it has not started yet";
  // How the feeder records events that are on, or may be, by their ids.
  boost::unordered_flat_map<std::uint32_t, wire::WatchedEvent> told_ GUARDED_BY(mutex_);
  mutable boost::unordered_flat_map<std::uint64_t, Place> places_ GUARDED_BY(mutex_);
};

}  // namespace tally
