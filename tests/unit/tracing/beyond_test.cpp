// What ours adds to the kernel's triggers: statistics of values, log-linear groups, more of
// everything, parentheses, limits, expiry, JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class BeyondTest : public EventFixture {
 protected:
  void alloc(std::int64_t site, std::int64_t requested, std::uint64_t time_us = 1) {
    feed(kmalloc, time_us, {{"call_site", site}, {"bytes_req", requested}});
  }
};

TEST_F(BeyondTest, KeepsStatisticsOfValues) {
  trigger(kmalloc,
          "hist:keys=call_site:vals=bytes_req.avg,bytes_req.min,bytes_req.max,bytes_req.stddev,"
          "bytes_req");
  for (const std::int64_t bytes : {2, 4, 4, 4, 5, 5, 7, 9}) alloc(1, bytes);
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          1 } hitcount:          8  bytes_req.avg:      5.000"
            "  bytes_req.min:          2  bytes_req.max:          9  bytes_req.stddev:      2.000"
            "  bytes_req:         40\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=call_site:vals=hitcount,bytes_req.avg,bytes_req.min,bytes_req.max,"
            "bytes_req.stddev,bytes_req:sort=hitcount:size=2048 [active]\n");
}

TEST_F(BeyondTest, KeepsDeviationsOfLargeNumbersExact) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req.stddev");
  for (const std::int64_t bytes : {1ll << 61, (1ll << 61) + 2, 1ll << 61, (1ll << 61) + 2})
    alloc(1, bytes);
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          1 } hitcount:          4  bytes_req.stddev:      1.000\n");
}

TEST_F(BeyondTest, KeepsPercentilesWithinASixteenth) {
  trigger(kmalloc,
          "hist:keys=call_site:vals=bytes_req.p50,bytes_req.p99,bytes_req.p999:sort=bytes_req.p99");
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("TALLY_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(random() >> (random() % 60 + 4));
    alloc(1, static_cast<std::int64_t>(all.back()));
  }
  std::ranges::sort(all);
  const std::string text = entries(kmalloc);
  const auto shown = [&](const std::string& name) {
    return std::stoull(text.substr(text.find(name + ":") + name.size() + 1));
  };
  for (const auto& [name, at] :
       {std::pair("bytes_req.p50", 2499), {"bytes_req.p99", 4949}, {"bytes_req.p999", 4994}}) {
    const std::uint64_t exact = all[static_cast<std::size_t>(at)];
    EXPECT_GE(shown(name), exact) << name;
    EXPECT_LE(shown(name), exact + exact / 16) << name;
  }
}

TEST_F(BeyondTest, CountsValuesBelowZeroWithTheirSign) {
  trigger(waking,
          "hist:keys=pid:vals=prio.min,prio.max,prio.avg,prio.stddev,prio.p50,prio.p99:"
          "sort=prio.p50");
  for (const std::int64_t prio : {-8, -2, -4, -4, -5, -4, -7, -9}) {
    feed(waking, 1, {{"pid", 1}, {"prio", prio}});
  }
  for (const std::int64_t prio : {-1, 3}) feed(waking, 1, {{"pid", 2}, {"prio", prio}});
  feed(waking, 1, {{"pid", 3}, {"prio", -100}});
  EXPECT_EQ(entries(waking),
            "{ pid:          3 } hitcount:          1  prio.min:       -100  prio.max:       -100"
            "  prio.avg:   -100.000  prio.stddev:      0.000  prio.p50:       -100"
            "  prio.p99:       -100\n"
            "{ pid:          1 } hitcount:          8  prio.min:         -9  prio.max:         -2"
            "  prio.avg:     -5.375  prio.stddev:      2.233  prio.p50:         -5"
            "  prio.p99:         -2\n"
            "{ pid:          2 } hitcount:          2  prio.min:         -1  prio.max:          3"
            "  prio.avg:      1.000  prio.stddev:      2.000  prio.p50:         -1"
            "  prio.p99:          3\n");
  const std::string json = set.hists.copy(waking).render_json(NoSymbols(), {});
  EXPECT_NE(
      json.find("{\"key\":{\"pid\":3},\"hitcount\":1,\"prio.min\":-100,\"prio.max\":-100,"
                "\"prio.avg\":-100.000,\"prio.stddev\":0.000,\"prio.p50\":-100,\"prio.p99\":-100}"),
      std::string::npos)
      << json;
}

