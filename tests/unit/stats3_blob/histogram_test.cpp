// Buckets against the rules of tally/stats.h, and their counts against a search that looks at every
// bucket.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "core/stats3/blob/histogram.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

constexpr std::uint32_t kLower = VSD_HIST_LBOUND_INF, kUpper = VSD_HIST_UBOUND_INF;

std::uint64_t seed() {
  const char* const given = std::getenv("TALLY_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("TALLY_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

struct Shown {
  std::vector<std::int64_t> bounds, counts;
  std::int64_t oob = 0;
};

template <typename T>
Shown shown(statsblob* sb) {
  voistatdata* data = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(stats_voistat_fetch_dptr(sb, 0, VS_STYPE_HIST, nullptr, &data, &bytes), 0);
  const auto& hist = *reinterpret_cast<const voistatdata_crhist64*>(data);
  Shown out{.oob = static_cast<std::int64_t>(hist.oob)};
  for (std::size_t i = 0; i < (bytes - 8) / 16; ++i) {
    out.bounds.push_back(static_cast<std::int64_t>(load<T>(&hist.bkts[i].lb)));
    out.counts.push_back(static_cast<std::int64_t>(hist.bkts[i].cnt));
  }
  return out;
}

std::vector<std::int64_t> bounds_of(Specs& specs) {
  Fixture fixture;
  return shown<std::int64_t>(make_blob(VSD_DTYPE_INT_S64, specs).get()).bounds;
}

using Numbers = std::vector<std::int64_t>;

TEST(HistogramTest, HasBoundsByItsScheme) {
  Specs lin, exp, exp4, linexp, tens, negative;
  EXPECT_EQ(bounds_of(lin.lin(VSD_DTYPE_CRHIST64, 5, 20, 7)), (Numbers{5, 12, 19}));
  EXPECT_EQ(bounds_of(exp.exp(VSD_DTYPE_CRHIST64, 0, 1024, 2, 0)),
            (Numbers{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023}));
  EXPECT_EQ(bounds_of(exp4.exp(VSD_DTYPE_CRHIST64, 10, 100, 4, 1, kLower | kUpper)),
            (Numbers{INT64_MIN, 10, 14, 30, 94, 350}));
  EXPECT_EQ(bounds_of(linexp.linexp(VSD_DTYPE_CRHIST64, 0, 32, 4, 2)),
            (Numbers{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}));
  EXPECT_EQ(bounds_of(tens.linexp(VSD_DTYPE_CRHIST64, 0, 100, 5, 10)),
            (Numbers{0, 2, 4, 6, 8, 10, 30, 50, 70, 90}));
  EXPECT_EQ(bounds_of(negative.lin(VSD_DTYPE_CRHIST64, -10, 0, 5)), (Numbers{-10, -5, 0}));
}

TEST(HistogramTest, RefusesWhatHasNoEndOrNoStep) {
  const auto refused = [](vsd_dtype dtype, Specs& specs) {
    EXPECT_EQ(error_of(dtype, specs), EINVAL);
  };
  constexpr auto u32 = VSD_DTYPE_INT_U32, s64 = VSD_DTYPE_INT_S64;
  constexpr auto cr = VSD_DTYPE_CRHIST32;
  refused(u32,
          Specs().lin(cr, 0, UINT32_MAX, 1));  // the type's largest number: endless with FreeBSD
  refused(VSD_DTYPE_INT_S32, Specs().lin(cr, 0, INT32_MAX, 1));
  refused(s64, Specs().exp(cr, 0, INT64_MAX, 2, 0));
  refused(VSD_DTYPE_INT_U64, Specs().exp(cr, 0, -1, 2, 0));
  refused(u32, Specs().linexp(cr, 0, 100, 0, 2));  // a division by zero with FreeBSD
  refused(u32, Specs().linexp(cr, 0, 100, 4, 1));
  refused(u32, Specs().linexp(cr, 0, 100, 4, 0));
  refused(u32, Specs().lin(cr, 0, 100, 0));
  refused(s64, Specs().lin(cr, 0, 100, -5));
  refused(u32, Specs().exp(cr, 0, 100, 0, 0));
  refused(u32, Specs().lin(cr, -1, 100, 5));
  refused(u32, Specs().lin(cr, 0, std::int64_t{1} << 40, 5));
  refused(u32, Specs().lin(cr, 0, 100, 5, 4));
  refused(s64, Specs().usr(cr, 0, {{5, 5}, {4, 4}}));
  refused(s64, Specs().usr(VSD_DTYPE_DRHIST32, 0, {{5, 4}}));
  refused(s64, Specs().usr(VSD_DTYPE_DVHIST32, kUpper, {{5, 5}}));
  refused(s64, Specs().sum().sum());
  refused(s64, Specs().digest(VSD_DTYPE_TDGSTCLUST32, 1, 1));
  refused(s64, Specs().digest(VSD_DTYPE_TDGSTCLUST32, 100, 32));
  Specs many;
  EXPECT_EQ(error_of(u32, many.lin(cr, 0, 4'000'000'000, 1)), EFBIG);
  Specs digest;
  EXPECT_EQ(error_of(u32, digest.digest(VSD_DTYPE_TDGSTCLUST64, 5000, 2)), EFBIG);
  Templates templates;
  Specs sum;
  EXPECT_EQ(templates.add_voi(templates.add("T"), 0, nullptr, u32, 1, sum.sum().data(), 0), EINVAL);
  EXPECT_EQ(templates.add_voi(0, -1, "V", u32, 1, sum.data(), 0), EINVAL);
}

// What the bounds say, bucket by bucket.
Shown counted_slowly(Shown empty, const Numbers& samples) {
  for (const std::int64_t x : samples) {
    std::size_t at = empty.bounds.size();
    for (std::size_t i = 0; i < empty.bounds.size(); ++i) {
      if (empty.bounds[i] <= x) at = i;
    }
    at == empty.bounds.size() ? ++empty.oob : ++empty.counts[at];
  }
  return empty;
}

template <typename T>
Numbers samples_around(const Numbers& bounds, std::mt19937_64& random) {
  Numbers samples;
  const auto add = [&](Int128 x) {
    samples.push_back(static_cast<std::int64_t>(
        std::clamp<Int128>(x, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max())));
  };
  for (const std::int64_t bound : bounds) {
    for (int near = -2; near <= 2; ++near) add(Int128{bound} + near);
  }
  for (int i = 0; i < 2000; ++i) add(Int128{static_cast<std::int64_t>(random())} >> random() % 64);
  add(std::numeric_limits<T>::lowest());
  add(std::numeric_limits<T>::max());
  return samples;
}

template <typename T, typename Update>
void expect_counts(vsd_dtype dtype, Specs& specs, Update update, std::mt19937_64& random) {
  Fixture fixture;
  const auto sb = make_blob(dtype, specs);
  if (!sb) return;  // refused: bounds that the type does not have
  const Shown empty = shown<T>(sb.get());
  const Numbers samples = samples_around<T>(empty.bounds, random);
  for (const std::int64_t x : samples) ASSERT_EQ(update(sb.get(), static_cast<T>(x)), 0);
  const Shown fast = shown<T>(sb.get()), slow = counted_slowly(empty, samples);
  EXPECT_EQ(fast.counts, slow.counts);
  EXPECT_EQ(fast.oob, slow.oob);
}

TEST(HistogramTest, FindsTheBucketThatLookingAtAllFinds) {
  std::mt19937_64 random(seed());
  const int rounds = kSanitized ? 40 : 400;
  for (int round = 0; round < rounds; ++round) {
    Specs specs;
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    const std::uint32_t flags = static_cast<std::uint32_t>(below(4));
    const std::int64_t lb = below(2000) - 1000;
    switch (below(4)) {
      case 0:
        specs.lin(VSD_DTYPE_CRHIST64, lb, lb + below(3000), 1 + below(60), flags);
        break;
      case 1:
        specs.exp(VSD_DTYPE_CRHIST64, lb, lb + (std::int64_t{1} << below(31)),
                  2 + static_cast<std::uint64_t>(below(9)), static_cast<std::uint64_t>(below(6)),
                  flags);
        break;
      case 2:
        specs.linexp(VSD_DTYPE_CRHIST64, lb, lb + (std::int64_t{1} << below(31)),
                     1 + static_cast<std::uint64_t>(below(40)),
                     2 + static_cast<std::uint64_t>(below(9)), flags);
        break;
      default: {
        // Bounds that double or are even in part only.
        std::vector<std::array<std::int64_t, 2>> bounds;
        std::int64_t at = lb;
        const std::int64_t count = 1 + below(300), step = below(3);
        for (std::int64_t i = 0; i < count; ++i) {
          bounds.push_back({at, at});
          at += step == 0   ? below(50)
                : step == 1 ? 16
                            : std::int64_t{1} << std::min<std::int64_t>(i, 20);
          if (below(100) == 0) at += below(7);
        }
        specs.usr(VSD_DTYPE_CRHIST64, flags, bounds);
      }
    }
    expect_counts<std::int32_t>(
        VSD_DTYPE_INT_S32, specs,
        [](auto* sb, auto x) { return stats_voi_update_abs_s32(sb, 0, x); }, random);
    expect_counts<std::int64_t>(
        VSD_DTYPE_INT_S64, specs,
        [](auto* sb, auto x) { return stats_voi_update_abs_s64(sb, 0, x); }, random);
    expect_counts<std::uint32_t>(
        VSD_DTYPE_INT_U32, specs,
        [](auto* sb, auto x) { return stats_voi_update_abs_u32(sb, 0, x); }, random);
  }
}

// ---- of Q numbers

constexpr std::int64_t kFourBits = 1;  // control bits: 4 bits of fraction

// `sixteenths` / 16.
std::int64_t q(std::int64_t sixteenths) {
  const std::int64_t sign = sixteenths < 0 ? INT64_MIN : 0;
  return sign | (sixteenths < 0 ? -sixteenths : sixteenths) << 3 | kFourBits;
}

Numbers sixteenths_of(Specs& specs) {
  Fixture fixture;
  const auto sb = make_blob(VSD_DTYPE_Q_S64, specs);
  if (!sb) return {};
  Numbers numbers;
  for (const std::int64_t raw : shown<std::int64_t>(sb.get()).bounds) {
    EXPECT_EQ(raw & 7, kFourBits);
    numbers.push_back(static_cast<std::int64_t>(QNumber<s64q_t>{raw}.scaled()));
  }
  return numbers;
}

TEST(QHistogramTest, StepsByIntegersAsFreeBsdDoes) {
  constexpr auto cr = VSD_DTYPE_CRHIST64;
  EXPECT_EQ(sixteenths_of(Specs().lin(cr, q(0), q(160), 2)), (Numbers{0, 32, 64, 96, 128, 160}));
  EXPECT_EQ(sixteenths_of(Specs().lin(cr, q(8), q(40), 1)), (Numbers{8, 24, 40}));
  // A quarter of 10 is 2.5, of which the whole part counts.
  EXPECT_EQ(sixteenths_of(Specs().linexp(cr, q(0), q(128), 4, 10)), (Numbers{0, 32, 64, 96, 128}));
  EXPECT_EQ(error_of(VSD_DTYPE_Q_S64, Specs().lin(cr, q(0), q(160), 0)), EINVAL);
  EXPECT_EQ(error_of(VSD_DTYPE_Q_S64, Specs().lin(cr, q(0), q(160), -2)), EINVAL);
}

TEST(QHistogramTest, GivesTheTypesEndTheFractionOfTheOtherBounds) {
  const Numbers bounds =
      sixteenths_of(Specs().lin(VSD_DTYPE_CRHIST64, q(0), q(16), 1, kLower | kUpper));
  EXPECT_EQ(bounds, (Numbers{-((std::int64_t{1} << 60) - 1), 0, 16, 32}));
}

TEST(QHistogramTest, FindsTheBucketOfANumberOfAnyFraction) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 100; ++round) {
    Fixture fixture;
    Specs specs;
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    const std::uint32_t flags = static_cast<std::uint32_t>(below(4));
    const std::int64_t lb = below(4000) - 2000;
    switch (below(4)) {
      case 0:
        specs.lin(VSD_DTYPE_CRHIST64, q(lb), q(lb + below(8000)), 1 + below(9), flags);
        break;
      case 1:
        specs.exp(VSD_DTYPE_CRHIST64, q(lb), q(lb + (1 << below(25))),
                  2 + static_cast<std::uint64_t>(below(3)), 0, flags);
        break;
      case 2:
        specs.linexp(VSD_DTYPE_CRHIST64, q(lb), q(lb + (1 << below(25))), 3, 2, flags);
        break;
      default: {
        // Given with two fractions: 4 bits and 2.
        std::vector<std::array<std::int64_t, 2>> bounds;
        for (std::int64_t i = 0, at = 0; i < 40; ++i, at += 4 * (1 + below(5))) {
          const std::int64_t bound = below(2) == 0 ? q(at) : at / 4 << 3;
          bounds.push_back({bound, bound});
        }
        specs.usr(VSD_DTYPE_CRHIST64, flags, bounds);
      }
    }
    const auto sb = make_blob(VSD_DTYPE_Q_S64, specs);
    if (!sb) continue;
    Shown slow = shown<std::int64_t>(sb.get());
    for (int i = 0; i < 500; ++i) {
      const auto fraction_code = static_cast<std::uint64_t>(below(8));
      const std::uint64_t magnitude = random() >> (3 + random() % 61);
      const auto raw =
          static_cast<s64q_t>((magnitude << 3 & ~(std::uint64_t{1} << 63)) | fraction_code |
                              static_cast<std::uint64_t>(below(2)) << 63);
      ASSERT_EQ(stats_voi_update_abs_sq64(sb.get(), 0, raw), 0);
      std::size_t at = slow.bounds.size();
      for (std::size_t k = 0; k < slow.bounds.size(); ++k) {
        if (QNumber<s64q_t>{slow.bounds[k]} <= QNumber<s64q_t>{raw}) at = k;
      }
      at == slow.bounds.size() ? ++slow.oob : ++slow.counts[at];
    }
    const Shown fast = shown<std::int64_t>(sb.get());
    EXPECT_EQ(fast.counts, slow.counts);
    EXPECT_EQ(fast.oob, slow.oob);
  }
}

TEST(QSumTest, KeepsWhatTheTemplateBeginsWith) {
  Fixture fixture;
  Specs specs;
  s64q_t begin = q(40);
  voistatspec spec{};
  spec.stype = VS_STYPE_SUM;
  spec.vs_dtype = VSD_DTYPE_Q_S64;
  spec.iv = reinterpret_cast<voistatdata*>(&begin);
  spec.vsdsz = sizeof begin;
  const auto sb = make_blob(VSD_DTYPE_Q_S64, specs.plain(spec));
  ASSERT_EQ(stats_voi_update_abs_sq64(sb.get(), 0, q(2)), 0);
  s64q_t sum = 0;
  ASSERT_EQ(stats_voistat_fetch_sq64(sb.get(), 0, VS_STYPE_SUM, &sum), 0);
  EXPECT_EQ(sum, q(42));
}

TEST(HistogramTest, KeepsACounterOf32BitsAtItsMaximum) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.lin(VSD_DTYPE_CRHIST32, 0, 10, 5));
  voistatdata* data = nullptr;
  ASSERT_EQ(stats_voistat_fetch_dptr(sb.get(), 0, VS_STYPE_HIST, nullptr, &data, nullptr), 0);
  auto& hist = *reinterpret_cast<voistatdata_crhist32*>(data);
  hist.bkts[0].cnt = UINT32_MAX - 1;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, 1), 0);
  EXPECT_EQ(hist.bkts[0].cnt, UINT32_MAX);
}

TEST(HistogramTest, RefusesLinearBoundsTheWrongWayRound) {
  Fixture fixture;
  Specs wrong, right;
  const auto slot = static_cast<std::uint32_t>(stats_tpl_alloc("T", 0));
  const auto add = [&](Specs& specs) {
    return stats_tpl_add_voistats(slot, 0, "x", VSD_DTYPE_INT_S32, 1, specs.data(), 0);
  };
  EXPECT_EQ(add(wrong.lin(VSD_DTYPE_CRHIST32, 10, 9, 1)), EINVAL);
  EXPECT_EQ(add(right.lin(VSD_DTYPE_CRHIST32, 10, 10, 1)), 0);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
