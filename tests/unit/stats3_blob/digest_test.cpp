// t-digests: as exact as wanted, in any order of samples, of any size; and no number that is lost.
// Longer than most: layout and arithmetic are tested on the same samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>
#include <random>

#include "core/stats3/blob/check.h"
#include "tests/unit/allocated.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

constexpr std::uint64_t kSeed = 7;
using Samples = std::vector<std::uint32_t>;

Samples distributed(const std::string& name, std::size_t count) {
  std::mt19937_64 random(kSeed);
  std::lognormal_distribution<> lognormal(10, 1);
  std::exponential_distribution<> exponential(1e-4);
  std::normal_distribution<> low(10'000, 1'000), high(100'000, 500);
  Samples samples(count);
  for (std::uint32_t& sample : samples) {
    sample = static_cast<std::uint32_t>(
        name == "uniform"       ? static_cast<double>(random() % 1'000'000)
        : name == "lognormal"   ? std::min(lognormal(random), 1e8)
        : name == "exponential" ? exponential(random)
        : name == "bimodal"     ? (random() % 10 < 7 ? low(random) : high(random))
                                : 12'345);
  }
  return samples;
}

Samples ordered(const Samples& drawn, const std::string& order) {
  if (order == "random") return drawn;
  Samples sorted = drawn, samples;
  std::sort(sorted.begin(), sorted.end());
  samples = sorted;
  const std::size_t count = samples.size();
  if (order == "reversed") std::reverse(samples.begin(), samples.end());
  for (std::size_t i = 0; i < count && order == "interleaved"; ++i) {
    samples[i] = i % 2 ? sorted[count / 2 + i / 2] : sorted[i / 2];
  }
  for (std::size_t i = 0; i < count && order == "outside-in"; ++i) {
    samples[i] = i % 2 ? sorted[count - 1 - i / 2] : sorted[i / 2];
  }
  return samples;
}

// Share by which q misses the ranks that `value` has.
double rank_error(const Samples& sorted, double q, double value) {
  const auto rank = [&](auto at) {
    return static_cast<double>(at - sorted.begin()) / static_cast<double>(sorted.size());
  };
  const double below = rank(std::lower_bound(sorted.begin(), sorted.end(), value));
  const double up_to = rank(std::upper_bound(sorted.begin(), sorted.end(), value));
  return q < below ? below - q : q > up_to ? q - up_to : 0;
}

double quantile(statsblob* sb, double q) {
  double value = 0;
  EXPECT_EQ(stats_voistat_fetch_quantile(sb, 0, q, &value), 0);
  return value;
}

// At most 3 % of min(q, 1 - q), or two samples, and half a point of the median.
void expect_ranks(statsblob* sb, Samples sorted) {
  std::sort(sorted.begin(), sorted.end());
  const double samples = 2.01 / static_cast<double>(sorted.size());
  EXPECT_LE(rank_error(sorted, 0.5, quantile(sb, 0.5)), 0.005);
  for (const double q : {0.01, 0.99, 0.999, 0.9999}) {
    EXPECT_LE(rank_error(sorted, q, quantile(sb, q)), std::max(0.03 * std::min(q, 1 - q), samples))
        << q;
  }
  EXPECT_EQ(quantile(sb, 0), sorted.front());
  EXPECT_EQ(quantile(sb, 1), sorted.back());
}

class DigestAccuracyTest : public testing::TestWithParam<vsd_dtype> {};

TEST_P(DigestAccuracyTest, HoldsTheWantedRanksForEveryDistributionInEveryOrder) {
  for (const char* name : {"uniform", "lognormal", "exponential", "bimodal", "constant"}) {
    const Samples drawn = distributed(name, kSanitized ? 20'000 : 100'000);
    for (const char* order : {"random", "sorted", "reversed", "interleaved", "outside-in"}) {
      SCOPED_TRACE(std::string(name) + ", " + order);
      Fixture fixture;
      Specs specs;
      const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(GetParam(), 100, 1));
      for (const std::uint32_t x : ordered(drawn, order))
        ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, x), 0);
      expect_ranks(sb.get(), drawn);
      EXPECT_TRUE(check_blob({bytes_of(sb.get()), sb->cursz}));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, DigestAccuracyTest,
                         testing::Values(VSD_DTYPE_TDGSTCLUST32, VSD_DTYPE_TDGSTCLUST64));

TEST(DigestTest, IsFinerWithMoreCentroids) {
  // FreeBSD's gives the same digest at 50, 100 and 400, and 4 centroids at 20.
  const Samples drawn = distributed("lognormal", 100'000);
  std::size_t before = 0;
  for (const std::uint32_t room : {20u, 50u, 100u, 400u}) {
    Fixture fixture;
    Specs specs;
    const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, room, 1));
    for (const std::uint32_t x : drawn) stats_voi_update_abs_u32(sb.get(), 0, x);
    const std::string text = text_of(sb.get(), SB_STRFMT_JSON);
    const auto centroids = static_cast<std::size_t>(std::count(text.begin(), text.end(), 'm')) - 2;
    EXPECT_GT(centroids, before);
    EXPECT_GE(centroids, room / 2);
    before = centroids;
  }
}

