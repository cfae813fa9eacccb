// tally-feed-latency: the kernel's scheduling events for tracing/latency_hist. tallyfs starts it
// with -o tracefs and tells it, over a socket that it has inherited, what is wanted
// (core/wire/order.h). One thread.
//
// It sleeps until the first event, then lets a poll period's worth of them gather: without orders
// and on an idle machine it costs nothing.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/fd.h"
#include "core/wire/order.h"
#include "feeders/clock/program_clock.h"
#include "feeders/latency/event_shipper.h"
#include "feeders/latency/tracing.h"
#include "feeders/program/program.h"
#include "feeders/program/stop_signal.h"

namespace tally {
namespace {

using namespace std::chrono_literals;

struct Options : ProgramOptions {
  int orders = -1;
  unsigned poll_ms = 50;
};

// The daemon's orders, and what is answered.
class Orders {
 public:
  explicit Orders(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  // Nobody gives any more.
  bool ended() const { return ended_; }
  // The next one that is there.
  std::optional<wire::Order> next() {
    for (;;) {
      const auto size = ::recv(fd_, text_.data(), text_.size(), MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
      ended_ = size <= 0;
      if (ended_) return std::nullopt;
      const std::string_view text(text_.data(), static_cast<std::size_t>(size));
      if (auto order = wire::parse_order(text)) return order;
    }
  }
  template <typename Reply>
  void answer(const Reply& reply) {
    const std::string text = wire::print(reply);
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  const int fd_;
  bool ended_ = false;
  std::array<char, wire::kOrderBytesMax> text_;
};

class Feeder {
 public:
  Feeder(const StopSignal& stop, Orders& orders, Tracing& tracing, std::chrono::milliseconds period)
      : stop_(stop), orders_(orders), tracing_(tracing), period_(period) {}

  void run() {
    orders_.answer(wire::Hello{});
    while (!stopped_ && !orders_.ended()) {
      take_orders();
      const auto left = tracing_.poll();
      if (left == MergedReader::Left::kMore) {
        wait(0ms, Until::kOrder);
      } else if (left == MergedReader::Left::kHeldBack) {
        wait(period_, Until::kOrder);
      } else {
        wait(-1ms, Until::kEvent);
        wait(period_, Until::kOrder);
      }
    }
  }

 private:
  enum class Until { kOrder, kEvent };

  void take_orders() {
    while (const auto order = orders_.next()) {
      std::visit([this](const auto& each) { carry_out(each); }, *order);
    }
  }
  void carry_out(const wire::WantOrder& order) {
    auto without = order.without;
    without.push_back(::getpid());
    const auto done = tracing_.want(order.events, without);
    if (done) return orders_.answer(wire::Done{order.number});
    orders_.answer(wire::Failed{order.number, done.error()});
  }
  void carry_out(const wire::DrainOrder& order) {
    tracing_.drain();
    orders_.answer(wire::Done{order.number});
  }

  // An order ends any wait, and so does a signal.
  void wait(std::chrono::milliseconds at_most, Until until) {
    waited_.clear();
    waited_.push_back({.fd = stop_.fd(), .events = POLLIN, .revents = 0});
    waited_.push_back({.fd = orders_.fd(), .events = POLLIN, .revents = 0});
    if (until == Until::kEvent) {
      for (const int fd : tracing_.fds()) waited_.push_back({.fd = fd, .events = POLLIN});
    }
    ::poll(waited_.data(), waited_.size(), static_cast<int>(at_most.count()));
    stopped_ |= waited_.front().revents != 0;
    if (waited_[1].revents != 0) take_orders();
  }

  const StopSignal& stop_;
  Orders& orders_;
  Tracing& tracing_;
  const std::chrono::milliseconds period_;
  std::vector<pollfd> waited_;
  bool stopped_ = false;
};

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return fail(stop.error());
  if (auto done = set_up(options); !done) return fail(done.error());
  const ProgramClock clock;
  Link link(options.socket);
  EventShipper shipper(link);
  Tracing tracing(shipper, clock);
  Orders orders(options.orders);
  Feeder(stop.value(), orders, tracing, std::chrono::milliseconds(options.poll_ms)).run();
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-latency"}};
  CLI::App app(
      "Feeds tracing/latency_hist with the kernel's events. tallyfs -o tracefs starts it.");
  add_options(app, options);
  app.add_option("--orders", options.orders,
                 "the descriptor over which tallyfs gives orders (required)")
      ->required()
      ->option_text("FD")
      ->check(CLI::NonNegativeNumber);
  show_value(
      app.add_option("--poll-ms", options.poll_ms, "how long events gather before they are read")
          ->check(CLI::Range(1u, 1000u)),
      "MS", "1 to 1000");
  if (const auto status = parse(app, argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tally

int main(int argc, char** argv) { return tally::main(argc, argv); }
