// Hears of the end of processes by their pidfds (Linux 5.3), one for each process watched; at most
// kProcessesMax.
//
// Thread-safe. on_end is called on the event loop's thread.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "core/base/mutex.h"
#include "core/tree/process_watch.h"
#include "feeders/intake/event_loop.h"

namespace tally {

class ProcessEnds final : public ProcessWatch {
 public:
  static constexpr std::size_t kProcessesMax = 1024;

  // The loop outlives this; on_end may be called until then, once the loop runs.
  ProcessEnds(EventLoop& loop, std::function<void(pid_t)> on_end)
      : loop_(loop), on_end_(std::move(on_end)) {}

  Result<void> watch(pid_t process) override EXCLUDES(mutex_);
  bool watches(pid_t process) const override EXCLUDES(mutex_);

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  void wait_for(pid_t process, const std::shared_ptr<Descriptor>& pidfd);

  EventLoop& loop_;
  const std::function<void(pid_t)> on_end_;
  mutable Mutex mutex_;
  // Shared with the wait that is going on, which dies last.
  boost::unordered_flat_map<pid_t, std::shared_ptr<Descriptor>> watched_ GUARDED_BY(mutex_);
};

}  // namespace tally