// A compression looks at all centroids, and costs as much as some 20 samples.
TEST(DigestTest, HardlyEverCompressesForSortedSamples) {
  constexpr std::uint32_t kSamples = 100'000;
  for (const char* order : {"sorted", "reversed"}) {
    SCOPED_TRACE(order);
    Fixture fixture;
    Specs specs;
    const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 100, 1));
    Samples distinct(kSamples);
    std::iota(distinct.begin(), distinct.end(), 1);
    for (const std::uint32_t x : ordered(distinct, order))
      ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, x), 0);
    expect_ranks(sb.get(), distinct);
    EXPECT_TRUE(check_blob({bytes_of(sb.get()), sb->cursz}));
    const std::string text = text_of(sb.get(), SB_STRFMT_JSON);
    const std::string key = "\"compcnt\":";
    const auto at = text.find(key);
    ASSERT_NE(at, text.npos) << text;
    EXPECT_LE(std::stoul(text.substr(at + key.size())), kSamples / 500);
  }
}

TEST(DigestTest, MergesAsIfAllSamplesHadGoneIntoOne) {
  const Samples drawn = distributed("lognormal", 200'000);
  for (const char* order : {"random", "sorted"}) {
    Fixture fixture;
    Specs specs;
    const auto whole = make_blob(VSD_DTYPE_INT_U32,
                                 specs.sum().max().min().digest(VSD_DTYPE_TDGSTCLUST32, 100, 1));
    const Samples samples = ordered(drawn, order);
    for (std::size_t part = 0; part < 8; ++part) {
      const OwnedBlob piece(stats_blob_alloc(0, 0));
      for (std::size_t i = part * 25'000; i < (part + 1) * 25'000; ++i)
        stats_voi_update_abs_u32(piece.get(), 0, samples[i]);
      ASSERT_EQ(stats_blob_merge(whole.get(), piece.get()), 0);
    }
    expect_ranks(whole.get(), drawn);
    std::uint32_t sum = 0, wanted = 0;
    for (const std::uint32_t x : drawn) wanted += x;
    ASSERT_EQ(stats_voistat_fetch_u32(whole.get(), 0, VS_STYPE_SUM, &sum), 0);
    EXPECT_EQ(sum, wanted);
  }
}

TEST(DigestTest, IsExactUntilItIsFull) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_S32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 20, 4));
  for (int round = 0; round < 1000; ++round) {
    for (const int x : {-3, -1, 2, 100}) ASSERT_EQ(stats_voi_update_abs_s32(sb.get(), 0, x), 0);
  }
  EXPECT_EQ(quantile(sb.get(), 0.2), -3);
  EXPECT_EQ(quantile(sb.get(), 0.3), -1);
  EXPECT_EQ(quantile(sb.get(), 0.7), 2);
  EXPECT_EQ(quantile(sb.get(), 0.9), 100);
  // A signed VOI of 32 bits is taken, and negative means are numbers: neither is so with FreeBSD.
  EXPECT_NE(
      text_of(sb.get(), SB_STRFMT_JSON)
          .find(
              R"("smplcnt":4000,"compcnt":0,"maxctds":20,"nctds":4,"ctds":[{"mu":-3.0000,"cnt":1000},{"mu":-1.0000,"cnt":1000})"),
      std::string::npos);
}

TEST(DigestTest, ShowsMeansWithAsManyDecimalsAsBits) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 2, 4));
  for (const std::uint32_t x : {1u, 2u}) ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, x), 0);
  EXPECT_NE(
      text_of(sb.get(), SB_STRFMT_FREEFORM)
          .find("voistatdata: smplcnt=2, compcnt=1, maxctds=2, nctds=1\n\t\t\t\t{mu=1.5000,cnt=2}"),
      std::string::npos)
      << text_of(sb.get(), SB_STRFMT_FREEFORM);
  EXPECT_NE(text_of(sb.get(), SB_STRFMT_FREEFORM, SB_TOSTR_OBJDUMP)
                .find("\n\t\t\t\tctd[1].{mu=0.0000,cnt=0}"),
            std::string::npos);
}

