#include "core/stats3/blob/blob.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "core/stats3/blob/check.h"
#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"
#include "core/stats3/blob/templates.h"

namespace tallyfs::stats3::blob {
namespace {

std::atomic<const Clock*> g_clock{nullptr};

std::int64_t now() {
  const Clock* const clock = g_clock.load();
  return to_sbintime((clock ? clock->now() : SystemClock().now()).monotonic);
}

bool is_ours(const statsblob* sb) { return sb && sb->abi == STATS_ABI_V1; }

void reset_histogram(std::uint8_t* data, const Stat& stat) {
  const std::size_t bucket = bucket_bytes(stat.dtype);
  store(data, std::uint64_t{0});
  for (std::size_t at = kHistHeadBytes + bucket - 8; at < stat.dsz; at += bucket)
    store(data + at, std::uint64_t{0});
}

statsblob* allocate(std::size_t bytes) { return static_cast<statsblob*>(std::malloc(bytes)); }

template <typename T>
int fetch(statsblob* sb, std::int32_t voi_id, voi_stype stype, vsd_dtype wanted, T* ret) {
  vsd_dtype dtype{};
  voistatdata* data = nullptr;
  if (!ret) return EINVAL;
  if (const int error = stats_voistat_fetch_dptr(sb, voi_id, stype, &dtype, &data, nullptr))
    return error;
  if (dtype != wanted) return EFTYPE;
  *ret = load<T>(data);
  return 0;
}

}  // namespace

void use_clock(const Clock* clock) { g_clock = clock; }

std::int64_t to_sbintime(std::chrono::nanoseconds time) {
  constexpr std::uint64_t kPerNanosecond = 18'446'744'073;  // 2^64 / 10^9, whole
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = static_cast<std::uint64_t>((time - seconds).count());
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(seconds.count()) << 32 |
                                   rest * kPerNanosecond >> 32);
}

void reset(statsblob* sb, std::int64_t now) {
  for_each_stat(sb, [&](const Voi& voi, Stat& stat) {
    if (stat.stype == VS_STYPE_VOISTATE) return;
    std::uint8_t* const data = bytes_of(sb) + stat.data_off;
    stat.errs = 0;
    stat.flags = static_cast<std::uint8_t>(stat.flags & ~kStatValid);
    if (stat.stype == VS_STYPE_HIST) {
      reset_histogram(data, stat);
    } else if (stat.stype == VS_STYPE_TDGST) {
      with_digest(stat.dtype, data, sign_of(voi.dtype), [](auto digest) { digest.clear(); });
    } else {
      with_type(voi.dtype, [&](auto zero) {
        using T = decltype(zero);
        unsigned control = 0;
        if constexpr (kIsQ<T>) control = load<T>(data).control();
        store(data, initial<T>(stat.stype, control));
      });
    }
  });
  header_of(sb).lastrst = now;
}

}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

struct statsblob* stats_blob_alloc(uint32_t tpl_id, uint32_t) try {
  const std::vector<std::uint8_t> bytes = Templates::of_process().blob(tpl_id);
  statsblob* const sb = bytes.empty() ? nullptr : allocate(bytes.size());
  if (!sb) return nullptr;
  std::memcpy(sb, bytes.data(), bytes.size());
  header_of(sb).created = header_of(sb).lastrst = now();
  return sb;
} catch (const std::bad_alloc&) {
  return nullptr;
}

int stats_blob_init(struct statsblob* sb, uint32_t tpl_id, uint32_t) {
  if (!sb) return EINVAL;
  const int error = Templates::of_process().copy_blob(tpl_id, sb, sb->maxsz);
  if (error == 0) header_of(sb).created = header_of(sb).lastrst = now();
  return error;
}

void stats_blob_destroy(struct statsblob* sb) { std::free(sb); }

int stats_blob_clone(struct statsblob** dst, size_t dstmaxsz, struct statsblob* src,
                     uint32_t flags) {
  const bool allocate_it = flags & SB_CLONE_ALLOCDST;
  if (!src || !dst || src->cursz < sizeof(statsblob) ||
      (allocate_it && (flags & (SB_CLONE_USRDST | SB_CLONE_USRDSTNOFAULT)))) {
    return EINVAL;
  }
  if (allocate_it) {
    *dst = allocate(src->cursz);
    if (!*dst) return ENOMEM;
    (*dst)->maxsz = src->cursz;
    dstmaxsz = src->cursz;
  } else if (!*dst || dstmaxsz < sizeof(statsblob)) {
    return EINVAL;
  }
  const bool fits = dstmaxsz >= src->cursz;
  const std::uint16_t maxsz = (*dst)->maxsz;
  std::memmove(*dst, src, fits ? src->cursz : sizeof(statsblob));
  (*dst)->maxsz = maxsz;
  return fits ? 0 : EOVERFLOW;
}

int stats_blob_snapshot(struct statsblob** dst, size_t dstmaxsz, struct statsblob* src,
                        uint32_t flags) {
  if (!is_ours(src)) return EINVAL;
  const int error = stats_blob_clone(dst, dstmaxsz, src, flags);
  if (error == 0 && flags & SB_CLONE_RSTSRC) reset(src, now());
  return error;
}

