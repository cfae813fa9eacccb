/* libtally: the library that a program links to feed tallyfs. A statistic is fed with samples,
 * pairs (X, Y). The feeder does not know how they are shown: users of the mount decide that, with a
 * line written into statistics/INTERFACE/definition, and read statistics/INTERFACE/data.
 *
 *   struct statistic_interface *web;
 *   struct statistic *latency;
 *   statistic_create_interface(&web, "web", 0);
 *   statistic_create(&latency, web, "latency_us", "microseconds/requests");
 *   statistic_define_array(latency, 0, 1000000, 1, STATISTIC_SCALE_LOG2);
 *   statistic_start(latency);
 *   ...
 *   statistic_inc(latency, 1750);
 *
 * No call needs a daemon. Without one, or with one that hangs, each costs nanoseconds, samples are
 * held up to a bound and then dropped and counted; when a daemon comes, comes again or is replaced,
 * interfaces, statistics and their definitions as first given are registered again. What is there
 * already, because the daemon or another feeder lived on, stays as its users have defined it.
 *
 * Samples go into memory shared with the daemon (docs/lane.md), which kill -9 does not lose. Until
 * it is there they are gathered per thread and sent as datagrams of up to 8 KiB: when one is full,
 * after settings.delay_us, at statistic_flush(), and at the end of the thread and of the program.
 * _exit() and deadly signals lose delay_us of those samples, or one datagram a thread, at most.
 *
 * Threads: every call may be made by any number of threads at once, but no thread may use an
 * interface or a statistic while or after it is removed or released.
 * Signals: the calls marked [signal-safe] may be made in a signal handler. A sample added by a
 * handler that interrupted the library itself has room among 64 others, beyond which it is dropped
 * and counted.
 * Fork: a child has the parent's interfaces and statistics, and none of the samples that the parent
 * had gathered, nor its changes that wait: those the parent sends; it connects by itself, with its
 * first call, so that a child that calls exec() costs nothing. Until that call statistic_is_on() is
 * nonzero, and the first sample of any statistic starts the library's thread, which takes some
 * 50 us once. Samples until the daemon is found count if the parent knew the statistic as on. A
 * statistic that is off stays off; adding to it also makes the child find a daemon that started
 * since, which may switch the statistic on. (After vfork() or a bare clone() no call may be made.)
 * Errors are negative errno values; statistic_last_error() has the reason. No call changes errno.
 * Longer than most: all calls of statistics are here, each with what it promises.
 */
#ifndef TALLY_STATISTIC_H
#define TALLY_STATISTIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TALLY_EXPORT __attribute__((visibility("default")))
#else
#error "statistic.h needs GCC's or clang's __atomic_load_n"
#endif

/* For the load of a pointer to a switch. The load of the switch depends on it, which orders the two
 * on every CPU, but ThreadSanitizer does not know that. */
#if defined(__SANITIZE_THREAD__)
#define TALLY_LOAD_SWITCH __ATOMIC_ACQUIRE
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TALLY_LOAD_SWITCH __ATOMIC_ACQUIRE
#endif
#endif
#ifndef TALLY_LOAD_SWITCH
#define TALLY_LOAD_SWITCH __ATOMIC_RELAXED
#endif

/* A group of statistics, read at one moment: a directory under statistics/. */
struct statistic_interface;

/* One statistic. The member is the library's: it points at the switch that the daemon flips, in a
 * page shared by all feeders. Only functions below read it. */
struct statistic {
  const uint32_t* on;
};

/* ---- Settings -------------------------------------------------------------------------------- */

struct statistic_settings {
  size_t size; /* sizeof(struct statistic_settings), so that later versions can add members */

  /* The daemon's socket; copied. NULL: $TALLY_SOCKET, else /run/tallyfs/socket, that of the
   * system's daemon. For users other than root $XDG_RUNTIME_DIR/tallyfs/socket, that of a daemon of
   * their own, comes before it if a daemon listens there. */
  const char* socket;

  /* How long a sample may wait for others before it is sent, in microseconds; 0 sends each by
   * itself, in the call that adds it. At most 10,000,000. */
  uint32_t delay_us;

  /* The time that an adding call waits when the room in shared memory is full, or the queue of the
   * daemon and held_max both, in milliseconds (60,000 at most). Then the sample is dropped. After
   * waiting in vain, calls do not wait again until the daemon has received something. 0: samples
   * are dropped and counted at once. Without a daemon no call waits. */
  uint32_t wait_ms;

  /* Samples held for each thread while they cannot be sent; 1,024 to 1,048,576, rounded up to a
   * power of two; 32 bytes each, taken as they are used. */
  uint32_t held_max;

