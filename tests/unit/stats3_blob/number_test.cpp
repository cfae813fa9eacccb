// Q numbers: qmath.h by the examples of its manual page, and VOIs of those types, which FreeBSD's
// macros crash on.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

std::string text(s32q_t q) {
  char out[64];
  return Q_TOSTR(q, -1, 10, out, sizeof out) ? out : "";
}

TEST(QNumberTest, HasTheBitsOfTheManualPage) {
  s32q_t q = 0;
  Q_INI(&q, 0, 0, 8);
  Q_QFRACI(&q, 5, 3);
  EXPECT_EQ(q, 0xd53);
  EXPECT_EQ(Q_RPSHFT(q), 11u);
  EXPECT_EQ(Q_NIBITS(q), 20u);
  EXPECT_EQ(Q_GIVAL(q), 1);
  EXPECT_EQ(Q_GFABSVAL(q), 0xaau);
  EXPECT_EQ(text(q), "1.66406250");
  for (const auto& [asked, given] : std::vector<std::pair<int, unsigned>>{
           {1, 2}, {2, 2}, {3, 4}, {6, 6}, {7, 8}, {9, 16}, {16, 16}, {17, 28}}) {
    Q_INI(&q, 0, 0, asked);
    EXPECT_EQ(Q_NFBITS(q), given) << asked;
  }
}

TEST(QNumberTest, CalculatesAndTellsWhatDoesNotFit) {
  u64q_t pi = 0, radius = 0;
  Q_INI(&pi, 3, 14159, 16);
  Q_INI(&radius, 4, 2, 16);
  EXPECT_EQ(Q_QMULQ(&pi, radius), 0);
  EXPECT_EQ(Q_QMULQ(&pi, radius), 0);
  EXPECT_NEAR(Q_Q2D(pi), 3.14159 * 4.2 * 4.2, 0.002);
  s32q_t q = 0;
  Q_INI(&q, -3, 05, 8);
  EXPECT_EQ(text(q), "-3.04687500");
  EXPECT_EQ(Q_QADDI(&q, 1'000'000), 0);
  EXPECT_EQ(Q_QMULI(&q, 2), EOVERFLOW);
  EXPECT_EQ(Q_GIVAL(q), 999'996);
  EXPECT_EQ(Q_QDIVI(&q, 0), EINVAL);
  u32q_t u = 0;
  EXPECT_EQ(Q_QSUBI(&u, 1), EOVERFLOW);
}

TEST(QNumberTest, ACopyThatHasNoRoomChangesNothing) {
  s32q_t small = 0;
  Q_INI(&small, 5, 25, 8);
  const s32q_t before = small;
  s64q_t large = 0;
  Q_INI(&large, 1099511627776, 0, 8);
  EXPECT_EQ(Q_QCLONEQ(&small, large), EOVERFLOW);
  EXPECT_EQ(Q_QCPYVALQ(&small, large), EOVERFLOW);
  EXPECT_EQ(Q_QCPYVALI(&small, 1099511627776), EOVERFLOW);
  EXPECT_EQ(Q_QFRACI(&small, 1, 0), EINVAL);
  EXPECT_EQ(small, before);
  u32q_t without_sign = 0;
  s32q_t negative = 0;
  Q_INI(&negative, -2, 5, 8);
  EXPECT_EQ(Q_QCLONEQ(&without_sign, negative), EOVERFLOW);
  EXPECT_EQ(without_sign, 0u);
}

TEST(QNumberTest, ACloneHasTheControlBitsToo) {
  s32q_t from = 0;
  Q_INI(&from, -2, 5, 8);
  s64q_t to = 0;
  Q_INI(&to, 7, 0, 32);
  EXPECT_EQ(Q_QCLONEQ(&to, from), 0);
  EXPECT_EQ(Q_GCRAW(to), Q_GCRAW(from));
  EXPECT_EQ(Q_Q2D(to), -2.5);
  EXPECT_EQ(Q_QCPYVALI(&to, -9), 0);
  EXPECT_EQ(Q_Q2D(to), -9.0);
  EXPECT_EQ(Q_QFRACI(&to, 1, 4), 0);
  EXPECT_EQ(Q_Q2D(to), 0.25);
}

TEST(QVoiTest, CountsSumsAndEndsByValue) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_Q_S32, specs.sum().max().min(), SB_VOI_RELUPDATE);
  ASSERT_TRUE(sb);
  const auto q = [](int whole, int rpshft) {
    s32q_t number = 0;
    Q_INI(&number, 0, 25, rpshft);
    Q_QADDI(&number, whole);
    return number;
  };
  EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q(-7, 8)), 0);
  EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q(4, 8)), 0);
  EXPECT_EQ(stats_voi_update_rel_sq32(sb.get(), 0, q(-1, 8)), 0);
  EXPECT_EQ(stats_voi_update_abs_s32(sb.get(), 0, 1), EINVAL);
  // -6.75 + 4.25 + 3.5
  EXPECT_EQ(
      text_of(sb.get(), SB_STRFMT_JSON),
      R"({"tplname":null,"tplhash":)" + std::to_string(header_of(sb.get()).tplhash) +
          R"(,"vois":{"[0]":{"stats":{"[1]":{"errs":0,"val":1.00000000},"[2]":{"errs":0,"val":4.25000000},)" +
          R"("[3]":{"errs":0,"val":-6.75000000}}}}})");
}