TEST_F(BeyondTest, GivesSumsBelowZeroNoShare) {
  trigger(waking, "hist:keys=pid:vals=prio.percent,prio.graph:sort=pid:nohitcount");
  for (const std::int64_t prio : {-20, 30, 10}) {
    feed(waking, 1, {{"pid", (prio + 20) / 10}, {"prio", prio}});
  }
  EXPECT_EQ(entries(waking),
            "{ pid:          0 }  prio (%):[ERROR]  prio: [ERROR]\n"
            "{ pid:          3 }  prio (%):  25.00  prio: ######              \n"
            "{ pid:          5 }  prio (%):  75.00  prio: ####################\n");
}

TEST_F(BeyondTest, KeepsPercentilesOfBothSignsWithinASixteenth) {
  trigger(switched,
          "hist:keys=next_pid:vals=prev_state.p50,prev_state.p99,prev_state.p999,prev_state.min,"
          "prev_state.max");
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("TALLY_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> all = {INT64_MIN, INT64_MAX};
  for (int i = 2; i < 5000; ++i) {
    const auto size = static_cast<std::int64_t>(random() >> (random() % 62 + 1));
    all.push_back(random() % 3 == 0 ? size : -size);
  }
  for (const std::int64_t one : all) feed(switched, 1, {{"prev_state", one}});
  std::ranges::sort(all);
  const std::string text = entries(switched);
  const auto shown = [&](const std::string& name) {
    return std::stoll(text.substr(text.find(name + ":") + name.size() + 1));
  };
  for (const auto& [name, at] :
       {std::pair("prev_state.p50", 2499), {"prev_state.p99", 4949}, {"prev_state.p999", 4994}}) {
    const std::int64_t exact = all[static_cast<std::size_t>(at)];
    EXPECT_GE(shown(name), exact) << name;
    EXPECT_LE(static_cast<double>(shown(name)),
              static_cast<double>(exact) + std::abs(static_cast<double>(exact)) / 16)
        << name;
  }
  EXPECT_EQ(shown("prev_state.min"), INT64_MIN);
  EXPECT_EQ(shown("prev_state.max"), INT64_MAX);
}

TEST_F(BeyondTest, ShowsNoPercentileBeyondTheSmallestAndTheLargestValue) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req.p50,bytes_req.p99,bytes_req.max");
  for (const std::int64_t bytes : {1000, 1001, 1800}) alloc(1, bytes);
  alloc(2, -1);
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          2 } hitcount:          1  bytes_req.p50: 18446744073709551615"
            "  bytes_req.p99: 18446744073709551615  bytes_req.max: 18446744073709551615\n"
            "{ call_site:          1 } hitcount:          3  bytes_req.p50:       1023"
            "  bytes_req.p99:       1800  bytes_req.max:       1800\n");
  set.triggers.truncate(waking);
  trigger(waking, "hist:keys=pid:vals=prio.p50");
  feed(waking, 1, {{"prio", -1001}});
  EXPECT_EQ(entries(waking), "{ pid:          0 } hitcount:          1  prio.p50:      -1001\n")
      << "the largest of its bucket is -992";
}

