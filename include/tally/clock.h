/* The instrumentation clock: measures what takes nanoseconds, in any process, from a static
 * constructor on, and says afterwards what time of day it was when something was stored. Part of
 * libtally; needs no daemon, and nothing to be called before it.
 *
 *   const cycles_t begun = get_cycles();          what is between takes nanoseconds ...
 *   spent_ns = cycles_to_nsec(get_cycles() - begun);
 *
 *   fast_timestamp_t stamp;                       ... or happened at some time of day
 *   store_fast_timestamp(&stamp);
 *   ...
 *   fast_timestamp_to_timeval(&stamp, &when, &error_ns);
 *
 * The clock reads a counter, by a driver: `tsc` on x86-64, as long as the kernel itself trusts it
 * (constant_tsc, nonstop_tsc, and its clock source is tsc), `cntvct` on ARM64, else `monotonic`,
 * which is CLOCK_MONOTONIC; or one that the program registers. $TALLY_CLOCK names another one for a
 * process, or says `off`. No driver's rate changes with the frequency of a CPU.
 *
 * Threads: every call may be made by any number of threads at once.
 * Signals: the calls marked [signal-safe] may be made in a signal handler once one of them has been
 * made outside of any: the first use of a driver takes 200 us, to measure its rate.
 * Fork: a child's clock goes on; the thread of tally_clock_start_upkeep() does not. Signal handlers
 * may fork, too; if that interrupts a call here while another thread is within one, the child
 * begins a new epoch.
 * Errors are negative errno values. No call changes errno. No call needs a privilege.
 *
 * C from C89 on, and C++; with GCC's and Clang's extensions.
 * -DTALLY_CLOCK=0 makes every call below nothing: times are 0, and what can fail says -ENOSYS.
 */
#ifndef TALLY_CLOCK_H
#define TALLY_CLOCK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#ifndef TALLY_CLOCK
#define TALLY_CLOCK 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_EXPORT
#define TALLY_EXPORT __attribute__((visibility("default")))
#endif

/* <time.h> has it only where the program asks for POSIX, not with -std=c99. */
struct timespec;

/* Steps of the counter. What a step is, and where zero, is the driver's; only differences mean
 * something, and only converted. Those of one driver are not to be mixed with another's. */
typedef uint64_t cycles_t;

/* An instant. All zero: none. Its members are the library's. */
typedef struct fast_timestamp {
  cycles_t cycles;
  uint64_t epoch;
} fast_timestamp_t;

/* A counter of the program's own. */
struct tally_clock_driver {
  size_t size;      /* sizeof(struct tally_clock_driver) */
  const char *name; /* 1 to 31 bytes, not one of those above; copied */
  unsigned
      width_bits; /* 8 to 64: how many low bits of what read() returns count, upwards, with wrap */
  uint64_t rate_hz; /* steps a second, 1 to 10^11; good to 0.1 %. It counts until 2,000 steps have
                       measured it better. 0 with 64 bits only: it is measured to begin with, for
                       200 us, or up to 20 ms, for which it needs 200,000 steps a second */
  /* Called by all threads at once, and in signal handlers if the clock is. Must not call the clock.
   */
  uint64_t (*read)(void *context);
  void *context;
};

enum tally_clock_switch { TALLY_CLOCK_OFF, TALLY_CLOCK_ON };

struct tally_clock_status {
  char driver[32]; /* "off" while the clock is switched off */
  uint32_t width_bits;
  uint32_t has_thread; /* 1: tally_clock_start_upkeep() is at work */
  double rate_hz;      /* as measured against CLOCK_MONOTONIC; 0: never used */
  double drift_ppm; /* how much faster that is than what the driver said, or, where none did, than
                       what was measured over the first second; 0 until then */
  uint64_t
      epoch; /* 1, 2, ...: begins anew with a suspend, another driver, or a counter that jumped */
  uint64_t anchors;      /* that are kept, */
  uint64_t anchors_max;  /* of so many at most, */
  uint64_t reach_ns;     /* and how far those of this epoch reach back */
  uint64_t steps;        /* of the wall clock, that were seen */
  int64_t last_step_ns;  /* how far it went the last time */
  uint64_t leap_seconds; /* among them */
  uint64_t suspends;
  uint64_t gaps;  /* times that a narrow counter was left alone for more than 3/4 of its wrap, */
  uint64_t jumps; /* or that a counter went back, or ahead at more than double its rate, or the
                     number of wraps is in doubt: a new epoch */
  uint64_t frequency_changes; /* by more than 0.2 %, and less than to half or double */
  uint64_t fallbacks; /* to CLOCK_MONOTONIC, since the kernel does not trust the counter any more,
                         it stood still for 10 ms, or it jumped 8 times in a row */
  uint64_t error_ns;  /* of a fast timestamp that is stored and converted now */
};