// Q_S32 of 8 bits of fraction, as its helper's info says.
OwnedBlob blob_of_eight_bits(Specs& specs, std::uint32_t flags = 0) {
  static vss_numeric_hlpr_info eight{.prec = 8};
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    specs.data()[i].hlprinfo = reinterpret_cast<vss_hlpr_info*>(&eight);
  }
  return make_blob(VSD_DTYPE_Q_S32, specs, flags);
}

s32q_t q_of(int whole, int rpshft) {
  s32q_t number = 0;
  Q_INI(&number, whole, 5, rpshft);
  return number;
}

TEST(QVoiTest, KeepsItsFractionThroughAReset) {
  for (const bool is_said : {true, false}) {
    Fixture fixture;
    Specs specs;
    specs.sum().min().max();
    const auto sb = is_said ? blob_of_eight_bits(specs) : make_blob(VSD_DTYPE_Q_S32, specs);
    ASSERT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
    statsblob* copy = nullptr;
    ASSERT_EQ(stats_blob_snapshot(&copy, 0, sb.get(), SB_CLONE_ALLOCDST | SB_CLONE_RSTSRC), 0);
    stats_blob_destroy(copy);
    const std::string text = text_of(sb.get(), SB_STRFMT_FREEFORM);
    EXPECT_NE(text.find("voistatdata: 1048575.99609375"), text.npos) << text;
    EXPECT_NE(text.find("voistatdata: -1048575.99609375"), text.npos) << text;
    EXPECT_NE(text.find("voistatdata: 0.00000000"), text.npos) << text;
    EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 4)), ERANGE);
    EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
  }
}

TEST(QVoiTest, OnlyASumRefusesAnotherFraction) {
  Fixture fixture;
  Specs specs;
  const auto sb = blob_of_eight_bits(specs.sum().max().min());
  EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 16)), ERANGE);
  ASSERT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
  EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(9, 4)), ERANGE);
  const std::string text = text_of(sb.get(), SB_STRFMT_JSON);
  EXPECT_NE(text.find(R"("[1]":{"errs":2,"val":3.50000000})"), text.npos) << text;
  EXPECT_NE(text.find(R"("[2]":{"errs":0,"val":9.50000000})"), text.npos) << text;
  EXPECT_NE(text.find(R"("[3]":{"errs":0,"val":3.50000000})"), text.npos) << text;
}

TEST(QVoiTest, AChangeOfAnotherFractionChangesNothing) {
  Fixture fixture;
  Specs specs;
  const auto sb = blob_of_eight_bits(specs.sum().max().min(), SB_VOI_RELUPDATE);
  ASSERT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
  EXPECT_EQ(stats_voi_update_rel_sq32(sb.get(), 0, q_of(1, 4)), ERANGE);
  ASSERT_EQ(stats_voi_update_rel_sq32(sb.get(), 0, q_of(1, 8)), 0);
  const std::string after = text_of(sb.get(), SB_STRFMT_JSON);
  EXPECT_NE(after.find(R"("[2]":{"errs":1,"val":5.00000000})"), after.npos) << after;
}

// 3.5 with 8 bits of fraction is kept throughout; each sample has another precision.
TEST(QVoiTest, ExtremesCompareByValueAtAnyPrecision) {
  struct Row {
    const char* what;
    int whole;
    int bits;
    int returned;
    const char* max;
    const char* min;
  };
  for (const Row& row : {Row{"larger, coarser", 9, 4, 0, "9.50000000", "3.50000000"},
                         Row{"larger, finer", 9, 16, 0, "9.50000000", "3.50000000"},
                         Row{"smaller", -9, 4, 0, "3.50000000", "-9.50000000"},
                         Row{"the same", 3, 4, 0, "3.50000000", "3.50000000"},
                         Row{"no room", 3'000'000, 4, EOVERFLOW, "3.50000000", "3.50000000"}}) {
    Fixture fixture;
    Specs specs;
    const auto sb = blob_of_eight_bits(specs.max().min());
    ASSERT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
    EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(row.whole, row.bits)), row.returned)
        << row.what;
    const std::string text = text_of(sb.get(), SB_STRFMT_JSON);
    const char* const errors = row.returned == 0 ? "0" : "1";
    EXPECT_NE(text.find(std::string(R"("[2]":{"errs":)") + errors + R"(,"val":)" + row.max),
              text.npos)
        << row.what << ": " << text;
    EXPECT_NE(text.find(std::string(R"("[3]":{"errs":0,"val":)") + row.min), text.npos)
        << row.what << ": " << text;
  }
}

