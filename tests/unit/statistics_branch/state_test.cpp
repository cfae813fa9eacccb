// The state of statistics/ in a file: what comes back, and what is left out and told.
#include "core/branch/state.h"

#include <algorithm>

#include "tests/unit/golden_state.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr BootId kThisBoot = {1, 2, 3};
constexpr BootId kNextBoot = {4, 5, 6};

std::string state_of(StatisticsBranch& statistics, const FakeClock& clock) {
  Branch* const branches[] = {&statistics};
  (void)state_stamp(branches, clock.now());  // histories are saved as of this moment
  std::string bytes;
  const auto saved =
      save_state({.boot = kThisBoot, .saved = clock.now()}, branches, [&](std::string_view some) {
        bytes.append(some);
        return Result<void>();
      });
  EXPECT_TRUE(saved);
  EXPECT_EQ(saved.value().bytes, bytes.size());
  return bytes;
}

// Another daemon, which loads.
struct Successor {
  explicit Successor(const FakeClock& its_clock, const Ledger::Limits& limits = {})
      : clock(its_clock),
        tree(clock.now()),
        ledger(limits),
        statistics(tree, ledger, kDaemon, clock.now()) {}

  LoadedState load(std::string_view bytes, const BootId& boot = kThisBoot) {
    Branch* const branches[] = {&statistics};
    const auto file = read_state(bytes);
    if (!file) return {.faults = {file.error().reason}};
    return load_state(file.value(), branches, boot, clock.now());
  }
  std::string read(std::string_view path) {
    NodeId node = Tree::kRoot;
    while (!path.empty()) {
      const auto found = tree.lookup(node, path.substr(0, path.find('/')));
      if (!found) return "(none)";
      node = found.value().id;
      path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1);
    }
    return tree.file(node).value()->render(clock.now(), 1 << 20).value();
  }

  const FakeClock& clock;
  Tree tree;
  Ledger ledger;
  StatisticsBranch statistics;
};

class StateTest : public StatisticsTest {
 protected:
  StateTest() {
    clock_.advance(std::chrono::seconds(100));
    execute("create web/hits on=1").value();
    execute("create web/slow of=hits type=range range_min=100").value();
    execute("create web/sizes type=list entries_max=9 base=16 on=1").value();
    execute("create web/seconds type=history mode=increments period=1000000 entries_max=9 on=1")
        .value();
    execute("create disk/busy type=last on=1", kBob).value();
    for (const char* name : {"web/hits", "web/sizes", "web/seconds"}) send(name, 200);
    send("disk/busy", 7, 1, kBob);
    write_rule("web/* type=range");
    write_rule("disk/*_us on=1");
    clock_.advance(std::chrono::seconds(2));
  }

  void write_rule(const std::string& line) {
    const auto rules = tree_.file(tree_.lookup(Tree::kRoot, "rules").value().id).value();
    ASSERT_TRUE(rules->write_line(line, clock_.now()));
  }
};

TEST_F(StateTest, EverythingThatWasSavedIsThere) {
  Successor next(clock_);
  const LoadedState loaded = next.load(state_of(statistics_, clock_));
  EXPECT_EQ(loaded.objects, 4u);
  EXPECT_EQ(loaded.faults, std::vector<std::string>{});
  EXPECT_EQ(next.read("rules"), "web/* type=range\ndisk/*_us on=1\n");
  for (const char* interface : {"web", "disk"}) {
    for (const char* file : {"definition", "data"}) {
      const std::string path = std::string("statistics/") + interface + "/" + file;
      EXPECT_EQ(next.read(path), read(interface, file)) << path;
    }
  }
  EXPECT_EQ(next.ledger.total().bytes, ledger_.total().bytes);
  // Of its owner, still.
  const auto line = wire::parse_line("define disk on=0");
  const auto& command = std::get<wire::CommandLine>(line.value());
  EXPECT_FALSE(next.statistics.execute(command, kAlice, clock_.now()));
  EXPECT_TRUE(next.statistics.execute(command, kBob, clock_.now()));
}

