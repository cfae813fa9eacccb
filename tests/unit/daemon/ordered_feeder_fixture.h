// The daemon's side of its conversation with the feeder, beside a feeder that is played here.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/call_context.h"
#include "fs/daemon/kernel_feeder/ordered_feeder.h"

namespace tallyfs {

inline constexpr int kHearMs = 10'000;

// The other end of the channel.
class PlayedFeeder {
 public:
  explicit PlayedFeeder(Fd channel) : channel_(std::move(channel)) {}

  // The next order; empty: there is none for `wait_ms`.
  std::string hear(int wait_ms = kHearMs) {
    pollfd waited{.fd = channel_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, wait_ms) <= 0) return {};
    std::string text(wire::kOrderBytesMax, '\0');
    const auto size = ::recv(channel_.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return text;
  }
  // The number of an order of this kind, which is the next.
  std::string number_of(const std::string& verb) {
    const std::string order = hear();
    EXPECT_TRUE(order.starts_with(verb + " ")) << order;
    const auto begin = verb.size() + 1;
    return order.substr(begin, order.find_first_of(" \n", begin) - begin);
  }
  void say(const std::string& text) {
    EXPECT_EQ(::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

 private:
  const Fd channel_;
};

class OrderedFeederTest : public testing::Test {
 protected:
  // Of a server before: nothing, or orders that fill the channel, or a reply that it did not hear.
  enum class Before { kNone, kAServer, kOrders, kReply };

  explicit OrderedFeederTest(Before before = Before::kNone) : OrderedFeederTest(make_ends(before)) {
    if (before == Before::kReply) played_.say("gone the feeder ended");
    if (before != Before::kNone) feeder_.replace_feeder();
    feeder_.start({.changed = [this] { changes_ += 1; },
                   .wanted = [this] { return WantedEvents{.wakeups = wanted_.load()}; },
                   .arrived =
                       [this](const std::string&) {
                         if (on_arrival_) on_arrival_();
                         arrivals_ += 1;
                         arrivals_.notify_all();
                         return is_whole_.load();
                       },
                   .refused =
                       [this](OrderedFeeder::Asked what, const Error& error) {
                         refused_.set_value({what, error.reason});
                       },
                   .probe_places = [this] { return places_; },
                   .probe_serials =
                       [] {
                         return std::vector<std::uint64_t>{3, 5};
                       },
                   .may_add_places =
                       [this](std::size_t places, std::size_t) {
                         if (places <= places_max_) return Result<void>();
                         return Result<void>(Error{ErrorCode::kNoSpace, "too many"});
                       },
                   .probe_made =
                       [this](const tracing::ProbePlace& place, const tracing::MadeProbe& made) {
                         made_.set_value({place.serial, made});
                       },
                   .probe_refused =
                       [this](std::uint64_t serial, const Error& error) {
                         unmade_.set_value({serial, error.reason});
                       },
                   .place_made_late =
                       [this](const tracing::ProbePlace& place, const tracing::MadeProbe&) {
                         late_.set_value(place.line);
                         return place.serial == has_probe_;
                       },
                   .ready = [this] { ready_.set_value(arrivals_); }});
  }
  ~OrderedFeederTest() override { feeder_.stop(); }

  // Returns when it takes orders, if it is not ordered to end.
  void arrive() {
    const int before = arrivals_;
    played_.say("hello 4711");
    arrivals_.wait(before);
    while (is_whole_ && !feeder_.is_there()) std::this_thread::yield();
  }
  std::future<Result<void>> want(bool wakeups) {
    return std::async(std::launch::async, [this, wakeups] {
      return feeder_.want([wakeups] { return WantedEvents{.wakeups = wakeups}; }, {});
    });
  }
  std::future<Result<void>> want(std::vector<tracing::WantedEvent> events) {
    const tracing::EventSource::Wanted wanted = [events] { return events; };
    return std::async(std::launch::async, [this, wanted] { return feeder_.want(wanted, {}); });
  }
  static std::chrono::milliseconds since(std::chrono::steady_clock::time_point start) {
    const auto passed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::milliseconds>(passed);
  }
  // One order is not answered.
  std::string fall_silent() {
    state_ = FeederActivity::State::kAsleep;
    auto waiting = want(true);
    const std::string number = played_.number_of("want");
    EXPECT_EQ(waiting.get().error().code, ErrorCode::kTimedOut);
    return number;
  }

  // What the daemon sees the feeder do.
  FeederActivity activity() const {
    return {.state = state_, .cpu_ticks = is_computing_ ? ++ticks_ : ticks_.load()};
  }
  bool is_waiting(const std::future<Result<void>>& call, std::chrono::milliseconds at_least) {
    return call.wait_for(at_least) == std::future_status::timeout;
  }

  // At work, so that a test which the machine has no time for is not taken for a silent feeder.
  std::atomic<FeederActivity::State> state_ = FeederActivity::State::kAtWork;
  std::atomic<bool> is_computing_ = false;
  mutable std::atomic<std::uint64_t> ticks_ = 0;
  std::atomic<int> changes_ = 0, arrivals_ = 0, cuts_ = 0;
  std::atomic<bool> wanted_ = false, is_whole_ = true;
  std::function<void()> on_arrival_;  // on the listening thread
  std::promise<std::pair<OrderedFeeder::Asked, std::string>> refused_;
  std::promise<int> ready_;                  // how many had arrived by then
  std::vector<tracing::ProbePlace> places_;  // for a feeder that arrives
  std::size_t places_max_ = 100;
  std::uint64_t has_probe_ = 0;     // the serial of one to which a place was added
  std::promise<std::string> late_;  // the line of a place that was made late
  std::promise<std::pair<std::uint64_t, tracing::MadeProbe>> made_;
  std::promise<std::pair<std::uint64_t, std::string>> unmade_;
  OrderedFeeder feeder_;
  PlayedFeeder played_;

 private:
  struct Ends {
    Fd daemon, feeder;
  };
  static Ends make_ends(Before before) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const std::string order = "drain 1";
    while (before == Before::kOrders &&
           ::send(ends[0], order.data(), order.size(), MSG_DONTWAIT) > 0) {
    }
    return {Fd(ends[0]), Fd(ends[1])};
  }
  explicit OrderedFeederTest(Ends ends)
      : feeder_(
            std::move(ends.daemon), [] {}, [this] { cuts_ += 1; },
            [this](pid_t) { return activity(); }),
        played_(std::move(ends.feeder)) {}
};

}  // namespace tallyfs