TEST_F(BeyondTest, GroupsNumbersBelowZeroToo) {
  const auto groups = [&](const std::string& modifier) {
    set.triggers.truncate(waking);
    trigger(waking, "hist:keys=prio." + modifier + ":sort=prio");
    for (const std::int64_t prio : {-101, -20, -11, -10, -9, -8, -5, -4, -1, 0, 1, 9, 10, 101}) {
      feed(waking, 1, {{"prio", prio}});
    }
    std::string shown;
    std::istringstream lines(entries(waking));
    for (std::string line; std::getline(lines, line);) {
      shown += line.substr(8, line.find(" }") - 8) + "=" + line.substr(line.rfind(' ') + 1) + ";";
    }
    return shown;
  };
  EXPECT_EQ(groups("buckets=10"),
            "~ -110--101=1;~ -20--11=2;~ -10--1=6;~ 0-9=3;~ 10-19=1;~ 100-109=1;");
  EXPECT_EQ(groups("log2"),
            "~ -2^7 =1;~ -2^5 =1;~ -2^4 =3;~ -2^3 =2;~ -2^2 =1;~ -2^0 =1;~ 2^0 =2;~ 2^4 =2;"
            "~ 2^7 =1;");
  EXPECT_EQ(groups("log2=1"),
            "~ -127--96=1;~ -23--16=1;~ -11--8=4;~ -5--4=2;~ -1--1=1;~ 0-0=1;~ 1-1=1;~ 8-11=2;"
            "~ 96-127=1;");
}

TEST_F(BeyondTest, GroupsTheFarthestNumbers) {
  trigger(switched, "hist:keys=prev_state.buckets=0x7fffffffffffffff:sort=prev_state");
  trigger(kmalloc, "hist:keys=bytes_req.buckets=10");
  for (const std::int64_t one : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
    feed(switched, 1, {{"prev_state", one}});
  }
  alloc(1, -1);
  EXPECT_EQ(entries(switched),
            "{ prev_state: ~ -9223372036854775808--9223372036854775808 } hitcount:          1\n"
            "{ prev_state: ~ -9223372036854775807--1 } hitcount:          1\n"
            "{ prev_state: ~ 9223372036854775807-9223372036854775807 } hitcount:          1\n");
  EXPECT_EQ(entries(kmalloc),
            "{ bytes_req: ~ 18446744073709551610-18446744073709551615 } hitcount:          1\n");
}

TEST_F(BeyondTest, GroupsByPartsOfOctaves) {
  trigger(kmalloc, "hist:keys=bytes_req.log2=2:sort=bytes_req");
  for (const std::int64_t bytes : {0, 7, 8, 9, 10, 15, 16, 100}) alloc(1, bytes);
  EXPECT_EQ(entries(kmalloc),
            "{ bytes_req: ~ 0-0 } hitcount:          1\n"
            "{ bytes_req: ~ 7-7 } hitcount:          1\n"
            "{ bytes_req: ~ 8-9 } hitcount:          2\n"
            "{ bytes_req: ~ 10-11 } hitcount:          1\n"
            "{ bytes_req: ~ 14-15 } hitcount:          1\n"
            "{ bytes_req: ~ 16-19 } hitcount:          1\n"
            "{ bytes_req: ~ 96-111 } hitcount:          1\n");
}

TEST_F(BeyondTest, TakesMoreKeysAndValues) {
  trigger(kmalloc,
          "hist:keys=call_site,ptr,gfp_flags,common_cpu,common_pid:"
          "vals=bytes_req,bytes_alloc,ptr,gfp_flags:sort=ptr");
  alloc(1, 2);
  EXPECT_EQ(
      entries(kmalloc),
      "{ call_site:          1, ptr:          0, gfp_flags:          0, common_cpu:          0"
      ", common_pid:          0 } hitcount:          1  bytes_req:          2  bytes_alloc:"
      "          0  ptr:          0  gfp_flags:          0\n");
  EXPECT_EQ(code_of(set.commands.write(kmalloc, "hist:keys=ptr,ptr,ptr,ptr,ptr,ptr,ptr,ptr,ptr")),
            ErrorCode::kInvalid);
  EXPECT_EQ(code_of(set.commands.write(kmalloc,
                                       "hist:keys=ptr:vals=ptr,ptr,ptr,ptr,ptr,ptr,ptr,ptr,ptr")),
            ErrorCode::kInvalid);
}