#if TALLY_CLOCK

/* The slow half of get_cycles(); not to be called or written by others. 1: this architecture's own
 * counter. */
TALLY_EXPORT extern uint32_t tally_clock_counter;
TALLY_EXPORT cycles_t tally_clock_cycles(void);

/* The counter, now; 0 while the clock is off. Does not step back in a thread; like the instruction
 * below it, it may be read some 100 ns before what stands before it is done, so that two threads'
 * cycles are ordered to that only: see sched_clock(). About 0.6 of a clock_gettime(). [signal-safe]
 */
static __inline__ cycles_t get_cycles(void) {
#if defined(__x86_64__)
  if (__builtin_expect(__atomic_load_n(&tally_clock_counter, __ATOMIC_RELAXED) == 1, 1))
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(__atomic_load_n(&tally_clock_counter, __ATOMIC_RELAXED) == 1, 1)) {
    cycles_t cycles;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
    return cycles;
  }
#endif
  return tally_clock_cycles();
}

/* How long so many cycles take, a difference of two get_cycles(), at the rate as measured by now.
 * UINT64_MAX and UINT32_MAX (after 71 minutes) where it does not fit. [signal-safe] */
TALLY_EXPORT uint64_t cycles_to_nsec(cycles_t cycles);
TALLY_EXPORT uint32_t cycles_to_usec(cycles_t cycles);

/* CLOCK_MONOTONIC in nanoseconds, within a microsecond, even while NTP slews that by 500 ppm: a
 * call looks at it again when the last look is 0.8 ms old, which takes half a microsecond. It does
 * not step back, over all threads, so after a suspend, or when the counter's frequency has changed,
 * it may stand still for a moment. A step of the counter adds to the microsecond, so one of 32 kHz
 * tells it to 31 us; one that stands still is noticed by the next upkeep or conversion. 0 while the
 * clock is off. Cheaper than clock_gettime() while one thread uses it; as dear in threads that take
 * turns within 0.8 ms, for their order. [signal-safe]
 */
TALLY_EXPORT uint64_t sched_clock(void);

/* The rate of the machine's own counter, to begin with, so that the first use need not measure it
 * for 200 us. cycles_to_nsec() takes it until the clock has measured better, 50 us later or at the
 * next look; sched_clock() is CLOCK_MONOTONIC's own until then, however wrong it is. -EINVAL: not 1
 * to 100,000; -EBUSY: the clock runs already. */
TALLY_EXPORT int set_cyc2ns_scale(unsigned long cpu_mhz);

/* Now; as get_cycles(). Empty while the clock is off. [signal-safe] */
TALLY_EXPORT void store_fast_timestamp(fast_timestamp_t *stamp);

/* What gettimeofday() and clock_gettime(CLOCK_REALTIME) would have said when the stamp was stored:
 * interpolated between anchors, instants at which counter and clocks were read together. They are
 * kept by tally_clock_upkeep(), and each conversion adds one. error_ns, unless it is NULL, gets how
 * far off the answer may be: that of the anchors, and what the counter's rate, or CLOCK_MONOTONIC's
 * slew, may have done between them, as long as it changed no more than twice there. Where the rates
 * around an interval agree that is some ns; for a stamp in the newest interval, behind which none
 * is known yet, the slew of 500 ppm that NTP may begin: ask again after the next anchor. From the
 * look before the wall clock was set to the one behind it, it is the size of that step; with a leap
 * second for 20 ms, as the kernel takes it at a tick. -EINVAL: the stamp is empty, or was never
 * stored; -ERANGE: the anchors do not reach back so far; -ESTALE: it is of an epoch that is over,
 * as it is, too, if it was stored after the end of a suspend, but before a look noticed that. The
 * result is unchanged then. Some 150 ns, with an anchor of its own half a microsecond; takes a
 * lock.
 */
TALLY_EXPORT int fast_timestamp_to_timeval(const fast_timestamp_t *stamp, struct timeval *result,
                                           uint64_t *error_ns);
TALLY_EXPORT int fast_timestamp_to_timespec(const fast_timestamp_t *stamp, struct timespec *result,
                                            uint64_t *error_ns);

/* Takes an anchor, and notices steps, suspends, changes of frequency, and a counter that the kernel
 * trusts no more. To be called each second or so, unless a thread does. 4,096 anchors are kept, 0.9
 * s apart or more: an hour. Between 10 and 20 us, takes a lock. */
