#include "feeders/intake/event_loop.h"

#include <boost/asio/post.hpp>
#include <csignal>

namespace tallyfs {

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

// The signals are caught from here on, so that one that comes while the daemon starts ends it in
// good order as soon as it runs.
EventLoop::EventLoop()
    : ignored_hangups_(is_ignored(SIGHUP)),
      signals_(context_, SIGINT, SIGTERM),
      timer_(context_),
      delay_(context_),
      exceptional_(context_) {
  if (!ignored_hangups_) take_hangups();
}

void EventLoop::take(int signal) { signals_.add(signal); }

// Adding it twice is adding it once.
void EventLoop::take_hangups() { signals_.add(SIGHUP); }

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

void EventLoop::after(std::chrono::steady_clock::duration delay, std::function<void()> task) {
  delay_.expires_after(delay);
  delay_.async_wait([task = std::move(task)](const boost::system::error_code& error) {
    if (!error) task();
  });
}

void EventLoop::on_exception(Fd fd, std::function<void()> task) {
  boost::system::error_code error;
  if (exceptional_.assign(fd.get(), error)) return;
  fd.release();
  wait_for_exception(std::move(task));
}

void EventLoop::wait_for_exception(std::function<void()> task) {
  exceptional_.async_wait(boost::asio::posix::stream_descriptor::wait_error,
                          [this, task = std::move(task)](const boost::system::error_code& error) {
                            if (error) return;
                            task();
                            wait_for_exception(task);
                          });
}

void EventLoop::stop() { context_.stop(); }

}  // namespace tallyfs
