// stats_blob_merge(): the statistics of two blobs of one template, added up.
#include <cerrno>
#include <limits>
#include <new>

#include "core/stats3/blob/blob.h"
#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {
namespace {

// SUM: integers wrap; EOVERFLOW, and nothing changed, if a Q number has no room.
template <typename T>
int add_sum(Stat& to_stat, std::uint8_t* to, const std::uint8_t* from) {
  if constexpr (kIsQ<T>) {
    tally_q sum = load<T>(to).q();
    if (!(to_stat.flags & kStatValid))
      sum.raw = load<T>(from).q().raw;
    else if (tally_q_add(&sum, load<T>(from).q(), 1) != 0)
      return EOVERFLOW;
    store(to, T{static_cast<decltype(T{}.raw)>(sum.raw)});
  } else {
    using U = std::make_unsigned_t<T>;
    store(to, static_cast<U>(load<U>(to) + load<U>(from)));
  }
  return 0;
}

// Adds one counter; it stays at its maximum.
template <typename C>
void add_counter(std::uint8_t* to, const std::uint8_t* from) {
  const C a = load<C>(to), b = load<C>(from);
  store(to, a > std::numeric_limits<C>::max() - b ? std::numeric_limits<C>::max()
                                                  : static_cast<C>(a + b));
}

void add_histogram(const Stat& to_stat, std::uint8_t* to, const std::uint8_t* from) {
  const std::size_t bucket = bucket_bytes(to_stat.dtype);
  for (std::size_t at = 0; at < to_stat.dsz; at += bucket) {
    // The first counter stands before the buckets, the others at their ends.
    has_wide_counters(to_stat.dtype) ? add_counter<std::uint64_t>(to + at, from + at)
                                     : add_counter<std::uint32_t>(to + at, from + at);
  }
}

// The statistics of `from` added to those of `to`, which has the same type and size.
int merge_stat(const Voi& voi, Stat& to_stat, std::uint8_t* to, const Stat& from_stat,
               std::uint8_t* from) {
  if (!(from_stat.flags & kStatValid)) return 0;
  const int error = with_type(voi.dtype, [&](auto zero) -> int {
    using T = decltype(zero);
    switch (to_stat.stype) {
      case VS_STYPE_SUM:
        return add_sum<T>(to_stat, to, from);
      case VS_STYPE_MAX:
        if (load<T>(to) < load<T>(from)) store(to, load<T>(from));
        return 0;
      case VS_STYPE_MIN:
        if (load<T>(from) < load<T>(to)) store(to, load<T>(from));
        return 0;
      case VS_STYPE_HIST:
        add_histogram(to_stat, to, from);
        return 0;
      case VS_STYPE_TDGST:
        with_digest(to_stat.dtype, to, sign_of(voi.dtype), [&](auto digest) {
          decltype(digest) other(from, sign_of(voi.dtype));
          digest.merge(other);
        });
        return 0;
    }
    return 0;
  });
  if (error == 0) to_stat.flags |= kStatValid;
  return error;
}

// Two blobs of one template have the same offsets, and the same bounds.
bool alike(statsblob* a, statsblob* b) {
  const Header &x = header_of(a), &y = header_of(b);
  if (x.cursz != y.cursz || x.tplhash != y.tplhash || x.stats_off != y.stats_off ||
      x.statsdata_off != y.statsdata_off ||
      std::memcmp(vois_of(a), vois_of(b), x.stats_off - sizeof(Header)) != 0) {
    return false;
  }
  bool same = true;
  for_each_stat(a, [&](const Voi&, const Stat& stat) {
    const auto at = reinterpret_cast<const std::uint8_t*>(&stat) - bytes_of(a);
    const auto other = load<Stat>(bytes_of(b) + at);
    same = same && stat.stype == other.stype && stat.dtype == other.dtype &&
           stat.data_off == other.data_off && stat.dsz == other.dsz;
    if (!same) return;
    const std::uint8_t *mine = bytes_of(a) + stat.data_off, *theirs = bytes_of(b) + stat.data_off;
    if (stat.stype == VS_STYPE_HIST) {
      const std::size_t bucket = bucket_bytes(stat.dtype);
      for (std::size_t i = kHistHeadBytes; i < stat.dsz; i += bucket) {
        same = same && std::memcmp(mine + i, theirs + i, bucket - 8) == 0;
      }
    } else if (stat.stype == VS_STYPE_TDGST) {
      // Both need the same precision, which the control bits of each centroid have.
      const std::size_t mean =
          (stat.dtype == VSD_DTYPE_TDGSTCLUST32 ? sizeof(Narrow::Data) : sizeof(Wide::Data)) + 8;
      same = same && (mine[mean] & 7) == (theirs[mean] & 7);
    }
  });
  return same;
}

}  // namespace
}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

int stats_blob_merge(struct statsblob* dst, struct statsblob* src) try {
  if (!dst || !src || dst == src) return EINVAL;
  for (statsblob* sb : {dst, src}) {
    if (stats_blob_check(sb, sb->cursz, nullptr, 0) != 0) return EINVAL;
  }
  if (!alike(dst, src)) return EINVAL;
  int error = 0;
  for_each_stat(dst, [&](const Voi& voi, Stat& stat) {
    if (stat.stype == VS_STYPE_VOISTATE) return;
    const auto at = reinterpret_cast<const std::uint8_t*>(&stat) - bytes_of(dst);
    const auto other = load<Stat>(bytes_of(src) + at);
    const int failed =
        merge_stat(voi, stat, bytes_of(dst) + stat.data_off, other, bytes_of(src) + stat.data_off);
    if (failed) error = failed;
  });
  return error;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}
