/* Names, sizes and limits of the types of <tally/stats.h>, by number, and the members of histograms
 * by type, as FreeBSD's header has them beyond its manual page. Included by <tally/stats.h>, after
 * the types. Tables of the header's own, without functions: each file that includes it has its
 * copies. Any thread.
 */
#ifndef TALLY_STATS_TABLES_H
#define TALLY_STATS_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <tally/voistat.h>

#define TALLY_TABLE_ static const __attribute__((unused))

TALLY_TABLE_ char* const vs_stype2name[VS_NUM_STYPES] = {"VOISTATE", "SUM",  "MAX",
                                                         "MIN",      "HIST", "TDGST"};
TALLY_TABLE_ char* const vs_stype2desc[VS_NUM_STYPES] = {
    "previous value", "sum", "largest value", "smallest value", "histogram", "t-digest"};
TALLY_TABLE_ char* const vsd_dtype2name[VSD_NUM_DTYPES] = {
    "VOISTATE", "INT_S32",  "INT_U32",  "INT_S64",      "INT_U64",     "INT_SLONG", "INT_ULONG",
    "Q_S32",    "Q_U32",    "Q_S64",    "Q_U64",        "CRHIST32",    "DRHIST32",  "DVHIST32",
    "CRHIST64", "DRHIST64", "DVHIST64", "TDGSTCLUST32", "TDGSTCLUST64"};
/* Of histograms and t-digests without buckets and centroids. */
TALLY_TABLE_ size_t vsd_dtype2size[VSD_NUM_DTYPES] = {
    sizeof(struct voistatdata_voistate),    sizeof(struct voistatdata_int32),
    sizeof(struct voistatdata_int32),       sizeof(struct voistatdata_int64),
    sizeof(struct voistatdata_int64),       sizeof(struct voistatdata_intlong),
    sizeof(struct voistatdata_intlong),     sizeof(struct voistatdata_q32),
    sizeof(struct voistatdata_q32),         sizeof(struct voistatdata_q64),
    sizeof(struct voistatdata_q64),         sizeof(struct voistatdata_crhist32),
    sizeof(struct voistatdata_drhist32),    sizeof(struct voistatdata_dvhist32),
    sizeof(struct voistatdata_crhist64),    sizeof(struct voistatdata_drhist64),
    sizeof(struct voistatdata_dvhist64),    sizeof(struct voistatdata_tdgstclust32),
    sizeof(struct voistatdata_tdgstclust64)};

/* The ends of the types of VOIs; those of Q numbers with 2 bits of fraction. */
#define LIM_MIN 0
#define LIM_MAX 1
#define TALLY_LIMIT_(bits)  \
  {                         \
    {                       \
      {                     \
        { (int64_t)(bits) } \
      }                     \
    }                       \
  }
TALLY_TABLE_ struct voistatdata_numeric numeric_limits[2][VSD_DTYPE_Q_U64 + 1] = {
    {TALLY_LIMIT_(0), TALLY_LIMIT_((uint32_t)INT32_MIN), TALLY_LIMIT_(0), TALLY_LIMIT_(INT64_MIN),
     TALLY_LIMIT_(0), TALLY_LIMIT_(sizeof(long) == 8 ? INT64_MIN : (int64_t)(uint32_t)INT32_MIN),
     TALLY_LIMIT_(0), TALLY_LIMIT_(0xFFFFFFF8u), TALLY_LIMIT_(0), TALLY_LIMIT_(-8),
     TALLY_LIMIT_(0)},
    {TALLY_LIMIT_(0), TALLY_LIMIT_(INT32_MAX), TALLY_LIMIT_(UINT32_MAX), TALLY_LIMIT_(INT64_MAX),
     TALLY_LIMIT_(-1), TALLY_LIMIT_(sizeof(long) == 8 ? INT64_MAX : INT32_MAX),
     TALLY_LIMIT_(sizeof(long) == 8 ? -1 : (int64_t)UINT32_MAX), TALLY_LIMIT_(0x7FFFFFF8),
     TALLY_LIMIT_(0xFFFFFFF8u), TALLY_LIMIT_(INT64_MAX - 7), TALLY_LIMIT_(-8)}};

#define TYPEOF_MEMBER(type, member) __typeof__(((type*)0)->member)
#define TYPEOF_MEMBER_PTR(type, member) __typeof__(*(((type*)0)->member))
#define SIZEOF_MEMBER(type, member) sizeof(((type*)0)->member)

/* A pointer to a statistic's data as one of its type: VSD(crhist32, vsd)->oob. */
#define TALLY_VSD_(qualifier, type, ptr) ((qualifier struct voistatdata_##type*)(ptr))
#define VSD(type, ptr) TALLY_VSD_(, type, ptr)
#define CONSTVSD(type, ptr) TALLY_VSD_(const, type, ptr)