TEST(QVoiTest, AnExtremeTooLargeForItsPrecisionIsNoErrorUnlessItIsNew) {
  Fixture fixture;
  Specs specs;
  const auto sb = blob_of_eight_bits(specs.min());
  ASSERT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3, 8)), 0);
  EXPECT_EQ(stats_voi_update_abs_sq32(sb.get(), 0, q_of(3'000'000, 4)), 0);
  EXPECT_NE(text_of(sb.get(), SB_STRFMT_JSON).find(R"("errs":0,"val":3.50000000)"),
            std::string::npos);
}

TEST(QVoiTest, BeginsWithTheTypesEnds) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_Q_U64, specs.max().min());
  u64q_t most = 0, least = 1;
  ASSERT_EQ(stats_voistat_fetch_uq64(sb.get(), 0, VS_STYPE_MIN, &most), 0);
  ASSERT_EQ(stats_voistat_fetch_uq64(sb.get(), 0, VS_STYPE_MAX, &least), 0);
  EXPECT_EQ(most, UINT64_MAX - 7);
  EXPECT_EQ(least, 0u);
}

TEST(TextTest, EscapesNamesSoThatJsonStaysJson) {
  Fixture fixture;
  const auto slot = static_cast<std::uint32_t>(stats_tpl_alloc("a'b,c", 0));
  Specs specs;
  ASSERT_EQ(stats_tpl_add_voistats(slot, 0, "\t\"", VSD_DTYPE_INT_U32, 1, specs.sum().data(), 0),
            0);
  const OwnedBlob sb(stats_blob_alloc(slot, 0));
  EXPECT_TRUE(
      text_of(sb.get(), SB_STRFMT_JSON, SB_TOSTR_META).starts_with(R"({"tplname":"a'b,c",)"));
  EXPECT_NE(text_of(sb.get(), SB_STRFMT_JSON, SB_TOSTR_META).find(R"("vois":{"\u0009\"":{)"),
            std::string::npos);
}

TEST(TextTest, EndsWithinAFixedBuffer) {
  char room[8];
  sbuf text;
  ASSERT_TRUE(sbuf_new(&text, room, sizeof room, SBUF_FIXEDLEN));
  EXPECT_EQ(sbuf_printf(&text, "%d", 1234567), 0);
  EXPECT_EQ(sbuf_putc(&text, '8'), -1);
  EXPECT_EQ(sbuf_error(&text), ENOMEM);
  EXPECT_EQ(sbuf_finish(&text), -1);
  EXPECT_STREQ(sbuf_data(&text), "1234567");
  EXPECT_EQ(sbuf_len(&text), -1);
  sbuf_clear(&text);
  EXPECT_EQ(sbuf_cat(&text, "ok"), 0);
  EXPECT_EQ(sbuf_finish(&text), 0);
  EXPECT_EQ(sbuf_len(&text), 2);
  sbuf_delete(&text);
}

TEST(TemplatesTest, RefuseNamesThatTheTreeCouldNotShow) {
  Fixture fixture;
  for (const char* name : {"a\"b", "a\\b", "a\nb", "\xff", "\x1b[31m"}) {
    EXPECT_EQ(stats_tpl_alloc(name, 0), -EINVAL) << name;
  }
  for (const char* name : {"", "a b", "a'b,c", "\xc3\xa4"}) {
    EXPECT_GE(stats_tpl_alloc(name, 0), 0) << name;
  }
}

TEST(TemplatesTest, LeaveBlobsThatWereMadeBeforeAsTheyAre) {
  Fixture fixture;
  Specs specs;
  const auto before = make_blob(VSD_DTYPE_INT_U32, specs.sum());
  Specs more;
  ASSERT_EQ(stats_tpl_add_voistats(0, 5, "W", VSD_DTYPE_INT_S64, 1, more.max().data(), 0), 0);
  const OwnedBlob after(stats_blob_alloc(0, 0));
  EXPECT_EQ(stats_voi_update_abs_s64(before.get(), 5, 1), EINVAL);
  EXPECT_EQ(stats_voi_update_abs_s64(after.get(), 5, 1), 0);
  EXPECT_EQ(stats_voi_update_abs_s64(after.get(), 4, 1), EINVAL);
  EXPECT_EQ(stats_blob_merge(after.get(), before.get()), EINVAL);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
