/* Blobs of <tally/stats.h> in the tree of tallyfs: stats/SUBSYSTEM/OBJECT shows the last one that was published of an object, as
 * text, and OBJECT.json as JSON. The templates of this process are listed in stats/templates, and stats/SUBSYSTEM/sample_rates
 * reads and writes the subsystem's rates.
 *
 *   stats_publish("web", "total", blob);    // as often as you like
 *
 * costs a look-up of the names, one copy of the blob, and, while somebody looks at the object, one send(2). While nobody does, nothing
 * is sent: opening one of the object's files asks for it, for a minute. The first blob of an object goes in any case, and so does the last
 * one that was published by names: it is kept, and sent by statistic_flush(), statistic_sync() and the end of the process.
 * stats_object is the same without look-up and copy: two loads and a branch while nobody asks, when nothing of the blob is kept
 * either. A program that ends, and whose objects stay to be looked at, sends the last of each with stats_on_object_publish().
 *
 * Threads: every call may be made by any number of threads, except that nobody may use a stats_object while or after it is removed, and that
 * nobody changes a blob while it is published. Not signal-safe. Fork, a daemon that is absent or comes again, and statistic_configure(),
 * statistic_flush() and statistic_sync(): as in <tally/statistic.h>. After a new daemon has come, the next blob of each object goes in any case.
 * Limits: names have 1 to 255 bytes (objects 250) of printable UTF-8 without blanks, '/' and '='; no object is called sample_rates or ends in .json; 65,536 objects and
 * subsystems in a process.
 * Errors are negative errno values. No call changes errno.
 */
#ifndef TALLY_PUBLISH_H
#define TALLY_PUBLISH_H

#include <tally/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One object. The member is the library's: it points at the switch that the daemon flips. */
struct stats_object {
  const uint32_t *on;
};

#define STATS_PUBLISH_ALWAYS 0x1u  /* whether anybody asks or not */
#define STATS_LIFETIME_FEEDER 0x2u /* it goes with this process, however that ends, and not only when it is removed */

/* Makes known that there will be blobs of it; one object for each pair of names. 0; -EINVAL: a name or flags; -EEXIST: there is one;
 * -ENOSPC, -ENOMEM, -EAGAIN: no thread can be started. The handle is good until stats_object_remove(), whatever else happens. An object
 * that another process publishes which still runs stays that one's: the daemon refuses it (-EEXIST, by stats_object_publish() and the
 * report), and is asked again every 10 seconds. */
TALLY_EXPORT int stats_object_create(struct stats_object **object, const char *subsystem, const char *name,
                                     unsigned flags);
/* Takes it out of the tree, and sets *object to NULL. Neither object nor *object need be there. */
TALLY_EXPORT void stats_object_remove(struct stats_object **object);

/* As stats_object_publish(), but whether anybody asks or not: for the last blob before the end. */
TALLY_EXPORT int stats_on_object_publish(struct stats_object *object, const struct statsblob *blob);

/* object is not NULL. 0: it is sent; or nobody asks, and it is not kept; or the daemon has yet to hear of the object, and gets
 * the last blob then. -EAGAIN: the daemon's queue is full, this one is lost; -ENOTCONN: so it is since the daemon is gone; -ENOENT: a user has removed the object, which
 * stays so until it is removed and created here; -EINVAL: no blob; else what the daemon refused the object with. */
static inline int stats_object_publish(struct stats_object *object, const struct statsblob *blob) {
  const uint32_t *on = __atomic_load_n(&object->on, __ATOMIC_RELAXED);
  return __builtin_expect(__atomic_load_n(on, __ATOMIC_RELAXED) != 0, 0) ? stats_on_object_publish(object, blob) : 0;
}

/* The same by names; the first call creates the object, which has no flags: one that is published always has a handle. While
 * nobody asks, the last one is kept until statistic_flush(), statistic_sync() or the end of the process sends it; a child of fork()
 * sends none of its parent's. */
TALLY_EXPORT int stats_publish(const char *subsystem, const char *object, const struct statsblob *blob);
/* Takes an object that stats_publish() made out of the tree; or, with NULL, the subsystem with all that this process has in it,
 * whose rates stats_subsystem_rates() then follows no more; handles of its objects answer -ENOENT from then on, until they are removed.
 * 0; -ENOENT: stats_publish() has made none, or it has a handle. */
TALLY_EXPORT int stats_withdraw(const char *subsystem, const char *object);

/* From now on stats/SUBSYSTEM/sample_rates is the list that the callback keeps, as it would be of a sysctl variable of FreeBSD's
 * (see stats_tpl_sr_cb_t in <tally/stats.h>): its rates now are what the file shows until somebody writes it, and each change
 * there, one second later at most, reaches the callback by stats_tpl_sample_rates(), on the library's thread, without locks of the library's.
 * Where the subsystem is in the tree already, the rates in force there do at once. It is given the rates of this process's templates, none at all if
 * a user wants none of them sampled; those that stand there by name alone hold for all templates of that name. What it refuses
 * is told in the daemon's error_log. One callback for each subsystem; a process has it until its end. Each call, and each change, gives the callback so many zeroed bytes (at most 1 MiB) as ctx as sysctl's arg2
 * would, NULL for 0. 0; -EINVAL, -EEXIST, -ENOSPC, -ENOMEM, -EAGAIN; what the callback returned. */
TALLY_EXPORT int stats_subsystem_rates(const char *subsystem, stats_tpl_sr_cb_t callback, size_t context_bytes);

#ifdef __cplusplus
}
#endif

#endif