/* Buckets of a histogram of `dsz` bytes, bytes of one with `nbkts`; bytes of a t-digest. type:
 * crhist32, ..., tdgstclust64. */
#define HIST_VSDSZ2NBKTS(type, dsz) \
  (((dsz) - sizeof(struct voistatdata_##type)) / SIZEOF_MEMBER(struct voistatdata_##type, bkts[0]))
#define HIST_NBKTS2VSDSZ(type, nbkts) \
  (sizeof(struct voistatdata_##type) + (nbkts)*SIZEOF_MEMBER(struct voistatdata_##type, bkts[0]))
#define TDGST_NCTRS2VSDSZ(type, nctds) \
  (sizeof(struct voistatdata_##type) + \
   (nctds)*SIZEOF_MEMBER(struct voistatdata_##type, ctdtree.arb_nodes[0]))

/* A member of a histogram of any type, `oob` or `bkts[i].cnt`: its value, or where it is. */
#define TALLY_HIST_FIELD_(kind, hist, qualifier, hist_dtype, op, field)                  \
  ((hist_dtype) >= VSD_DTYPE_CRHIST64 ? op(TALLY_VSD_(qualifier, kind##64, hist)->field) \
                                      : op(TALLY_VSD_(qualifier, kind##32, hist)->field))
#define VSD_CRHIST_FIELD(hist, cnst, hist_dtype, op, field) \
  TALLY_HIST_FIELD_(crhist, hist, cnst, hist_dtype, op, field)
#define VSD_DRHIST_FIELD(hist, cnst, hist_dtype, op, field) \
  TALLY_HIST_FIELD_(drhist, hist, cnst, hist_dtype, op, field)
#define VSD_DVHIST_FIELD(hist, cnst, hist_dtype, op, field) \
  TALLY_HIST_FIELD_(dvhist, hist, cnst, hist_dtype, op, field)
#define VSD_HIST_FIELD(hist, cnst, hist_dtype, op, field)                     \
  ((hist_dtype) == VSD_DTYPE_CRHIST32 || (hist_dtype) == VSD_DTYPE_CRHIST64   \
       ? VSD_CRHIST_FIELD(hist, cnst, hist_dtype, op, field)                  \
   : (hist_dtype) == VSD_DTYPE_DRHIST32 || (hist_dtype) == VSD_DTYPE_DRHIST64 \
       ? VSD_DRHIST_FIELD(hist, cnst, hist_dtype, op, field)                  \
       : VSD_DVHIST_FIELD(hist, cnst, hist_dtype, op, field))
#define VSD_HIST_FIELDVAL(hist, hist_dtype, field) VSD_HIST_FIELD(hist, , hist_dtype, , field)
#define VSD_CONSTHIST_FIELDVAL(hist, hist_dtype, field) \
  VSD_HIST_FIELD(hist, const, hist_dtype, , field)
#define VSD_HIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_HIST_FIELD(hist, , hist_dtype, (void*)&, field)
#define VSD_CONSTHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_HIST_FIELD(hist, const, hist_dtype, (const void*)&, field)
#define VSD_CRHIST_FIELDVAL(hist, hist_dtype, field) VSD_CRHIST_FIELD(hist, , hist_dtype, , field)
#define VSD_CONSTCRHIST_FIELDVAL(hist, hist_dtype, field) \
  VSD_CRHIST_FIELD(hist, const, hist_dtype, , field)
#define VSD_CRHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_CRHIST_FIELD(hist, , hist_dtype, (void*)&, field)
#define VSD_CONSTCRHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_CRHIST_FIELD(hist, const, hist_dtype, (const void*)&, field)
#define VSD_DRHIST_FIELDVAL(hist, hist_dtype, field) VSD_DRHIST_FIELD(hist, , hist_dtype, , field)
#define VSD_CONSTDRHIST_FIELDVAL(hist, hist_dtype, field) \
  VSD_DRHIST_FIELD(hist, const, hist_dtype, , field)
#define VSD_DRHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_DRHIST_FIELD(hist, , hist_dtype, (void*)&, field)
#define VSD_CONSTDRHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_DRHIST_FIELD(hist, const, hist_dtype, (const void*)&, field)
#define VSD_DVHIST_FIELDVAL(hist, hist_dtype, field) VSD_DVHIST_FIELD(hist, , hist_dtype, , field)
#define VSD_CONSTDVHIST_FIELDVAL(hist, hist_dtype, field) \
  VSD_DVHIST_FIELD(hist, const, hist_dtype, , field)
#define VSD_DVHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_DVHIST_FIELD(hist, , hist_dtype, (void*)&, field)
#define VSD_CONSTDVHIST_FIELDPTR(hist, hist_dtype, field) \
  VSD_DVHIST_FIELD(hist, const, hist_dtype, (const void*)&, field)

#endif
