#include "core/statistics/exposition/names.h"

#include <gtest/gtest.h>

namespace tallyfs::statistics {
namespace {

// `NAME unit` of a role.
std::string name_of(std::string_view name, std::string_view units, Role role) {
  const FamilyName family = FamilyNames("tally_", name, units).of(role);
  return family.name + (family.unit.empty() ? "" : " " + family.unit);
}

std::string labels_of(std::string_view statistic) {
  std::string text = split_tags(statistic).name;
  for (const Label& label : split_tags(statistic).labels) {
    text.append(" ").append(label.name).append("=").append(label.value);
  }
  return text;
}

TEST(NamesTest, EachRoleHasItsForm) {
  constexpr std::string_view kUnits = "microseconds/requests";
  const auto of = [&](Role role) { return name_of("latency_us", kUnits, role); };
  EXPECT_EQ(of(Role::kTotal), "tally_latency_requests requests");
  EXPECT_EQ(of(Role::kSummed), "tally_latency_summed_seconds seconds");
  EXPECT_EQ(of(Role::kNet), "tally_latency_net_seconds seconds");
  EXPECT_EQ(of(Role::kDistribution), "tally_latency_seconds seconds");
  EXPECT_EQ(of(Role::kMin), "tally_latency_min_seconds seconds");
  EXPECT_EQ(of(Role::kMax), "tally_latency_max_seconds seconds");
  EXPECT_EQ(of(Role::kLast), "tally_latency_last_seconds seconds");
  EXPECT_EQ(of(Role::kTotalPerPeriod), "tally_latency_requests_per_period");
  EXPECT_EQ(of(Role::kSumPerPeriod), "tally_latency_seconds_per_period");
  EXPECT_EQ(of(Role::kSamplesOfPeriod), "tally_latency_period_samples");
  EXPECT_EQ(of(Role::kMinOfPeriod), "tally_latency_period_min_seconds seconds");
  EXPECT_EQ(of(Role::kAvgOfPeriod), "tally_latency_period_avg_seconds seconds");
  EXPECT_EQ(of(Role::kMaxOfPeriod), "tally_latency_period_max_seconds seconds");
  EXPECT_EQ(of(Role::kQuantileOfPeriod), "tally_latency_period_quantile_seconds seconds");
}

TEST(NamesTest, KeepTheirCharactersForThoseThatTakeThem) {
  constexpr auto kUtf8 = NameCharacters::kUtf8;
  const FamilyNames names("tally_", "page.größe_us", "microseconds/requests", kUtf8);
  EXPECT_EQ(names.of(Role::kDistribution).name, "tally_page.größe_seconds");
  EXPECT_EQ(names.of(Role::kDistribution).unit, "seconds");
  EXPECT_EQ(FamilyNames("", "9lives", "", kUtf8).of(Role::kTotal).name, "9lives");
  EXPECT_EQ(FamilyNames("", "a\xff", "", kUtf8).of(Role::kTotal).name, "a\xEF\xBF\xBD");
  const TaggedName tagged = split_tags("hits{http.code:200,le:1}", kUtf8);
  ASSERT_EQ(tagged.labels.size(), 2u);
  EXPECT_EQ(tagged.labels[0].name, "http.code");
  EXPECT_EQ(tagged.labels[1].name, "tag_le");
}

TEST(NamesTest, WithoutUnits) {
  EXPECT_EQ(name_of("hits", "", Role::kTotal), "tally_hits");
  EXPECT_EQ(name_of("hits", "microseconds/", Role::kTotal), "tally_hits_samples");
  EXPECT_EQ(name_of("hits", "", Role::kSummed), "tally_hits");
  EXPECT_EQ(name_of("hits", "requests", Role::kSummed), "tally_hits_summed");
  EXPECT_EQ(name_of("hits", "requests", Role::kDistribution), "tally_hits_value");
  EXPECT_EQ(name_of("fill", "thousandths/reads", Role::kDistribution), "tally_fill_value");
  EXPECT_EQ(name_of("hits", "", Role::kLast), "tally_hits_last");
  EXPECT_EQ(name_of("hits", "", Role::kTotalPerPeriod), "tally_hits_per_period");
}

TEST(NamesTest, AnEndThatSaysTheUnitIsNotRepeated) {
  EXPECT_EQ(name_of("batch_ns", "nanoseconds/batches", Role::kDistribution),
            "tally_batch_seconds seconds");
  EXPECT_EQ(name_of("rx_bytes", "bytes/packets", Role::kDistribution), "tally_rx_bytes bytes");
  EXPECT_EQ(name_of("rx_kb", "KiB", Role::kTotal), "tally_rx_bytes bytes");
  EXPECT_EQ(name_of("datagrams", "datagrams", Role::kTotal), "tally_datagrams datagrams");
  EXPECT_EQ(name_of("rx_bytes", "bytes", Role::kLast), "tally_rx_bytes_last");
  // Of another unit it may be what tells statistics apart.
  EXPECT_EQ(name_of("drops_by_uid", "uid/samples", Role::kTotal),
            "tally_drops_by_uid_samples samples");
  EXPECT_EQ(name_of("last_uid", "uid/samples", Role::kDistribution), "tally_last_uid uid");
  EXPECT_EQ(name_of("cpu_pct", "percent/samples", Role::kLast), "tally_cpu_last_ratio ratio");
  EXPECT_EQ(name_of("us", "microseconds/requests", Role::kDistribution),
            "tally_us_seconds seconds");
}

TEST(NamesTest, ReservedEndsAreTakenOffOrFollowed) {
  EXPECT_EQ(name_of("reads_total", "", Role::kTotal), "tally_reads");
  EXPECT_EQ(name_of("reads_count", "", Role::kLast), "tally_reads_count_stat_last");
  EXPECT_EQ(name_of("reads_bucket", "", Role::kTotal), "tally_reads_bucket_stat");
  EXPECT_EQ(name_of("reads", "count", Role::kTotal), "tally_reads_count_stat");
  EXPECT_EQ(name_of("reads", "count/n", Role::kDistribution), "tally_reads_count_stat");
  EXPECT_EQ(name_of("reads", "total/n", Role::kDistribution), "tally_reads");
}

TEST(NamesTest, OtherCharactersBecomeUnderscores) {
  EXPECT_EQ(name_of("a.b-c:d", "lines+messages", Role::kTotal),
            "tally_a_b_c_d_lines_messages lines_messages");
  EXPECT_EQ(name_of("\xE8\xAA\xAD\xE3\x82\x81", "", Role::kTotal), "tally___");
  EXPECT_EQ(FamilyNames("", "9lives", "").of(Role::kTotal).name, "_9lives");
}

TEST(NamesTest, TagsBecomeLabels) {
  EXPECT_EQ(labels_of("latency{route:checkout,k2}~t"), "latency~t k2=true route=checkout");
  EXPECT_EQ(labels_of("a{k:1,k:2}"), "a k=1;2");
  EXPECT_EQ(labels_of("a{*}"), "a overflow=true");
  EXPECT_EQ(labels_of("a%2Fb{url:http:%2F%2Fh}"), "a/b url=http://h");
  EXPECT_EQ(labels_of("a{x:%FF%zz%2}"), "a x=\xEF\xBF\xBD%zz%2");
  EXPECT_EQ(labels_of("a{le:1,job:2,__name__:3,9x:4,a-b:5}"),
            "a _9x=4 a_b=5 tag___name__=3 tag_job=2 tag_le=1");
}

TEST(NamesTest, OtherBracesAreCharactersLikeOthers) {
  for (const char* name : {"{a}", "a{}", "a{b", "a}b{", "a{b}c", "a{b{c}}", "a{b}~", "a{b}~12"}) {
    EXPECT_EQ(labels_of(name), name);
  }
}

TEST(NamesTest, APrefixHasOnlyCharactersOfNames) {
  EXPECT_TRUE(is_metric_prefix(""));
  EXPECT_TRUE(is_metric_prefix("node_tally:"));
  EXPECT_FALSE(is_metric_prefix("9a"));
  EXPECT_FALSE(is_metric_prefix("a-"));
}

}  // namespace
}  // namespace tallyfs::statistics
