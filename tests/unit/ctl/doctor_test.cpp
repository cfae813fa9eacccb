// The parts of doctor, define and of names that need no mount.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/daemon_counter.h"
#include "core/base/fd.h"
#include "tools/ctl/count_checks.h"
#include "tools/ctl/daemon_checks.h"
#include "tools/ctl/machine_checks.h"
#include "tools/ctl/options.h"
#include "tools/ctl/what.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

view::Interface own_interface(std::uint64_t seconds, std::vector<view::Statistic> statistics) {
  return {.name = "tallyfs",
          .epoch = "e",
          .serial = 1,
          .time_us = seconds * 1'000'000,
          .realtime_us = 0,
          .statistics = std::move(statistics)};
}

view::Interface own_numbers(const std::string& name, Int128 total, std::uint64_t seconds) {
  view::Statistic counter{.name = name, .on = true, .type = "value"};
  counter.values = view::Value{total};
  counter.samples = static_cast<std::uint64_t>(total);
  return own_interface(seconds, {counter});
}

// The numbers of the daemon that count a problem.
std::vector<DaemonCounter::Row> problems() {
  std::vector<DaemonCounter::Row> found;
  std::ranges::copy_if(DaemonCounter::kRows, std::back_inserter(found),
                       &DaemonCounter::Row::is_problem);
  return found;
}

TEST(CountChecksTest, EveryFaultIsFoundWithWhatToDo) {
  for (const DaemonCounter::Row& problem : problems()) {
    const std::string name(problem.name);
    const auto found = check_counts(own_numbers(name, 3, 1), own_numbers(name, 5, 2), "");
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].level, Level::kWarning);
    EXPECT_EQ(found[0].check, name);
    EXPECT_TRUE(found[0].text.starts_with("5 " + std::string(problem.meaning))) << found[0].text;
    EXPECT_TRUE(found[0].text.ends_with(", 2 of them in the last 1.00s")) << found[0].text;
    EXPECT_FALSE(found[0].advice.empty());
  }
}

TEST(CountChecksTest, OneIsToldAsOne) {
  for (const DaemonCounter::Row& problem : problems()) {
    const view::Interface own = own_numbers(std::string(problem.name), 1, 1);
    const auto found = check_counts(own, own, "");
    ASSERT_EQ(found.size(), 1u) << problem.name;
    EXPECT_TRUE(found[0].text.starts_with("1 " + std::string(problem.one))) << found[0].text;
  }
}

TEST(CountChecksTest, CountsOfWhatWentWellAreNoFaults) {
  for (const DaemonCounter::Row& row : DaemonCounter::kRows) {
    if (row.is_problem()) continue;
    const std::string name(row.name);
    const auto found = check_counts(own_numbers(name, 3, 1), own_numbers(name, 5, 2), "");
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].level, Level::kOk);
  }
}

TEST(CountChecksTest, ACountOfANewerDaemonIsShown) {
  const auto found = check_counts(own_numbers("leaps", 3, 1), own_numbers("leaps", 5, 2), "");
  EXPECT_EQ(found[0].level, Level::kWarning);
  EXPECT_EQ(found[0].check, "leaps");
}

TEST(CountChecksTest, RejectsAreExplainedByTheNewestEntry) {
  const auto found =
      check_counts(own_numbers("rejects", 1, 1), own_numbers("rejects", 1, 2),
                   "[1.0] socket pid 1 uid 0: error: old\n  Command: x\n           ^\n"
                   "[2.0] socket pid 2 uid 0: error: new\n  Command: y\n           ^\n");
  EXPECT_TRUE(found[0].text.ends_with("; the newest: socket pid 2 uid 0: error: new"))
      << found[0].text;
}

TEST(CountChecksTest, TheAdviceOfARefusedReloadFollowsItsReason) {
  const view::Interface own = own_numbers("reloads_refused", 1, 1);
  const std::string refused = "[2.0] reload: error: the program on disk refuses: ";
  const std::string later = "\n[3.0] socket pid 2 uid 0: error: new\n  Command: y\n";
  auto found = check_counts(own, own, refused + "--rules /etc/rules: No such file" + later);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.ends_with("refuses: --rules /etc/rules: No such file"))
      << found[0].text;
  EXPECT_EQ(found[0].advice.find("install"), std::string::npos) << found[0].advice;
  found = check_counts(
      own, own,
      refused + "the daemon that runs would leave what this version does not read (35:7)" + later);
  EXPECT_EQ(found[0].advice, "install a program that reads what this one leaves");
}

