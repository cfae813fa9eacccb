/* FreeBSD's stats(3): templates say which variables of interest (VOIs) are watched and which
 * statistics are kept of each; a blob is one contiguous piece of memory with the statistics of one
 * object, made from a template. The calls, types and formats are those of FreeBSD's manual page, so
 * that a program written for it compiles after changing its includes to <tally/stats.h>,
 * <tally/qmath.h>, <tally/sbuf.h> and <tally/arb.h>. Additions of ours say so.
 *
 *   struct voistatspec vss[] = {STATS_VSS_SUM(), STATS_VSS_MAX(),
 *                               STATS_VSS_CRHIST32_EXP(0, 1 << 20, 2, 4, 0)};
 *   int tpl = stats_tpl_alloc("web", 0);
 *   stats_tpl_add_voistats(tpl, 0, "latency_us", VSD_DTYPE_INT_U32, NVSS(vss), vss, 0);
 *   struct statsblob *blob = stats_blob_alloc(tpl, 0);
 *   ...
 *   stats_voi_update_abs_u32(blob, 0, 1750);
 *
 * Longer than most: FreeBSD has one header, so this is one.
 * Threads: the list of templates has a lock; calls on it may be made by any thread. A blob has no
 * lock: the program makes at most one call with the same blob at a time. Nothing here is
 * signal-safe, except updates of a blob that only the handler uses. No call changes errno, except
 * sbuf_finish().
 * Limits: a blob has at most 65,535 bytes; templates are never freed, at most 65,536 of them; a
 * template's name has at most 64 bytes, a VOI's 255.
 * Errors are positive errno values, except those of stats_tpl_alloc() and
 * stats_tpl_fetch_allocid(), which are negative. A blob from elsewhere (a socket, a file) is to be
 * looked at with stats_blob_check() before any other call. The bytes of a blob are described in
 * core/stats3/blob/FORMAT.md of tallyfs, the calls also in tally-stats(3).
 */
#ifndef TALLY_STATS_H
#define TALLY_STATS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/arb.h>
#include <tally/qmath.h>
#include <tally/sbuf.h>
#include <tally/voistat.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_EXPORT
#define TALLY_EXPORT __attribute__((visibility("default")))
#endif

/* Linux has none: the data is not of the type that was asked for. */
#ifndef EFTYPE
#define EFTYPE 79
#endif

#define TPL_MAX_NAME_LEN 64
/* Of "NAME":HASH, without an end. */
#define STATS_TPL_MAX_STR_SPEC_LEN (TPL_MAX_NAME_LEN + 13)

/* ---- The blob -------------------------------------------------------------------------------- */

#define STATS_ABI_V1 1

enum sb_endianness { SB_UE = 0, SB_LE, SB_BE };

struct statsblob {
  uint8_t abi;    /* STATS_ABI_V1 */
  uint8_t endian; /* enum sb_endianness */
  uint16_t flags; /* 0 */
  uint16_t maxsz; /* bytes of memory that its maker gave it */
  uint16_t cursz; /* bytes of the blob */
  __extension__ uint8_t opaque[0];
} __attribute__((packed, aligned(2)));

/* Kinds of statistics: where one stands among those of its VOI. */
enum voi_stype {
  VS_STYPE_VOISTATE = 0, /* the previous value, of VOIs with SB_VOI_RELUPDATE */
  VS_STYPE_SUM,
  VS_STYPE_MAX,
  VS_STYPE_MIN,
  VS_STYPE_HIST,
  VS_STYPE_TDGST,
  VS_NUM_STYPES
};

/* What the data of a statistic is; VOIs have one of INT_S32 to Q_U64. */
enum vsd_dtype {
  VSD_DTYPE_VOISTATE = 0,
  VSD_DTYPE_INT_S32,
  VSD_DTYPE_INT_U32,
  VSD_DTYPE_INT_S64,
  VSD_DTYPE_INT_U64,
  VSD_DTYPE_INT_SLONG,
  VSD_DTYPE_INT_ULONG,
  VSD_DTYPE_Q_S32,
  VSD_DTYPE_Q_U32,
  VSD_DTYPE_Q_S64,
  VSD_DTYPE_Q_U64,
  VSD_DTYPE_CRHIST32,
  VSD_DTYPE_DRHIST32,
  VSD_DTYPE_DVHIST32,
  VSD_DTYPE_CRHIST64,
  VSD_DTYPE_DRHIST64,
  VSD_DTYPE_DVHIST64,
  VSD_DTYPE_TDGSTCLUST32,
  VSD_DTYPE_TDGSTCLUST64,
  VSD_NUM_DTYPES
};