// ---- the layout, and digests that another library built

TEST(DigestLayoutTest, GivesFreeBsdsTcpTemplateTheHashThatItHasThere) {
  Fixture fixture;
  const auto tpl = static_cast<std::uint32_t>(stats_tpl_alloc("TCP_DEFAULT", 0));
  const auto add = [&](int voi, const char* name, vsd_dtype dtype, Specs& specs) {
    ASSERT_EQ(stats_tpl_add_voistats(tpl, voi, name, dtype, specs.size(), specs.data(), 0), 0);
  };
  Specs sum, max, rtt, csig, gput, nd, window, acks;
  add(0, "TCP_TXPB", VSD_DTYPE_INT_U64, sum.sum());
  add(1, "TCP_RETXPB", VSD_DTYPE_INT_U32, sum);
  add(2, "TCP_FRWIN", VSD_DTYPE_INT_ULONG, max.max());
  add(3, "TCP_LCWIN", VSD_DTYPE_INT_ULONG, max);
  add(4, "TCP_RTT", VSD_DTYPE_INT_U32, rtt.max().min().digest(VSD_DTYPE_TDGSTCLUST32, 20, 4));
  add(5, "TCP_CSIG", VSD_DTYPE_INT_U32,
      csig.usr(VSD_DTYPE_DVHIST32, 0, {{1, 1}, {2, 2}, {4, 4}, {8, 8}}));
  add(6, "TCP_GPUT", VSD_DTYPE_INT_U32, gput.max().digest(VSD_DTYPE_TDGSTCLUST32, 20, 4));
  add(8, "TCP_GPUT_ND", VSD_DTYPE_INT_S32, nd.digest(VSD_DTYPE_TDGSTCLUST32, 10, 4));
  add(7, "TCP_CALCFRWINDIFF", VSD_DTYPE_INT_S32,
      window.usr(VSD_DTYPE_CRHIST32, VSD_HIST_LBOUND_INF, {{0, 0}}));
  add(9, "TCP_ACKLEN", VSD_DTYPE_INT_U32,
      acks.max().lin(VSD_DTYPE_CRHIST32, 0, 9, 1, VSD_HIST_UBOUND_INF));
  statsblob_tpl* found = nullptr;
  ASSERT_EQ(stats_tpl_fetch(static_cast<int>(tpl), &found), 0);
  EXPECT_EQ(found->mb->tplhash, 186575824u);
}

voistatdata_tdgstclust32& digest_of(statsblob* sb) {
  vsd_dtype dtype{};
  voistatdata* data = nullptr;
  EXPECT_EQ(stats_voistat_fetch_dptr(sb, 0, VS_STYPE_TDGST, &dtype, &data, nullptr), 0);
  return *reinterpret_cast<voistatdata_tdgstclust32*>(data);
}

TEST(DigestLayoutTest, BeginsWithAllPlacesInTheListOfFreeOnes) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 2, 2));
  const auto* const bytes = reinterpret_cast<const char*>(&digest_of(sb.get()));
  EXPECT_EQ(std::string(bytes, 20), std::string("\0\0\0\0"
                                                "\0\0\0\0"
                                                "\0\0"
                                                "\2\0"
                                                "\xff\xff"
                                                "\0\0"
                                                "\xff\xff"
                                                "\xff\xff",
                                                20));
  EXPECT_EQ(std::string(bytes + 20, 8), std::string("\0\0"
                                                    "\0\0"
                                                    "\1\0"
                                                    "\xff"
                                                    "\0",
                                                    8));
  EXPECT_EQ(std::string(bytes + 36, 8), std::string("\0\0"
                                                    "\0\0"
                                                    "\xff\xff"
                                                    "\xff"
                                                    "\0",
                                                    8));
}