TEST(CountChecksTest, DatagramsThatWerePutOffAndDroppedHaveAWarningOfTheirOwn) {
  const auto found =
      check_counts(own_numbers("put_off_dropped", 3, 1), own_numbers("put_off_dropped", 5, 2), "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].level, Level::kWarning);
  EXPECT_TRUE(found[0].text.find("had sent more than can wait") != std::string::npos)
      << found[0].text;
}

view::Interface own_drops(Int128 dropped, Int128 at_full_rings) {
  view::Interface own = own_numbers("dropped", dropped, 1);
  own.statistics.push_back(own_numbers("lane_dropped", at_full_rings, 1).statistics.front());
  view::Statistic list{.name = "dropped_by", .on = true, .type = "list"};
  list.values = view::List{{0}, {dropped}};
  own.statistics.push_back(list);
  return own;
}

TEST(CountChecksTest, WhatFullRingsDroppedIsToldOnce) {
  const view::Interface own = own_drops(5, 6);
  const auto found = check_counts(own, own, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].check, "lane_dropped");
  EXPECT_TRUE(found[0].text.ends_with(", by pid 0 (ended) 5")) << found[0].text;
  EXPECT_NE(found[0].advice.find("wait_ms"), std::string::npos) << found[0].advice;
}

TEST(CountChecksTest, DropsSayHowManyWereAtFullRings) {
  const view::Interface own = own_drops(50, 6);
  const auto found = check_counts(own, own, "");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].check, "dropped");
  EXPECT_TRUE(found[0].text.ends_with(", 6 of all at full rings, by pid 0 (ended) 50"))
      << found[0].text;
  for (const char* cause : {"refused", "1,024", "held_max"}) {
    EXPECT_NE(found[0].advice.find(cause), std::string::npos) << found[0].advice;
  }
}

view::Interface own_lanes(std::int64_t lanes, Int128 beside, std::uint64_t seconds) {
  view::Statistic last{.name = "lanes", .on = true, .type = "last"};
  last.values = view::Last{.time_us = 1, .x = lanes};
  view::Statistic list{.name = "beside_lanes", .on = true, .type = "list"};
  list.values = view::List{{0}, {beside}};
  list.samples = static_cast<std::uint64_t>(beside);
  return own_interface(seconds, {last, list});
}

TEST(CountChecksTest, AFeederThatWasRefusedALaneIsNamedWithTheReason) {
  const auto found =
      check_lanes(own_lanes(2, 3, 1), own_lanes(2, 8, 2),
                  "[1.0] socket pid 0 uid 7: error: more than 64 lanes of uid 7\n"
                  "  Command: lane 2097152\n           ^\n"
                  "[2.0] socket pid 0 uid 7: error: new\n  Command: y\n           ^\n");
  EXPECT_EQ(found.level, Level::kWarning);
  EXPECT_EQ(found.text,
            "2 in use; over the socket: pid 0 (ended) 5 samples, "
            "more than 64 lanes of uid 7");
  EXPECT_FALSE(found.advice.empty());
}

TEST(CountChecksTest, AFeederWithoutALaneOfItsOwnWillIsNoFault) {
  const auto found = check_lanes(own_lanes(1, 3, 1), own_lanes(1, 8, 2), "");
  EXPECT_EQ(found.level, Level::kOk);
  EXPECT_TRUE(found.text.ends_with(
      "5 samples, no refusal in error_log: an older library, no_lane, or more than its lane "
      "holds"))
      << found.text;
  EXPECT_EQ(check_lanes(own_lanes(1, 3, 1), own_lanes(1, 3, 2), "").text, "1 in use");
}

