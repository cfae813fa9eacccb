// The request that a thread has read, as the next server of the mount meets it when this one is
// killed before the answer: it comes again, under the same number (Linux 6.9 and later).
#pragma once

#include <cstdint>
#include <functional>

namespace tallyfs {

// Of the calling thread, while it executes the request. Session sets them.
struct RequestInWork {
  std::uint64_t number = 0;                          // the kernel's; 0: there is no successor
  // From now on a successor that meets the request answers with this errno.
  std::function<void(int error)> keep = [](int) {};
};
inline thread_local RequestInWork request_in_work;

}  // namespace tallyfs
