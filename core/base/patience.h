// Whether the one for whom a thread works still waits for it: Ctrl-C ends that, long before what it
// waited for does. Those few calls that wait for somebody else look here while they do, so that
// all between them and who was asked need not hand it on.
//
// Confined to the thread that made it; has_ended() may be called on any thread.
#pragma once

#include <chrono>
#include <functional>

namespace tallyfs {

class Patience {
 public:
  // How often who waits looks.
  static constexpr std::chrono::milliseconds kPeriod{20};

  using Ended = std::function<bool()>;

  // This thread's, as long as it lives. Cheap: ended is called by those only who wait.
  explicit Patience(Ended ended);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Of this thread's; false if nobody has said when it ends.
  static bool has_ended();

 private:
  const Ended ended_;
};

}  // namespace tallyfs
