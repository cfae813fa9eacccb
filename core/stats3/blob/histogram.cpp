#include "core/stats3/blob/histogram.h"

#include <cerrno>
#include <optional>

namespace tallyfs::stats3::blob {
namespace {

constexpr std::size_t kBucketsMax = kBlobBytesMax / 16;
// Beyond every bound, and far from overflowing: what a power that grew too large counts as.
constexpr Int128 kHuge = Int128{1} << 100;

// A bound: its value (of Q numbers, times 2^fraction bits), and the 8 bytes that stand for it in a
// bucket.
struct Bound {
  Int128 value = 0;
  std::uint64_t bits = 0;
};
struct Bucket {
  Bound lb, ub;
};

// The least, the greatest and the unit bound of a VOI type with a number of fraction bits.
class Scale {
 public:
  static Scale of(unsigned dtype, std::uint64_t example) {
    Scale scale;
    scale.dtype_ = dtype;
    scale.example_ = example;
    with_type(dtype, [&](auto type) {
      using T = decltype(type);
      if constexpr (kIsQ<T>) {
        T number{static_cast<decltype(type.raw)>(example)};
        scale.fraction_ = number.fraction_bits();
        scale.control_ = static_cast<unsigned>(number.raw & 7);
        T most{static_cast<decltype(type.raw)>((highest<T>().raw & ~decltype(type.raw){7}) |
                                               (number.raw & 7))};
        scale.max_ = most.scaled();
        scale.min_ = kIsSigned<T> ? -scale.max_ : 0;
      } else {
        scale.min_ = std::numeric_limits<T>::lowest();
        scale.max_ = std::numeric_limits<T>::max();
      }
    });
    return scale;
  }

  Int128 min() const { return min_; }
  Int128 max() const { return max_; }
  Int128 unit() const { return Int128{1} << fraction_; }

  // A bound as a specification gives it; nothing if the type has no such number.
  std::optional<Bound> given(std::uint64_t bits) const {
    Bound bound{0, bits};
    with_type(dtype_, [&](auto type) {
      using T = decltype(type);
      if constexpr (kIsQ<T>) {
        bound.value = tally_q_scaled(T{static_cast<decltype(type.raw)>(bits)}.q(), fraction_);
      } else if constexpr (std::is_signed_v<T>) {
        bound.value = static_cast<std::int64_t>(bits);
      } else {
        bound.value = bits;
      }
    });
    if (bound.value < min_ || bound.value > max_) return std::nullopt;
    return bound;
  }

  // A step, which is an integer of Q numbers, too; 0 if the type has no such number.
  Int128 step(std::uint64_t bits) const {
    if (fraction_ == 0) return given(bits).value_or(Bound{}).value;
    return min_ < 0 ? Int128{static_cast<std::int64_t>(bits)} * unit() : Int128{bits} * unit();
  }

  // A bound that was computed. FreeBSD counts up the half that 32 bits stand in, and leaves the
  // other as it was given.
  Bound computed(Int128 value) const {
    Bound bound{value, example_};
    with_type(dtype_, [&](auto type) {
      using T = decltype(type);
      if constexpr (kIsQ<T>) {
        tally_q q = type.q();
        q.raw = control_;
        tally_q_store(&q, value);
        std::memcpy(&bound.bits, &q.raw, sizeof type);
      } else {
        const T number = static_cast<T>(value);
        std::memcpy(&bound.bits, &number, sizeof number);
      }
    });
    return bound;
  }

  // The type's ends, which stand in as many bytes as the type has, and of Q numbers with the
  // fraction of the others.
  enum class Which { kLowest, kHighest };
  Bound end(Which which) const {
    return with_type(dtype_, [&](auto type) {
      using T = decltype(type);
      const bool top = which == Which::kHighest;
      T number = top ? highest<T>() : lowest<T>();
      if constexpr (kIsQ<T>) {
        using Bits = decltype(type.raw);
        number.raw = static_cast<Bits>(number.raw | static_cast<Bits>(control_));
      }
      Bound bound{top ? max_ : min_, 0};
      std::memcpy(&bound.bits, &number, sizeof number);
      return bound;
    });
  }

 private:
  unsigned dtype_ = 0;
  unsigned fraction_ = 0, control_ = 0;
  std::uint64_t example_ = 0;
  Int128 min_ = 0, max_ = 0;
};

Int128 times(Int128 power, std::uint64_t base) {
  return power >= kHuge / static_cast<Int128>(base) ? kHuge : power * base;
}

// Gives the step of each bucket by its number and lower bound.
class Steps {
 public:
  Steps(const vss_hist_hlpr_info& info, const Scale& scale) : info_(info), unit_(scale.unit()) {
    if (info.scheme == BKT_LIN) {
      power_ = scale.step(info.lin.stepinc);
    } else if (info.scheme == BKT_EXP) {
      power_ = info.exp.stepbase == 0 ? 0 : unit_;
      for (std::uint64_t i = 0; i < info.exp.stepexp && power_ != 0 && power_ < kHuge; ++i) {
        if (info.exp.stepbase == 1) break;
        power_ = times(power_, info.exp.stepbase);
      }
    } else if (info.linexp.stepbase >= 2 && info.linexp.linstepdiv != 0) {
      power_ = times(unit_, info.linexp.stepbase);
    }
  }
  bool ok() const { return power_ > 0; }