TEST(DaemonChecksTest, AShortQueueAndALostFeederAreFaults) {
  EXPECT_EQ(check_queue({.queue_length = 10}).level, Level::kWarning);
  EXPECT_EQ(check_queue({.queue_length = 512}).level, Level::kOk);
  EXPECT_EQ(check_queue({.queue_length = 0}).level, Level::kWarning);
  const auto unknown = check_queue({});
  EXPECT_EQ(unknown.level, Level::kOk) << "of a socket of systemd's";
  EXPECT_TRUE(unknown.text.starts_with("its length is not known")) << unknown.text;
  EXPECT_EQ(check_tracefs({.tracefs = "lost"}).level, Level::kFailure);
  EXPECT_EQ(check_tracefs({.tracefs = "off"}).level, Level::kOk);
}

// A folder that is removed at the end.
struct Prefix {
  Prefix() { path = ::mkdtemp(path.data()); }
  ~Prefix() { std::filesystem::remove_all(path); }
  void make(const std::string& file) const {
    std::filesystem::create_directories(std::filesystem::path(path + file).parent_path());
    std::ofstream(path + file) << "\n";
  }

  std::string path = ::testing::TempDir() + "prefix.XXXXXX";
};

TEST(DaemonChecksTest, UnitsThatAreOffHaveTheLineThatEnablesThem) {
  const Prefix usr;
  EXPECT_TRUE(check_units({.tracefs = "off"}, usr.path, usr.path).empty());
  usr.make("/lib/systemd/system/tally-feed-block.service");
  usr.make("/lib/systemd/system/tally-feed-timer.service");
  usr.make("/share/tallyfs/tracefs.conf");

  const auto found =
      check_units({.tracefs = "off", .interfaces = {{.name = "block-vda"}}}, usr.path, usr.path);

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text, "tally-feed-timer is off: nothing measures late timers");
  EXPECT_EQ(found[0].advice, "systemctl enable --now tally-feed-timer");
  EXPECT_EQ(found[1].advice.find("install -D "), 0u);
  EXPECT_EQ(found[1].level, Level::kOk);
  EXPECT_EQ(check_units({.tracefs = "on"}, usr.path, usr.path).size(), 2u);
}

TEST(DaemonChecksTest, UnitsThatAreEnabledOrRunAreNotNamed) {
  const Prefix root;
  for (const char* const unit : {"tally-feed-log.service", "tally-feed-statsd.socket",
                                 "tally-web.service", "tally-record.service"}) {
    root.make(std::string("/lib/systemd/system/") + unit);
  }
  const auto advice = [&] {
    std::vector<std::string> all;
    for (const Finding& each : check_units({}, root.path, root.path)) all.push_back(each.advice);
    return all;
  };
  EXPECT_EQ(advice(), (std::vector<std::string>{"systemctl enable --now tally-feed-log",
                                                "systemctl enable --now tally-feed-statsd.socket",
                                                "systemctl enable --now tally-web",
                                                "systemctl enable --now tally-record"}));

  root.make("/etc/systemd/system/multi-user.target.wants/tally-feed-log.service");
  root.make("/etc/systemd/system/sockets.target.wants/tally-feed-statsd.socket");
  root.make("/run/systemd/units/invocation:tally-web.service");
  EXPECT_EQ(advice(), std::vector<std::string>{"systemctl enable --now tally-record"});
}

TEST(DaemonChecksTest, MemoryIsToldWithoutWhiteSpace) {
  const auto found = check_memory({.pid = static_cast<std::uint64_t>(::getpid())});
  EXPECT_GT(found.text.find_first_not_of("0123456789"), 0u) << found.text;
}

TEST(DaemonChecksTest, AnotherVersionIsAFault) {
  const view::Tree tree{.version = "0.1.0"};
  EXPECT_EQ(check_versions(tree, "0.1.0", std::nullopt).level, Level::kOk);
  EXPECT_EQ(check_versions(tree, "0.1.0", "0.1.0").level, Level::kOk);
  EXPECT_EQ(check_versions(tree, "0.2.0", std::nullopt).level, Level::kWarning);
  const Finding other = check_versions(tree, "0.1.0", "0.0.9");
  EXPECT_EQ(other.level, Level::kWarning);
  EXPECT_EQ(other.text, "daemon 0.1.0, tallyctl 0.1.0, libtally 0.0.9");
}