  /* Called with a sentence when the daemon is found or lost or refuses something, when it does not
   * answer, and when samples are or may be lost; NULL: no calls. Called by the library's own
   * thread, and at exit by the thread that ends; it may make no call of this library. */
  void (*report)(const char* text, void* context);
  void* context;

  /* Other than 0: all samples are sent over the socket, and none is counted in memory that is
   * shared with the daemon. */
  uint32_t no_lane;

  /* How many statistics the program may have: the memory that is shared with the daemon is made
   * large enough for them, as far as the daemon allows it. 0: some thousands. What has no room
   * there is sent over the socket. */
  uint32_t statistics_max;
};

/* Socket by environment, 10 ms, no waiting, 65,536 samples, no report, some thousand statistics. */
#define STATISTIC_SETTINGS_DEFAULT \
  { sizeof(struct statistic_settings), NULL, 10000, 0, 65536, NULL, NULL, 0, 0 }

/* To be called before the first interface is created, or not at all. -EINVAL: a member is out of
 * its range; -EBUSY: too late; -ENAMETOOLONG: the socket's path does not fit into a socket
 * address. */
TALLY_EXPORT int statistic_configure(const struct statistic_settings* settings);

/* ---- Interfaces and statistics -----------------------------------------------------------------
 * These calls check their arguments and return. The library's own thread, which the first of them
 * starts, passes them to the daemon within milliseconds. A refusal by the daemon (a name that
 * belongs to another user, a quota) is reported by statistic_sync() and settings.report. The
 * samples of a refused statistic are dropped and counted, and the request is repeated every 10 s.
 * The calls may allocate memory and take locks, but do not wait for the daemon; not signal-safe.
 * Each takes a microsecond or a few.
 */

/* The interface and all in it go when this process ends, instead of staying to be looked at. */
#define STATISTIC_LIFETIME_FEEDER 1u
/* Samples have the units that statistic_create() names. A statistic of the interface that is there
 * with samples of other units, as of an earlier run of this program, is refused. Users may give it
 * any units since: those are for people, and its decimals stay. Without this flag, the samples of
 * both are added up. */
#define STATISTIC_UNITS_EXACT 2u
/* Only this user, root and the daemon's may feed the interface, if it is made by this call; others'
 * samples are refused. One that is there stays as it is, with a warning. */
#define STATISTIC_FEED_OWNER 4u

/* name: 1 to 255 bytes of printable UTF-8 without white space, '/' and '=', not "." or "..". flags:
 * 0, or those above, combined. -EINVAL: the name, which must not be NULL, or a flag; -EEXIST:
 * this process has it already; -ENOMEM; -ENOSPC: this process has 65,536; -EAGAIN: no thread could
 * be started. */
TALLY_EXPORT int statistic_create_interface(struct statistic_interface** interface,
                                            const char* name, unsigned flags);

/* Removes the interface and all statistics still in it, here and from the tree (by what this
 * process sent before included), and sets *interface to NULL. NULL is ignored. What is removed
 * before a daemon was found is removed when it is; what is removed while one is away is not, since
 * the next may have it from others. At most 1,024 removals wait; of more the oldest are
 * forgotten. */
TALLY_EXPORT void statistic_interface_remove(struct statistic_interface** interface);

/* The same, here only: in the tree all stays to be looked at. */
TALLY_EXPORT void statistic_interface_release(struct statistic_interface** interface);

/* units: what X and Y are, "microseconds/requests"; as a name, but '/' is allowed; NULL for none.
 * The statistic is of type value and off, until a statistic_define_ call, statistic_start() or its
 * users say otherwise. -EINVAL: a name, or interface is NULL; -EEXIST: this process has it already;
 * -ENOMEM; -ENOSPC: this process has 65,536. After an error *statistic is one that is off for good,
 * so that a program which does not look may go on: it can be fed, and released. */
TALLY_EXPORT int statistic_create(struct statistic** statistic,
                                  struct statistic_interface* interface, const char* name,
                                  const char* units);

#define STATISTIC_NAME_SIZE 256 /* bytes, with the 0 at a name's end */

/* Writes a name with labels for statistic_create(), latency{code:200,route:%2Fcart}, escaped and
 * sorted, from count keys and values of any bytes. -EINVAL: family is no name, a key is empty or
 * there twice, the name has more than 255 bytes; -ENAMETOOLONG: than size. Then name is "". */
TALLY_EXPORT int statistic_name_with_labels(char* name, size_t size, const char* family,
                                            const char* const* keys, const char* const* values,
                                            size_t count);