TEST_F(StateTest, AnotherBootKeepsDefinitionsAndTotals) {
  const std::string bytes = state_of(statistics_, clock_);
  FakeClock booted(std::chrono::seconds(3));
  Successor next(booted);
  EXPECT_EQ(next.load(bytes, kNextBoot).objects, 4u);
  EXPECT_EQ(next.read("statistics/web/data"), "hits 1\nslow 1 200 200.000 200\nsizes 0xc8 1\n");
  EXPECT_EQ(next.read("statistics/disk/data"), "busy [0.000000] 7\n");
  const std::string definition = next.read("statistics/web/definition");
  const std::size_t history = definition.find("name=seconds on=1 type=history ");
  ASSERT_NE(history, std::string::npos) << definition;
  EXPECT_NE(definition.find(" data=[0.000000] started=[0.000000] stopped=[0.000000]", history),
            std::string::npos)
      << definition;
  // An unknown boot is no boot that was.
  Successor unknown(booted);
  EXPECT_EQ(unknown.load(bytes, BootId{}).objects, 4u);
  EXPECT_EQ(unknown.read("statistics/disk/data"), "busy [0.000000] 7\n");
}

TEST_F(StateTest, WhatIsLeftOutIsSummedUpByItsKind) {
  const std::string bytes = state_of(statistics_, clock_);
  Successor next(clock_);
  EXPECT_EQ(summary_of_faults(next.load(bytes)), "");
  EXPECT_EQ(summary_of_faults(next.load(bytes)),
            "interface 'web' is left out: there is an interface of that name already, and 1 more; "
            "left out by kind: interface 2");
}

// As of a virtual machine that went back to an earlier moment of the same boot.
TEST_F(StateTest, AClockBehindTheStatesIsThatOfAnotherBoot) {
  const std::string bytes = state_of(statistics_, clock_);
  FakeClock before(clock_.now().monotonic - std::chrono::nanoseconds(1));
  Successor next(before);
  EXPECT_EQ(next.load(bytes).objects, 4u);
  EXPECT_EQ(next.read("statistics/web/data"), "hits 1\nslow 1 200 200.000 200\nsizes 0xc8 1\n");
  EXPECT_EQ(next.read("statistics/disk/data"), "busy [0.000000] 7\n");
}

TEST_F(StateTest, FilesOfTheFirstFormatsLoadAndShowWhatWasSaved) {
  const char* const names[] = {"all/array", "all/quantiles", "all/raw", "all/ranges"};
  execute("create all/array type=array scale=lin base_interval=50 range_min=0 range_max=300 on=1")
      .value();
  execute("create all/quantiles type=quantiles precision=5 quantiles=50,99 on=1").value();
  execute("create all/raw type=raw entries_max=4 on=1").value();
  execute("create all/ranges type=history mode=range period=1000000 entries_max=9 on=1").value();
  for (const char* name : names) send(name, 120, 3);
  clock_.advance(std::chrono::seconds(2));
  (void)statistics_.stamp(clock_.now());  // histories are saved as of this moment
  const std::string file = golden::file_of(statistics_, clock_.now());
  golden::expect_same("statistics.1.hex", golden::to_hex(file));
  Successor next(clock_);
  golden::load_file(golden::from_hex(golden::read("statistics.1.hex")), next.statistics,
                    clock_.now());
  EXPECT_EQ(next.read("rules"), "web/* type=range\ndisk/*_us on=1\n");
  for (const char* interface : {"all", "web", "disk"}) {
    for (const char* text : {"definition", "data"}) {
      const std::string path = std::string("statistics/") + interface + "/" + text;
      EXPECT_EQ(next.read(path), read(interface, text)) << path;
    }
  }
}

TEST_F(StateTest, WhatHasNoRoomIsLeftOutAndTold) {
  Successor next(clock_, {.per_uid = {.interfaces = 1, .statistics = 1000, .bytes = 1 << 20}});
  execute("create more/x on=1").value();
  const LoadedState loaded = next.load(state_of(statistics_, clock_));
  EXPECT_EQ(loaded.objects, 4u);
  ASSERT_EQ(loaded.faults.size(), 1u);
  EXPECT_EQ(loaded.faults[0].find("interface 'more' is left out: "), 0u) << loaded.faults[0];
  EXPECT_EQ(next.read("statistics/more/data"), "(none)");
}