// The same centroids at other places of the array, in a tree of another shape whose ends are not
// known yet.
void rebuild_as_another_library(statsblob* sb, std::mt19937& random) {
  auto& digest = digest_of(sb);
  auto& tree = digest.ctdtree;
  const int room = tree.arb_maxnodes, size = tree.arb_curnodes;
  const std::vector<voistatdata_tdgstctd32> before(tree.arb_nodes, tree.arb_nodes + room);
  std::vector<int> places(static_cast<std::size_t>(room));
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  const auto link = [&](int i) {
    return static_cast<std::int16_t>(i < 0 ? ARB_NULLIDX : places[static_cast<std::size_t>(i)]);
  };
  for (int i = 0; i < room; ++i) {
    auto& node = tree.arb_nodes[link(i)] = before[static_cast<std::size_t>(i)];
    const bool last = i + 1 == (i < size ? size : room);
    node.ctdlnk = {};
    node.ctdlnk.arbe_right = link(last ? -1 : i + 1);
    node.ctdlnk.arbe_color = static_cast<std::int8_t>(i < size ? i % 2 : ARB_NOCOLOR);
    if (i < size) {
      node.ctdlnk.arbe_left = ARB_NULLIDX;
      node.ctdlnk.arbe_parent = link(i - 1);
    }
  }
  tree.arb_root_idx = link(size > 0 ? 0 : -1);
  tree.arb_free_idx = link(size < room ? size : -1);
  tree.arb_min_idx = tree.arb_max_idx = ARB_NULLIDX;
}

TEST(DigestLayoutTest, TakesDigestsWhoseCentroidsStandInAnotherOrder) {
  std::mt19937 random(kSeed);
  for (const std::size_t count : {0u, 1u, 3u, 7u, 40u, 5'000u}) {
    SCOPED_TRACE(count);
    Fixture fixture;
    Specs specs;
    const auto ours = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 50, 2));
    for (const std::uint32_t x : distributed("uniform", count))
      stats_voi_update_abs_u32(ours.get(), 0, x);
    statsblob* copied = nullptr;
    ASSERT_EQ(stats_blob_clone(&copied, 0, ours.get(), SB_CLONE_ALLOCDST), 0);
    const OwnedBlob theirs(copied);
    const auto shuffle = [&] {
      rebuild_as_another_library(theirs.get(), random);
      char why[128] = "";
      ASSERT_EQ(stats_blob_check(theirs.get(), theirs->cursz, why, sizeof why), 0) << why;
      EXPECT_EQ(text_of(theirs.get(), SB_STRFMT_JSON), text_of(ours.get(), SB_STRFMT_JSON));
    };
    shuffle();
    std::size_t walked = 0;
    voistatdata_tdgstctd32* centroid = nullptr;
    ARB_FOREACH(centroid, ctdth32, &digest_of(theirs.get()).ctdtree)++ walked;
    EXPECT_EQ(walked, static_cast<std::size_t>(digest_of(ours.get()).ctdtree.arb_curnodes));
    for (const double q : {0.0, 0.25, 0.5, 0.99, 1.0}) {
      if (count > 0) {
        EXPECT_EQ(quantile(theirs.get(), q), quantile(ours.get(), q)) << q;
      }
    }
    shuffle();
    for (const std::uint32_t x : {0u, 500'000u, 500'000u, 2'000'000u}) {
      ASSERT_EQ(stats_voi_update_abs_u32(theirs.get(), 0, x), 0);
      ASSERT_EQ(stats_voi_update_abs_u32(ours.get(), 0, x), 0);
    }
    EXPECT_EQ(text_of(theirs.get(), SB_STRFMT_JSON), text_of(ours.get(), SB_STRFMT_JSON));
    shuffle();
    const OwnedBlob sum(stats_blob_alloc(0, 0)), other_sum(stats_blob_alloc(0, 0));
    ASSERT_EQ(stats_blob_merge(sum.get(), ours.get()), 0);
    ASSERT_EQ(stats_blob_merge(other_sum.get(), theirs.get()), 0);
    EXPECT_EQ(text_of(other_sum.get(), SB_STRFMT_JSON), text_of(sum.get(), SB_STRFMT_JSON));
  }
}

TEST(DigestLayoutTest, IsDumpedByTheOrderOfItsPlaces) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 8, 2));
  for (const std::uint32_t x : {1u, 2u, 3u}) stats_voi_update_abs_u32(sb.get(), 0, x);
  std::mt19937 random(kSeed);
  rebuild_as_another_library(sb.get(), random);
  const std::string text = text_of(sb.get(), SB_STRFMT_FREEFORM, SB_TOSTR_OBJDUMP);
  std::size_t at = 0;
  for (int i = 0; i < 8; ++i) {
    const std::size_t next = text.find("ctd[" + std::to_string(i) + "].{", at);
    ASSERT_NE(next, text.npos) << i << " in " << text;
    at = next;
  }
}