/* A further way to look at what is fed to a statistic of this process: the daemon gives the view
 * every sample that its source gets. It is defined, started, stopped, reset, removed and released
 * as a statistic is, and begins with the definition of its source, on; but it takes no samples:
 * those added to it are ignored, and statistic_is_on() is 0. Views of a removed statistic are
 * removed, and released ones stay. A view that is there stays as its users have defined it. The
 * source may be off: what is added after this call is for the view, and what was added before is
 * not. At most 16 of a statistic. Errors as above; -EINVAL also if the source is a view or could
 * not be created. */
TALLY_EXPORT int statistic_create_view(struct statistic** view, struct statistic* source,
                                       const char* name);

/* As for interfaces. What was added before is sent before; what cannot be sent yet is dropped and
 * counted if the statistic is removed, and sent later if it is released. The name is free at once:
 * what is created under it is another statistic, which the daemon hears of behind the removal. A
 * few microseconds, also while the daemon hangs; what samples are still held of counts among the
 * 65,536 meanwhile. */
TALLY_EXPORT void statistic_remove(struct statistic** statistic);
TALLY_EXPORT void statistic_release(struct statistic** statistic);

/* ---- Definitions: how a statistic is shown until its users decide otherwise ---------------------
 * They apply to a statistic that this process brings into being, at once or, with a daemon that is
 * started later, then; one that was there before stays as its users have defined it, and so does
 * what users and rules have defined since. The last call stands. X from range_min to range_max is
 * of interest; what lies outside counts in hits_out_of_range only (array: also in the first
 * interval, or behind the last).
 * -EINVAL: range_min > range_max, or another number out of its bounds; -ENOMEM. */

#define STATISTIC_RANGE_MIN INT64_MIN
#define STATISTIC_RANGE_MAX INT64_MAX

enum statistic_scale { STATISTIC_SCALE_LIN, STATISTIC_SCALE_LOG2 };

enum statistic_mode {
  STATISTIC_MODE_INCREMENTS, /* the sum of Y */
  STATISTIC_MODE_PRODUCTS,   /* the sum of X * Y */
  STATISTIC_MODE_RANGE,      /* number, smallest, average and largest X; for history only */
  STATISTIC_MODE_QUANTILES   /* that, and percentiles: see statistic_define_quantile_history() */
};

/* A counter. mode: increments or products. */
TALLY_EXPORT int statistic_define_value(struct statistic* statistic, int64_t range_min,
                                        int64_t range_max, enum statistic_mode mode);

/* Number, smallest, average and largest X. */
TALLY_EXPORT int statistic_define_range(struct statistic* statistic, int64_t range_min,
                                        int64_t range_max);

/* A histogram of intervals from range_min to range_max, of base_interval (at least 1) each or
 * doubling from there on; at most 65,536. */
TALLY_EXPORT int statistic_define_array(struct statistic* statistic, int64_t range_min,
                                        int64_t range_max, uint64_t base_interval,
                                        enum statistic_scale scale);

/* The sum of Y for each X, for the first entries_max (1 to 1,048,576) different ones. */
TALLY_EXPORT int statistic_define_list(struct statistic* statistic, int64_t range_min,
                                       int64_t range_max, uint32_t entries_max);

/* The same, which shows X with this base, 16 or 10. statistic_define_list() means 16. */
TALLY_EXPORT int statistic_define_list_base(struct statistic* statistic, int64_t range_min,
                                            int64_t range_max, uint32_t entries_max, unsigned base);

/* The newest entries_max (1 to 1,048,576) samples with their times. */
TALLY_EXPORT int statistic_define_raw(struct statistic* statistic, int64_t range_min,
                                      int64_t range_max, uint32_t entries_max);

/* One entry for each period of period_us (at least 1) microseconds, the newest entries_max of them
 * (1 to 1,048,576). mode: any but quantiles. */
TALLY_EXPORT int statistic_define_history(struct statistic* statistic, int64_t range_min,
                                          int64_t range_max, uint32_t entries_max,
                                          uint64_t period_us, enum statistic_mode mode);

/* Percentiles of X, from buckets whose ends differ by the factor 2^(2^-precision), precision being
 * 0 to 8: 2.2 % for 5. quantiles: 1 to 16 ascending numbers in (0, 100) with at most 4 decimals
 * and no blanks, "50,99,99.9"; copied. units of the statistic name the unit in which buckets end at
 * powers: "microseconds/requests" are counted in seconds. */
