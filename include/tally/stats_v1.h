/* FreeBSD's names of the calls of <tally/stats.h> for version 1 of the layout, which is the only
 * one. Included by <tally/stats.h>, after the calls; threads and errors as there. */
#ifndef TALLY_STATS_V1_H
#define TALLY_STATS_V1_H

#include <stddef.h>
#include <stdint.h>
#include <tally/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statsblobv1;

static inline int stats_v1_tpl_alloc(const char* name, uint32_t flags) {
  return stats_tpl_alloc(name, flags);
}
static inline int stats_v1_tpl_add_voistats(uint32_t tpl_id, int32_t voi_id, const char* voi_name,
                                            enum vsd_dtype voi_dtype, uint32_t nvss,
                                            struct voistatspec* vss, uint32_t flags) {
  return stats_tpl_add_voistats(tpl_id, voi_id, voi_name, voi_dtype, nvss, vss, flags);
}
static inline int stats_v1_blob_init(struct statsblobv1* sb, uint32_t tpl_id, uint32_t flags) {
  return stats_blob_init((struct statsblob*)sb, tpl_id, flags);
}
static inline struct statsblobv1* stats_v1_blob_alloc(uint32_t tpl_id, uint32_t flags) {
  return (struct statsblobv1*)stats_blob_alloc(tpl_id, flags);
}
static inline int stats_v1_blob_clone(struct statsblobv1** dst, size_t dstmaxsz,
                                      struct statsblobv1* src, uint32_t flags) {
  return stats_blob_clone((struct statsblob**)dst, dstmaxsz, (struct statsblob*)src, flags);
}
static inline void stats_v1_blob_destroy(struct statsblobv1* sb) {
  stats_blob_destroy((struct statsblob*)sb);
}
static inline int stats_v1_blob_snapshot(struct statsblobv1** dst, size_t dstmaxsz,
                                         struct statsblobv1* src, uint32_t flags) {
  return stats_blob_snapshot((struct statsblob**)dst, dstmaxsz, (struct statsblob*)src, flags);
}
static inline int stats_v1_blob_tostr(struct statsblobv1* sb, struct sbuf* buf, enum sb_str_fmt fmt,
                                      uint32_t flags) {
  return stats_blob_tostr((struct statsblob*)sb, buf, fmt, flags);
}
static inline int stats_v1_blob_visit(struct statsblobv1* sb, stats_blob_visitcb_t func,
                                      void* usrctx) {
  return stats_blob_visit((struct statsblob*)sb, func, usrctx);
}
static inline int stats_v1_voistat_fetch_dptr(struct statsblobv1* sb, int32_t voi_id,
                                              enum voi_stype stype, enum vsd_dtype* retdtype,
                                              struct voistatdata** retvsd, size_t* retvsdsz) {
  return stats_voistat_fetch_dptr((struct statsblob*)sb, voi_id, stype, retdtype, retvsd, retvsdsz);
}
/* An update by the type's number; flags: 0 or SB_VOI_RELUPDATE. EINVAL: a type that no VOI has. */
static inline int stats_v1_voi_update(struct statsblobv1* v1, int32_t voi_id,
                                      enum vsd_dtype voi_dtype, struct voistatdata* voival,
                                      uint32_t flags) {
  struct statsblob* const sb = (struct statsblob*)v1;
  const int is_rel = (flags & SB_VOI_RELUPDATE) != 0;
#define TALLY_UPDATE_(name, member)                                 \
  (is_rel ? stats_voi_update_rel_##name(sb, voi_id, voival->member) \
          : stats_voi_update_abs_##name(sb, voi_id, voival->member))
  switch ((int)voi_dtype) {
    case VSD_DTYPE_INT_S32:
      return TALLY_UPDATE_(s32, int32.s32);
    case VSD_DTYPE_INT_U32:
      return TALLY_UPDATE_(u32, int32.u32);
    case VSD_DTYPE_INT_S64:
      return TALLY_UPDATE_(s64, int64.s64);
    case VSD_DTYPE_INT_U64:
      return TALLY_UPDATE_(u64, int64.u64);
    case VSD_DTYPE_INT_SLONG:
      return TALLY_UPDATE_(slong, intlong.slong);
    case VSD_DTYPE_INT_ULONG:
      return TALLY_UPDATE_(ulong, intlong.ulong);
    case VSD_DTYPE_Q_S32:
      return TALLY_UPDATE_(sq32, q32.sq32);
    case VSD_DTYPE_Q_U32:
      return TALLY_UPDATE_(uq32, q32.uq32);
    case VSD_DTYPE_Q_S64:
      return TALLY_UPDATE_(sq64, q64.sq64);
    case VSD_DTYPE_Q_U64:
      return TALLY_UPDATE_(uq64, q64.uq64);
    default:
      return EINVAL;
  }
#undef TALLY_UPDATE_
}

#ifdef __cplusplus
}
#endif

#endif
