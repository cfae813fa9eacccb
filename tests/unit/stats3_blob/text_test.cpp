// Text beyond what the golden files show: single numbers, and names that are no UTF-8.
#include <gtest/gtest.h>

#include <cerrno>

#include "core/stats3/blob/text.h"
#include "tests/unit/stats3_blob/fixture.h"

namespace tallyfs::stats3::blob {
namespace {

TEST(NumberTextTest, HasNoKeyInJsonWhenItStandsAlone) {
  const std::int32_t number = -7;
  const auto* const data = reinterpret_cast<const voistatdata*>(&number);
  const auto shown = [&](unsigned voi_dtype) {
    sbuf* const text = sbuf_new_auto();
    const int error = stats_voistatdata_tostr(data, static_cast<vsd_dtype>(voi_dtype),
                                              VSD_DTYPE_INT_S32, 4, SB_STRFMT_JSON, text, 0);
    sbuf_finish(text);
    const std::string out = error == 0 ? sbuf_data(text) : "error " + std::to_string(error);
    sbuf_delete(text);
    return out;
  };
  EXPECT_EQ(shown(VSD_DTYPE_INT_S32), "-7");
  EXPECT_EQ(shown(VSD_DTYPE_VOISTATE), "error " + std::to_string(EINVAL));
  EXPECT_EQ(shown(VSD_DTYPE_CRHIST32), "error " + std::to_string(EINVAL));
  EXPECT_EQ(shown(200), "error " + std::to_string(EINVAL));
}

TEST(NumberTextTest, HasTheSizeOfItsTypeAtLeast) {
  const std::int64_t number = 7;
  const auto* const data = reinterpret_cast<const voistatdata*>(&number);
  sbuf* const text = sbuf_new_auto();
  const auto error = [&](unsigned dtype, std::size_t bytes) {
    return stats_voistatdata_tostr(data, VSD_DTYPE_INT_S64, static_cast<vsd_dtype>(dtype), bytes,
                                   SB_STRFMT_JSON, text, 0);
  };
  for (const unsigned dtype : {VSD_DTYPE_INT_S64, VSD_DTYPE_VOISTATE}) {
    EXPECT_EQ(error(dtype, 0), EINVAL) << dtype;
    EXPECT_EQ(error(dtype, 7), EINVAL) << dtype;
    EXPECT_EQ(error(dtype, 8), 0) << dtype;
    EXPECT_EQ(error(dtype, SIZE_MAX), 0) << "it is not known";
  }
  for (const std::size_t bytes : {std::size_t{0}, SIZE_MAX}) {
    EXPECT_EQ(error(VSD_DTYPE_CRHIST32, bytes), EINVAL);
    EXPECT_EQ(error(VSD_DTYPE_TDGSTCLUST64, bytes), EINVAL);
  }
  sbuf_delete(text);
}

TEST(NameTextTest, IsUtf8WhateverTheProgramGave) {
  Fixture fixture;
  Specs sum;
  const auto slot = static_cast<std::uint32_t>(stats_tpl_alloc("\xc3\xa4T", 0));
  ASSERT_EQ(stats_tpl_add_voistats(slot, 0, "a\xc3(\xe2\x82\xac\"\n", VSD_DTYPE_INT_U32, 1,
                                   sum.sum().data(), 0),
            0);
  const OwnedBlob sb(stats_blob_alloc(slot, 0));
  ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, 1), 0);
  const std::string json = text_of(sb.get(), SB_STRFMT_JSON, SB_TOSTR_META);
  EXPECT_NE(json.find("{\"tplname\":\"\xc3\xa4T\""), json.npos) << json;
  EXPECT_NE(json.find("\"a\\ufffd(\xe2\x82\xac\\\"\\u000a\":{"), json.npos) << json;
  const std::string freeform = text_of(sb.get(), SB_STRFMT_FREEFORM, SB_TOSTR_META);
  EXPECT_NE(freeform.find("name=\"a\\xc3(\xe2\x82\xac\"\\x0a\""), freeform.npos) << freeform;
}

// As the tree shows it, which has the names of the template.
std::string in_tree(statsblob* sb, sb_str_fmt format) {
  const auto names = Templates::of_process().names_by_hash(header_of(sb).tplhash);
  return render(
      sb, {.format = format, .audience = Audience::kTree, .names = &*names, .address = "0x1"});
}

TEST(TreeTextTest, LeavesOutEmptyBucketsAtTheEndsOfFreeform) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.lin(VSD_DTYPE_CRHIST32, 0, 70, 10));
  for (const std::uint32_t x : {25u, 45u}) stats_voi_update_abs_u32(sb.get(), 0, x);
  EXPECT_TRUE(in_tree(sb.get(), SB_STRFMT_FREEFORM)
                  .ends_with("nbkts=8, oob=0\n\t\t\t\t{lb=20,ub=30,cnt=1}\n\t\t\t\t"
                             "{lb=30,ub=40,cnt=0}\n\t\t\t\t{lb=40,ub=50,cnt=1}"))
      << in_tree(sb.get(), SB_STRFMT_FREEFORM);
  EXPECT_NE(in_tree(sb.get(), SB_STRFMT_JSON).find(R"({"lb":0,"ub":10,"cnt":0})"),
            std::string::npos);
  EXPECT_NE(text_of(sb.get(), SB_STRFMT_FREEFORM).find("{lb=0,ub=10,cnt=0}"), std::string::npos);
}

TEST(TreeTextTest, ShowsNothingOfAnEmptyHistogramButItsSize) {
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.lin(VSD_DTYPE_CRHIST32, 0, 70, 10));
  EXPECT_TRUE(in_tree(sb.get(), SB_STRFMT_FREEFORM).ends_with("nbkts=8, oob=0"));
}

TEST(TreeTextTest, HasAKeyOfItsOwnForEachVoi) {
  Fixture fixture;
  Specs specs;
  specs.sum();
  const auto slot = static_cast<std::uint32_t>(stats_tpl_alloc("T", 0));
  int id = 0;
  for (const char* name : {"x", "x", "x#2", "y"}) {
    ASSERT_EQ(stats_tpl_add_voistats(slot, id++, name, VSD_DTYPE_INT_U32, 1, specs.data(), 0), 0);
  }
  const OwnedBlob sb(stats_blob_alloc(slot, 0));
  const std::string json = in_tree(sb.get(), SB_STRFMT_JSON);
  for (const char* key : {"\"x\":{", "\"x#2\":{", "\"x#2#2\":{", "\"y\":{"}) {
    EXPECT_NE(json.find(key), json.npos) << key << " in " << json;
    EXPECT_EQ(json.find(key), json.rfind(key)) << key << " in " << json;
  }
}

}  // namespace
}  // namespace tallyfs::stats3::blob