TALLY_EXPORT int statistic_define_quantiles(struct statistic* statistic, int64_t range_min,
                                            int64_t range_max, unsigned precision,
                                            const char* quantiles);

/* A history whose entries have percentiles, too. */
TALLY_EXPORT int statistic_define_quantile_history(struct statistic* statistic, int64_t range_min,
                                                   int64_t range_max, uint32_t entries_max,
                                                   uint64_t period_us, unsigned precision,
                                                   const char* quantiles);

/* X of the newest sample: a gauge. Y is ignored. */
TALLY_EXPORT int statistic_define_last(struct statistic* statistic, int64_t range_min,
                                       int64_t range_max);

/* X has so many decimal places, 0 to 9: it is kept, and sent, as the integer X * 10^decimals, and
 * shown as the decimal; units of the statistic name the unit of that. range_min, range_max and
 * base_interval of the calls above are such integers, too; so this call comes before them. -EINVAL:
 * another number, behind them, or a view, which has those of its source. */
TALLY_EXPORT int statistic_define_decimals(struct statistic* statistic, unsigned decimals);

/* The decimal places that X has: those that the daemon has said, which users may have changed, or,
 * until it has, those of the call above. [signal-safe] */
TALLY_EXPORT unsigned statistic_decimals(const struct statistic* statistic);

/* What the statistic is, for people, as tallyctl, the page and metrics show it: "Time in queue".
 * Copied. At most 255 bytes, of which a blank, `%`, `"` and each byte of what is not printable take
 * three. NULL or "": nothing is said. -EINVAL: it is longer. */
TALLY_EXPORT int statistic_define_help(struct statistic* statistic, const char* help);

/* ---- On, off, anew ------------------------------------------------------------------------------
 * The first statistic_start() or statistic_stop() after statistic_create() sets how the statistic
 * begins. It applies to a new statistic only; one that existed before stays as its users have set
 * it. Later ones, and each statistic_reset(), are carried out, in their order with the samples that
 * this thread adds. A daemon that is started anew learns the last state. 0; -ENOMEM. */
TALLY_EXPORT int statistic_start(struct statistic* statistic);
TALLY_EXPORT int statistic_stop(struct statistic* statistic);
TALLY_EXPORT int statistic_reset(struct statistic* statistic); /* discards what was gathered */

/* ---- Samples ------------------------------------------------------------------------------------
 * [signal-safe], once any other call has been made in the process, and in a forked child. While the
 * statistic is off they cost two loads (a pointer, and the switch it points at, in cache lines with
 * no other writer) and a branch, under a nanosecond, and send nothing. While it is on they cost 3
 * to 10 ns where samples go by the daemon's memory (docs/lane.md), else about 20 ns, time stamp and
 * sending included. They never block, except for settings.wait_ms and, over the socket, for one
 * send(2) each 500 samples or so. */

/* The slow halves of the calls below; not to be called by others. */
TALLY_EXPORT void statistic_on_add(struct statistic* statistic, int64_t x, uint64_t y);
TALLY_EXPORT void statistic_on_add_at(struct statistic* statistic, int64_t x, uint64_t y,
                                      int64_t time_ns);

struct statistic_sample {
  int64_t x;
  uint64_t y;
  int64_t time_ns; /* CLOCK_MONOTONIC; 0: now */
};
TALLY_EXPORT void statistic_on_add_batch(struct statistic* statistic,
                                         const struct statistic_sample* samples, size_t count);

/* A sample of one statistic, among samples of others. */
struct statistic_entry {
  struct statistic* statistic;
  int64_t x;
  uint64_t y;
  int64_t time_ns; /* CLOCK_MONOTONIC; 0: now */
};
/* Samples of many statistics, in this order. For programs with so many statistics that the caches
 * of a CPU do not hold them: a call for each sample would wait for memory each time, and this one
 * waits for the memory of all together. What is off is left out. */
TALLY_EXPORT void statistic_add_each(const struct statistic_entry* entries, size_t count);

/* Nonzero while samples are wanted: for a program that must compute a sample before adding it. */
static inline int statistic_is_on(const struct statistic* statistic) {
  const uint32_t* on = __atomic_load_n(&statistic->on, TALLY_LOAD_SWITCH);
  return (int)__builtin_expect(__atomic_load_n(on, __ATOMIC_RELAXED) != 0, 0);
}

/* Y times X, now. */
static inline void statistic_add(struct statistic* statistic, int64_t x, uint64_t y) {
  if (statistic_is_on(statistic)) statistic_on_add(statistic, x, y);
}

/* One sample of X, now: statistic_inc(statistic, 2) is one sample whose value is 2. A type=value of
 * increments counts samples, and goes up by 1; statistic_add(statistic, x, 2) counts two. */
