// The way of a sample into a blob: stats_voi_update_abs_* and _rel_*, one function for each type of
// VOI.
#include <cerrno>
#include <limits>
#include <optional>

#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {
namespace {

enum class Mode { kAbsolute, kRelative };

// Whether a statistic stores numbers with as many bits of fraction. One without a sample, and whose
// template gives no precision, adopts that of its first sample.
template <typename T>
bool has_fraction_of(const Stat& stat, const std::uint8_t* data, T x) {
  if constexpr (kIsQ<T>) {
    const unsigned control = load<T>(data).control();
    return control == x.control() || (control == 0 && !(stat.flags & kStatValid));
  } else {
    return true;
  }
}

template <typename T>
int add_to_sum(Stat& stat, std::uint8_t* data, T x) {
  if (!has_fraction_of(stat, data, x)) return ERANGE;
  if constexpr (kIsQ<T>) {
    tally_q sum = load<T>(data).q();
    // A new 0 of no precision; what a template begins with is kept.
    if (!(stat.flags & kStatValid) && sum.raw == 0) {
      sum = x.q();
    } else if (tally_q_add(&sum, x.q(), 1) != 0) {
      return EOVERFLOW;
    }
    store(data, T{static_cast<decltype(x.raw)>(sum.raw)});
  } else {
    using U = std::make_unsigned_t<T>;
    store(data, static_cast<U>(load<U>(data) + static_cast<U>(x)));
  }
  stat.flags |= kStatValid;
  return 0;
}

// Q numbers compare by value, as FreeBSD's do. A new extreme is stored with the statistic's own
// bits of fraction, which the readers of a blob rely on: further bits are cut off.
template <typename T>
int improve(Stat& stat, std::uint8_t* data, T x, bool better) {
  if (!better) return 0;
  if constexpr (kIsQ<T>) {
    if (!has_fraction_of(stat, data, x)) {
      tally_q extreme = load<T>(data).q();
      if (tally_q_set(&extreme, x.q(), 0) != 0) return EOVERFLOW;
      x = {static_cast<decltype(x.raw)>(extreme.raw)};
    }
  }
  store(data, x);
  stat.flags |= kStatValid;
  return 0;
}

// Not inlined: its registers would have to be saved for sums, too.
template <typename T>
[[gnu::noinline]] int add_to_digest(Stat& stat, std::uint8_t* data, T x) {
  const bool taken = with_digest(stat.dtype, data, kIsSigned<T> ? Sign::kSigned : Sign::kUnsigned,
                                 [&](auto digest) {
                                   const unsigned fraction = digest.fraction_bits();
                                   if constexpr (kIsQ<T>) {
                                     return digest.add(tally_q_scaled(x.q(), fraction));
                                   } else {
                                     return digest.add(Int128{x} * (Int128{1} << fraction));
                                   }
                                 });
  if (!taken) return EOVERFLOW;
  stat.flags |= kStatValid;
  return 0;
}

template <typename T>
int add_to_stat(Stat& stat, std::uint8_t* data, T x) {
  switch (stat.stype) {
    case VS_STYPE_SUM:
      return add_to_sum(stat, data, x);
    case VS_STYPE_MAX:
      return improve(stat, data, x, load<T>(data) < x);
    case VS_STYPE_MIN:
      return improve(stat, data, x, x < load<T>(data));
    case VS_STYPE_HIST:
      count_in_histogram(data, stat.dtype, stat.dsz, x);
      stat.flags |= kStatValid;
      return 0;
    case VS_STYPE_TDGST:
      return add_to_digest(stat, data, x);
    default:
      return 0;
  }
}

// The VOI's value after a change by `by` since the last update. nullopt: the change has another
// number of fraction bits. The 0 of a new blob takes the fraction bits of the first change.
template <typename T>
std::optional<T> changed(const std::uint8_t* previous, T by) {
  if constexpr (kIsQ<T>) {
    const T from = load<T>(previous);
    if (from.scaled() == 0) return by;
    if (from.control() != by.control()) return std::nullopt;
    tally_q sum = from.q();
    if (tally_q_add(&sum, by.q(), 1) != 0) return from;
    return T{static_cast<decltype(by.raw)>(sum.raw)};
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(load<U>(previous) + static_cast<U>(by));
  }
}

void count_error(Stat& stat) {
  if (stat.errs != std::numeric_limits<std::uint8_t>::max()) ++stat.errs;
}

int refuse_fraction(const Voi& voi, Stat* stats) {
  for (int i = VS_STYPE_SUM; i <= voi.stat_max; ++i) {
    if (stats[i].stype >= 0) count_error(stats[i]);
  }
  return ERANGE;
}

// The last error of all statistics is returned; they are updated from the last slot down, as
// FreeBSD does it.
template <typename T>
int update(statsblob* sb, std::int32_t voi_id, unsigned dtype, T x, Mode mode) {
  if (!sb) return 0;
  if (sb->abi != STATS_ABI_V1) return EINVAL;
  const Voi* const voi = find_voi(sb, voi_id);
  if (!voi || voi->dtype != dtype) return EINVAL;
  Stat* const stats = stats_of(sb, *voi);
  if (voi->flags & kVoiRelative) {
    std::uint8_t* const previous = bytes_of(sb) + stats[VS_STYPE_VOISTATE].data_off;
    if (mode == Mode::kRelative) {
      const std::optional<T> now = changed(previous, x);
      if (!now) return refuse_fraction(*voi, stats);
      x = *now;
    }
    store(previous, x);
  } else if (mode == Mode::kRelative) {
    return EINVAL;
  }
  int error = 0;
  for (int i = voi->stat_max; i > VS_STYPE_VOISTATE; --i) {
    Stat& stat = stats[i];
    const int failed = add_to_stat(stat, bytes_of(sb) + stat.data_off, x);
    if (failed == 0) continue;
    error = failed;
    count_error(stat);
  }
  return error;
}

}  // namespace
}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

#define TALLY_UPDATE(name, type, dtype, made)                                          \
  int stats_voi_update_abs_##name(struct statsblob* sb, int32_t voi_id, type voival) { \
    return update(sb, voi_id, dtype, made, Mode::kAbsolute);                           \
  }                                                                                    \
  int stats_voi_update_rel_##name(struct statsblob* sb, int32_t voi_id, type voival) { \
    return update(sb, voi_id, dtype, made, Mode::kRelative);                           \
  }
TALLY_UPDATE(s32, int32_t, VSD_DTYPE_INT_S32, voival)
TALLY_UPDATE(u32, uint32_t, VSD_DTYPE_INT_U32, voival)
TALLY_UPDATE(s64, int64_t, VSD_DTYPE_INT_S64, voival)
TALLY_UPDATE(u64, uint64_t, VSD_DTYPE_INT_U64, voival)
TALLY_UPDATE(slong, long, VSD_DTYPE_INT_SLONG, voival)
TALLY_UPDATE(ulong, unsigned long, VSD_DTYPE_INT_ULONG, voival)
TALLY_UPDATE(sq32, s32q_t, VSD_DTYPE_Q_S32, QNumber<s32q_t>{voival})
TALLY_UPDATE(uq32, u32q_t, VSD_DTYPE_Q_U32, QNumber<u32q_t>{voival})
TALLY_UPDATE(sq64, s64q_t, VSD_DTYPE_Q_S64, QNumber<s64q_t>{voival})
TALLY_UPDATE(uq64, u64q_t, VSD_DTYPE_Q_U64, QNumber<u64q_t>{voival})
#undef TALLY_UPDATE
