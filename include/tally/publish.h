/* Blobs of <tally/stats.h> in the tree of tallyfs: stats/SUBSYSTEM/OBJECT shows the last published
 * blob of an object as text, and OBJECT.json shows it as JSON. The templates of this process are
 * listed in stats/templates, and stats/SUBSYSTEM/sample_rates reads and writes the subsystem's
 * rates.
 *
 *   stats_publish("web", "total", blob);    // as often as you like
 *
 * costs a look-up of the names, one copy of the blob, and, while the object is in demand, one
 * send(2). Opening one of the object's files demands its blobs for a minute; without demand they
 * are not sent. The first blob of an object is always sent. So is the last blob published by names:
 * it is kept, and sent by statistic_flush(), statistic_sync() and the end of the process. A
 * stats_object does the same without look-up and copy. Without demand it costs two loads and a
 * branch, and the blob is not kept. A program that ends, and whose objects stay in the tree, sends
 * the last blob of each with stats_on_object_publish().
 *
 * Threads: every call may be made by any number of threads. But no thread may use a stats_object
 * while or after it is removed, nor change a blob while it is published. Not signal-safe. Fork, a
 * daemon that is absent or comes again, and statistic_configure(), statistic_flush() and
 * statistic_sync(): as in <tally/statistic.h>. After a new daemon has started, the next blob of
 * each object is sent in any case.
 * Limits: names have 1 to 255 bytes (objects 250) of printable UTF-8 without blanks, '/' and '=';
 * no object is called sample_rates or ends in .json; 65,536 objects and subsystems in a process.
 * Errors are negative errno values. No call changes errno.
 */
#ifndef TALLY_PUBLISH_H
#define TALLY_PUBLISH_H

#include <tally/statistic.h>
#include <tally/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One object. The member is the library's: it points at the switch that the daemon flips. */
struct stats_object {
  const uint32_t *on;
};

#define STATS_PUBLISH_ALWAYS 0x1u  /* with or without demand */
#define STATS_LIFETIME_FEEDER 0x2u /* removed when this process ends, in any way */

/* Registers an object; one for each pair of names. 0; -EINVAL: a name or flags; -EEXIST: this
 * process has it already; -ENOSPC, -ENOMEM, -EAGAIN: no thread can be started. The handle is valid
 * until stats_object_remove(), whatever else happens. While another running process publishes the
 * object, the daemon refuses this one (-EEXIST, by stats_object_publish() and the report), and the
 * request is repeated every 10 seconds. */
TALLY_EXPORT int stats_object_create(struct stats_object **object, const char *subsystem,
                                     const char *name, unsigned flags);
/* Removes the object from the tree, and sets *object to NULL. Both object and *object may be
 * NULL. */
TALLY_EXPORT void stats_object_remove(struct stats_object **object);

/* As stats_object_publish(), but with or without demand: for the last blob before the end. */
TALLY_EXPORT int stats_on_object_publish(struct stats_object *object, const struct statsblob *blob);

/* object is not NULL. 0: the blob is sent; or there is no demand, and it is not kept; or the object
 * is not yet registered with the daemon, and its last blob follows the registration. -EAGAIN: the
 * daemon's queue is full, this blob is lost; -ENOTCONN: it is lost since the daemon is gone;
 * -ENOENT: a user has removed the object, which stays so until it is removed and created here;
 * -EINVAL: no blob; else the errno with which the daemon refused the object. */
static inline int stats_object_publish(struct stats_object *object, const struct statsblob *blob) {
  const uint32_t *on = __atomic_load_n(&object->on, TALLY_LOAD_SWITCH);
  return __builtin_expect(__atomic_load_n(on, __ATOMIC_RELAXED) != 0, 0)
             ? stats_on_object_publish(object, blob)
             : 0;
}

/* The same by names; the first call creates the object, without flags: STATS_PUBLISH_ALWAYS needs a
 * handle. Without demand the last blob is kept until statistic_flush(), statistic_sync() or the end
 * of the process sends it; a child of fork() sends none of its parent's blobs. */
TALLY_EXPORT int stats_publish(const char *subsystem, const char *object,
                               const struct statsblob *blob);
/* Removes an object that stats_publish() made from the tree. With NULL it removes the subsystem
 * with all that this process has in it: the callback of stats_subsystem_rates() follows its rates
 * no more, and handles of its objects return -ENOENT until they are removed. 0; -ENOENT:
 * stats_publish() has made no such object, or the object has a handle. */
TALLY_EXPORT int stats_withdraw(const char *subsystem, const char *object);

/* Makes stats/SUBSYSTEM/sample_rates the list that the callback keeps, as of a sysctl variable of
 * FreeBSD's (see stats_tpl_sr_cb_t in <tally/stats.h>). The file shows the callback's present rates
 * until a user writes it. Each change of the file reaches the callback within a second, by
 * stats_tpl_sample_rates(), on the library's thread, without locks of the library's. Where the
 * subsystem is in the tree already, the rates in force there reach the callback at once. The
 * callback is given the rates of this process's templates, none if a user wants none of them
 * sampled; a rate given by name alone holds for all templates of that name. Rates that the callback
 * refuses are reported in the daemon's error_log. Each subsystem has one callback, until the
 * process ends. Each call, and each change, passes context_bytes zeroed bytes (at most 1 MiB) to
 * the callback as ctx, like sysctl's arg2; NULL for 0. 0; -EINVAL, -EEXIST, -ENOSPC, -ENOMEM,
 * -EAGAIN; an errno that the callback returned. */
TALLY_EXPORT int stats_subsystem_rates(const char *subsystem, stats_tpl_sr_cb_t callback,
                                       size_t context_bytes);

#ifdef __cplusplus
}
#endif

#endif
