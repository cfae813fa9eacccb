/* What programs for FreeBSD use of sys/stats.h and sys/qmath.h beyond the manual page. Says 0 if
 * all that it looks at is right, else the line that is not. Compiled as C99 with -pedantic; what
 * stands outside of C_ONLY as C++17, too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/stats.h>

#ifndef __cplusplus
#define C_ONLY
#endif

#define CHECK(condition)                             \
  do {                                               \
    if (!(condition)) {                              \
      printf("line %d: %s\n", __LINE__, #condition); \
      return 1;                                      \
    }                                                \
  } while (0)

static int names_and_sizes(void) {
  s32q_t least, most;
  CHECK(strcmp(vs_stype2name[VS_STYPE_TDGST], "TDGST") == 0 && vs_stype2desc[VS_STYPE_SUM][0] != 0);
  CHECK(strcmp(vsd_dtype2name[VSD_DTYPE_TDGSTCLUST64], "TDGSTCLUST64") == 0);
  CHECK(vsd_dtype2size[VSD_DTYPE_INT_S32] == 4 && vsd_dtype2size[VSD_DTYPE_Q_U64] == 8);
  CHECK(vsd_dtype2size[VSD_DTYPE_CRHIST32] == 8 && vsd_dtype2size[VSD_DTYPE_TDGSTCLUST32] == 20);
  CHECK(numeric_limits[LIM_MIN][VSD_DTYPE_INT_S32].int32.s32 == INT32_MIN);
  CHECK(numeric_limits[LIM_MAX][VSD_DTYPE_INT_U32].int32.u32 == UINT32_MAX);
  CHECK(numeric_limits[LIM_MIN][VSD_DTYPE_INT_S64].int64.s64 == INT64_MIN);
  CHECK(numeric_limits[LIM_MAX][VSD_DTYPE_INT_U64].int64.u64 == UINT64_MAX);
  least = numeric_limits[LIM_MIN][VSD_DTYPE_Q_S32].q32.sq32;
  most = numeric_limits[LIM_MAX][VSD_DTYPE_Q_S32].q32.sq32;
  CHECK(Q_LTZ(least) && Q_GIVAL(most) == (1 << 26) - 1);
  CHECK(HIST_VSDSZ2NBKTS(crhist32, 8 + 16 * 5) == 5 && HIST_NBKTS2VSDSZ(drhist64, 2) == 8 + 48);
  CHECK(TDGST_NCTRS2VSDSZ(tdgstclust32, 3) == 20 + 16 * 3);
  CHECK(STATS_TPL_MAX_STR_SPEC_LEN == 77 && SIZEOF_MEMBER(struct voistatdata, int64) == 8);
  return 0;
}

static int q_numbers(void) {
  s32q_t q;
  u64q_t wide;
  s16q_t other;
  char text[64];
  Q_INI(&q, -3, 25, 8);
  CHECK(Q_LTZ(q) && Q_GIABSVAL(q) == 3 && Q_GFABSVAL(q) == 64 && Q_GIVAL(q) == -3);
  CHECK(Q_GIFABSVAL(q) == 3 * 256 + 64 && Q_GIFVAL(q) == -(3 * 256 + 64) && Q_ABS(-5) == 5);
  CHECK(Q_IMAXVAL(q) == (1 << 20) - 1 && Q_IMINVAL(q) == -((1 << 20) - 1) && Q_FMAXVAL(q) == 255);
  CHECK((Q_IRAWMASK(q) | Q_FRAWMASK(q)) == Q_IFRAWMASK(q) && Q_CRAWMASK(q) == 7);
  CHECK((uint32_t)(Q_GIRAW(q) | Q_GFRAW(q)) == (uint32_t)Q_GIFRAW(q));
  CHECK(Q_QABS(q) > 0 && !Q_LTZ(Q_QABS(q)) && Q_GIABSVAL(Q_QABS(q)) == 3);
  Q_SIVAL(q, 7);
  CHECK(Q_GIVAL(q) == 7 && Q_GFABSVAL(q) == 64);
  Q_SFVAL(q, -128);
  CHECK(Q_GIVAL(q) == -7 && Q_GFVAL(q) == -128);
  Q_SIFVALS(q, 1, 128);
  CHECK(Q_Q2D(q) == 1.5 && Q_Q2F(q) == 1.5f);
  Q_SIFVAL(q, -512);
  CHECK(Q_GIVAL(q) == -2 && Q_GFABSVAL(q) == 0);
  Q_SSIGN(q, 0);
  CHECK(Q_GIVAL(q) == 2 && Q_SHL(q, -3) == -768 && Q_DFV2BFV(5, 8) == 128);
  Q_INI(&wide, Q_IMAXVAL(wide), 0, 16);
  CHECK(Q_GIABSVAL(wide) == Q_IMAXVAL(wide) && Q_RELPREC(wide, q) == 8);
  CHECK(Q_NORMPREC(&q, wide) == ERANGE && Q_QCANREPQ(wide, q) == EOVERFLOW);
  Q_INI(&other, 1, 5, 4);
  CHECK(Q_QCANREPQ(other, q) == 0 && Q_QCANREPI(other, 1000000) == EOVERFLOW);
  CHECK(Q_QCMPQ(other, q, <, <) && Q_QMAXQ(q, other) == q && Q_QMINQ(q, other) == other);
  CHECK(Q_TOSTR(q, -1, 10, text, (int)sizeof(text)) != NULL && strcmp(text, "2.00000000") == 0);
  CHECK(strlen(text) < Q_MAXSTRLEN(q, 10) && Q_BITSPERBASE(10, UP) == 4);
  CHECK(Q_NIBITS2NCHARS(20, 10) >= 7 && Q_SIGNSHFT(q) == 31 && Q_MINNFBITS(q) == 2);
  {
    int bits = 123;
    CHECK(Q_IBITS2CH(q, bits, 10) == '3' && bits == 12);
    bits = 64;
    CHECK(Q_FBITS2CH(q, bits, 10) == '2' && bits == 128);
  }
  snprintf(text, sizeof(text), Q_DEBUG(q, "", "", 0));
  CHECK(strncmp(text, "\"q\"@", 4) == 0);
  return 0;
}

#ifdef C_ONLY
enum { VOI_NUMBER, VOI_Q, VOI_HIST };

static int visited(struct sb_visit* sbv, void* context) {
  if (sbv->vs_stype == VS_STYPE_HIST)
    *(uint64_t*)context = VSD_CONSTHIST_FIELDVAL(sbv->vs_data, sbv->vs_dtype, bkts[1].cnt);
  return 0;
}

static int statistics(void) {
  static struct vss_numeric_hlpr_info eight = {.prec = 8};
  struct voistatspec numbers[] = {STATS_VSS_SUM(), STATS_VSS_MAX()};
  struct voistatspec q_specs[] = {
      STATS_VSS(VS_STYPE_SUM, 0, 0, &stats_vss_numeric_hlpr, (struct vss_hlpr_info*)&eight),
      STATS_VSS(VS_STYPE_MIN, 0, 0, &stats_vss_numeric_hlpr, (struct vss_hlpr_info*)&eight)};
  struct vss_hist_hlpr_info lin = {.scheme = BKT_LIN, .hist_dtype = VSD_DTYPE_CRHIST32};
  struct voistatspec hists[] = {STATS_VSS_HIST(VSD_DTYPE_CRHIST32, &lin)};
  struct voistatdata number, *data = NULL;
  struct statsblobv1* sb;
  enum vsd_dtype dtype;
  struct statsblob_tpl* tpl = NULL;
  size_t size = 0;
  s32q_t q;
  uint64_t hits = 0;
  const int id = stats_v1_tpl_alloc("headers", 0);

  lin.lb = stats_ctor_vsd_numeric(0);
  lin.ub = stats_ctor_vsd_numeric(20);
  lin.lin.stepinc = 10;
  CHECK(stats_vss_hlpr_init(VSD_DTYPE_INT_U32, NVSS(numbers), numbers) == 0);
  CHECK(numbers[0].iv != NULL && numbers[0].vsdsz == 4);
  CHECK(stats_v1_tpl_add_voistats((uint32_t)id, VOI_NUMBER, "n", VSD_DTYPE_INT_U32, NVSS(numbers),
                                  numbers, 0) == 0);
  stats_vss_hlpr_cleanup(NVSS(numbers), numbers);
  CHECK(numbers[0].iv == NULL);
  CHECK(stats_tpl_add_voistats((uint32_t)id, VOI_Q, "q", VSD_DTYPE_Q_S32, NVSS(q_specs), q_specs,
                               0) == 0);
  CHECK(stats_tpl_add_voistats((uint32_t)id, VOI_HIST, "h", VSD_DTYPE_INT_U32, NVSS(hists), hists,
                               0) == 0);
  CHECK(stats_tpl_fetch(id, &tpl) == 0 && tpl->mb->voi_meta[VOI_Q].desc == NULL);
  sb = stats_v1_blob_alloc((uint32_t)id, 0);
  CHECK(sb != NULL);
  number.int32.u32 = 15;
  CHECK(stats_v1_voi_update(sb, VOI_NUMBER, VSD_DTYPE_INT_U32, &number, 0) == 0);
  CHECK(stats_v1_voi_update(sb, VOI_HIST, VSD_DTYPE_INT_U32, &number, 0) == 0);
  CHECK(stats_v1_voistat_fetch_dptr(sb, VOI_NUMBER, VS_STYPE_SUM, &dtype, &data, &size) == 0);
  CHECK(data->int32.u32 == 15 && VSD(int32, data)->u32 == 15 && size == vsd_dtype2size[dtype]);
  CHECK(stats_v1_blob_visit(sb, visited, &hits) == 0 && hits == 1);
  Q_INI(&q, 1, 5, 8);
  number.q32.sq32 = q;
  CHECK(stats_v1_voi_update(sb, VOI_Q, VSD_DTYPE_Q_S32, &number, 0) == 0);
  Q_INI(&q, 1, 5, 4);
  number.q32.sq32 = q;
  CHECK(stats_v1_voi_update(sb, VOI_Q, VSD_DTYPE_Q_S32, &number, 0) == ERANGE);
  stats_v1_blob_destroy(sb);
  return 0;
}
#endif

int main(void) {
  if (names_and_sizes() != 0 || q_numbers() != 0) return 1;
#ifdef C_ONLY
  if (statistics() != 0) return 1;
#endif
  puts("0");
  return 0;
}