TEST_F(StateTest, ANameThatIsTakenAndAnUnknownKindAreToldToo) {
  const std::string bytes = state_of(statistics_, clock_);
  Successor next(clock_);
  (void)next.load(bytes);
  const auto again = next.load(bytes);
  ASSERT_EQ(again.faults.size(), 2u);
  EXPECT_EQ(again.faults[0],
            "interface 'web' is left out: there is an interface of that name already");
  std::string other;
  StateWriter writer({}, other);
  writer.begin_object({.kind = 77, .format = 1, .label = "x", .bytes = {}});
  writer.begin_object({.kind = 1, .format = 99, .label = "x", .bytes = {}});
  writer.end();
  const auto unknown = next.load(other);
  EXPECT_EQ(unknown.objects, 0u);
  EXPECT_EQ(unknown.faults,
            (std::vector<std::string>{
                "object 'x' is left out: this version knows no kind 77",
                "interface 'x' is left out: it has the format 99, which this version does not "
                "read"}));
}

TEST_F(StateTest, CutOffAnywhereItLoadsWholeObjects) {
  const std::string bytes = state_of(statistics_, clock_);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Successor next(clock_);
    EXPECT_FALSE(next.load(bytes.substr(0, size)).faults.empty()) << size;
    const std::string web = next.read("statistics/web/data");
    EXPECT_TRUE(web == "(none)" || web == read("web", "data")) << size << web;
  }
}

TEST_F(StateTest, WithAnyBitFlippedItLoadsWholeObjects) {
  const std::string bytes = state_of(statistics_, clock_);
  const std::string web = read("web", "definition") + read("web", "data");
  const std::string disk = read("disk", "definition") + read("disk", "data");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(wrong[at] ^ (1 << (at % 8)));
    Successor next(clock_);
    EXPECT_FALSE(next.load(wrong).faults.empty()) << at;
    const auto files = [&](const std::string& name) {
      const std::string directory = "statistics/" + name;
      return next.read(directory + "/definition") + next.read(directory + "/data");
    };
    const std::string webs = files("web"), disks = files("disk");
    EXPECT_TRUE(webs == web || webs == "(none)(none)") << webs;
    EXPECT_TRUE(disks == disk || disks == "(none)(none)") << disks;
    EXPECT_TRUE(at < 48 || webs == web || disks == disk) << at;
  }
}

TEST_F(StateTest, OfALargeOneEachPlaceCostsOneObject) {
  for (int i = 0; i < 50; ++i) {
    execute("create large" + std::to_string(i) + "/x type=list entries_max=999 on=1").value();
    for (int x = 0; x < 400; ++x) send("large" + std::to_string(i) + "/x", x);
  }
  const std::string bytes = state_of(statistics_, clock_);
  for (std::size_t i = 0; i < 100; ++i) {
    std::string wrong = bytes;
    const std::size_t at = 48 + i * (bytes.size() - 48) / 100;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x10);
    Successor next(clock_);
    const auto loaded = next.load(wrong);
    EXPECT_EQ(loaded.faults.size(), 1u) << at;
    EXPECT_EQ(loaded.objects, 53u) << at;
  }
}

TEST_F(StateTest, TheStampChangesWithWhatIsSavedAlone) {
  Branch* const branches[] = {&statistics_};
  const auto stamp = [&] { return state_stamp(branches, clock_.now()); };
  std::vector<std::uint64_t> stamps{stamp()};
  EXPECT_EQ(stamp(), stamps.back());
  statistics_.counters().count("samples", 5, clock_.now());
  EXPECT_EQ(stamp(), stamps.back());
  const auto changed = [&](const char* what) {
    stamps.push_back(stamp());
    EXPECT_EQ(std::count(stamps.begin(), stamps.end(), stamps.back()), 1) << what;
  };
  send("web/hits", 1);
  changed("a sample");
  execute("define web name=hits on=0").value();
  changed("a definition");
  execute("create third").value();
  changed("an interface");
  execute("remove third").value();
  EXPECT_EQ(stamp(), stamps[2]);
  clock_.advance(std::chrono::microseconds(1));
  write_rule("third/* on=1");
  changed("a rule");
}

TEST_F(StateTest, AnOutputThatFailsIsNotCalledAgain) {
  Branch* const branches[] = {&statistics_};
  int calls = 0;
  const auto saved = save_state({}, branches, [&](std::string_view) -> Result<void> {
    ++calls;
    return Error{ErrorCode::kNoSpace, "the disk is full"};
  });
  EXPECT_EQ(saved.error().reason, "the disk is full");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tallyfs::statistics
