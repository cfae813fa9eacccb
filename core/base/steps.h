// Much work by a thread that others do not wait for, as rmdir or a write to a file is: in steps
// that each take the lock of a branch or an interface, with pauses in which others get it. A thread
// that takes a mutex again at once would be faster than those that it has woken. What grows
// meanwhile is done whole at last.
#pragma once

#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace tallyfs {

enum class Step { kMore, kLast };

// Calls step(is_late) until it fails or was the last one. A step ends when it is late; after twice
// as many steps as the largest thing needs it never is.
template <typename Work>
Result<void> work_in_steps(const Work& work) {
  constexpr std::chrono::microseconds kPause{100};
  constexpr int kStepsMax = 8'192;
  for (int i = 0;; ++i) {
    const Result<Step> done = work(i < kStepsMax ? always_late : never_late);
    if (!done) return done.error();
    if (done.value() == Step::kLast) return {};
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace tallyfs
