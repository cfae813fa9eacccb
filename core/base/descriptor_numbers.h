// ThreadSanitizer follows neither openat() nor closes by syscall(). When a number that was closed
// unseen is given again, it takes the new owner's close for a race with the old owner's last use.
// These two tell it of the order that the kernel's table of descriptors keeps. Thread-safe.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace tallyfs {

#ifdef __SANITIZE_THREAD__
inline char descriptor_numbers = 0;
// Called before the close, and after the open.
inline void announce_unseen_close() { ::__tsan_release(&descriptor_numbers); }
inline void observe_unseen_closes() { ::__tsan_acquire(&descriptor_numbers); }
#else
inline void announce_unseen_close() {}
inline void observe_unseen_closes() {}
#endif

}  // namespace tallyfs
