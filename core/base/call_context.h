// A call's knowledge of its caller: when it was made, and whether the caller still waits for its
// result. A writer that presses Ctrl-C ends the wait long before the awaited feeder answers. The
// few calls that wait for another process poll the token meanwhile. All calls in between pass it
// on. Values; is_cancelled() may be called on any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <utility>

#include "core/base/clock.h"

namespace tallyfs {

class CancellationToken {
 public:
  // How often a waiting call polls its token.
  static constexpr std::chrono::milliseconds kPollPeriod{20};

  // A token that is never cancelled.
  CancellationToken() = default;
  // is_cancelled is only called by calls that wait. It stays callable as long as the token lives.
  explicit CancellationToken(std::function<bool()> is_cancelled)
      : is_cancelled_(std::move(is_cancelled)) {}

  bool is_cancelled() const { return is_cancelled_ && is_cancelled_(); }

 private:
  std::function<bool()> is_cancelled_;
};

struct CallContext {
  // A call that is never cancelled needs no more than its time.
  CallContext(Timestamp its_now, CancellationToken its_cancel = {})  // NOLINT: implicit by intent
      : now(its_now), cancel(std::move(its_cancel)) {}

  // The caller's rights to the opened file. kWriteGroup: a member of --write-group.
  enum class Rights { kOwner, kWriteGroup };

  // The uid of a call that no user has made.
  static constexpr uid_t kNoUser = static_cast<uid_t>(-1);

  Timestamp now;
  CancellationToken cancel;
  Rights rights = Rights::kOwner;
  uid_t uid = kNoUser;  // of the caller, as the mount sees it
};

}  // namespace tallyfs