int stats_voistat_fetch_dptr(struct statsblob* sb, int32_t voi_id, enum voi_stype stype,
                             enum vsd_dtype* retdtype, struct voistatdata** retvsd,
                             size_t* retvsdsz) {
  if (!is_ours(sb) || !retvsd) return EINVAL;
  const Voi* const voi = find_voi(sb, voi_id);
  if (!voi || static_cast<int>(stype) < 0 || static_cast<int>(stype) > voi->stat_max) return EINVAL;
  const Stat& stat = stats_of(sb, *voi)[stype];
  *retvsd = reinterpret_cast<voistatdata*>(bytes_of(sb) + stat.data_off);
  if (retdtype) *retdtype = static_cast<vsd_dtype>(stat.dtype);
  if (retvsdsz) *retvsdsz = stat.dsz;
  return 0;
}

#define TALLY_FETCH(name, type, dtype)                                                       \
  int stats_voistat_fetch_##name(struct statsblob* sb, int32_t voi_id, enum voi_stype stype, \
                                 type* ret) {                                                \
    return fetch(sb, voi_id, stype, dtype, ret);                                             \
  }
TALLY_FETCH(s32, int32_t, VSD_DTYPE_INT_S32)
TALLY_FETCH(u32, uint32_t, VSD_DTYPE_INT_U32)
TALLY_FETCH(s64, int64_t, VSD_DTYPE_INT_S64)
TALLY_FETCH(u64, uint64_t, VSD_DTYPE_INT_U64)
TALLY_FETCH(slong, long, VSD_DTYPE_INT_SLONG)
TALLY_FETCH(ulong, unsigned long, VSD_DTYPE_INT_ULONG)
TALLY_FETCH(sq32, s32q_t, VSD_DTYPE_Q_S32)
TALLY_FETCH(uq32, u32q_t, VSD_DTYPE_Q_U32)
TALLY_FETCH(sq64, s64q_t, VSD_DTYPE_Q_S64)
TALLY_FETCH(uq64, u64q_t, VSD_DTYPE_Q_U64)
#undef TALLY_FETCH

int stats_voistat_fetch_quantile(struct statsblob* sb, int32_t voi_id, double q, double* ret) try {
  if (!is_ours(sb) || !ret || !(q >= 0 && q <= 1)) return EINVAL;
  const Voi* const voi = find_voi(sb, voi_id);
  if (!voi || voi->stat_max < VS_STYPE_TDGST) return EINVAL;
  const Stat& stat = stats_of(sb, *voi)[VS_STYPE_TDGST];
  if (stat.stype != VS_STYPE_TDGST) return EINVAL;
  const auto value = with_digest(stat.dtype, bytes_of(sb) + stat.data_off, sign_of(voi->dtype),
                                 [q](auto digest) { return digest.quantile(q); });
  if (!value) return EAGAIN;
  *ret = *value;
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_blob_check(const void* bytes, size_t size, char* why, size_t why_size) try {
  if (!bytes) {
    if (why && why_size > 0) std::snprintf(why, why_size, "there are no bytes");
    return EINVAL;
  }
  const auto checked = check_blob({static_cast<const std::uint8_t*>(bytes), size});
  if (!checked && why && why_size > 0)
    std::snprintf(why, why_size, "%s", checked.error().reason.c_str());
  return checked ? 0 : EINVAL;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_blob_visit(struct statsblob* sb, stats_blob_visitcb_t func, void* usrctx) {
  if (!is_ours(sb) || !func) return EINVAL;
  const int slots = voi_slots(header_of(sb));
  std::uint32_t first_cb = SB_IT_FIRST_CB;
  for (int i = 0; i < slots; ++i) {
    const Voi& voi = vois_of(sb)[i];
    std::uint32_t first_stat = SB_IT_FIRST_VOISTAT;
    for (int j = 0; voi.id >= 0 && j <= voi.stat_max; ++j) {
      const Stat& stat = stats_of(sb, voi)[j];
      if (stat.stype < 0) continue;
      const bool last = j == voi.stat_max;
      sb_visit visit{};
      visit.vs_data = reinterpret_cast<voistatdata*>(bytes_of(sb) + stat.data_off);
      visit.tplhash = header_of(sb).tplhash;
      visit.flags = SB_IT_FIRST_VOI | first_cb | first_stat | (last ? SB_IT_LAST_VOISTAT : 0) |
                    (last && i == slots - 1 ? SB_IT_LAST_CB : 0);
      visit.voi_id = voi.id;
      visit.vs_dsz = static_cast<std::int16_t>(stat.dsz);
      visit.voi_dtype = static_cast<vsd_dtype>(voi.dtype);
      visit.vs_dtype = static_cast<vsd_dtype>(stat.dtype);
      visit.vs_stype = stat.stype;
      visit.vs_errs = stat.errs;
      if (func(&visit, usrctx) != 0) return 0;
      first_cb = first_stat = 0;
    }
  }
  return 0;
}
