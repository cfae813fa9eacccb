// The main thread's loop: datagrams, signals, and what other threads ask to have done here. The
// only face that Asio shows to the daemon's main.
//
// run() belongs to one thread; post() and stop() may be called from any.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>

namespace tallyfs {

class EventLoop {
 public:
  EventLoop();

  // Until stop(). SIGINT, SIGTERM and SIGHUP call on_signal.
  void run(std::function<void(int signal)> on_signal);
  void post(std::function<void()> task);
  void stop();
  // Called once, before run(); the task is called on run()'s thread.
  void every(std::chrono::steady_clock::duration period, std::function<void()> task);

  boost::asio::io_context& context() { return context_; }

 private:
  void wait_for_signal();

  boost::asio::io_context context_{1};  // one thread: no locking within
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  std::function<void(int signal)> on_signal_;
};

}  // namespace tallyfs