/* ---- Specifications of statistics ---------------------------------------------------------------
 * As a rule made by the STATS_VSS_ macros, which are C's (they take addresses of compound
 * literals): arrays `struct voistatspec vss[] = {STATS_VSS_SUM(), ...}`, in a function or, with gcc
 * and clang, static. From C++, fill a vss_hist_hlpr_info or vss_tdgst_hlpr_info and name its hlpr.
 * An array may serve for several VOIs; it is not changed. */

struct vss_hlpr_info;
struct voistatspec;

/* Fills vss->iv, vsdsz and vs_dtype for a VOI of voi_dtype. 0 or an errno. stats_tpl_add_voistats()
 * calls it with a copy of the specification, copies vsdsz bytes from iv, and does not free iv. */
typedef int (*vss_hlpr_fn)(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                           struct vss_hlpr_info* info);

struct voistatspec {
  vss_hlpr_fn hlpr;               /* NULL: iv, vsdsz and vs_dtype are filled already */
  struct vss_hlpr_info* hlprinfo; /* for hlpr */
  struct voistatdata* iv;         /* initial data; NULL for SUM, MAX and MIN: 0 or the worst */
  size_t vsdsz;                   /* bytes of it */
  uint32_t flags;                 /* 0 */
  __extension__ enum vsd_dtype vs_dtype : 8;
  __extension__ enum voi_stype stype : 8;
};

#define NVSS(vss_array) (sizeof(vss_array) / sizeof((vss_array)[0]))

/* For several specifications at once what stats_tpl_add_voistats() does for each: calls the hlpr of
 * those that have one and no iv yet. 0, or the error of a hlpr, after which none has an iv. */
TALLY_EXPORT int stats_vss_hlpr_init(enum vsd_dtype voi_dtype, uint32_t nvss,
                                     struct voistatspec* vss);
/* Frees the iv of those that have a hlpr. */
TALLY_EXPORT void stats_vss_hlpr_cleanup(uint32_t nvss, struct voistatspec* vss);

/* The helpers behind the macros: for vss->hlpr only. */
TALLY_EXPORT int stats_vss_numeric_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                                        struct vss_hlpr_info* info);
TALLY_EXPORT int stats_vss_hist_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                                     struct vss_hlpr_info* info);
TALLY_EXPORT int stats_vss_tdgst_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                                      struct vss_hlpr_info* info);

enum hist_bkt_alloc { BKT_LIN, BKT_EXP, BKT_LINEXP, BKT_USR };

#define VSD_HIST_LBOUND_INF 0x01u /* one bucket more, from the type's smallest number to lb */
#define VSD_HIST_UBOUND_INF 0x02u /* one bucket more, beyond the last */

/* Bounds run lb, lb + step, ... until the upper bound of a bucket is > ub.
 * LIN: step is stepinc. EXP: it is stepbase^(stepexp + i) for bucket i. LINEXP: stepbase^e /
 * nlinsteps, at least 1, with the smallest e >= 1 for which stepbase^e is beyond the bucket's lb.
 * Of Q-typed VOIs lb and ub are Q numbers, and steps are integers: stepinc is one, LINEXP's is
 * truncated to one.
 * EINVAL: a step of 0 or less, stepbase below 2 for LINEXP, nlinsteps 0, bounds outside of the
 * VOI's type, ub its largest number, USR bounds of a CRHIST that descend (lb 10, then 5), a DVHIST
 * with flags, LIN with lb above ub. EFBIG: more buckets than a blob can have. */
struct vss_hist_hlpr_info {
  enum hist_bkt_alloc scheme;
  enum vsd_dtype voi_dtype; /* not looked at */
  enum vsd_dtype hist_dtype;
  uint32_t flags; /* VSD_HIST_LBOUND_INF, VSD_HIST_UBOUND_INF */
  struct voistatdata_numeric lb;
  struct voistatdata_numeric ub;
  __extension__ union {
    struct {
      uint64_t stepinc;
    } lin;
    struct {
      uint64_t stepbase;
      uint64_t stepexp;
    } exp;
    struct {
      uint64_t stepbase;
      uint64_t linstepdiv;
    } linexp;
    struct {
      const struct voistatdata_numeric (*bkts)[2]; /* lb and ub of each */
      uint64_t nbkts;
    } usr;
  } __attribute__((aligned(8)));
};

/* nctds: centroids, 2 to what a blob has room for. prec: bits of fraction of the means, 0 to 48,
 * rounded up to the next that qmath.h has (2 at least), leaving at least 8 for the integer part.
 * Else EINVAL; EFBIG: no blob is so large. */
