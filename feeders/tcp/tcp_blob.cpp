#include "feeders/tcp/tcp_blob.h"

#include <array>
#include <cstring>
#include <string>

namespace tallyfs {
namespace {

constexpr std::uint32_t kCentroids = 50;
constexpr std::uint32_t kParts = 4;  // of each power of two

// Ids of the VOIs, and what is worth telling apart of each.
struct Voi {
  std::int32_t id;
  const char* name;
  vsd_dtype dtype;
  std::uint64_t largest;
};
constexpr Voi kRtt{0, "RTT_US", VSD_DTYPE_INT_U32, 60'000'000};
constexpr Voi kCwnd{1, "SND_CWND", VSD_DTYPE_INT_U32, 65'536};
constexpr Voi kRetransmits{2, "RETRANS", VSD_DTYPE_INT_U32, 1'024};
constexpr Voi kDelivery{3, "DELIVERY_RATE", VSD_DTYPE_INT_U64, 100'000'000'000};

// The macros of stats.h are C's.
int add_voi(std::uint32_t template_id, const Voi& voi) {
  const bool wide = voi.dtype == VSD_DTYPE_INT_U64;
  vss_hist_hlpr_info histogram{};
  histogram.scheme = BKT_LINEXP;
  histogram.hist_dtype = VSD_DTYPE_CRHIST32;
  histogram.flags = VSD_HIST_LBOUND_INF | VSD_HIST_UBOUND_INF;
  histogram.lb = stats_ctor_vsd_numeric(1);
  histogram.ub = stats_ctor_vsd_numeric(voi.largest);
  histogram.linexp.stepbase = 2;
  histogram.linexp.linstepdiv = kParts;
  vss_tdgst_hlpr_info digest{};
  digest.tdgst_dtype = wide ? VSD_DTYPE_TDGSTCLUST64 : VSD_DTYPE_TDGSTCLUST32;
  digest.nctds = kCentroids;
  digest.prec = 1;
  std::array<voistatspec, 5> specs{};
  for (std::size_t i = 0; i < 3; ++i) specs[i].hlpr = stats_vss_numeric_hlpr;
  specs[0].stype = VS_STYPE_SUM;
  specs[1].stype = VS_STYPE_MAX;
  specs[2].stype = VS_STYPE_MIN;
  specs[3].stype = VS_STYPE_HIST;
  specs[3].hlpr = stats_vss_hist_hlpr;
  specs[3].hlprinfo = reinterpret_cast<vss_hlpr_info*>(&histogram);
  specs[4].stype = VS_STYPE_TDGST;
  specs[4].hlpr = stats_vss_tdgst_hlpr;
  specs[4].hlprinfo = reinterpret_cast<vss_hlpr_info*>(&digest);
  return ::stats_tpl_add_voistats(template_id, voi.id, voi.name, voi.dtype, specs.size(),
                                  specs.data(), 0);
}

}  // namespace

Result<std::uint32_t> TcpBlob::make_template() {
  const int id = ::stats_tpl_alloc("TCP_DEFAULT", 0);
  int error = id < 0 ? -id : 0;
  for (const Voi* voi : {&kRtt, &kCwnd, &kRetransmits, &kDelivery}) {
    if (error == 0) error = add_voi(static_cast<std::uint32_t>(id), *voi);
  }
  if (error == 0) return static_cast<std::uint32_t>(id);
  return Error{ErrorCode::kInvalid,
               std::string("the template cannot be made: ") + std::strerror(error)};
}

Result<TcpBlob> TcpBlob::create(std::uint32_t template_id) {
  statsblob* const made = ::stats_blob_alloc(template_id, 0);
  if (!made) return Error{ErrorCode::kNoSpace, "no memory for a blob"};
  return TcpBlob(made);
}

void TcpBlob::add(const Connection& now, const Sampled& before) {
  statsblob* const blob = blob_.get();
  if (now.rtt_us != 0) ::stats_voi_update_abs_u32(blob, kRtt.id, now.rtt_us);
  ::stats_voi_update_abs_u32(blob, kCwnd.id, now.cwnd_segments);
  ::stats_voi_update_abs_u32(blob, kRetransmits.id, now.retransmits - before.retransmits);
  if (now.delivery_bytes_per_s != 0) {
    ::stats_voi_update_abs_u64(blob, kDelivery.id, now.delivery_bytes_per_s);
  }
}

}  // namespace tallyfs