TEST_F(BeyondTest, ComputesWithParenthesesAndThenMoreOperators) {
  trigger(waking,
          "hist:keys=pid:a=(prio+2)*(prio-2)/3,b=2*(prio-(1+2))+prio*3-4/2,c=100/(-(prio)+12)");
  trigger(switched, "hist:keys=next_pid:vals=$a,$b,$c");
  feed(waking, 1, {{"pid", 7}, {"prio", 10}});
  feed(switched, 2, {{"next_pid", 7}});
  EXPECT_EQ(entries(switched),
            "{ next_pid:          7 } hitcount:          1  a:         32  b:         42"
            "  c:         50\n");
  EXPECT_NE(triggers_text(set.triggers.lines(waking))
                .find(":a=(prio+2)*(prio-2)/3,b=2*(prio-3)+prio*3-2,c=100/(-(prio)+12):"),
            std::string::npos)
      << triggers_text(set.triggers.lines(waking));
}

TEST_F(BeyondTest, BoundsOperatorsAndNesting) {
  std::string sum = "(prio)";
  for (int i = 0; i < 16; ++i) sum += "+prio";
  EXPECT_TRUE(set.commands.write(waking, "hist:keys=pid:x=" + sum));
  EXPECT_EQ(set.commands.write(waking, "hist:keys=pid:y=" + sum + "+prio").error().reason,
            "Too many subexpressions (3 max)");
  const std::string deep = std::string(40, '(') + "prio" + std::string(40, ')');
  EXPECT_EQ(set.commands.write(waking, "hist:keys=pid:y=" + deep).error().reason,
            "Nested too deeply");
  std::string doubled = "v0=prio*2";
  for (int i = 1; i < 16; ++i) {
    const std::string last = "$v" + std::to_string(i - 1);
    doubled += ",v" + std::to_string(i) + "=" + last + "+" + last + "+" + last + "+" + last;
  }
  EXPECT_EQ(set.commands.write(waking, "hist:keys=pid:" + doubled).error().reason,
            "Nested too deeply");
  EXPECT_EQ(set.commands.write(waking, "hist:keys=pid:y=$z,z=$y").error().reason,
            "Nested too deeply");
}

TEST_F(BeyondTest, ShowsTheFirstOfSortedEntriesOnly) {
  trigger(kmalloc, "hist:keys=call_site:sort=hitcount.descending:limit=2");
  for (std::int64_t site = 1; site <= 5; ++site) {
    for (std::int64_t i = 0; i < site; ++i) alloc(site, 1);
  }
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          5 } hitcount:          5\n"
            "{ call_site:          4 } hitcount:          4\n");
  EXPECT_NE(hist(kmalloc).find("    Entries: 5\n"), std::string::npos);
  EXPECT_NE(triggers_text(set.triggers.lines(kmalloc)).find(":size=2048:limit=2 [active]\n"),
            std::string::npos);
}

TEST_F(BeyondTest, ForgetsVariablesThatAreNotReadInTime) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs:expire=100us:size=128");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:expire=1s");
  feed(waking, 1000, {{"pid", 7}});
  feed(switched, 1100, {{"next_pid", 7}});
  feed(waking, 2000, {{"pid", 7}});
  feed(switched, 2101, {{"next_pid", 7}});
  EXPECT_EQ(entries(switched), "{ next_pid:          7 } hitcount:          1\n");
  EXPECT_NE(hist(waking).find("    Dropped: 0\n    Expired: 1\n"), std::string::npos);
  EXPECT_NE(hist(switched).find("    Dropped: 0\n    Expired: 0\n    Unmatched: 1\n"),
            std::string::npos);
}

