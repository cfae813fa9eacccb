// The daemon's side of its conversation with the feeder of the kernel's events (core/wire/order.h).
//
// Thread-safe. One order is under way at a time, and whoever has another waits for its turn; a
// thread of its own hears the replies. No lock is held while somebody waits for the feeder.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/tree/kernel_source.h"
#include "core/wire/order.h"

namespace tally {

class OrderedFeeder final : public KernelSource {
 public:
  // Switching trace events takes the kernel tens of milliseconds, and more on a busy machine.
  static constexpr std::chrono::seconds kWantMax{5};
  // A feeder that has just been started, or lost, is waited for that long.
  static constexpr std::chrono::seconds kHelloMax{2};
  static constexpr std::chrono::milliseconds kDrainMax{100};

  // channel: the socket on whose other end the feeder is.
  explicit OrderedFeeder(Fd channel) : channel_(std::move(channel)) {}
  ~OrderedFeeder() override;

  // Begins to listen. changed: called from the listening thread when another feeder feeds than
  // before, or none any more. wanted: what a new feeder is told. Both outlive the listening.
  void start(std::function<void()> changed, std::function<WantedEvents()> wanted);
  // No reply is heard any more.
  void stop();

  Result<void> want(const std::function<WantedEvents()>& wanted) override EXCLUDES(mutex_);
  void drain() override EXCLUDES(mutex_);

 private:
  using Time = std::chrono::steady_clock::time_point;

  // The number of an order that is now this thread's to give; nothing if there is no feeder, or
  // another order is under way until the deadline.
  std::optional<std::uint64_t> begin(Time deadline) EXCLUDES(mutex_);
  // What became of the order; nothing if there is no answer until the deadline.
  std::optional<Result<void>> finish(Time deadline) EXCLUDES(mutex_);
  void send(const std::string& text) const;
  Error no_feeder() const EXCLUDES(mutex_);

  void listen();
  void hear(const wire::Hello& reply) EXCLUDES(mutex_);
  void hear(const wire::Done& reply) EXCLUDES(mutex_);
  void hear(const wire::Failed& reply) EXCLUDES(mutex_);
  void hear(const wire::Gone& reply) EXCLUDES(mutex_);
  void answered(std::uint64_t number, Result<void> done) EXCLUDES(mutex_);

  const Fd channel_;
  std::function<void()> changed_;
  std::function<WantedEvents()> wanted_;
  std::thread listener_;

  mutable Mutex mutex_;
  std::condition_variable_any news_;  // waits on mutex_
  bool is_there_ GUARDED_BY(mutex_) = false;
  bool is_busy_ GUARDED_BY(mutex_) = false;  // with an order
  std::uint64_t number_ GUARDED_BY(mutex_) = 0;
  std::optional<Result<void>> answer_ GUARDED_BY(mutex_);
  std::string gone_ GUARDED_BY(mutex_) = "it has not started yet";
};

}  // namespace tally
