// The lines of the contract (docs/statsd.md), and what becomes of each.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/statsd/recording_outlet.h"

namespace tallyfs::statsd {
namespace {

struct Row {
  std::string packet;
  std::string said;
};

// Each row by a translator of its own.
void expect(const std::vector<Row>& rows, const Settings& settings = {}, bool keeps_signs = false) {
  for (const Row& row : rows) {
    Fixture fixture(settings);
    fixture.arrival.keeps_signs = keeps_signs;
    EXPECT_EQ(fixture.take(row.packet), row.said) << row.packet;
  }
}

TEST(StatsdContractTest, TakesCounters) {
  expect({{"page.views:1|c", "page.views c 1x1"},
          {"gorets:1|c|@0.1", "gorets c 1x10"},
          {"hits:5|c|@0.3\nhits:5|c|@0.3\nhits:5|c|@0.3",
           "hits c 5x3, hits c 5x3, hits c 5x4"},
          {"active:-1|c", "active c -1x1"},
          {"active:-1|c|@0.1", "active c -1x10"},
          {"a:0.5|c\na:0.5|c", "a c 0x1, a c 1x1"},
          {"a:-0.5|c\na:-0.5|c", "a c 0x1, a c -1x1"},
          {"key:1.000000|c", "key c 1x1"},
          {"a:1e3|c", "a c 1000x1"},
          {"a:+5|c", "a c 5x1"},
          {"a:1|c|@1e-1", "a c 1x10"},
          {"a:1|c|@0.5|@0.1", "a c 1x10"},
          {"a:1|m", "a c 1x1"},
          {"a:9223372036854775807|c", "a c 9223372036854775807x1"},
          {"a:1|c|c:83c0a9|e:it-false,pu-1|card:low", "a c 1x1"}});
}

TEST(StatsdContractTest, KeepsTheSumOfProductsExactWhateverTheRates) {
  // 0.5 * 10 + 0.5 * 1 = 5.5, and 0.5 more.
  expect({{"a:0.5|c|@0.1\na:0.5|c\na:0.5|c", "a c 0x10, a c 5x1, a c 1x1"}});
}

TEST(StatsdContractTest, TakesGauges) {
  expect({{"custom_metric:60|g|#shell", "custom_metric{shell} g 60000x1"},
          {"daemon:666:777|g", "daemon g 666000x1, daemon g 777000x1"},
          {"gaugor:333|g\ngaugor:-10|g\ngaugor:+4|g",
           "gaugor g 333000x1, gaugor g 323000x1, gaugor g 327000x1"},
          {"temp:0|g\ntemp:-5|g", "temp g 0x1, temp g -5000x1"},
          {"temp:-5|g|c:in-4026531835", "temp g -5000x1"},
          {"new:+3|g", "new g 3000x1"},
          {"b:.5|g", "b g 500x1"},
          {"b:5.|g", "b g 5000x1"},
          {"b:1e-7|g", "b g 0x1"},
          {"a:5|g|@0.5", "a g 5000x1"},
          {"a:9223372036854775807|g", "range"},
          {"a:9000000000000000|g\na:+9000000000000000|g", "a g 9000000000000000000x1, range"},
          {"a:1|g|m:test", "a g 1000x1"}});
  expect({{"gaugor:333|g\ngaugor:-10|g\ngaugor:+4|g",
           "gaugor g 333000x1, gaugor g -10000x1, gaugor g 4000x1"},
          {"temp:0|g\ntemp:-5|g", "temp g 0x1, temp g -5000x1"}},
         {}, true);
  expect({{"a:1|g\na:-2|g|T5", "a g 1000x1, a g -1000x1"}},
         {.gauge_sign = GaugeSign::kDelta}, true);
  expect({{"a:1|g\na:-2|g", "a g 1000x1, a g -2000x1"}},
         {.gauge_sign = GaugeSign::kAbsolute});
}

TEST(StatsdContractTest, TakesTimersAndHistograms) {
  expect({{"page.views:1:2:32|d",
           "page.views h 1000000x1, page.views h 2000000x1, page.views h 32000000x1"},
          {"song.length:240:234|h|@0.5", "song.length h 240000000x2, song.length h 234000000x2"},
          {"a:21::22|h", "a h 21000000x1, a h 22000000x1"},
          {"gorets:1|c:320|ms", "gorets c 1x1, gorets~t t 320000x1"},
          {"load.time:320|ms:200|ms|@0.1", "load.time t 320000x1, load.time t 200000x10"},
          {"glork:320|ms", "glork t 320000x1"},
          {"glork:1.234567|ms", "glork t 1235x1"},
          {"t:0.0123|ms", "t t 12x1"},
          {"glork:-3|ms", "negative"},
          {"glork:-0|ms", "glork t 0x1"},
          {"delta:-3.5|h", "delta h -3500000x1"},
          {"key:3.000000|kv", "key h 3000000x1"},
          {"key:1.000000|c\nkey:3.000000|kv", "key c 1x1, key~h h 3000000x1"},
          {"a:1|c\na:2|g", "a c 1x1, a~g g 2000x1"}});
}

TEST(StatsdContractTest, EncodesNamesAndTags) {
  expect({{"users.online:1|c|@0.5|#country:china", "users.online{country:china} c 1x2"},
          {"a:1|c|#b:2,a:1", "a{a:1,b:2} c 1x1"},
          {"a:1|c|#a:1,b:2", "a{a:1,b:2} c 1x1"},
          {"a:1|c|#x:1,x:1", "a{x:1} c 1x1"},
          {"a:1|c|#x:1,x:2", "a{x:1,x:2} c 1x1"},
          {"a:1|c|#", "a c 1x1"},
          {"a:1|c|#,,x:1,", "a{x:1} c 1x1"},
          {"a:1|c|#*", "a{%2A} c 1x1"},
          {"a:1|c|#url:http://h/p?q=1", "a{url:http:%2F%2Fh%2Fp?q%3D1} c 1x1"},
          {"a:1|c|#dd.internal.entity_id:u,env:p,jmx_check_name:j", "a{env:p} c 1x1"},
          {"a:1|c||#x:1", "a{x:1} c 1x1"},
          {"a:1|c|#x:1|#y:2", "a{y:2} c 1x1"},
          {"my metric:1|c", "my%20metric c 1x1"},
          {"a/b:1|c", "a%2Fb c 1x1"},
          {"a=b{c}~d:1|c", "a%3Db%7Bc%7D%7Ed c 1x1"},
          {"100%:1|c", "100%25 c 1x1"},
          {".:1|c", "%2E c 1x1"},
          {"a\xFF" "b:1|c", "a%FFb c 1x1"},
          {std::string("a\0b:1|c", 7), "a%00b c 1x1"},
          {"\xE2\x99\xAC\xE2\x80\xA0\xC3\xB8U\xC2\xA5\xC2\xBAuT0\xE2\x99\xAA:666|g|"
           "#intitul\xC3\xA9:T0\xC2\xB5",
           "\xE2\x99\xAC\xE2\x80\xA0\xC3\xB8U\xC2\xA5\xC2\xBAuT0\xE2\x99\xAA"
           "{intitul\xC3\xA9:T0\xC2\xB5} g 666000x1"},
          {"clicks,region=eu:1|c", "clicks%2Cregion%3Deu c 1x1"}});
  expect({{"clicks,region=eu:1|c", "clicks{region:eu} c 1x1"},
          {"clicks,region=eu,x=1:1|c|#y:2", "clicks{region:eu,x:1,y:2} c 1x1"},
          {"a;b=1:1|c", "a;b%3D1 c 1x1"}},
         {.name_tags = NameTags::kInflux});
  expect({{"a;b=1:1|c", "a{b:1} c 1x1"}}, {.name_tags = NameTags::kGraphite});
  expect({{"a:1|c|#x:1|c:83c0a9", "a{container_id:83c0a9,x:1} c 1x1"}},
         {.has_container_tag = true});
  expect({{"a:1|c|#x:1,pod:7,y", "a{x:1,y} c 1x1"}}, {.tags = {.drop = {"pod"}}});
}

TEST(StatsdContractTest, RefusesWithTheReason) {
  expect({{"a:1e+21|c", "range"},
          {"a:9223372036854775808|c", "range"},
          {"a:NaN|g", "value"},
          {"a:nan|ms", "value"},
          {"a:+Inf|g", "value"},
          {"a:inf|h", "value"},
          {"a:Infinity|c", "value"},
          {"a:\xE2\x88\x9E|g", "value"},
          {"a:undefined|c", "value"},
          {"a:null|g", "value"},
          {"a:True|g", "value"},
          {"a:0x10|c", "value"},
          {"a:1_000|c", "value"},
          {"a: 5|c", "value"},
          {"a::|c", "value"},
          {"a:|c", "value"},
          {"Foo::Bar.x:1|c", "value"},
          {"a:1|c|@0", "rate"},
          {"a:1|c|@1.5", "rate"},
          {"a:1|c|@abc", "rate"},
          {"a:1|c|Tabc", "timestamp"},
          {"a:1|c|T0", "timestamp"},
          {"a:1|c|T1.5", "timestamp"},
          {"a:1", "format"},
          {"a", "format"},
          {"a|c", "format"},
          {":1|c", "format"},
          {"abc666|g", "format"},
          {"c:server.requests,id=x:1", "format"},
          {"a:1|", "type"},
          {"a:1|x", "type"},
          {"a:1|C", "type"},
          {"a:1:x|c\nb:1|c", "value, b c 1x1"},
          {"a:1|c:x|ms\nb:1|c", "value, b c 1x1"},
          {std::string(300, 'n') + ":1|c", "name"},
          {std::string(254, 'n') + ":1|c\n" + std::string(254, 'n') + ":1|g",
           std::string(254, 'n') + " c 1x1, name"}});
}

TEST(StatsdContractTest, CutsBlanksOffTheEndsOfLines) {
  expect({{"a:1|c\r\n", "a c 1x1"}, {"a:1|c  \n", "a c 1x1"}, {"\n\n", ""}, {"", ""}});
  Fixture fixture;
  fixture.take("a:1|c\n\n \r\nb\n");
  EXPECT_EQ(fixture.translator.counts().lines, 2u);
  EXPECT_EQ(fixture.translator.counts().packets, 1u);
  EXPECT_EQ(fixture.translator.counts().metrics, 1u);
  EXPECT_EQ(fixture.translator.counts().refused[0], 1u);
}

TEST(StatsdContractTest, TakesEventsAndChecks) {
  expect({{"_e{5,4}:title|text|t:warning|#a:b",
           "events{alert:warning} c 1x1, event title/text"},
          {"_e{5,4}:title|text|t:unheard", "events{alert:info} c 1x1, event title/text"},
          {"_e{0,4}:|text", "event"},
          {"_e{9,9}:short|x", "event"},
          {"_e{1}:a", "event"},
          {"_sc|Redis connection|2|#env:dev|m:late",
           "Redis%20connection{env:dev} g 2x1, check late"},
          {"_sc|x|7", "check"},
          {"_sc|x", "check"}});
  Fixture fixture;
  fixture.take("_sc|x|1\nx:5|c\n_e{1,1}:\xC3\xA9|x");
  EXPECT_EQ(fixture.outlet.opened[0].interface, "statsd~checks");
  EXPECT_EQ(fixture.outlet.opened[1].name, "x");
  EXPECT_EQ(fixture.outlet.opened[2].interface, "statsd");
  EXPECT_EQ(fixture.translator.counts().lengths_guessed, 1u);
}

TEST(StatsdContractTest, CountsMembersOfSetsByWindows) {
  Fixture fixture;
  EXPECT_EQ(fixture.take("daemon:abc:def|s\ndaemon:abc:def|s\ndaemon:x|s|@0.5"), "");
  fixture.translator.end_set_windows(std::chrono::seconds(10));
  EXPECT_EQ(fixture.outlet.said, "daemon s 2x1");
  // Windows without members write nothing: 2 stays, and its time says how old it is.
  fixture.translator.end_set_windows(std::chrono::seconds(20));
  fixture.translator.end_set_windows(std::chrono::seconds(30));
  EXPECT_EQ(fixture.outlet.said, "daemon s 2x1");
  EXPECT_EQ(fixture.outlet.samples.front().time, std::chrono::seconds(10));
  fixture.take("daemon:x|s");
  fixture.translator.end_set_windows(std::chrono::seconds(40));
  EXPECT_EQ(fixture.outlet.said, "daemon s 1x1");
}

TEST(StatsdContractTest, PutsSamplesAtTheirTime) {
  Fixture fixture;
  fixture.take("a:1|c|T1656589990\na:1|h|T1656590001\na:1|c|T1656500000");
  // Ten seconds ago; ahead; before the machine was started an hour ago.
  EXPECT_EQ(fixture.outlet.samples[0].time, std::chrono::seconds(3590));
  EXPECT_EQ(fixture.outlet.samples[1].time, std::chrono::seconds(3600));
  EXPECT_EQ(fixture.outlet.samples[2].time, std::chrono::seconds(3600));
  EXPECT_EQ(fixture.translator.counts().times_clipped, 1u);
}

}  // namespace
}  // namespace tallyfs::statsd
