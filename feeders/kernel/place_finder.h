// Searches of program files, as ordered: one at a time, each in a process of its own
// (file_search.h) which the feeder does not wait for. One that has no answer after kSearchMax is
// killed. Confined to one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/wire/order.h"
#include "feeders/kernel/file_search.h"

namespace tallyfs {

class PlaceFinder {
 public:
  using Answer = std::function<void(const wire::Reply&)>;
  // What the process does. It does not return.
  using Search = std::function<void(const FileSearch&, Fd)>;

  static constexpr std::chrono::seconds kSearchMax{3};
  // So often it says that it is at work.
  static constexpr std::chrono::milliseconds kWordPeriod{100};

  // clock: outlives it. answer: Found or Refused for each order, and Working before.
  PlaceFinder(const Clock& clock, Answer answer, Search search = search_and_end)
      : clock_(clock), answer_(std::move(answer)), search_(std::move(search)) {}
  ~PlaceFinder();
  PlaceFinder(const PlaceFinder&) = delete;
  PlaceFinder& operator=(const PlaceFinder&) = delete;

  void find(wire::FindOrder order);
  // Readable when the search has got on; -1: there is none.
  int fd() const { return running_ ? running_->pipe.get() : -1; }
  // Until step() is due even if nothing is readable. Nothing: there is no search, and no process
  // of one that was killed.
  std::optional<std::chrono::milliseconds> due() const;
  void step();

 private:
  using Time = std::chrono::nanoseconds;
  struct Running {
    FileSearch search;
    pid_t child = -1;
    Fd pipe;
    Time until{}, next_word{};
    std::string text;
  };

  void begin(FileSearch search, Time until);
  // Returns whether the process has written all.
  bool read_pipe();
  void end_search();
  void give_up();
  // Processes that were killed and had not ended: one may hang in a call to a file system.
  void reap_others();
  void refuse(const wire::FindOrder& order, ErrorCode code, const char* reason) const;
  void begin_next();

  const Clock& clock_;
  const Answer answer_;
  const Search search_;
  std::deque<wire::FindOrder> waiting_;  // as many as the daemon sends unanswered
  std::optional<Running> running_;
  std::vector<pid_t> ending_;
};

}  // namespace tallyfs
