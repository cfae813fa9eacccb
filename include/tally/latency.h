/* libtally: latencies that a program measures itself, shown as those of the kernel are, in
 * tracing/latency_hist/TYPE/: a histogram for each CPU, the highest with the task that suffered
 * from it, summary, data, top, maxima. The directory comes into being with the first latency.
 *
 *   struct latency_mark mark = latency_begin();
 *   ... the critical section ...
 *   latency_end("my_section", mark);
 *
 * Each latency is sent at once, in a datagram of its own: after a call has returned 0, every later
 * read shows that latency, even if the process is killed. That takes a system call, one or two
 * microseconds; a call waits neither for the daemon nor for a lock, and only a thread's first call
 * allocates memory.
 *
 * Threads: every call may be made by any number of threads at once. Not in signal handlers.
 * Fork: a child may make them too.
 * Errors are negative errno values. No call changes errno.
 */
#ifndef TALLY_LATENCY_H
#define TALLY_LATENCY_H

#include <stdint.h>
#include <sys/types.h>

#include "tally/statistic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records a latency of ns nanoseconds, which ended now, of a task that ran on this CPU.
 * type: the directory's name, 1 to 255 bytes, as that of an interface.
 * prio: as max_latency shows it: 1 to 99 for real-time tasks, -21 for usual ones.
 * comm: the task's name; 15 bytes of it are kept. NULL: none.
 * 0: sent. -EINVAL: no name. -EAGAIN: the daemon's queue is full; -ENOTCONN: there is no daemon;
 * the latency is dropped then, and counted in statistics/tallyfs as `dropped` and in the summary of
 * its directory as `lost` when the next one goes there, at statistic_flush() or at exit(). What the
 * daemon refuses is in its tracing/error_log: a name of the kernel's own, a CPU that there is not,
 * a directory that another uid has fed first (root may feed all). */
TALLY_EXPORT int latency_record(const char* type, unsigned cpu, int64_t ns, pid_t pid, int prio,
                                const char* comm);

/* When a section began. */
struct latency_mark {
  int64_t time_ns; /* CLOCK_MONOTONIC */
};

/* Costs a look at the clock. */
TALLY_EXPORT struct latency_mark latency_begin(void);

/* Records what has passed since the mark, of the calling thread, on the CPU on which it is now. As
 * latency_record(). */
TALLY_EXPORT int latency_end(const char* type, struct latency_mark mark);

#ifdef __cplusplus
}
#endif

#endif