struct vss_tdgst_hlpr_info {
  enum vsd_dtype voi_dtype; /* not looked at */
  enum vsd_dtype tdgst_dtype;
  uint32_t nctds;
  uint32_t prec;
};

/* Of SUM, MAX and MIN of a Q-typed VOI: bits of fraction, rounded up to the next that qmath.h has.
 * SUM refuses samples with another number of them (ERANGE). MAX and MIN compare by value, and store
 * a new extreme with their own number. hlprinfo NULL: the first sample decides. */
struct vss_numeric_hlpr_info {
  uint32_t prec;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* it has no member with a name */
struct vss_hlpr_info {
  __extension__ union {
    struct vss_tdgst_hlpr_info tdgst;
    struct vss_hist_hlpr_info hist;
    struct vss_numeric_hlpr_info numeric;
  };
};
#pragma GCC diagnostic pop

/* A bound: 64 bits, of which VOIs of 32 bits use the lower half. */
static inline struct voistatdata_numeric stats_ctor_vsd_numeric(uint64_t value) {
  struct voistatdata_numeric number;
  number.int64.u64 = value;
  return number;
}

#define TALLY_NUMERIC_(value)                 \
  {                                           \
    {                                         \
      .int64 = { {.u64 = (uint64_t)(value)} } \
    }                                         \
  }
#define STATS_VSS(stype_, flags_, dtype_, hlpr_, info_)                \
  (struct voistatspec) {                                               \
    .hlpr = (hlpr_), .hlprinfo = (info_), .flags = (uint32_t)(flags_), \
    .vs_dtype = (enum vsd_dtype)(dtype_), .stype = (stype_)            \
  }
#define TALLY_VSS_NUMBER_(stype_) \
  STATS_VSS(stype_, 0, VSD_DTYPE_VOISTATE, stats_vss_numeric_hlpr, NULL)
#define STATS_VSS_SUM() TALLY_VSS_NUMBER_(VS_STYPE_SUM)
#define STATS_VSS_MAX() TALLY_VSS_NUMBER_(VS_STYPE_MAX)
#define STATS_VSS_MIN() TALLY_VSS_NUMBER_(VS_STYPE_MIN)
#define STATS_VSS_HIST(type, info) \
  STATS_VSS(VS_STYPE_HIST, 0, type, stats_vss_hist_hlpr, (struct vss_hlpr_info*)(info))
#define STATS_VSS_TDIGEST(type, info) \
  STATS_VSS(VS_STYPE_TDGST, 0, type, stats_vss_tdgst_hlpr, (struct vss_hlpr_info*)(info))

/* The members of vss_hist_hlpr_info that a scheme has of its own, and a pointer to one with all. */
#define HIST_HLPR_INFO_LIN_FIELDS(inc) .lin.stepinc = (uint64_t)(inc)
#define HIST_HLPR_INFO_EXP_FIELDS(base, exponent) \
  .exp.stepbase = (uint64_t)(base), .exp.stepexp = (uint64_t)(exponent)
#define HIST_HLPR_INFO_LINEXP_FIELDS(nlinsteps, base) \
  .linexp.stepbase = (uint64_t)(base), .linexp.linstepdiv = (uint64_t)(nlinsteps)
#define HIST_HLPR_INFO_USR_FIELDS(buckets) \
  .usr.bkts = buckets, .usr.nbkts = sizeof(buckets) / sizeof((buckets)[0])
#define HIST_HLPR_INFO(type, scheme_, flags_, lb_, ub_, ...) \
  (&(struct vss_hist_hlpr_info){.scheme = (scheme_),         \
                                .hist_dtype = (type),        \
                                .flags = (uint32_t)(flags_), \
                                .lb = TALLY_NUMERIC_(lb_),   \
                                .ub = TALLY_NUMERIC_(ub_),   \
                                __VA_ARGS__})

#define TALLY_VSS_HIST_(type, scheme, lb, ub, flags, fields) \
  STATS_VSS_HIST(type, HIST_HLPR_INFO(type, scheme, flags, lb, ub, fields))
#define TALLY_VSS_LIN_(type, lb, ub, inc, flags) \
  TALLY_VSS_HIST_(type, BKT_LIN, lb, ub, flags, HIST_HLPR_INFO_LIN_FIELDS(inc))
#define TALLY_VSS_EXP_(type, lb, ub, base, exponent, flags) \
  TALLY_VSS_HIST_(type, BKT_EXP, lb, ub, flags, HIST_HLPR_INFO_EXP_FIELDS(base, exponent))
#define TALLY_VSS_LINEXP_(type, lb, ub, nlinsteps, base, flags) \
  TALLY_VSS_HIST_(type, BKT_LINEXP, lb, ub, flags, HIST_HLPR_INFO_LINEXP_FIELDS(nlinsteps, base))
#define TALLY_VSS_USR_(type, buckets, flags) \
  TALLY_VSS_HIST_(type, BKT_USR, 0, 0, flags, HIST_HLPR_INFO_USR_FIELDS(buckets))

#define STATS_VSS_CRHIST32_LIN(lb, ub, stepinc, vsdflags) \
  TALLY_VSS_LIN_(VSD_DTYPE_CRHIST32, lb, ub, stepinc, vsdflags)
#define STATS_VSS_CRHIST64_LIN(lb, ub, stepinc, vsdflags) \
  TALLY_VSS_LIN_(VSD_DTYPE_CRHIST64, lb, ub, stepinc, vsdflags)
#define STATS_VSS_CRHIST32_EXP(lb, ub, stepbase, stepexp, vsdflags) \
  TALLY_VSS_EXP_(VSD_DTYPE_CRHIST32, lb, ub, stepbase, stepexp, vsdflags)
#define STATS_VSS_CRHIST64_EXP(lb, ub, stepbase, stepexp, vsdflags) \
  TALLY_VSS_EXP_(VSD_DTYPE_CRHIST64, lb, ub, stepbase, stepexp, vsdflags)
#define STATS_VSS_CRHIST32_LINEXP(lb, ub, nlinsteps, stepbase, vsdflags) \
  TALLY_VSS_LINEXP_(VSD_DTYPE_CRHIST32, lb, ub, nlinsteps, stepbase, vsdflags)
#define STATS_VSS_CRHIST64_LINEXP(lb, ub, nlinsteps, stepbase, vsdflags) \
  TALLY_VSS_LINEXP_(VSD_DTYPE_CRHIST64, lb, ub, nlinsteps, stepbase, vsdflags)
#define STATS_VSS_CRHIST32_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_CRHIST32, (buckets), vsdflags)
#define STATS_VSS_CRHIST64_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_CRHIST64, (buckets), vsdflags)
#define STATS_VSS_DRHIST32_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_DRHIST32, (buckets), vsdflags)
#define STATS_VSS_DRHIST64_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_DRHIST64, (buckets), vsdflags)
#define STATS_VSS_DVHIST32_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_DVHIST32, (buckets), vsdflags)
#define STATS_VSS_DVHIST64_USR(buckets, vsdflags) \
  TALLY_VSS_USR_(VSD_DTYPE_DVHIST64, (buckets), vsdflags)

/* The buckets of _USR: HBKTS(CRBKT(0), CRBKT(10)), HBKTS(DRBKT(0, 10), ...), HBKTS(DVBKT(1),
 * ...). */
#define HBKTS(...) ((const struct voistatdata_numeric[][2]){__VA_ARGS__})
#define DRBKT(lb, ub) \
  { TALLY_NUMERIC_(lb), TALLY_NUMERIC_(ub) }
#define CRBKT(lb) DRBKT(lb, lb)
#define DVBKT(val) DRBKT(val, val)

#define TDGST_HLPR_INFO(type, nctroids, prec_) \
  (&(struct vss_tdgst_hlpr_info){              \
      .tdgst_dtype = (type), .nctds = (uint32_t)(nctroids), .prec = (uint32_t)(prec_)})
#define TALLY_VSS_TDGST_(type, nctroids, prec) \
  STATS_VSS_TDIGEST(type, TDGST_HLPR_INFO(type, nctroids, prec))
#define STATS_VSS_TDGSTCLUST32(nctroids, prec) \
  TALLY_VSS_TDGST_(VSD_DTYPE_TDGSTCLUST32, nctroids, prec)
#define STATS_VSS_TDGSTCLUST64(nctroids, prec) \
  TALLY_VSS_TDGST_(VSD_DTYPE_TDGSTCLUST64, nctroids, prec)

#include <tally/stats_tables.h>

/* ---- Templates ------------------------------------------------------------------------------- */

struct voi_meta {
  char* name; /* NULL: there is no such VOI */
  char* desc; /* NULL */
};
struct metablob {
  char* tplname;
  /* Of the name, the names of VOIs and the layout: changes with each VOI that is added. */
  uint32_t tplhash;
  struct voi_meta* voi_meta; /* by the ids of VOIs */
};
struct statsblob_tpl {
  struct metablob* mb;
  struct statsblob* sb;
};

/* name: at most 64 bytes, unlike those of other templates; copied. flags: unused. The template's
 * slot ID, 0 or more; -EINVAL: too long, or not printable UTF-8 without '"' and '\\', which files
 * that list templates could not show; -EEXIST; -ENOMEM: no memory, no room for more, or name is
 * NULL. */
TALLY_EXPORT int stats_tpl_alloc(const char* name, uint32_t flags);

/* The slot ID of the template with this name (NULL: any) and hash (0: any); -ESRCH: there is none,
 * or nothing was asked. */
TALLY_EXPORT int stats_tpl_fetch_allocid(const char* name, uint32_t hash);

/* 0, and the template in *tpl (which may be NULL to only ask), whose members are valid until a VOI
 * is added to it; ENOENT. */
TALLY_EXPORT int stats_tpl_fetch(int tpl_id, struct statsblob_tpl** tpl);

/* 0, and the name in buf; EOVERFLOW: it does not fit into len bytes with its end, or buf is NULL;
 * ENOENT. */
TALLY_EXPORT int stats_tpl_id2name(uint32_t tpl_id, char* buf, size_t len);

/* The VOI keeps its previous value, so that stats_voi_update_rel_ calls can be made. */
#define SB_VOI_RELUPDATE 0x0001u

/* Adds a VOI with nvss different statistics to a template; blobs that were made before stay as they
 * are. voi_id: 0 or more; each id costs 8 bytes. voi_name: at most 255 bytes, copied. 0; EINVAL: an
 * argument; EFBIG: blobs would have more than 65,535 bytes; EOPNOTSUPP: the template has this VOI;
 * ENOMEM; or what the hlpr of a vss returned. */
TALLY_EXPORT int stats_tpl_add_voistats(uint32_t tpl_id, int32_t voi_id, const char* voi_name,
                                        enum vsd_dtype voi_dtype, uint32_t nvss,
                                        struct voistatspec* vss, uint32_t flags);

/* [addition] What FreeBSD has as kern.stats.templates: "NAME":HASH,... of all templates, in their
 * order. 0 or sbuf_error(). */
TALLY_EXPORT int stats_tpl_list(struct sbuf* buf);

/* ---- Sample rates ---------------------------------------------------------------------------- */

struct stats_tpl_sample_rate {
  int32_t tpl_slot_id;
  uint32_t tpl_sample_pct; /* 0 to 100 */
};

enum stats_tpl_sr_cb_action {
  TPL_SR_UNLOCKED_GET, /* give rates and nrates */
  TPL_SR_RLOCKED_GET,  /* lock them for reading, and give them */
  TPL_SR_RUNLOCK,
  TPL_SR_PUT /* take these, and give back the old ones to be free()d; none: NULL and 0, both ways */
};
/* 0 or an errno: then PUT has taken nothing, and the new ones are free()d. */
typedef int (*stats_tpl_sr_cb_t)(enum stats_tpl_sr_cb_action action,
                                 struct stats_tpl_sample_rate** rates, int* nrates, void* ctx);

/* The request of FreeBSD's sysctl(9), as far as handlers look at it: where the old value goes
 * (oldptr NULL: only its size is asked for, in oldidx), and the new one (newptr NULL: none), newlen
 * bytes without an end. */
struct sysctl_oid;
struct sysctl_req {
  void* oldptr;
  size_t oldlen;
  size_t oldidx;
  const void* newptr;
  size_t newlen;
  size_t newidx;
};
#define SYSCTL_HANDLER_ARGS \
  struct sysctl_oid *oidp, void *arg1, intmax_t arg2, struct sysctl_req *req

/* Writes the rates as text with its end, `"A":HASH=5,"BETA":HASH=95`, to the old value, and sets
 * them from the new one. arg1: a stats_tpl_sr_cb_t. arg2: so many zeroed bytes are given to each of
 * its calls as ctx, unless 0. oidp is not looked at. With neither oldptr nor newptr, oldidx is how
 * much there may be: 82 bytes a rate, got with TPL_SR_UNLOCKED_GET. RUNLOCK is given what
 * RLOCKED_GET gave.
 * New text: pairs SPEC=PERCENT with commas between (one at the end is taken too), blanks before a
 * pair and around PERCENT, but none before '='; SPEC is "NAME":HASH, "NAME" or :HASH, the marks may
 * be left out, of a HASH the digits count that it begins with, and it has at most 76 bytes; a
 * template that is named twice has both shares; nothing at all clears. 0; EINVAL: the text, or a
 * sum beyond 100; ESRCH: no such template; ENOMEM: or the old value does not fit; what the callback
 * returned. After an error the rates are as they were. */
TALLY_EXPORT int stats_tpl_sample_rates(SYSCTL_HANDLER_ARGS);

/* Chooses a template by its share, exactly: of a seed (which may have no bytes) always the same,
 * over seeds and (seed_bytes NULL) over calls at random, in each child of fork() anew. Its slot ID,
 * or -1 for none. */
TALLY_EXPORT int stats_tpl_sample_rollthedice(struct stats_tpl_sample_rate* rates, int nrates,
                                              void* seed_bytes, size_t seed_len);

/* ---- Updates ------------------------------------------------------------------------------------
 * abs: voival is what the VOI is now. rel: it is added to what it was at the last update. SUM wraps
 * (Q numbers: EOVERFLOW); MAX and MIN count once they were improved, so that a MAX of unsigned
 * samples that are all 0 is still `null` in JSON, as with FreeBSD. 0, also for a NULL blob; EINVAL:
 * no such VOI, another type, or rel without SB_VOI_RELUPDATE, and nothing is changed. EOVERFLOW: a
 * t-digest, SUM, MAX or MIN has no room for such a number; ERANGE: a SUM of Q numbers has another
 * number of bits of fraction. That statistic's errs counts it, the others are updated. ERANGE of
 * a rel: voival has another number of them than the former value, so that all statistics count it,
 * and none is changed. */

TALLY_EXPORT int stats_voi_update_abs_s32(struct statsblob* sb, int32_t voi_id, int32_t voival);
TALLY_EXPORT int stats_voi_update_abs_u32(struct statsblob* sb, int32_t voi_id, uint32_t voival);
TALLY_EXPORT int stats_voi_update_abs_s64(struct statsblob* sb, int32_t voi_id, int64_t voival);
TALLY_EXPORT int stats_voi_update_abs_u64(struct statsblob* sb, int32_t voi_id, uint64_t voival);
TALLY_EXPORT int stats_voi_update_abs_slong(struct statsblob* sb, int32_t voi_id, long voival);
TALLY_EXPORT int stats_voi_update_abs_ulong(struct statsblob* sb, int32_t voi_id,
                                            unsigned long voival);
TALLY_EXPORT int stats_voi_update_abs_sq32(struct statsblob* sb, int32_t voi_id, s32q_t voival);
TALLY_EXPORT int stats_voi_update_abs_uq32(struct statsblob* sb, int32_t voi_id, u32q_t voival);
TALLY_EXPORT int stats_voi_update_abs_sq64(struct statsblob* sb, int32_t voi_id, s64q_t voival);
TALLY_EXPORT int stats_voi_update_abs_uq64(struct statsblob* sb, int32_t voi_id, u64q_t voival);
TALLY_EXPORT int stats_voi_update_rel_s32(struct statsblob* sb, int32_t voi_id, int32_t voival);
TALLY_EXPORT int stats_voi_update_rel_u32(struct statsblob* sb, int32_t voi_id, uint32_t voival);
TALLY_EXPORT int stats_voi_update_rel_s64(struct statsblob* sb, int32_t voi_id, int64_t voival);
TALLY_EXPORT int stats_voi_update_rel_u64(struct statsblob* sb, int32_t voi_id, uint64_t voival);
TALLY_EXPORT int stats_voi_update_rel_slong(struct statsblob* sb, int32_t voi_id, long voival);
TALLY_EXPORT int stats_voi_update_rel_ulong(struct statsblob* sb, int32_t voi_id,
                                            unsigned long voival);
TALLY_EXPORT int stats_voi_update_rel_sq32(struct statsblob* sb, int32_t voi_id, s32q_t voival);
TALLY_EXPORT int stats_voi_update_rel_uq32(struct statsblob* sb, int32_t voi_id, u32q_t voival);
TALLY_EXPORT int stats_voi_update_rel_sq64(struct statsblob* sb, int32_t voi_id, s64q_t voival);
TALLY_EXPORT int stats_voi_update_rel_uq64(struct statsblob* sb, int32_t voi_id, u64q_t voival);

/* ---- Blobs ----------------------------------------------------------------------------------- */

/* A blob of its own memory, for stats_blob_destroy(). NULL: no such template, no memory. */
TALLY_EXPORT struct statsblob* stats_blob_alloc(uint32_t tpl_id, uint32_t flags);

/* The same in memory of the caller's, of sb->maxsz bytes; maxsz becomes the blob's size. 0; EINVAL:
 * sb is NULL, or no such template; EOVERFLOW: the blob is larger than sb->maxsz. */
TALLY_EXPORT int stats_blob_init(struct statsblob* sb, uint32_t tpl_id, uint32_t flags);

/* Of a blob that stats_ calls allocated; NULL is ignored. */
TALLY_EXPORT void stats_blob_destroy(struct statsblob* sb);

#define SB_CLONE_RSTSRC 0x0001u        /* snapshot: src begins anew */
#define SB_CLONE_ALLOCDST 0x0002u      /* *dst is allocated */
#define SB_CLONE_USRDSTNOFAULT 0x0004u /* of the kernel's; here as neither */
#define SB_CLONE_USRDST 0x0008u

/* Copies src into the dstmaxsz bytes at *dst, all but maxsz. 0; EINVAL: src, dst or *dst is NULL,
 * dstmaxsz is below 8, or ALLOCDST together with a USRDST; EOVERFLOW: the blob is larger than
 * dstmaxsz, its first 8 bytes (but maxsz) are copied; ENOMEM. */
TALLY_EXPORT int stats_blob_clone(struct statsblob** dst, size_t dstmaxsz, struct statsblob* src,
                                  uint32_t flags);

/* The same, and with SB_CLONE_RSTSRC the statistics of src are as new after it; previous values
 * (for rel updates) stay. */
TALLY_EXPORT int stats_blob_snapshot(struct statsblob** dst, size_t dstmaxsz, struct statsblob* src,
                                     uint32_t flags);

/* The statistic's data in the blob. 0, and retdtype and retvsdsz unless NULL; a vacant slot has the
 * blob's start, type 0 and size 0. EINVAL: no such VOI, a kind beyond its last, sb or retvsd is
 * NULL. */
TALLY_EXPORT int stats_voistat_fetch_dptr(struct statsblob* sb, int32_t voi_id,
                                          enum voi_stype stype, enum vsd_dtype* retdtype,
                                          struct voistatdata** retvsd, size_t* retvsdsz);

/* Its number. 0; EFTYPE: the statistic is of another type; EINVAL as above, or ret is NULL. */
TALLY_EXPORT int stats_voistat_fetch_s32(struct statsblob* sb, int32_t voi_id, enum voi_stype stype,
                                         int32_t* ret);
TALLY_EXPORT int stats_voistat_fetch_u32(struct statsblob* sb, int32_t voi_id, enum voi_stype stype,
                                         uint32_t* ret);
TALLY_EXPORT int stats_voistat_fetch_s64(struct statsblob* sb, int32_t voi_id, enum voi_stype stype,
                                         int64_t* ret);
TALLY_EXPORT int stats_voistat_fetch_u64(struct statsblob* sb, int32_t voi_id, enum voi_stype stype,
                                         uint64_t* ret);
TALLY_EXPORT int stats_voistat_fetch_slong(struct statsblob* sb, int32_t voi_id,
                                           enum voi_stype stype, long* ret);
TALLY_EXPORT int stats_voistat_fetch_ulong(struct statsblob* sb, int32_t voi_id,
                                           enum voi_stype stype, unsigned long* ret);
TALLY_EXPORT int stats_voistat_fetch_sq32(struct statsblob* sb, int32_t voi_id,
                                          enum voi_stype stype, s32q_t* ret);
TALLY_EXPORT int stats_voistat_fetch_uq32(struct statsblob* sb, int32_t voi_id,
                                          enum voi_stype stype, u32q_t* ret);
TALLY_EXPORT int stats_voistat_fetch_sq64(struct statsblob* sb, int32_t voi_id,
                                          enum voi_stype stype, s64q_t* ret);
TALLY_EXPORT int stats_voistat_fetch_uq64(struct statsblob* sb, int32_t voi_id,
                                          enum voi_stype stype, u64q_t* ret);

/* [addition] The value below which the share q (0 to 1) of a t-digest's samples lies. Of 100
 * centroids and a million samples the rank is right to 3 % of q or 1 - q, whichever is less, from
 * 0.01 to 0.9999; 0 and 1 give the smallest and the largest sample. 0; EINVAL: q, or there is no
 * such t-digest; EAGAIN: it has no samples; ENOMEM. */
TALLY_EXPORT int stats_voistat_fetch_quantile(struct statsblob* sb, int32_t voi_id, double q,
                                              double* ret);

/* [addition] Adds the statistics of src to those of dst, as if its samples had been added there;
 * previous values and errs are src's own business. SUM wraps, counters stay at their maximum. 0;
 * EINVAL: not two sound blobs of one template and layout, or one and the same; EOVERFLOW: a Q-typed
 * sum has no room, that one is left as it was. */
TALLY_EXPORT int stats_blob_merge(struct statsblob* dst, struct statsblob* src);

/* [addition] Is this, all of it, a blob that every other call can be given? size: bytes that are
 * there, at least its cursz. 0; EINVAL: it is not, and *why (unless NULL) says what is wrong with
 * which field, in a text of why_size bytes. */
TALLY_EXPORT int stats_blob_check(const void* bytes, size_t size, char* why, size_t why_size);

/* ---- Text, and walking through a blob -------------------------------------------------------- */

enum sb_str_fmt { SB_STRFMT_FREEFORM = 0, SB_STRFMT_JSON, SB_STRFMT_NUM_FMTS };

#define SB_TOSTR_OBJDUMP 0x00000001u /* all fields, vacant slots, VOISTATE */
#define SB_TOSTR_META 0x00000002u    /* names, from the template with the blob's hash */

/* Appends the blob as text, without a newline at the end. In JSON, a statistic that has seen no
 * sample is null. 0; EINVAL: sb or buf is NULL, another ABI, no such format, META and no such
 * template; ENOMEM; sbuf_error(). */
TALLY_EXPORT int stats_blob_tostr(struct statsblob* sb, struct sbuf* buf, enum sb_str_fmt fmt,
                                  uint32_t flags);

/* One statistic's data. The manual page has five arguments, (vsd, dtype, fmt, buf, objdump), which
 * suffice for numbers; FreeBSD's header has seven, (vsd, voi_dtype, vsd_dtype, vsd_sz, fmt, buf,
 * objdump), as struct sb_visit gives them. The name takes either; with five, histograms and
 * t-digests, whose size is unknown then, are EINVAL. So are a voi_dtype that no VOI has, and a size
 * that is too small for the type. A number stands without a key in JSON, too. */
TALLY_EXPORT int stats_voistatdata_tostr(const struct voistatdata* vsd, enum vsd_dtype voi_dtype,
                                         enum vsd_dtype vsd_dtype, size_t vsd_sz,
                                         enum sb_str_fmt fmt, struct sbuf* buf, int objdump);
#ifndef __cplusplus
#define TALLY_TOSTR_5_(vsd, dtype, fmt, buf, objdump) \
  (stats_voistatdata_tostr)(vsd, dtype, dtype, SIZE_MAX, fmt, buf, objdump)
#define TALLY_TOSTR_7_(...) (stats_voistatdata_tostr)(__VA_ARGS__)
#define TALLY_TOSTR_PICK_(a, b, c, d, e, f, g, which, ...) which
#define stats_voistatdata_tostr(...)                                                             \
  TALLY_TOSTR_PICK_(__VA_ARGS__, TALLY_TOSTR_7_, TALLY_TOSTR_7_, TALLY_TOSTR_5_, TALLY_TOSTR_5_, \
                    TALLY_TOSTR_5_, TALLY_TOSTR_5_, TALLY_TOSTR_5_, )                            \
  (__VA_ARGS__)
#endif

/* As FreeBSD sets them: FIRST_VOI is set in every call, LAST_VOI in none, and vacant slots are not
 * visited, so that the NULL flags do not occur either. A VOI's first and last statistic tell where
 * it begins and ends. */
#define SB_IT_FIRST_CB 0x0001u
#define SB_IT_LAST_CB 0x0002u
#define SB_IT_FIRST_VOI 0x0004u
#define SB_IT_LAST_VOI 0x0008u
#define SB_IT_FIRST_VOISTAT 0x0010u
#define SB_IT_LAST_VOISTAT 0x0020u
#define SB_IT_NULLVOI 0x0040u
#define SB_IT_NULLVOISTAT 0x0080u

struct sb_visit {
  struct voistatdata* vs_data;
  uint32_t tplhash;
  uint32_t flags; /* SB_IT_ */
  int16_t voi_id;
  int16_t vs_dsz;
  __extension__ enum vsd_dtype voi_dtype : 8;
  __extension__ enum vsd_dtype vs_dtype : 8;
  int8_t vs_stype;
  uint16_t vs_errs;
};

/* Other than 0 ends the visit. */
typedef int (*stats_blob_visitcb_t)(struct sb_visit* sbv, void* usrctx);

/* Calls func for each statistic of each VOI, previous values (VS_STYPE_VOISTATE) included, by their
 * ids. 0, also when func ended it; EINVAL: sb or func is NULL, another ABI. */
TALLY_EXPORT int stats_blob_visit(struct statsblob* sb, stats_blob_visitcb_t func, void* usrctx);

#ifdef __cplusplus
}
#endif

#include <tally/stats_v1.h>

/* [addition] stats_publish() and what belongs to it. */
#include <tally/publish.h>

#endif