static inline void statistic_inc(struct statistic* statistic, int64_t x) {
  if (statistic_is_on(statistic)) statistic_on_add(statistic, x, 1);
}

/* As it was at a time of CLOCK_MONOTONIC, in nanoseconds; a time that is still to come counts as
 * the time at which the daemon takes the sample in. */
static inline void statistic_add_at(struct statistic* statistic, int64_t x, uint64_t y,
                                    int64_t time_ns) {
  if (statistic_is_on(statistic)) statistic_on_add_at(statistic, x, y, time_ns);
}

/* Many at once, with one look at the clock for those that have no time of their own. */
static inline void statistic_add_batch(struct statistic* statistic,
                                       const struct statistic_sample* samples, size_t count) {
  if (statistic_is_on(statistic)) statistic_on_add_batch(statistic, samples, count);
}

/* A number as the X that the calls above take, rounded half to even to the statistic's decimals.
 * -EINVAL: nan, infinite, beyond 64 bits, or the statistic has no decimals. Not signal-safe. */
TALLY_EXPORT int statistic_to_x(const struct statistic* statistic, double number, int64_t* x);

/* Y times the number, now. Off: 0. On: as statistic_to_x(). Not signal-safe. */
static inline int statistic_add_decimal(struct statistic* statistic, double number, uint64_t y) {
  int64_t x = 0;
  int error;
  if (!statistic_is_on(statistic)) return 0;
  error = statistic_to_x(statistic, number, &x);
  if (error == 0) statistic_on_add(statistic, x, y);
  return error;
}

/* ---- Sending, and what became of it ---------------------------------------------------------- */

/* Sends what all threads have gathered. 0: the kernel has it. -EAGAIN: the daemon's queue is full,
 * or it has not answered a registration yet, -ENOTCONN: there is no daemon; what could not be sent
 * is still held, and sent later.
 * Waits no longer than settings.wait_ms. Not signal-safe. */
TALLY_EXPORT int statistic_flush(void);

/* Registers and sends all, and waits until the daemon has received everything, so that a later read
 * shows it. 0; -ETIMEDOUT: not within timeout_ms (60,000 at most); -ENOTCONN: there is no daemon;
 * else what the daemon answered to the first statistic or interface that it refuses: -EPERM: it is
 * another user's; -ENOSPC: a quota; -EINVAL: a definition. The samples of all others have been
 * taken in then. Without a daemon it waits for one as long. Not signal-safe. */
TALLY_EXPORT int statistic_sync(unsigned timeout_ms);

/* What exit() does: sends all, waits for a daemon that takes nothing for a quarter of a second at
 * most, reports what could not be sent, and ends the library's thread. For programs whose end is
 * another one, as _exit(), to be called last: what is added afterwards is sent when a datagram is
 * full, by the calls above, and by exit(). Not signal-safe. */
TALLY_EXPORT void statistic_finish(void);

/* Since the start of the process, or since the fork of the child. Every sample that was added while
 * its statistic was on is in exactly one: added == held + sent + dropped, and sent == confirmed +
 * lost + those on the way. */
struct statistic_counts {
  uint64_t added;
  uint64_t held;      /* in memory of this process */
  uint64_t sent;      /* handed to the kernel */
  uint64_t confirmed; /* the daemon has taken them in, or reads them where they are counted */
  uint64_t lost;    /* may have been counted, or not: were on the way when the daemon went, or named
                         a statistic that was gone, or stood in memory shared with a daemon that was
                         killed: of these it may have saved all but the latest. An upper bound */
  uint64_t dropped; /* there was no room, or the daemon refused their statistic */
};
/* size: sizeof *counts. -EINVAL: a size that this version does not know. */
TALLY_EXPORT int statistic_count(struct statistic_counts* counts, size_t size);

/* Samples of this statistic among statistic_counts.dropped. The sum of all processes is in
 * statistics/tallyfs/data as `dropped`, and by process as `dropped_by`. [signal-safe] */
TALLY_EXPORT uint64_t statistic_dropped(const struct statistic* statistic);

/* Why the last call above that returned an error to this thread did so: a line without full stop,
 * "range_min must not be above range_max"; "" if there was none. It stays until the thread's next
 * such call. Not signal-safe. */
TALLY_EXPORT const char* statistic_last_error(void);

/* The version of the library that runs, "MAJOR.MINOR.PATCH"; static. [signal-safe] */
TALLY_EXPORT const char* tally_version(void);

#ifdef __cplusplus
}
#endif

#endif
