/* A program as it is written for FreeBSD's stats(3), of which only the includes were changed: it
 * says 0 if all that it looks at is right, else the line that is not. Compiled as gnu11, for
 * templates in static storage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/arb.h>
#include <tally/qmath.h>
#include <tally/sbuf.h>
#include <tally/stats.h>

#define CHECK(condition)                             \
  do {                                               \
    if (!(condition)) {                              \
      printf("line %d: %s\n", __LINE__, #condition); \
      return 1;                                      \
    }                                                \
  } while (0)

enum { VOI_RTT, VOI_CWND, VOI_GOODPUT, VOI_TEMPERATURE };

static struct voistatspec vss_rtt[] = {
    STATS_VSS_SUM(),
    STATS_VSS_MAX(),
    STATS_VSS_MIN(),
    STATS_VSS_CRHIST32_LINEXP(1, 10000, 2, 2, VSD_HIST_LBOUND_INF | VSD_HIST_UBOUND_INF),
    STATS_VSS_TDGSTCLUST32(20, 1),
};

struct walk {
  int calls, centroids;
};

static int visit(struct sb_visit *sbv, void *context) {
  struct walk *walk = context;
  struct sbuf *text = sbuf_new_auto();
  walk->calls++;
  if (stats_voistatdata_tostr(sbv->vs_data, sbv->voi_dtype, sbv->vs_dtype, (size_t)sbv->vs_dsz,
                              SB_STRFMT_JSON, text, 0) != 0 ||
      sbuf_finish(text) != 0 || sbuf_len(text) == 0)
    walk->calls = -1000;
  sbuf_delete(text);
  if (sbv->vs_dtype == VSD_DTYPE_TDGSTCLUST32) {
    struct voistatdata_tdgstclust32 *digest = (struct voistatdata_tdgstclust32 *)sbv->vs_data;
    struct voistatdata_tdgstctd32 *centroid;
    ARB_FOREACH(centroid, ctdth32, &digest->ctdtree) walk->centroids += (int)centroid->cnt;
  }
  return 0;
}

static struct stats_tpl_sample_rate *g_rates;
static int g_nrates;

static int rates_cb(enum stats_tpl_sr_cb_action action, struct stats_tpl_sample_rate **rates,
                    int *nrates, void *ctx) {
  struct stats_tpl_sample_rate *old = g_rates;
  int nold = g_nrates;
  (void)ctx;
  if (action == TPL_SR_RUNLOCK) return 0;
  if (action == TPL_SR_PUT) {
    g_rates = *rates;
    g_nrates = *nrates;
  }
  *rates = old;
  *nrates = nold;
  return 0;
}

static int g_id;
static struct statsblob_tpl *g_tpl;
static struct statsblob *g_blob, *g_snapshot;

static int make_template(void) {
  struct voistatspec vss_cwnd[] = {
      STATS_VSS_MAX(),
      STATS_VSS_DRHIST64_USR(HBKTS(DRBKT(0, 10), DRBKT(20, 30)), VSD_HIST_UBOUND_INF)};
  struct voistatspec vss_goodput[] = {STATS_VSS_SUM(), STATS_VSS_CRHIST64_EXP(0, 1 << 20, 2, 4, 0)};
  struct voistatspec vss_temperature[] = {STATS_VSS_MIN(), STATS_VSS_SUM(), STATS_VSS_MAX()};
  char name[TPL_MAX_NAME_LEN + 1];

  g_id = stats_tpl_alloc("TCP_DEFAULT", 0);
  CHECK(g_id >= 0);
  CHECK(stats_tpl_add_voistats(g_id, VOI_RTT, "RTT", VSD_DTYPE_INT_U32, NVSS(vss_rtt), vss_rtt,
                               0) == 0);
  CHECK(stats_tpl_add_voistats(g_id, VOI_CWND, "CWND", VSD_DTYPE_INT_S32, NVSS(vss_cwnd), vss_cwnd,
                               SB_VOI_RELUPDATE) == 0);
  CHECK(stats_tpl_add_voistats(g_id, VOI_GOODPUT, "GP", VSD_DTYPE_INT_ULONG, NVSS(vss_goodput),
                               vss_goodput, 0) == 0);
  CHECK(stats_tpl_add_voistats(g_id, VOI_TEMPERATURE, "T", VSD_DTYPE_Q_S64, NVSS(vss_temperature),
                               vss_temperature, 0) == 0);
  CHECK(stats_tpl_fetch(g_id, &g_tpl) == 0 && strcmp(g_tpl->mb->tplname, "TCP_DEFAULT") == 0);
  CHECK(strcmp(g_tpl->mb->voi_meta[VOI_GOODPUT].name, "GP") == 0);
  CHECK(stats_tpl_fetch_allocid(NULL, g_tpl->mb->tplhash) == g_id);
  CHECK(stats_tpl_id2name(g_id, name, sizeof(name)) == 0);
  return 0;
}

static int update(void) {
  s64q_t q, total;

  g_blob = stats_blob_alloc(g_id, 0);
  CHECK(g_blob != NULL && g_blob->abi == STATS_ABI_V1 && g_blob->endian == SB_LE &&
        g_blob->cursz == g_blob->maxsz);
  for (uint32_t i = 1; i <= 1000; i++) {
    CHECK(stats_voi_update_abs_u32(g_blob, VOI_RTT, i) == 0);
    CHECK(stats_voi_update_rel_s32(g_blob, VOI_CWND, i % 2 ? 3 : -1) == 0);
    CHECK(stats_voi_update_abs_ulong(g_blob, VOI_GOODPUT, i * 1000ul) == 0);
  }
  Q_INI(&q, -3, 5, 8);
  CHECK(stats_voi_update_abs_sq64(g_blob, VOI_TEMPERATURE, q) == 0);
  CHECK(Q_QADDI(&q, 10) == 0);
  CHECK(stats_voi_update_abs_sq64(g_blob, VOI_TEMPERATURE, q) == 0);
  CHECK(stats_voistat_fetch_sq64(g_blob, VOI_TEMPERATURE, VS_STYPE_SUM, &total) == 0);
  CHECK(Q_GIVAL(total) == 3 && Q_GFABSVAL(total) == 0);
  return 0;
}

static int read_back(void) {
  struct walk walk = {0, 0};
  s64q_t total;
  uint32_t u32;

  CHECK(stats_voistat_fetch_u32(g_blob, VOI_RTT, VS_STYPE_SUM, &u32) == 0 && u32 == 500500);
  CHECK(stats_voistat_fetch_s64(g_blob, VOI_RTT, VS_STYPE_SUM, &total) == EFTYPE);
  CHECK(stats_blob_visit(g_blob, visit, &walk) == 0 && walk.calls == 5 + 3 + 2 + 3 &&
        walk.centroids == 1000);
  CHECK(stats_blob_snapshot(&g_snapshot, 0, g_blob, SB_CLONE_ALLOCDST | SB_CLONE_RSTSRC) == 0);
  CHECK(stats_voistat_fetch_u32(g_blob, VOI_RTT, VS_STYPE_SUM, &u32) == 0 && u32 == 0);
  CHECK(stats_voistat_fetch_u32(g_snapshot, VOI_RTT, VS_STYPE_SUM, &u32) == 0 && u32 == 500500);
  return 0;
}

static int print(void) {
  struct voistatdata_int32 number = {{.s32 = -7}};
  struct sbuf *text = sbuf_new_auto();

  CHECK(stats_blob_tostr(g_snapshot, text, SB_STRFMT_JSON, SB_TOSTR_META) == 0 &&
        sbuf_finish(text) == 0);
  CHECK(strstr(sbuf_data(text), "{\"tplname\":\"TCP_DEFAULT\",") == sbuf_data(text));
  sbuf_clear(text);
  CHECK(stats_voistatdata_tostr((struct voistatdata *)&number, VSD_DTYPE_INT_S32,
                                SB_STRFMT_FREEFORM, text, 0) == 0);
  CHECK(sbuf_finish(text) == 0 && strcmp(sbuf_data(text), "-7") == 0);
  sbuf_delete(text);
  return 0;
}

static int sample_rates(void) {
  struct sysctl_req request = {0};
  char old[128], spec[128], seed[] = "TCP_DEFAULT", wanted[] = "TCP_DEFAULT=100";

  request.oldptr = old;
  request.oldlen = sizeof(old);
  request.newptr = wanted;
  request.newlen = sizeof(wanted) - 1;
  CHECK(stats_tpl_sample_rates(NULL, (void *)rates_cb, 0, &request) == 0 && old[0] == '\0' &&
        g_nrates == 1);
  request.newptr = NULL;
  request.oldidx = 0;
  CHECK(stats_tpl_sample_rates(NULL, (void *)rates_cb, 16, &request) == 0);
  snprintf(spec, sizeof(spec), "\"TCP_DEFAULT\":%u=100", g_tpl->mb->tplhash);
  CHECK(strcmp(old, spec) == 0);
  CHECK(stats_tpl_sample_rollthedice(g_rates, g_nrates, NULL, 0) == g_id);
  CHECK(stats_tpl_sample_rollthedice(g_rates, g_nrates, seed, strlen(seed)) == g_id);
  return 0;
}

int main(void) {
  if (make_template() || update() || read_back() || print() || sample_rates()) return 1;
  free(g_rates);
  stats_blob_destroy(g_snapshot);
  stats_blob_destroy(g_blob);
  puts("0");
  return 0;
}
