// The main thread's loop: datagrams, signals, and what other threads ask to have done here. The
// only face that Asio shows to the daemon's main.
//
// run() belongs to one thread; post() and stop() may be called from any.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>

#include "core/base/fd.h"

namespace tallyfs {

class EventLoop {
 public:
  EventLoop();

  // Until stop(). SIGINT, SIGTERM and SIGHUP call on_signal; SIGHUP stays ignored if it was when
  // this was made (nohup), unless take_hangups() was called.
  void run(std::function<void(int signal)> on_signal);
  // Called before run(): this signal calls on_signal, too.
  void take(int signal);
  void take_hangups();
  bool ignored_hangups() const { return ignored_hangups_; }
  void post(std::function<void()> task);
  void stop();
  // Called once, before run(); the task is called on run()'s thread.
  void every(std::chrono::steady_clock::duration period, std::function<void()> task);

  // The task is called once, on run()'s thread. At most one such task waits at a time.
  void after(std::chrono::steady_clock::duration delay, std::function<void()> task);
  // Called once, before run(). The task is called on run()'s thread after each exceptional
  // condition of the descriptor (POLLPRI), which is the loop's from now on.
  void on_exception(Fd fd, std::function<void()> task);

  boost::asio::io_context& context() { return context_; }

 private:
  void wait_for_exception(std::function<void()> task);
  void wait_for_signal();

  boost::asio::io_context context_{1};  // one thread: no locking within
  const bool ignored_hangups_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer delay_;
  boost::asio::posix::stream_descriptor exceptional_;
  std::function<void(int signal)> on_signal_;
};

}  // namespace tallyfs
