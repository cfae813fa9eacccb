// Probes of the mount: their lines, their events, and sources that come and go.
#include <atomic>
#include <thread>

#include "tests/unit/tracing_branch/probes_fixture.h"

namespace tallyfs::tracing {
namespace {

TEST_F(ProbesTest, ALineMakesAnEventThatCounts) {
  ASSERT_TRUE(write("p:mine/a /bin/x:0x10  prio=%di # of every call\n"));
  ASSERT_EQ(probes_.made.size(), 1u);
  EXPECT_EQ(probes_.made[0].text, "/bin/x:0x10 prio=%di");
  EXPECT_EQ(read("uprobe_events"), "p:mine/a /bin/x:0x10 prio=%di\n");
  EXPECT_EQ(read("events/mine/a/format").substr(0, 8), "name: a\n");
  ASSERT_TRUE(put("events/mine/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  EXPECT_NE(read("events/mine/a/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(ProbesTest, APlaceByNameBecomesTheKernelsInNumbers) {
  ASSERT_TRUE(write("p:a /bin/x:alpha  n=$arg1\nr /bin/x:alpha\n"));
  EXPECT_EQ(probes_.searched, (std::vector<std::string>{"p /bin/x:alpha", "r /bin/x:alpha"}));
  EXPECT_EQ(read("uprobe_events"),
            "p:uprobes/a /bin/x:0x1000 n=%di:u64\nr:uprobes/r_x_alpha /bin/x:0x1000\n");
  probes_.found = std::string("x86_64\n16 8 %di:u64\n32 8 %si:u64\n");
  ASSERT_TRUE(write("p /bin/x:app:start"));
  EXPECT_EQ(probes_.made.size(), 4u);
  EXPECT_EQ(probes_.made[2].serial, probes_.made[3].serial);
  EXPECT_EQ(probes_.made[3].text, "/bin/x:0x20(0x8) arg1=%si:u64");
  EXPECT_TRUE(has("events/uprobes/app_start"));
}

TEST_F(ProbesTest, TheProfileHasTheKernelsLines) {
  ASSERT_TRUE(write("p:a /bin/x:0x10 n=%di\np:b /bin/y:0x20\np:a /bin/x:0x30(0x8) n=%di"));
  ASSERT_TRUE(write("p:unmade /bin/y:0x30"));
  probes_.counted = ProbeHits{.places = {{{1, "/bin/x:0x10"}, {{7}}},
                                         {{1, "/bin/x:0x30(0x8)"}, {{1'234'567}}},
                                         {{2, "/bin/y:0x20"}, {{0}}},
                                         {{9, "/bin/y:0x30"}, {{5}}}}};
  const std::string name(43, ' ');
  EXPECT_EQ(read("uprobe_profile"), "  /bin/x a" + name + "               7\n" +  //
                                        "  /bin/x a" + name + "         1234567\n" + "  /bin/y b" +
                                        name + "               0\n");
  probes_.counted = Error{ErrorCode::kTimedOut, "the feeder is silent"};
  EXPECT_EQ(file("uprobe_profile")->render(clock_.now(), 1 << 20).error().code,
            ErrorCode::kTimedOut);
}

// The line was written again when its program had been replaced: the kernel has both.
TEST_F(ProbesTest, PlacesOfTheSameTextHaveTheirOwnHits) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:a /bin/x:0x10\n"));
  probes_.counted = ProbeHits{.places = {{{1, "/bin/x:0x10"}, {{7, "8:1:77"}, {5, "8:1:99"}}}}};
  const std::string begin = "  /bin/x a" + std::string(43, ' ') + "               ";
  EXPECT_EQ(read("uprobe_profile"), begin + "7\n" + begin + "5\n");
  const std::string json = read("probes.json");
  EXPECT_NE(json.find(R"("hits":7,"stale":false)"), json.npos) << json;
  EXPECT_NE(json.find(R"("hits":5,"stale":true)"), json.npos) << json;
}

TEST_F(ProbesTest, TheJsonHasLinesAsWrittenAndWhichFilesAreOthersNow) {
  probes_.found = std::string("x86_64\n4096+4 0\n");
  ASSERT_TRUE(write("p:a  /bin/x:alpha  n=$arg1\nr:b /bin/y:0x20\nr:b /bin/z:0x20\n"));
  ASSERT_TRUE(write("r:b /bin/uncached:0x20"));
  probes_.counted = ProbeHits{.places = {{{1, "/bin/x:0x1000"}, {{7, "8:1:77"}}},
                                         {{2, "/bin/y:0x20"}, {{0, ""}}},
                                         {{2, "/bin/uncached:0x20"}, {{5, std::nullopt}}}}};
  const auto probes_in = [](const std::string& json) { return json.substr(json.find('[')); };
  EXPECT_EQ(probes_in(read("probes.json")),
            R"([{"group":"uprobes","event":"a","kind":"entry","target":"program","lines":[)"
            R"({"line":"p:a  /bin/x:alpha  n=$arg1","places":[)"
            R"({"place":"/bin/x:0x1000 n=%di:u64","hits":7,"stale":false,)"
            R"("after_endbr64":true}]}]},)"
            R"({"group":"uprobes","event":"b","kind":"return","target":"program","lines":[)"
            R"({"line":"r:b /bin/y:0x20","places":[)"
            R"({"place":"/bin/y:0x20","hits":0,"stale":true,"after_endbr64":false}]},)"
            R"({"line":"r:b /bin/z:0x20","places":[)"
            R"({"place":"/bin/z:0x20","hits":null,"stale":null,"after_endbr64":false}]},)"
            R"({"line":"r:b /bin/uncached:0x20","places":[)"
            R"({"place":"/bin/uncached:0x20","hits":5,"stale":null,)"
            R"("after_endbr64":false}]}]}],"leaving":[]})"
            "\n");
  probes_.counted = Error{ErrorCode::kTimedOut, "the feeder is silent"};
  const std::string unknown = read("probes.json");
  EXPECT_NE(unknown.find(R"("hits":null,"stale":null)"), unknown.npos) << unknown;
  EXPECT_NE(unknown.find(R"("leaving":null})"), unknown.npos) << unknown;
}

TEST_F(ProbesTest, TheJsonHasTheProbesThatAreLeaving) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  probes_.counted = ProbeHits{.places = {{{1, "/bin/x:0x10"}, {{7}}}},
                              .leaving = {{.serial = 3, .event = "b", .text = "/bin/x:0x10"},
                                          {.serial = 3, .event = "b", .text = "/bin/y:0x20"},
                                          {.serial = 4, .event = "b", .text = "vfs_read"}}};
  probes_.counted.value().leaving[1].hits = 5;
  const std::string json = read("probes.json");
  EXPECT_NE(json.find(R"("hits":7,"stale":null)"), json.npos) << json;
  EXPECT_EQ(json.substr(json.find(R"("leaving")")),
            R"("leaving":[{"event":"b","target":"program","places":[)"
            R"({"place":"/bin/x:0x10","hits":0},{"place":"/bin/y:0x20","hits":5}]},)"
            R"({"event":"b","target":"kernel","places":[{"place":"vfs_read","hits":0}]}]})"
            "\n");
}

TEST_F(ProbesTest, ANewProbeHasAllOfItsPlacesOrIsNotThere) {
  probes_.found = std::string("x86_64\n16 0\n32 0\n48 0\n");
  probes_.made_max = 2;
  EXPECT_EQ(write("p:a /bin/x:alpha").error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(read("uprobe_events"), "");
  EXPECT_EQ(probes_.removed.at(0), probes_.made[0].serial);
  EXPECT_FALSE(has("events/uprobes"));
}

TEST_F(ProbesTest, ARefusalOfANameHasItsCaretAtTheName) {
  const std::string line = "p:a  /bin/x:alpha  n=$arg1 m=%zz";
  const auto at_of = [&](const Result<void>& refused) {
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().text, line);
    EXPECT_EQ(refused.error().location, "probe") << refused.error().reason;
    return line.substr(refused.error().token_at);
  };
  probes_.found = invalid("no function alpha");
  EXPECT_EQ(at_of(write(line)), line.substr(line.find("alpha")));
  probes_.found = Error{ErrorCode::kNotFound, "cannot open /bin/x", 0};
  EXPECT_EQ(at_of(write(line)), line.substr(line.find("/bin")));
  probes_.found = std::string("i386\n16 0\n");
  EXPECT_EQ(at_of(write(line)), "$arg1 m=%zz");
  probes_.found = std::string("nonsense");
  EXPECT_EQ(at_of(write(line)), line.substr(line.find("/bin")));
  EXPECT_TRUE(probes_.made.empty());
  // And the kernel's is where it was in the text that it was given.
  probes_.found = std::string("x86_64\n4096 0\n");
  probes_.answer = Error{.code = ErrorCode::kInvalid,
                         .reason = "Invalid register name",
                         .token_at = std::string_view("/bin/x:0x1000 n=%di:u64 m=").size(),
                         .location = "trace_uprobe"};
  EXPECT_EQ(line.substr(write(line).error().token_at), "%zz");
}

TEST_F(ProbesTest, AHitOfAnOwnThreadDoesNotCountWhateverItsFlags) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  tracing_.leave_out({41, 42});
  feed(1, 42);
  feed(1, 43);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(ProbesTest, OnlyRootWrites) {
  const auto refused = write_as(500, "p:a /bin/x:0x10");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(probes_.made.empty());
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  EXPECT_EQ(file("uprobe_events")->truncate(clock_.now()).error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(has("events/uprobes/a"));
}

TEST_F(ProbesTest, ALineOfTheSameNameAddsAPlaceWhileItIsOff) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:a /bin/x:0x20\n"));
  ASSERT_EQ(probes_.made.size(), 2u);
  EXPECT_EQ(probes_.made[0].serial, probes_.made[1].serial);
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n");
  ASSERT_TRUE(put("events/uprobes/a/enable", "1"));
  EXPECT_EQ(write("p:a /bin/x:0x30").error().code, ErrorCode::kBusy);
  EXPECT_EQ(probes_.made.size(), 2u);
}

TEST_F(ProbesTest, ARefusalHasItsCaretInTheLineAsItWasWritten) {
  probes_.answer = Error{.code = ErrorCode::kInvalid,
                         .reason = "Invalid register name",
                         .token_at = std::string_view("/bin/x:0x10 prio=").size(),
                         .location = "trace_uprobe"};
  const auto refused = write("p:b /bin/x:0x10\n");
  ASSERT_FALSE(refused);
  const std::string line = "p:a  /bin/x:0x10   prio=%zz";
  const auto other = write("\n" + line + "  # a comment\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, line);
  EXPECT_EQ(other.error().token_at, line.find("%zz"));
  EXPECT_EQ(other.error().location, "trace_uprobe");
  EXPECT_EQ(read("uprobe_events"), "");
  EXPECT_FALSE(has("events/uprobes"));
}

TEST_F(ProbesTest, ARemovalTakesTheEventAndIsRefusedWhileItIsOn) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:other/a /bin/x:0x20\np:b /bin/x:0x30\n"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  EXPECT_EQ(write("-:a").error().code, ErrorCode::kBusy);
  EXPECT_EQ(clear().error().code, ErrorCode::kBusy);
  EXPECT_TRUE(probes_.removed.empty());
  EXPECT_TRUE(has("events/uprobes/b")) << "all stay";
  ASSERT_TRUE(put("events/uprobes/a/trigger", "!hist:keys=prio"));
  EXPECT_TRUE(write("-:a"));
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{1, 2})) << "of every group";
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/b /bin/x:0x30\n");
  EXPECT_EQ(write("-:a").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(clear());
  EXPECT_EQ(probes_.removed.back(), 3u);
  EXPECT_FALSE(has("events/uprobes"));
}

TEST_F(ProbesTest, ANameThatAnotherEventHasIsRefused) {
  const std::string text = format_of("sched_switch", 314);
  ASSERT_TRUE(
      tracing_.offer(kernel_, {.system = "sched", .text = text, .source_id = 314}, clock_.now()));
  EXPECT_EQ(write("p:sched/sched_switch /bin/x:0x10").error().code, ErrorCode::kExists);
  EXPECT_EQ(write("p:synthetic/a /bin/x:0x10").error().code, ErrorCode::kExists);
  EXPECT_TRUE(probes_.made.empty());
}

// The source answers after the write has given up: the kernel has the place, and it is listed.
TEST_F(ProbesTest, APlaceThatIsMadeTooLateIsListedWithItsProbe) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  probes_.answer = Error{ErrorCode::kTimedOut, "the feeder is silent"};
  ASSERT_FALSE(write("p:a /bin/x:0x20"));
  ASSERT_FALSE(write("p:b /bin/x:0x30"));
  const auto make_late = [this](const ProbePlace& place) {
    return tracing_.place_made_late(place, PlayedProbes::made_of(place), clock_.now());
  };
  ASSERT_EQ(probes_.refused.size(), 2u);
  EXPECT_TRUE(make_late(probes_.refused[0]));
  EXPECT_FALSE(make_late(probes_.refused[1])) << "it goes";
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n");
}

// Two writers whose places of names come in turns: after a restart each name is looked up once.
TEST_F(ProbesTest, APlaceThatIsMadeTooLateIsOfItsOwnLine) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  const auto make_late = [this](const char* line, const char* place) {
    const ProbePlace of{.serial = 1, .event = "a", .text = place, .line = line};
    EXPECT_TRUE(tracing_.place_made_late(of, PlayedProbes::made_of(of), clock_.now()));
  };
  make_late("p:a /bin/x:f", "/bin/x:0x20");
  make_late("p:a /bin/x:g", "/bin/x:0x40");
  make_late("p:a /bin/x:f", "/bin/x:0x30");
  EXPECT_EQ(read("uprobe_events"),
            "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n"
            "p:uprobes/a /bin/x:0x30\np:uprobes/a /bin/x:0x40\n");
  const std::string json = read("probes.json");
  EXPECT_EQ(json.find(R"("line":"p:a /bin/x:f")"), json.rfind(R"("line":"p:a /bin/x:f")"));
}