// Each daemon has limits of its own, which its file tells.
TEST(DaemonChecksTest, QuotasNearTheirLimitsAreFaults) {
  view::Tree tree{.quotas = {{1000, {900, 7, 1 << 20}}},
                  .quota_limits = view::QuotaLimits{.uid = {1000, 2000, 4 << 20},
                                                    .all = {2000, 4000, 8 << 20}}};
  const Findings near = check_quotas(tree);
  ASSERT_EQ(near.size(), 1u);
  EXPECT_EQ(near[0].level, Level::kWarning);
  EXPECT_EQ(near[0].text,
            "uid 1000: 900 of 1,000 interfaces, 7 of 2,000 statistics, 1.00MiB of 4.00MiB of data");
  EXPECT_EQ(near[0].advice, "remove some: tallyctl rm, or a larger --uid-interfaces");
  tree.quotas[0].held.interfaces = 899;
  EXPECT_EQ(check_quotas(tree)[0].level, Level::kOk);
  tree.quotas = {{1000, {1, 1, 3 << 20}}, {1001, {1, 1, 3 << 20}}, {1002, {1, 1, 2 << 20}}};
  const Findings all = check_quotas(tree);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[3].level, Level::kWarning);
  EXPECT_EQ(all[3].advice, "remove some: tallyctl rm, or a larger --memory-max");
}