TEST_F(BeyondTest, GivesPlacesOfExpiredVariablesToNewKeys) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs:expire=100us:size=128");
  for (std::int64_t i = 0; i < 1000; ++i) {
    feed(waking, static_cast<std::uint64_t>(1000 + i), {{"pid", i}});
  }
  EXPECT_NE(
      hist(waking).find("    Hits: 1000\n    Entries: 128\n    Dropped: 0\n    Expired: 872\n"),
      std::string::npos)
      << hist(waking).substr(hist(waking).find("Totals"));
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  feed(switched, 2000, {{"next_pid", 999}});
  feed(switched, 2000, {{"next_pid", 1}});
  EXPECT_EQ(entries(switched), "{ next_pid:        999 } hitcount:          1\n");
}

TEST_F(BeyondTest, RendersJson) {
  trigger(waking,
          "hist:keys=comm,prio:vals=target_cpu,target_cpu.avg:m=target_cpu:onmax($m).save(pid):"
          "sort=comm");
  feed(waking, 1, {{"comm", "a \"b\"\\\n"}, {"prio", -3}, {"target_cpu", 2}});
  feed(waking, 1, {{"comm", "a \"b\"\\\n"}, {"prio", -3}, {"target_cpu", 3}});
  EXPECT_EQ(
      set.hists.copy(waking).render_json(NoSymbols(), {}),
      "[{\"system\":\"sched\",\"event\":\"sched_waking\",\"trigger\":\"hist:keys=comm,prio:"
      "vals=hitcount,target_cpu,target_cpu.avg:m=target_cpu:sort=comm:size=2048:"
      "onmax($m).save(pid) [active]\",\"modifiers\":{},\"keys\":[{\"field\":\"comm\","
      "\"modifier\":null,\"size\":null},{\"field\":\"prio\",\"modifier\":null,\"size\":null}],"
      "\"entries\":[{\"key\":{\"comm\":"
      "\"a \\\"b\\\"\\\\\\u000a\",\"prio\":-3},\"hitcount\":2,\"target_cpu\":5,"
      "\"target_cpu.avg\":2.500,\"max\":3}],\"hits\":2,\"count\":1,\"dropped\":0,\"expired\":0,"
      "\"unmatched\":0,\"time_us\":0,\"serial\":0}]\n");
  EXPECT_EQ(set.hists.copy(kmalloc).render_json(NoSymbols(), {}), "[]\n");
}

TEST_F(BeyondTest, RendersAveragesWithThreeDecimalsAndHowKeysAreGroupedAsJson) {
  trigger(waking, "hist:keys=pid.log2=3,prio.hex,comm:vals=target_cpu.avg");
  for (const int value : {1'000'001, 1'000'002, 1'000'002}) {
    feed(waking, 1, {{"pid", 1}, {"target_cpu", value}});
  }
  const std::string text = set.hists.copy(waking).render_json(NoSymbols(), {});
  EXPECT_NE(text.find("\"modifiers\":{\"pid\":\"log2=3\",\"prio\":\"hex\"},"
                      "\"keys\":[{\"field\":\"pid\",\"modifier\":\"log2\",\"size\":3},"
                      "{\"field\":\"prio\",\"modifier\":\"hex\",\"size\":null},"
                      "{\"field\":\"comm\",\"modifier\":null,\"size\":null}],"),
            text.npos)
      << text;
  EXPECT_NE(text.find("\"target_cpu.avg\":1000001.667"), text.npos) << text;
}

TEST_F(BeyondTest, KeepsVariablesNamedLikeOurKeywords) {
  trigger(kmalloc, "hist:keys=call_site:limit=bytes_req:expire=ptr");
  EXPECT_NE(triggers_text(set.triggers.lines(kmalloc)).find(":limit=bytes_req,expire=ptr:"),
            std::string::npos);
}

}  // namespace
}  // namespace tallyfs::tracing