// A probe with a line of 4,000 bytes, again and again.
TEST_F(ProbesTest, TheTextOfAllPlacesTogetherIsBounded) {
  const std::string path = "/bin/" + std::string(4'000, 'x');
  int made = 0;
  while (made <= 1'100 && write("p:a" + std::to_string(made) + " " + path + ":0x10")) made += 1;
  EXPECT_GT(made, 1'000);
  EXPECT_LT(made, 1'100) << "8 MiB, with the lines";
  ASSERT_TRUE(write("-:a0"));
  EXPECT_TRUE(write("p:b " + path + ":0x10")) << "the room is there again";
  EXPECT_EQ(write("p:c " + path + ":0x10").error().code, ErrorCode::kNoSpace);
}

TEST_F(ProbesTest, DynamicEventsHasThemBesideSyntheticEvents) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  const auto put_dynamic = [this](uid_t uid, std::string_view text) {
    CallContext call(clock_.now());
    call.uid = uid;
    return file("dynamic_events")->write_line(text, call);
  };
  ASSERT_TRUE(put_dynamic(0, "s:lat u64 us\nr:mine/b /bin/x:0x20 # a comment\ns:a int x\n"));
  EXPECT_EQ(read("dynamic_events"),
            "s:synthetic/lat\tu64 us\ns:synthetic/a\tint x\n"
            "p:uprobes/a /bin/x:0x10\nr:mine/b /bin/x:0x20\n");
  EXPECT_EQ(put_dynamic(500, "p:c /bin/x:0x10").error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(put_dynamic(500, "-:lat"));
  EXPECT_EQ(put_dynamic(500, "-:mine/b").error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(put_dynamic(0, "-:a")) << "the probe, and not the synthetic event";
  EXPECT_EQ(read("dynamic_events"), "s:synthetic/a\tint x\nr:mine/b /bin/x:0x20\n");
  EXPECT_TRUE(put_dynamic(0, "-:synthetic/a\np:c /bin/x:0x10\n"));
  EXPECT_EQ(read("dynamic_events"), "r:mine/b /bin/x:0x20\np:uprobes/c /bin/x:0x10\n");
}

// The caret is under the place, of which the source speaks.
TEST_F(ProbesTest, TheSourceSaysWhyLinesOfOtherKindsMakeNothing) {
  probes_.answer = Error{ErrorCode::kInvalid, "this kernel has none"};
  for (const std::string kind : {"e", "f", "t"}) {
    const std::string line = kind + ":a sched.sched_switch";
    CallContext call(clock_.now());
    call.uid = 0;
    const auto refused = file("dynamic_events")->write_line(line, call);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(refused.error().reason, "this kernel has none");
    EXPECT_EQ(refused.error().text, line);
    EXPECT_EQ(refused.error().location, "probe");
    EXPECT_EQ(read("dynamic_events"), "");
    EXPECT_EQ(write(line).error().reason, "a line begins with p, r, - or =");
    call.uid = 500;
    EXPECT_EQ(file("dynamic_events")->write_line(line, call).error().code,
              ErrorCode::kNotPermitted);
  }
  EXPECT_TRUE(probes_.made.empty());
}

TEST_F(ProbesTest, ATruncatedDynamicEventsTakesAllOrNone) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  const auto truncate_as = [this](uid_t uid) {
    CallContext call(clock_.now());
    call.uid = uid;
    return file("dynamic_events")->truncate(call);
  };
  ASSERT_TRUE(put("dynamic_events", "s:lat u64 us"));
  ASSERT_TRUE(put("events/synthetic/lat/trigger", "hist:keys=us"));
  EXPECT_EQ(truncate_as(0).error().code, ErrorCode::kBusy);
  EXPECT_TRUE(has("events/uprobes/a")) << "all stay";
  ASSERT_TRUE(put("events/synthetic/lat/trigger", "!hist:keys=us"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  EXPECT_EQ(truncate_as(0).error().code, ErrorCode::kBusy);
  EXPECT_TRUE(has("events/synthetic/lat")) << "all stay";
  EXPECT_TRUE(truncate_as(500));
  EXPECT_EQ(read("dynamic_events"), "p:uprobes/a /bin/x:0x10\n");
  ASSERT_TRUE(put("events/uprobes/a/trigger", "!hist:keys=prio"));
  EXPECT_TRUE(truncate_as(0));
  EXPECT_EQ(read("dynamic_events"), "");
}

TEST_F(ProbesTest, ANewSourceMakesThemAnewAndWhatIsSetCountsOn) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  tracing_.withdraw(kernel_, clock_.now());
  const auto places = tracing_.probe_places();
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(tracing_.probe_serials(), std::vector<std::uint64_t>{1});
  tracing_.probe_made({.serial = 1}, PlayedProbes::made_of(places[0]), clock_.now());
  ASSERT_EQ(kernel_.is_wanted.size(), 1u);
  tracing_.leave_out({42});
  feed(1, 7);
  feed(1, 42);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 2\n"), std::string::npos);
}

TEST_F(ProbesTest, ARenewalFindsThePlacesAgainAndKeepsWhatIsSet) {
  ASSERT_TRUE(write("p:a /bin/x:work n=$arg1\np:a /bin/x:0x10 n=%si:u64"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  probes_.found = "x86_64\n8192 0\n12288 0\n";
  ASSERT_TRUE(write("=:a"));
  EXPECT_EQ(read("uprobe_events"),
            "p:uprobes/a /bin/x:0x2000 n=%di:u64\np:uprobes/a /bin/x:0x3000 n=%di:u64\n"
            "p:uprobes/a /bin/x:0x10 n=%si:u64\n");
  EXPECT_EQ(probes_.removed, std::vector<std::uint64_t>{1});
  ASSERT_EQ(kernel_.is_wanted.size(), 1u);
  EXPECT_EQ(kernel_.is_wanted[0].source_id, 1002u) << "the new one is on";
  feed(2, 7);
  feed(1, 7);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 2\n"), std::string::npos);
  EXPECT_EQ(write("-:a").error().code, ErrorCode::kBusy);
  ASSERT_TRUE(put("events/uprobes/a/trigger", "!hist:keys=prio"));
  ASSERT_TRUE(write("-:uprobes/a"));
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(ProbesTest, ARenewalThatFailsLeavesTheProbeAsItWas) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:a  /bin/x:work"));
  const std::string before = read("uprobe_events");
  EXPECT_EQ(write("=:b").error().code, ErrorCode::kNotFound);
  probes_.found = Error{ErrorCode::kNotFound, "no function work", 7};
  const auto refused = write("=:a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "no function work");
  EXPECT_EQ(refused.error().text, "p:a  /bin/x:work") << "the line that is wrong now";
  EXPECT_EQ(refused.error().token_at, 5u + 7u);
  EXPECT_EQ(read("uprobe_events"), before);
  EXPECT_EQ(probes_.removed, std::vector<std::uint64_t>{2}) << "what was made until then";
  EXPECT_EQ(write_as(500, "=:a").error().code, ErrorCode::kNotPermitted);
  ASSERT_TRUE(write("-:a")) << "it is not pending";
}

// The first trigger finds that the new file has no such place: the old probe is on again.
TEST_F(ProbesTest, ARenewalThatCannotBeTurnedOnBringsTheOldProbeBack) {
  ASSERT_TRUE(write("p:a /bin/x:work"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  const std::string before = read("uprobe_events");
  probes_.found = "x86_64\n8192 0\n";
  probes_.file = "8:1:99";
  const auto refuses_first = [this](ErrorCode code) {
    kernel_.at_want = [this, code, orders = 0]() mutable {
      kernel_.answer = {};
      if (orders++ == 0) kernel_.answer = Error{code, "an invalid place"};
    };
  };
  refuses_first(ErrorCode::kInvalid);
  const auto refused = write("=:a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "an invalid place");
  EXPECT_EQ(refused.error().text, "=:a");
  EXPECT_EQ(read("uprobe_events"), before);
  EXPECT_EQ(probes_.removed, std::vector<std::uint64_t>{2}) << "the new one";
  ASSERT_EQ(kernel_.is_wanted.size(), 1u);
  EXPECT_EQ(kernel_.is_wanted[0].source_id, 1001u);
  refuses_first(ErrorCode::kTimedOut);
  EXPECT_EQ(write("=:a").error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(tracing_.probe_serials(), std::vector<std::uint64_t>{1});
  feed(2, 7);
  feed(3, 7);
  feed(1, 7);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 2\n"), std::string::npos);
  ASSERT_TRUE(write("=:a")) << "it is not pending";
  EXPECT_EQ(probes_.removed.back(), 1u);
}

// The offset of another build is in the midst of an instruction.
TEST_F(ProbesTest, ARenewalRefusesAnOffsetInAnotherFile) {
  ASSERT_TRUE(write("p:a /bin/x:work\np:a  /bin/x:0x10"));
  const std::string before = read("uprobe_events");
  const auto is_refused = [&] {
    const auto refused = write("=:a");
    return !refused && refused.error().code == ErrorCode::kInvalid &&
           refused.error().text == "p:a  /bin/x:0x10" && refused.error().token_at == 5 &&
           refused.error().reason.starts_with("the offset is of the file that was there");
  };
  probes_.file = "8:1:99";
  EXPECT_TRUE(is_refused());
  probes_.file = "";
  EXPECT_TRUE(is_refused()) << "it may be another";
  EXPECT_EQ(read("uprobe_events"), before);
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{2, 3}));
  probes_.file = "8:1:77";
  EXPECT_TRUE(write("=:a"));
}

// Triggers and histograms of fields that have gone would go, too.
TEST_F(ProbesTest, ARenewalWithOtherFieldsIsRefusedWhileSomethingIsSet) {
  ASSERT_TRUE(write("p:a /bin/x:work"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  probes_.more_fields = "\tfield:int more;\toffset:16;\tsize:4;\tsigned:1;\n";
  const auto refused = write("=:a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_TRUE(refused.error().reason.starts_with("its fields are others now"));
  EXPECT_EQ(probes_.removed, std::vector<std::uint64_t>{2});
  feed(1, 7);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 2\n"), std::string::npos);
  ASSERT_TRUE(put("events/uprobes/a/trigger", "!hist:keys=prio"));
  ASSERT_TRUE(write("=:a"));
  EXPECT_NE(read("events/uprobes/a/format").find("more"), std::string::npos);
}

TEST_F(ProbesTest, AFeederThatComesDuringARenewalLeavesBothProbes) {
  ASSERT_TRUE(write("p:a /bin/x:work"));
  ASSERT_TRUE(put("events/uprobes/a/enable", "1"));
  const std::vector<std::uint64_t> both{1, 2}, changed{2, 1};
  probes_.at_define = [&] { EXPECT_EQ(tracing_.probe_serials(), both); };
  kernel_.at_want = [&] { EXPECT_EQ(tracing_.probe_serials(), changed); };
  const int orders = kernel_.orders;
  ASSERT_TRUE(write("=:a"));
  EXPECT_EQ(kernel_.orders, orders + 1);
  EXPECT_EQ(probes_.made.size(), 2u);
  EXPECT_EQ(tracing_.probe_serials(), std::vector<std::uint64_t>{2});
}

TEST_F(ProbesTest, ARenewalCountsOneLostRecordWhereItIsOn) {
  ASSERT_TRUE(write("p:a /bin/x:work\np:b /bin/x:work"));
  ASSERT_TRUE(put("events/uprobes/a/enable", "1"));
  ASSERT_TRUE(write("=:b"));
  EXPECT_EQ(read("trace").find("lost"), std::string::npos) << "nothing is set on it";
  ASSERT_TRUE(write("=:a"));
  EXPECT_NE(read("trace").find("lost on their way: 1 in all"), std::string::npos);
}

TEST_F(ProbesTest, ARenewalOfAGroupLeavesWhatIsKnownNotToBeStale) {
  ASSERT_TRUE(write("p:a /bin/x:work\np:b /bin/y:work\np:c /bin/z:work\np:other/d /bin/y:work"));
  probes_.counted = ProbeHits{.places = {{{1, "/bin/x:0x1000"}, {{7, "8:1:77"}}},
                                         {{2, "/bin/y:0x1000"}, {{7, "8:1:99"}}},
                                         {{3, "/bin/z:0x1000"}, {{7, std::nullopt}}}}};
  ASSERT_TRUE(write("=:uprobes/"));
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{2, 3}));
  ASSERT_TRUE(write("=:a")) << "it is meant by its name";
  EXPECT_EQ(probes_.removed.back(), 1u);
}

TEST_F(ProbesTest, ARefusedRenewalStopsNoOtherOfItsGroup) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:b /bin/x:work"));
  probes_.file = "8:1:99";
  EXPECT_EQ(write("=:uprobes/").error().text, "p:a /bin/x:0x10");
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{3, 2})) << "the new one of a, and b's";
}

TEST_F(ProbesTest, ARenewalNeedsNoRoomBesideWhatItReplaces) {
  const std::string path = "/bin/" + std::string(4'000, 'x');
  int made = 0;
  ASSERT_TRUE(write("p:n " + path + ":work"));
  while (made <= 1'100 && write("p:a" + std::to_string(made) + " " + path + ":0x10")) made += 1;
  ASSERT_LT(made, 1'100);
  EXPECT_TRUE(write("=:a0"));
  probes_.found = "x86_64\n4096 0\n8192 0\n12288 0\n";
  const auto refused = write("=:n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().text, "=:n");
}

// A new source reports a probe that a write removes at that moment, again and again.
TEST_F(ProbesTest, NoEventIsLeftOfAProbeThatIsRemovedWhileItIsMade) {
  for (std::uint64_t serial = 1; serial <= 500; ++serial) {
    ASSERT_TRUE(write("p:a /bin/x:0x10"));
    tracing_.withdraw(kernel_, clock_.now());
    const MadeProbe made = PlayedProbes::made_of(probes_.made.back());
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      ready += 1;
      while (ready != 2) {
      }
    };
    std::thread source([&] {
      meet();
      tracing_.probe_made({.serial = serial}, made, clock_.now());
    });
    meet();
    const auto removed = write("-:a");
    source.join();
    ASSERT_TRUE(removed);
    ASSERT_FALSE(has("events/uprobes/a")) << "in round " << serial;
  }
}

}  // namespace
}  // namespace tallyfs::tracing
