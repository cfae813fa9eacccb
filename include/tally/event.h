/* Events of this program in the tree of tallyfs: tracing/events/SYSTEM/NAME beside the kernel's,
 * with the same files. The users of the mount decide by triggers what becomes of the records:
 * histograms, latencies between one event and another, a trace.
 *
 *   struct done { uint64_t lat; pid_t pid; char comm[16]; };
 *   struct user_event *done = NULL;
 *   event_register(&done, "web", "done", "u64 lat; pid_t pid; char comm[16]");
 *   ...
 *   if (event_enabled(done)) {
 *     struct done fields = {.lat = now - start, .pid = getpid()};
 *     event_write(done, &fields, sizeof fields);
 *   }
 *
 * While the event is not wanted, event_enabled() costs two loads, a branch, and a comparison with
 * NULL. Records are gathered for the delay of statistic_configure() (10 ms) and leave in the order
 * in which they were written. The time of a record is the CLOCK_MONOTONIC of its event_write().
 * Triggers see the records of one process in that order. Where events of several processes, or of
 * the kernel too, are wanted, triggers see all records in the order of their times. For that the
 * daemon holds each record for at most 50 ms; a record that comes later is out of order. A read or
 * a write in the mount does not wait for records. Those that have arrived by then are merged by
 * their times; those still gathered come behind them, unless the program calls statistic_flush().
 *
 * Fields are written as in synthetic_events: `TYPE NAME`, separated by semicolons, at most 64.
 * Types: u8 to u64, s8 to s64, char, int and long, each also unsigned, bool, pid_t, gfp_t, char[N]
 * with N up to 256. event_write() takes them as the C structure of the same members; char[] is a
 * const char * there, of a text as long as it is, 1,024 bytes at most, of which histograms keep
 * 256.
 *
 * Threads: every call may be made by any number of threads, but no thread may use an event while or
 * after it is unregistered. Not signal-safe. Fork, a daemon that is absent or comes again, and
 * statistic_configure(), statistic_flush() and statistic_sync(): as in <tally/statistic.h>. The
 * event goes from the tree with the last process that registered it, unless triggers are set on it:
 * then it stays, and its records come again with the next process. Records that find no room are
 * dropped, and counted in `dropped` of statistics/tallyfs as samples are. Limits: 4,096 events in a
 * process.
 * Errors are negative errno values. No call changes errno.
 */
#ifndef TALLY_EVENT_H
#define TALLY_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <tally/statistic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One event. The member is the library's: it points at the switch that the daemon flips. */
struct user_event {
  const uint32_t *on;
};

/* 0: there is a handle, whatever the daemon answers later. The event is sent to the daemon soon,
 * and on statistic_sync() at once. On an error *event is unchanged: initialise it with NULL, which
 * all calls take for an event that is not wanted. -EINVAL: bad names or fields; -EEXIST: this
 * process has it already; -ENOSPC, -ENOMEM, -EAGAIN: no thread can be started. */
TALLY_EXPORT int event_register(struct user_event **event, const char *system, const char *name,
                                const char *fields);
/* Unregisters the event, and sets *event to NULL. NULL is ignored. */
TALLY_EXPORT void event_unregister(struct user_event **event);

/* Nonzero while records of the event are wanted; 0 for NULL. */
static inline int event_enabled(const struct user_event *event) {
  const uint32_t *on;
  if (!event) return 0;
  on = __atomic_load_n(&event->on, TALLY_LOAD_SWITCH);
  return __builtin_expect(__atomic_load_n(on, __ATOMIC_RELAXED) != 0, 0) != 0;
}

/* For event_write() only. */
TALLY_EXPORT int event_on_write(struct user_event *event, const void *fields, size_t bytes);

/* Writes a record. bytes: the size of the structure, which must be that of the fields. 0: the
 * record will be sent, or is not wanted. -EINVAL: another size, or event is NULL; -EAGAIN: there is
 * no room, the record is dropped and counted. */
static inline int event_write(struct user_event *event, const void *fields, size_t bytes) {
  return !event || event_enabled(event) ? event_on_write(event, fields, bytes) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