TEST(DigestLayoutTest, RefusesAnOrderThatIsNotWhatItSays) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 8, 2));
  for (const std::uint32_t x : {1u, 2u, 3u}) stats_voi_update_abs_u32(sb.get(), 0, x);
  auto& tree = digest_of(sb.get()).ctdtree;
  ASSERT_EQ(tree.arb_nodes[0].ctdlnk.arbe_is_ours, 1);
  ASSERT_EQ(stats_blob_check(sb.get(), sb->cursz, nullptr, 0), 0);
  // 1 <- 0 -> 2 by their means, which only a look at them tells.
  const std::uint32_t first = tree.arb_nodes[0].umu;
  tree.arb_nodes[0].umu = tree.arb_nodes[1].umu;
  tree.arb_nodes[1].umu = first;
  tree.arb_nodes[0].ctdlnk = {ARB_NULLIDX, 1, 2, ARB_BLACK, 1};
  tree.arb_nodes[1].ctdlnk = {0, ARB_NULLIDX, ARB_NULLIDX, ARB_RED, 0};
  tree.arb_nodes[2].ctdlnk = {0, ARB_NULLIDX, ARB_NULLIDX, ARB_RED, 0};
  tree.arb_root_idx = 0;
  tree.arb_min_idx = 1;
  EXPECT_EQ(stats_blob_check(sb.get(), sb->cursz, nullptr, 0), EINVAL);
  tree.arb_nodes[0].ctdlnk.arbe_is_ours = 0;
  EXPECT_EQ(stats_blob_check(sb.get(), sb->cursz, nullptr, 0), 0);
}

TEST(DigestTest, RefusesWhatItsMeansHaveNoRoomForAndCountsThat) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.sum().digest(VSD_DTYPE_TDGSTCLUST32, 20, 2));
  EXPECT_EQ(stats_voi_update_abs_u32(sb.get(), 0, (1u << 27) - 1), 0);
  EXPECT_EQ(stats_voi_update_abs_u32(sb.get(), 0, 1u << 27), EOVERFLOW);
  EXPECT_EQ(stats_voi_update_abs_u32(sb.get(), 0, UINT32_MAX), EOVERFLOW);
  const std::string text = text_of(sb.get(), SB_STRFMT_JSON);
  EXPECT_NE(text.find(R"("[1]":{"errs":0,"val":268435454})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("[5]":{"errs":2,"smplcnt":1,)"), std::string::npos) << text;
}

TEST(DigestTest, AllocatesNothingForASample) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 100, 2));
  const std::size_t before = allocated_bytes();
  for (std::uint32_t x = 0; x < 10'000; ++x) stats_voi_update_abs_u32(sb.get(), 0, x);
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(DigestTest, KeepsSmallSamplesAmongGreatOnes) {
  // FreeBSD's drops the low tail beyond 65,536.
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U64, specs.digest(VSD_DTYPE_TDGSTCLUST64, 50, 1));
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    ASSERT_EQ(
        stats_voi_update_abs_u64(sb.get(), 0, i % 10 == 0 ? i / 10 : (std::uint64_t{1} << 50) + i),
        0);
  }
  EXPECT_LT(quantile(sb.get(), 0.09), 10'000);
  EXPECT_GT(quantile(sb.get(), 0.12), 1e15);
}

TEST(DigestTest, StaysAtItsMaximumAfterAsManySamplesAs32BitsCount) {
  Fixture fixture;
  Specs specs;
  const auto a = make_blob(VSD_DTYPE_INT_U32, specs.digest(VSD_DTYPE_TDGSTCLUST32, 20, 2));
  for (const std::uint32_t x : distributed("uniform", 1'000))
    stats_voi_update_abs_u32(a.get(), 0, x);
  const OwnedBlob b(stats_blob_alloc(0, 0));
  // 1,000 * 2^24 samples: FreeBSD's fails at 2^28.
  for (int doubling = 0; doubling < 24; ++doubling) {
    ASSERT_EQ(stats_blob_merge(b.get(), a.get()), 0);
    ASSERT_EQ(stats_blob_merge(a.get(), b.get()), 0);
  }
  EXPECT_NE(text_of(a.get(), SB_STRFMT_JSON).find(R"("smplcnt":4294967295)"), std::string::npos);
  ASSERT_EQ(stats_voi_update_abs_u32(a.get(), 0, 5), 0);
  EXPECT_NEAR(quantile(a.get(), 0.5), 500'000, 100'000);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
