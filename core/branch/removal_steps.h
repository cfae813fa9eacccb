// A removal of much by a thread that others do not wait for, as rmdir is: in steps that each take
// the branch's lock, with pauses in which others get it. A thread that takes a mutex again at once
// would be faster than those that it has woken.
#pragma once

#include <chrono>
#include <thread>

#include "core/base/result.h"

namespace tallyfs {

enum class RemovalStep { kMore, kLast };

// Calls step() until it fails or was the last one.
template <typename Step>
Result<void> remove_in_steps(const Step& step) {
  constexpr std::chrono::microseconds kPause{100};
  for (;;) {
    const Result<RemovalStep> done = step();
    if (!done) return done.error();
    if (done.value() == RemovalStep::kLast) return {};
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace tallyfs
