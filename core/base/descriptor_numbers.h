// ThreadSanitizer follows neither openat(), pidfd_open(), memfd_create() and fcntl(F_DUPFD) nor
// closes by syscall(). When a number that was closed unseen is given again, it takes the new
// owner's close for a race with the old owner's last use. These tell it of the order that the
// kernel's table of descriptors keeps. Thread-safe.
#pragma once

#include "core/base/fd.h"

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace tallyfs {

#ifdef __SANITIZE_THREAD__
inline char descriptor_numbers = 0;
// Called before the close.
inline void announce_unseen_close() { ::__tsan_release(&descriptor_numbers); }
// Takes what one of those calls has returned; -1: it is not valid.
inline Fd opened_unseen(int number) {
  ::__tsan_acquire(&descriptor_numbers);
  return Fd(number);
}
#else
inline void announce_unseen_close() {}
inline Fd opened_unseen(int number) { return Fd(number); }
#endif

}  // namespace tallyfs
