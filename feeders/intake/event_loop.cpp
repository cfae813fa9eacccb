#include "feeders/intake/event_loop.h"

#include <boost/asio/post.hpp>
#include <csignal>

namespace tallyfs {

// The signals are caught from here on, so that one that comes while the daemon starts ends it in
// good order as soon as it runs.
EventLoop::EventLoop() : signals_(context_, SIGINT, SIGTERM, SIGHUP), timer_(context_) {}

void EventLoop::run(std::function<void(int signal)> on_signal) {
  on_signal_ = std::move(on_signal);
  wait_for_signal();
  context_.run();
}

void EventLoop::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    on_signal_(signal);
    wait_for_signal();
  });
}

void EventLoop::post(std::function<void()> task) { boost::asio::post(context_, std::move(task)); }

void EventLoop::every(std::chrono::steady_clock::duration period, std::function<void()> task) {
  timer_.expires_after(period);
  timer_.async_wait([this, period, task = std::move(task)](const boost::system::error_code& error) {
    if (error) return;
    task();
    every(period, task);
  });
}

void EventLoop::stop() { context_.stop(); }

}  // namespace tallyfs
