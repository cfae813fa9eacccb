// What strangers send: every byte damaged in turn, every length cut; what passes can be given to
// all other calls.
#include "core/stats3/blob/check.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

using Bytes = std::vector<std::uint8_t>;

// One of everything.
Bytes full_blob() {
  const int id = stats_tpl_alloc("FULL", 0);
  const auto slot = static_cast<std::uint32_t>(id);
  Specs one, two, three;
  one.sum().max().min().lin(VSD_DTYPE_CRHIST32, -10, 10, 5).digest(VSD_DTYPE_TDGSTCLUST32, 8, 2);
  two.digest(VSD_DTYPE_TDGSTCLUST64, 5, 2).usr(VSD_DTYPE_DRHIST64, 0, {{0, 10}, {20, 30}});
  three.min().usr(VSD_DTYPE_DVHIST32, 0, {{1, 1}, {5, 5}});
  EXPECT_EQ(stats_tpl_add_voistats(slot, 0, "S", VSD_DTYPE_INT_S32, one.size(), one.data(),
                                   SB_VOI_RELUPDATE),
            0);
  EXPECT_EQ(stats_tpl_add_voistats(slot, 2, "U", VSD_DTYPE_INT_U64, two.size(), two.data(), 0), 0);
  EXPECT_EQ(stats_tpl_add_voistats(slot, 3, "Q", VSD_DTYPE_Q_S64, three.size(), three.data(), 0),
            0);
  const OwnedBlob sb(stats_blob_alloc(slot, 0));
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(stats_voi_update_rel_s32(sb.get(), 0, i % 7 - 3), 0);
    EXPECT_EQ(stats_voi_update_abs_u64(sb.get(), 2, static_cast<std::uint64_t>(i * i)), 0);
  }
  return {bytes_of(sb.get()), bytes_of(sb.get()) + sb->cursz};
}

// Everything that can be done with a blob.
void use(Bytes bytes) {
  auto* const sb = reinterpret_cast<statsblob*>(bytes.data());
  for (const std::uint32_t flags : {0u, SB_TOSTR_OBJDUMP, SB_TOSTR_META}) {
    text_of(sb, SB_STRFMT_JSON, flags);
    text_of(sb, SB_STRFMT_FREEFORM, flags);
  }
  double value = 0;
  for (int voi = 0; voi < voi_slots(header_of(sb)); ++voi) {
    stats_voi_update_abs_s32(sb, voi, 7);
    stats_voi_update_rel_s32(sb, voi, -7);
    stats_voi_update_abs_u64(sb, voi, 1u << 20);
    stats_voi_update_abs_sq64(sb, voi, 800);
    stats_voistat_fetch_quantile(sb, voi, 0.5, &value);
  }
  Bytes other = bytes;
  stats_blob_merge(sb, reinterpret_cast<statsblob*>(other.data()));
  reset(sb, 0);
}

TEST(CheckTest, TakesWhatTheLibraryMakes) {
  Fixture fixture;
  Bytes blob = full_blob();
  ASSERT_TRUE(check_blob(blob)) << check_blob(blob).error().reason;
  EXPECT_EQ(*check_blob(blob), blob.size());
  use(blob);
  blob.push_back(0);
  EXPECT_EQ(*check_blob(blob), blob.size() - 1);
}

TEST(CheckTest, RefusesEveryLengthThatIsCut) {
  Fixture fixture;
  const Bytes blob = full_blob();
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_FALSE(check_blob({blob.data(), size})) << size;
}

TEST(CheckTest, SaysWhatIsWrong) {
  Fixture fixture;
  const Bytes blob = full_blob();
  const auto reason = [&blob](std::size_t at, std::uint8_t byte) {
    Bytes damaged = blob;
    damaged[at] = byte;
    char why[128] = "";
    EXPECT_EQ(stats_blob_check(damaged.data(), damaged.size(), why, sizeof why), EINVAL);
    return std::string(why);
  };
  EXPECT_EQ(reason(0, 2), "abi is 2, not 1");
  EXPECT_EQ(reason(1, SB_BE), "it is big-endian, which is not converted");
  EXPECT_EQ(reason(1, 7), "endian is 7, not 1");
  EXPECT_EQ(reason(2, 1), "flags is 1, not 0");
  EXPECT_EQ(reason(7, 0xFF).substr(0, 9), "cursz is ");
  EXPECT_EQ(reason(12, 33), "stats_off is 33");
  EXPECT_EQ(reason(14, blob[14] | 1).substr(0, 13), "statsdata_off");
  EXPECT_EQ(reason(32, 9), "VOI 0: id is 9");
  EXPECT_EQ(reason(34, 11), "VOI 0: dtype is 11, which no VOI has");
  EXPECT_EQ(reason(35, 6), "VOI 0: voistatmaxid is 6");
}

TEST(CheckTest, LetsPassOnlyWhatCanBeUsed) {
  Fixture fixture;
  const Bytes blob = full_blob();
  std::mt19937 random(11);
  for (std::size_t at = 0; at < blob.size(); ++at) {
    for (const unsigned byte :
         {0u, 1u, 0x7Fu, 0x80u, 0xFFu, static_cast<unsigned>(random() % 256)}) {
      Bytes damaged = blob;
      damaged[at] = static_cast<std::uint8_t>(byte);
      if (check_blob(damaged)) use(damaged);
    }
  }
}

}  // namespace
}  // namespace tallyfs::stats3::blob