  Int128 next(Int128 lb) {
    if (info_.scheme == BKT_LIN) return power_;
    if (info_.scheme == BKT_EXP) {
      const Int128 step = power_;
      power_ = times(power_, info_.exp.stepbase);
      return step;
    }
    while (power_ <= lb) power_ = times(power_, info_.linexp.stepbase);
    // Whole ones, of Q numbers too.
    const Int128 step = power_ / static_cast<Int128>(info_.linexp.linstepdiv);
    return std::max(step / unit_ * unit_, unit_);
  }

 private:
  const vss_hist_hlpr_info& info_;
  Int128 unit_;
  Int128 power_ = 0;
};

int computed_buckets(const vss_hist_hlpr_info& info, const Scale& scale,
                     std::vector<Bucket>& buckets) {
  const auto lb = scale.given(info.lb.int64.u64), ub = scale.given(info.ub.int64.u64);
  Steps steps(info, scale);
  // With the type's largest number as ub, no running bound would ever be beyond it.
  if (!lb || !ub || ub->value == scale.max() || !steps.ok()) return EINVAL;
  if (info.scheme == BKT_LIN && lb->value > ub->value) return EINVAL;
  for (Int128 at = lb->value;;) {
    const Int128 next = at + steps.next(at);
    buckets.push_back({scale.computed(at), next > scale.max() ? scale.end(Scale::Which::kHighest)
                                                              : scale.computed(next)});
    if (next > ub->value) {
      buckets.back().ub.value = next;
      return 0;
    }
    if (buckets.size() > kBucketsMax) return EFBIG;
    at = next;
  }
}

int given_buckets(const vss_hist_hlpr_info& info, const Scale& scale,
                  std::vector<Bucket>& buckets) {
  const auto& usr = info.usr;
  if (!usr.bkts || usr.nbkts == 0) return EINVAL;
  if (usr.nbkts > kBucketsMax) return EFBIG;
  const bool continuous =
      info.hist_dtype == VSD_DTYPE_CRHIST32 || info.hist_dtype == VSD_DTYPE_CRHIST64;
  for (std::uint64_t i = 0; i < usr.nbkts; ++i) {
    const auto lb = scale.given(usr.bkts[i][0].int64.u64),
               ub = scale.given(usr.bkts[i][1].int64.u64);
    if (!lb || !ub || ub->value < lb->value) return EINVAL;
    if (continuous && i > 0 && lb->value < buckets.back().lb.value) return EINVAL;
    buckets.push_back({*lb, *ub});
  }
  return 0;
}

void write(unsigned dtype, const std::vector<Bucket>& buckets, std::vector<std::uint8_t>& data) {
  data.assign(kHistHeadBytes + bucket_bytes(dtype) * buckets.size(), 0);
  std::uint8_t* at = data.data() + kHistHeadBytes;
  for (const Bucket& bucket : buckets) {
    store(at, bucket.lb.bits);
    if (has_two_bounds(dtype)) store(at + 8, bucket.ub.bits);
    at += bucket_bytes(dtype);
  }
}

}  // namespace

int build_histogram(unsigned voi_dtype, const vss_hist_hlpr_info& info,
                    std::vector<std::uint8_t>& data) {
  const unsigned dtype = info.hist_dtype;
  constexpr std::uint32_t kFlags = VSD_HIST_LBOUND_INF | VSD_HIST_UBOUND_INF;
  if (!is_voi_dtype(voi_dtype) || !is_hist_dtype(dtype) || (info.flags & ~kFlags) != 0)
    return EINVAL;
  const bool values = dtype == VSD_DTYPE_DVHIST32 || dtype == VSD_DTYPE_DVHIST64;
  if ((values && info.flags != 0) || info.scheme < BKT_LIN || info.scheme > BKT_USR) return EINVAL;
  const bool usr = info.scheme == BKT_USR;
  if (usr && (!info.usr.bkts || info.usr.nbkts == 0)) return EINVAL;
  const Scale scale = Scale::of(voi_dtype, usr ? info.usr.bkts[0][0].int64.u64 : info.lb.int64.u64);

  std::vector<Bucket> buckets;
  const int error =
      usr ? given_buckets(info, scale, buckets) : computed_buckets(info, scale, buckets);
  if (error != 0) return error;
  if (info.flags & VSD_HIST_LBOUND_INF)
    buckets.insert(buckets.begin(), {scale.end(Scale::Which::kLowest), buckets.front().lb});
  if (info.flags & VSD_HIST_UBOUND_INF) {
    if (buckets.back().ub.value > scale.max()) return EINVAL;
    buckets.push_back({buckets.back().ub, scale.end(Scale::Which::kHighest)});
  }
  if (kHistHeadBytes + bucket_bytes(dtype) * buckets.size() > kBlobBytesMax) return EFBIG;
  write(dtype, buckets, data);
  return 0;
}

}  // namespace tallyfs::stats3::blob
