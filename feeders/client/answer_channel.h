// Our end of the channel over which the daemon answers: of a socketpair, whose other end goes with
// a request (core/wire/FORMAT.md). So answers arrive in whatever network namespace we are.
//
// The daemon's end is offered once. The daemon closes it if it takes no channels, and when it ends;
// then a new one is wanted if this one has brought an answer, else renew() has to want one. The
// daemon knows channels by the uid of datagrams, which is the real one, so a new uid needs a new
// pair. A server that takes on the effective uids of its users keeps its pair.
// fd() may be called by any thread, the rest is confined to the Client's lock. A program may have
// closed the descriptor, and opened something else there: it is neither read nor closed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "core/base/fd.h"

namespace tallyfs {

class AnswerChannel {
 public:
  AnswerChannel() = default;
  ~AnswerChannel() { reset(); }
  AnswerChannel(const AnswerChannel&) = delete;
  AnswerChannel& operator=(const AnswerChannel&) = delete;

  // The next request is to take an end along.
  bool is_wanted() const;
  // It has brought answers and has ended, and no request was made since.
  bool is_lost() const { return is_lost_; }
  void forget_loss() { is_lost_ = false; }
  // Makes a pair and returns the daemon's end; invalid: there are no descriptors left.
  Fd make();
  // The daemon's kernel does not let it pass, or the daemon has closed it unused.
  void refuse();
  // Forgets a refusal: the daemon may accept the channel now.
  void renew() { is_refused_ = false; }
  // Call on a new connection.
  void reset();

  // Something has come.
  void record_answer() { has_answered_ = true; }
  // No more answers will come.
  void end();
  // -1: there is none.
  int fd() const { return fd_.load(std::memory_order_relaxed); }
  // fd(), if that descriptor is still ours; else -1.
  int checked_fd();

 private:
  void close();

  std::atomic<int> fd_{-1};
  std::uint64_t cookie_ = 0;  // the kernel's name for our end
  uid_t uid_ = 0;             // the real one under which it was made
  bool is_refused_ = false;
  bool is_lost_ = false;
  bool has_answered_ = false;
};

}  // namespace tallyfs
