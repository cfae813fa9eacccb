/* The data of statistics of <tally/stats.h> as it stands in a blob: at multiples of 4 bytes, in the
 * layout of FreeBSD's stats(3). Included by <tally/stats.h>. Structures without functions of
 * their own: threads as for the blob that holds them. core/stats3/blob/FORMAT.md of tallyfs has the
 * bytes.
 */
#ifndef TALLY_VOISTAT_H
#define TALLY_VOISTAT_H

#include <stdint.h>
#include <tally/arb.h>
#include <tally/qmath.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALLY_BLOB_DATA __attribute__((packed, aligned(4)))

/* Members without a name, and a head with its nodes at the end of a struct, are GNU C. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

struct voistatdata_int32 {
  __extension__ union {
    int32_t s32;
    uint32_t u32;
  };
} TALLY_BLOB_DATA;

struct voistatdata_int64 {
  __extension__ union {
    int64_t s64;
    uint64_t u64;
  };
} TALLY_BLOB_DATA;

struct voistatdata_intlong {
  __extension__ union {
    long slong;
    unsigned long ulong;
  };
} TALLY_BLOB_DATA;

struct voistatdata_q32 {
  __extension__ union {
    s32q_t sq32;
    u32q_t uq32;
  };
} TALLY_BLOB_DATA;

struct voistatdata_q64 {
  __extension__ union {
    s64q_t sq64;
    u64q_t uq64;
  };
} TALLY_BLOB_DATA;

/* A number of any VOI's type; those of 32 bits stand in the first half. The first member is the
 * widest, so that braces initialize all of it in C++, too. */
struct voistatdata_numeric {
  __extension__ union {
    struct voistatdata_int64 int64;
    struct voistatdata_int32 int32;
    struct voistatdata_intlong intlong;
    struct voistatdata_q32 q32;
    struct voistatdata_q64 q64;
  };
} TALLY_BLOB_DATA;

struct voistatdata_voistate {
  struct voistatdata_numeric prev;
} TALLY_BLOB_DATA;

/* CRHIST: bucket i counts from its lb up to the next one's, the last all from its lb on. DRHIST: lb
 * <= x < ub. DVHIST: x == val. oob counts what is in no bucket. Counters stay at their maximum. */
#define TALLY_HIST_(name, bits, bounds)                  \
  struct voistatdata_##name##bits {                      \
    uint##bits##_t oob;                                  \
    TALLY_PAD_##bits##_(oob_pad_) __extension__ struct { \
      struct voistatdata_numeric bounds;                 \
      uint##bits##_t cnt;                                \
      TALLY_PAD_##bits##_(cnt_pad_)                      \
    } bkts[0];                                           \
  } TALLY_BLOB_DATA
#define TALLY_PAD_32_(name) uint32_t name;
#define TALLY_PAD_64_(name)
#define TALLY_BOUNDS_DR_ lb, ub
TALLY_HIST_(crhist, 32, lb);
TALLY_HIST_(crhist, 64, lb);
TALLY_HIST_(drhist, 32, TALLY_BOUNDS_DR_);
TALLY_HIST_(drhist, 64, TALLY_BOUNDS_DR_);
TALLY_HIST_(dvhist, 32, val);
TALLY_HIST_(dvhist, 64, val);

/* t-digests: centroids, to be walked in the order of their means. mu is a Q number, signed if the
 * VOI's type is. ARB_FOREACH walks through them: ARB_FOREACH(ctd, ctdth32, &digest->ctdtree). */
struct voistatdata_tdgstctd32 {
  ARB16_ENTRY() ctdlnk;
  __extension__ union {
    s32q_t mu;
    u32q_t umu;
  };
  uint32_t cnt;
} TALLY_BLOB_DATA;

struct voistatdata_tdgstctd64 {
  ARB16_ENTRY() ctdlnk;
  __extension__ union {
    s64q_t mu;
    u64q_t umu;
  };
  uint64_t cnt;
} TALLY_BLOB_DATA;

ARB16_HEAD(ctdth32, voistatdata_tdgstctd32) TALLY_BLOB_DATA;
TALLY_ARB_HEAD_(ctdth64, voistatdata_tdgstctd64, 16, uint32_t arb_pad;) TALLY_BLOB_DATA;

struct voistatdata_tdgstclust32 {
  uint32_t smplcnt; /* samples; stays at its maximum */
  uint32_t compcnt; /* compressions */
  struct ctdth32 ctdtree;
} TALLY_BLOB_DATA;

struct voistatdata_tdgstclust64 {
  uint64_t smplcnt;
  uint64_t compcnt;
  struct ctdth64 ctdtree;
} TALLY_BLOB_DATA;

/* The data of a histogram, a t-digest, a centroid, and of any statistic: which of them it is, its
 * enum vsd_dtype says. */
struct voistatdata_hist {
  __extension__ union {
    struct voistatdata_crhist32 crhist32;
    struct voistatdata_crhist64 crhist64;
    struct voistatdata_dvhist32 dvhist32;
    struct voistatdata_dvhist64 dvhist64;
    struct voistatdata_drhist32 drhist32;
    struct voistatdata_drhist64 drhist64;
  };
} TALLY_BLOB_DATA;

struct voistatdata_tdgstctd {
  __extension__ union {
    struct voistatdata_tdgstctd32 tdgstctd32;
    struct voistatdata_tdgstctd64 tdgstctd64;
  };
} TALLY_BLOB_DATA;

struct voistatdata_tdgst {
  __extension__ union {
    struct voistatdata_tdgstclust32 tdgstclust32;
    struct voistatdata_tdgstclust64 tdgstclust64;
  };
} TALLY_BLOB_DATA;

struct voistatdata {
  __extension__ union {
    struct voistatdata_int64 int64;
    struct voistatdata_int32 int32;
    struct voistatdata_intlong intlong;
    struct voistatdata_q32 q32;
    struct voistatdata_q64 q64;
    struct voistatdata_crhist32 crhist32;
    struct voistatdata_crhist64 crhist64;
    struct voistatdata_dvhist32 dvhist32;
    struct voistatdata_dvhist64 dvhist64;
    struct voistatdata_drhist32 drhist32;
    struct voistatdata_drhist64 drhist64;
    struct voistatdata_tdgstclust32 tdgstclust32;
    struct voistatdata_tdgstclust64 tdgstclust64;
  };
} TALLY_BLOB_DATA;
#pragma GCC diagnostic pop

ARB_GENERATE_NEXT(ctdth32, voistatdata_tdgstctd32, ctdlnk, )
ARB_GENERATE_PREV(ctdth32, voistatdata_tdgstctd32, ctdlnk, )
ARB_GENERATE_NEXT(ctdth64, voistatdata_tdgstctd64, ctdlnk, )
ARB_GENERATE_PREV(ctdth64, voistatdata_tdgstctd64, ctdlnk, )

#ifdef __cplusplus
}
#endif

#endif
