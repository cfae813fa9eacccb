// Blobs from strangers: what stats_blob_check() lets pass, every other call can be given, and the
// daemon can show.
//
// The input is a blob as it stands in a datagram. The corpus has those of tests/golden/stats3.
#include <cmath>
#include <cstring>
#include <vector>

#include "tally/stats.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

statsblob* blob_in(Bytes& bytes) { return reinterpret_cast<statsblob*>(bytes.data()); }

void show(statsblob* sb) {
  sbuf* const text = sbuf_new_auto();
  for (const auto format : {SB_STRFMT_FREEFORM, SB_STRFMT_JSON}) {
    for (const std::uint32_t flags : {0u, SB_TOSTR_OBJDUMP}) {
      must(stats_blob_tostr(sb, text, format, flags) == 0, "what passes can be shown");
    }
  }
  sbuf_delete(text);
}

void visit(statsblob* sb) {
  const auto callback = [](sb_visit* visited, void* context) {
    must(visited->vs_stype >= 0 && visited->vs_stype < VS_NUM_STYPES, "statistics only");
    const auto* const blob = static_cast<const std::uint8_t*>(context);
    const auto* const data = reinterpret_cast<const std::uint8_t*>(visited->vs_data);
    const std::size_t size = reinterpret_cast<const statsblob*>(blob)->cursz;
    must(data >= blob && data + visited->vs_dsz <= blob + size, "data lies inside the blob");
    return 0;
  };
  must(stats_blob_visit(sb, callback, sb) == 0, "what passes can be visited");
}

void update(statsblob* sb, std::int32_t voi) {
  stats_voi_update_abs_s32(sb, voi, -7);
  stats_voi_update_abs_u32(sb, voi, 7);
  stats_voi_update_abs_s64(sb, voi, INT64_MIN);
  stats_voi_update_abs_u64(sb, voi, UINT64_MAX);
  stats_voi_update_rel_slong(sb, voi, -1);
  stats_voi_update_rel_ulong(sb, voi, 1);
  stats_voi_update_abs_sq32(sb, voi, -1);
  stats_voi_update_abs_uq32(sb, voi, 0x80000001);
  stats_voi_update_rel_sq64(sb, voi, 12345);
  stats_voi_update_rel_uq64(sb, voi, UINT64_MAX);
  double value = 0;
  must(stats_voistat_fetch_quantile(sb, voi, 0.5, &value) != 0 || std::isfinite(value),
       "a quantile is a number");
}

void merge(statsblob* sb) {
  statsblob* snapshot = nullptr;
  must(stats_blob_snapshot(&snapshot, 0, sb, SB_CLONE_ALLOCDST | SB_CLONE_RSTSRC) == 0,
       "a snapshot");
  const int error = stats_blob_merge(sb, snapshot);
  must(error == 0 || error == EOVERFLOW, "what is of one layout merges");
  stats_blob_destroy(snapshot);
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tallyfs::fuzz;
  char why[128] = "";
  if (stats_blob_check(data, size, why, sizeof why) != 0) {
    must(why[0] != 0, "a refusal has a reason");
    return 0;
  }
  Bytes bytes(data, data + size);
  show(blob_in(bytes));
  visit(blob_in(bytes));
  for (std::int32_t voi = -1; voi < 32; ++voi) update(blob_in(bytes), voi);
  must(stats_blob_check(bytes.data(), bytes.size(), why, sizeof why) == 0,
       "updates leave it sound");
  merge(blob_in(bytes));
  show(blob_in(bytes));
  return 0;
}