TEST(DaemonChecksTest, QuotasOfAnOlderDaemonAreNotJudged) {
  const Findings found = check_quotas({.quotas = {{0, {65'000, 1, 1}}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].level, Level::kOk);
  EXPECT_EQ(found[0].text, "uid 0: 65,000 interfaces, 1 statistics, 1B of data");
}

TEST(DaemonChecksTest, FeedersAreThoseWithNewSamples) {
  const view::Tree before{.time_us = 1'000'000,
                          .interfaces = {{"web", 1, 1, 10, 1}, {"db", 1, 1, 5, 1}}};
  const view::Tree now{.time_us = 2'000'000,
                       .interfaces = {{"web", 1, 1, 110, 1}, {"db", 1, 1, 5, 1}}};
  EXPECT_EQ(check_feeders(before, now).text, "1 of 2 interfaces had samples just now: web 100/s");
}

TEST(DaemonChecksTest, TimersOfAnEarlierFeederAreNoted) {
  const auto timer = [](std::vector<std::string> names) {
    view::Interface made{.name = "timer"};
    for (const std::string& name : names) made.statistics.push_back({.name = name});
    return made;
  };
  EXPECT_TRUE(check_timer_names(timer({"lateness{cpu:0}", "lateness_cpu", "lateness_cpu0_by_second",
                                       "lateness_cpu0_percentiles", "other_cpu0"}),
                                "/m")
                  .empty());
  const Findings found =
      check_timer_names(timer({"lateness_cpu0", "overruns_cpu0", "lateness_cpu17"}), "/m");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].level, Level::kOk);
  EXPECT_EQ(found[0].text, "timer/lateness_cpu0 and 2 more have no feeder since CPUs are labels");
  EXPECT_NE(found[0].advice.find("/m/statistics/timer/definition | tally-send"), std::string::npos);
}

class SocketCheckTest : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "tallyctl_socket_test"; }
  void TearDown() override { ::unlink(path_.c_str()); }
  Fd bind_one() const {
    Fd made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return made;
  }
  Finding check(std::uint64_t pid) const { return check_socket({.pid = pid, .socket = path_}); }

  std::string path_;
};

TEST_F(SocketCheckTest, ASocketThatIsHeldIsWell) {
  const Fd held = bind_one();
  EXPECT_EQ(check(static_cast<std::uint64_t>(::getpid())).level, Level::kOk);
}

TEST_F(SocketCheckTest, ASocketOfAnotherProcessIsAFault) {
  const Fd held = bind_one();
  const Finding found = check(static_cast<std::uint64_t>(::getppid()));
  if (found.level == Level::kOk) GTEST_SKIP() << "this user may not look at its parent";
  EXPECT_NE(found.text.find("held by another process"), std::string::npos);
}

TEST_F(SocketCheckTest, ALeftOrRemovedSocketIsAFault) {
  bind_one();
  EXPECT_NE(check(1).text.find("no process holds it"), std::string::npos);
  ::unlink(path_.c_str());
  EXPECT_NE(check(1).text.find("No such file"), std::string::npos);
  std::ofstream(path_) << "text";
  EXPECT_NE(check(1).text.find("is no socket"), std::string::npos);
}

TEST(MachineChecksTest, DevicesClocksAndJumps) {
  EXPECT_EQ(check_fuse_device("/nowhere/fuse").level, Level::kFailure);
  EXPECT_EQ(check_fuse_device("/dev/null").level, Level::kOk);
  const std::string file = testing::TempDir() + "tallyctl_clock_test";
  std::ofstream(file) << "hpet\n";
  EXPECT_EQ(check_clock(file).level, Level::kWarning);
  std::ofstream(file) << "tsc\n";
  EXPECT_EQ(check_clock(file).level, Level::kOk);
  ::unlink(file.c_str());
  EXPECT_EQ(check_jump(500).level, Level::kOk);
  EXPECT_EQ(check_jump(-3'600'000'000).level, Level::kWarning);
}

TEST(DefinitionFileTest, TheNewestEntryOfThisLineIsTheReason) {
  const std::string log =
      "[1.0] statistics/web: error: old\n  Command: type=bla\n           ^\n"
      "[2.0] statistics/db: error: of another\n  Command: type=bla\n           ^\n"
      "[2.5] statistics/web: warning: no such key\n  Command: tpye=raw\n           ^\n"
      "[3.0] statistics/web: error: type must be value\n  Command: type=bla\n                ^\n";
  const auto find = [&](LogKind kind, const std::string& command) {
    return find_entry(log, kind, "statistics/web", command);
  };
  EXPECT_EQ(find(LogKind::kError, "type=bla").text, "type must be value\n  type=bla\n       ^");
  EXPECT_EQ(find(LogKind::kError, "type=bla").time, "3.0");
  EXPECT_EQ(find(LogKind::kError, "type=blub").text, "");
  EXPECT_EQ(find(LogKind::kWarning, "type=bla").text, "");
  EXPECT_EQ(find(LogKind::kWarning, "tpye=raw").text, "no such key\n  tpye=raw\n  ^");
}

TEST(DefinitionFileTest, AnEntryIsFoundByTheLineThatItHasEscaped) {
  const std::string log =
      "[1.0] probe: error: no\n  Command: p:a /x:0x1 f=\\x5c1:u32\n                       ^\n";
  EXPECT_EQ(find_entry(log, LogKind::kError, "probe", "p:a /x:0x1 f=\\1:u32").text,
            "no\n  p:a /x:0x1 f=\\x5c1:u32\n              ^");
}

TEST(PathTest, PathsInTheMountAreTakenApart) {
  EXPECT_EQ(path_of("/mnt/tracing/latency_hist/wakeup/", "/mnt"), "tracing/latency_hist/wakeup");
  EXPECT_EQ(path_of("stats/tcp/total", "/mnt"), "stats/tcp/total");
  EXPECT_EQ(path_of("/mnt/statistics/web/data", "/mnt"), "");
  EXPECT_EQ(path_of("web/us", "/mnt"), "");
}

TEST(PeriodTest, PeriodsAreATenthOfASecondToADay) {
  EXPECT_EQ(parse_period("1s"), std::chrono::seconds(1));
  EXPECT_EQ(parse_period("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_period("2m"), std::chrono::minutes(2));
  EXPECT_EQ(parse_period("2h"), std::chrono::hours(2));
  EXPECT_EQ(parse_period("5"), std::chrono::seconds(5));
  for (const char* text : {"", "0", "s", "99ms", "-1s", "25h", "2000m", "1w", "1.5s"}) {
    EXPECT_EQ(parse_period(text), std::chrono::microseconds(0)) << text;
  }
}

}  // namespace
}  // namespace tallyfs