TALLY_EXPORT void tally_clock_upkeep(void);

/* A thread of the library's own, all signals blocked, does it every period_ms (10 to 60,000;
 * anchors are as close then) and whenever the wall clock is set or the machine wakes up, so that
 * such a step lies between the last look and the time at which the thread was woken. -EINVAL: the
 * period; -EBUSY: it runs; -EAGAIN, -EMFILE: no thread or descriptor could be had. */
TALLY_EXPORT int tally_clock_start_upkeep(unsigned period_ms);
TALLY_EXPORT void tally_clock_stop_upkeep(void); /* returns when it has ended */

/* Makes a counter of the program's own known, for good. A narrow one is extended to 64 bits, by any
 * number of threads, as long as the clock is read in each 3/4 of its wrap; a longer gap is bridged
 * by CLOCK_MONOTONIC and counted in status.gaps, or, where that cannot tell the number of wraps for
 * certain, begins a new epoch and counts in status.jumps. So a counter that wraps within
 * milliseconds, such as one of 12 bits at 1 MHz, is CLOCK_MONOTONIC's with gaps all the time: no
 * program can be sure to be woken that often. Each read of a narrow counter costs two of
 * CLOCK_MONOTONIC_COARSE. -EINVAL: a member; -EEXIST: the name; -ENOSPC: there are 8. */
TALLY_EXPORT int tally_clock_register(const struct tally_clock_driver *driver);

/* The driver from now on: `auto`, `tsc`, `cntvct`, `monotonic`, or a registered one. Another one
 * begins a new epoch. A clock that is off stays so. -ENOENT: there is none of this name; -ENOTSUP:
 * not to be trusted on this machine, or its rate could not be measured; the last one stays. */
TALLY_EXPORT int tally_clock_select(const char *name);

/* Off, times are 0 and stamps empty, for the price of a load and a branch. What libtally itself
 * needs is not affected. */
TALLY_EXPORT void tally_clock_set(enum tally_clock_switch on);

/* size: sizeof *status. -EINVAL: a size that this version does not know. Takes a lock. */
TALLY_EXPORT int tally_clock_get_status(struct tally_clock_status *status, size_t size);

#else /* !TALLY_CLOCK */

#define TALLY_CLOCK_NOTHING static __inline__ __attribute__((always_inline))

TALLY_CLOCK_NOTHING cycles_t get_cycles(void) { return 0; }
TALLY_CLOCK_NOTHING uint64_t cycles_to_nsec(cycles_t cycles) { return (void)cycles, 0; }
TALLY_CLOCK_NOTHING uint32_t cycles_to_usec(cycles_t cycles) { return (void)cycles, 0; }
TALLY_CLOCK_NOTHING uint64_t sched_clock(void) { return 0; }
TALLY_CLOCK_NOTHING int set_cyc2ns_scale(unsigned long cpu_mhz) { return (void)cpu_mhz, -ENOSYS; }
TALLY_CLOCK_NOTHING void store_fast_timestamp(fast_timestamp_t *stamp) {
  stamp->cycles = stamp->epoch = 0;
}
TALLY_CLOCK_NOTHING int fast_timestamp_to_timeval(const fast_timestamp_t *stamp,
                                                  struct timeval *result, uint64_t *error_ns) {
  return (void)stamp, (void)result, (void)error_ns, -ENOSYS;
}
TALLY_CLOCK_NOTHING int fast_timestamp_to_timespec(const fast_timestamp_t *stamp,
                                                   struct timespec *result, uint64_t *error_ns) {
  return (void)stamp, (void)result, (void)error_ns, -ENOSYS;
}
TALLY_CLOCK_NOTHING void tally_clock_upkeep(void) {}
TALLY_CLOCK_NOTHING int tally_clock_start_upkeep(unsigned period_ms) {
  return (void)period_ms, -ENOSYS;
}
TALLY_CLOCK_NOTHING void tally_clock_stop_upkeep(void) {}
TALLY_CLOCK_NOTHING int tally_clock_register(const struct tally_clock_driver *driver) {
  return (void)driver, -ENOSYS;
}
TALLY_CLOCK_NOTHING int tally_clock_select(const char *name) { return (void)name, -ENOSYS; }
TALLY_CLOCK_NOTHING void tally_clock_set(enum tally_clock_switch on) { (void)on; }
TALLY_CLOCK_NOTHING int tally_clock_get_status(struct tally_clock_status *status, size_t size) {
  return (void)status, (void)size, -ENOSYS;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
