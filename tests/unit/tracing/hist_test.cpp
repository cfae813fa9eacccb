// The basic histogram: keys, values, modifiers, sort, size, and the exact text of hist and trigger.
#include <gtest/gtest.h>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class HistTest : public EventFixture {
 protected:
  void alloc(std::int64_t site, std::int64_t requested, std::int64_t allocated = 0) {
    feed(kmalloc, 1, {{"call_site", site}, {"bytes_req", requested}, {"bytes_alloc", allocated}});
  }
};

TEST_F(HistTest, IsEmptyWithoutATrigger) {
  EXPECT_EQ(hist(kmalloc), "");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event "
            "disable_event enable_hist disable_hist hist\n");
}

TEST_F(HistTest, PrintsKeysAndSumsAsTheKernelDoes) {
  trigger(kmalloc, "hist:key=call_site:val=bytes_req");
  alloc(18446744, 100);
  alloc(18446744, 76);
  alloc(42, 1024);
  EXPECT_EQ(hist(kmalloc),
            "# event histogram\n"
            "#\n"
            "# trigger info: hist:keys=call_site:vals=hitcount,bytes_req:sort=hitcount:size=2048 "
            "[active]\n"
            "#\n"
            "\n"
            "{ call_site:         42 } hitcount:          1  bytes_req:       1024\n"
            "{ call_site:   18446744 } hitcount:          2  bytes_req:        176\n"
            "\n"
            "Totals:\n"
            "    Hits: 3\n"
            "    Entries: 2\n"
            "    Dropped: 0\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=call_site:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]\n");
}

TEST_F(HistTest, PrintsAddressesInHex) {
  trigger(kmalloc, "hist:keys=call_site.hex:vals=bytes_req.hex");
  alloc(static_cast<std::int64_t>(0xffffffff8154bc62), 255);
  EXPECT_EQ(entries(kmalloc),
            "{ call_site: ffffffff8154bc62 } hitcount:          1  bytes_req:         ff\n");
}

class FewSymbols final : public Symbols {
 public:
  Place place(std::uint64_t address) const override {
    if (address == 0xffffffff8154bc62) return {"usb_control_msg", 0x42, 0x110};
    if (address == 0xffffffffa00bf6fe) return {"hidraw_send_report", 0x7e, 0x1a0, "hid"};
    return {};
  }
  std::string syscall(std::uint64_t number) const override { return number == 0 ? "sys_read" : ""; }
};

TEST_F(HistTest, PrintsSymbolsWithAndWithoutTheirOffsets) {
  trigger(kmalloc, "hist:keys=call_site.sym");
  trigger(kmalloc, "hist:keys=call_site.sym-offset");
  alloc(static_cast<std::int64_t>(0xffffffff8154bc62), 1);
  alloc(static_cast<std::int64_t>(0xffffffffa00bf6fe), 1);
  alloc(16, 1);
  const std::string text = set.hists.copy(kmalloc).render(FewSymbols());
  EXPECT_NE(text.find("{ call_site: [ffffffff8154bc62] usb_control_msg                             "
                      "  } hitcount:          1\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("{ call_site: [ffffffffa00bf6fe] hidraw_send_report [hid]                    "
                      "  } hitcount:          1\n"),
            text.npos);
  EXPECT_NE(text.find("{ call_site: [ffffffff8154bc62] usb_control_msg+0x42/0x110                  "
                      "            } hitcount:          1\n"),
            text.npos);
  EXPECT_NE(text.find("{ call_site: [10] 0x10 "), text.npos);
}

TEST_F(HistTest, PrintsSystemCallsByName) {
  trigger(sys_enter, "hist:keys=id.syscall:sort=id");
  feed(sys_enter, 1, {{"id", 0}});
  feed(sys_enter, 1, {{"id", 999}});
  const std::string text = set.hists.copy(sys_enter).render(FewSymbols());
  EXPECT_NE(text.find("{ id: sys_read                      [  0] } hitcount:          1\n"
                      "{ id: unknown_syscall               [999] } hitcount:          1\n"),
            text.npos)
      << text;
}

TEST_F(HistTest, JsonHasTheNamesOfSystemCallsAndAddressesThatAreKnown) {
  trigger(sys_enter, "hist:keys=id.syscall:sort=id");
  feed(sys_enter, 1, {{"id", 0}});
  feed(sys_enter, 1, {{"id", 999}});
  const std::string calls = set.hists.copy(sys_enter).render_json(FewSymbols(), {});
  EXPECT_NE(calls.find(R"([{"key":{"id":0},"names":{"id":"sys_read"},"hitcount":1},)"
                       R"({"key":{"id":999},"hitcount":1}])"),
            calls.npos)
      << calls;
  trigger(kmalloc, "hist:keys=call_site.sym-offset,bytes_req");
  alloc(static_cast<std::int64_t>(0xffffffff8154bc62), 1);
  alloc(16, 1);
  const std::string places = set.hists.copy(kmalloc).render_json(FewSymbols(), {});
  EXPECT_NE(places.find(R"("names":{"call_site":"usb_control_msg+0x42/0x110"})"), places.npos)
      << places;
  EXPECT_NE(places.find(R"({"key":{"call_site":16,"bytes_req":1},"hitcount":1})"), places.npos)
      << places;
}

TEST_F(HistTest, PrintsTheNameThatAProcessHadAtFirst) {
  trigger(sys_enter, "hist:keys=common_pid.execname");
  EXPECT_TRUE(set.demands.of(sys_enter).comm);
  pid = 2869;
  comm = "bash";
  feed(sys_enter, 1, {});
  comm = "wget";
  feed(sys_enter, 1, {});
  EXPECT_EQ(entries(sys_enter),
            "{ common_pid: bash            [      2869] } hitcount:          2\n");
}

TEST_F(HistTest, PrintsTextsPaddedToFiftyColumns) {
  trigger(waking, "hist:keys=comm,prio");
  feed(waking, 1, {{"comm", "cyclictest"}, {"prio", 19}});
  EXPECT_EQ(entries(waking), "{ comm: cyclictest" + std::string(40, ' ') +
                                 ", prio:         19 } hitcount:          1\n");
}

TEST_F(HistTest, EscapesWhatWouldDriveATerminalOrBeginALine) {
  trigger(waking, "hist:keys=comm");
  feed(waking, 1, {{"comm", "\x1b[31m\n{ }"}});
  EXPECT_EQ(entries(waking),
            "{ comm: \\x1b[31m\\x0a{ }" + std::string(35, ' ') + " } hitcount:          1\n");
}

TEST_F(HistTest, KeepsTextsOfAnyLengthApart) {
  trigger(exec, "hist:keys=filename:sort=filename");
  feed(exec, 1, {{"filename", "/usr/bin/wget"}});
  feed(exec, 1, {{"filename", "/usr/bin/wget2"}});
  feed(exec, 1, {{"filename", "/usr/bin/wget"}});
  EXPECT_EQ(entries(exec), "{ filename: /usr/bin/wget" + std::string(37, ' ') +
                               " } hitcount:          2\n{ filename: /usr/bin/wget2" +
                               std::string(36, ' ') + " } hitcount:          1\n");
}

TEST_F(HistTest, GroupsByPowersOfTwo) {
  trigger(kmalloc, "hist:keys=bytes_req.log2:sort=bytes_req");
  for (const std::int64_t bytes : {0, 1, 2, 3, 4, 5, 8, 9, 1024}) alloc(1, bytes);
  EXPECT_EQ(entries(kmalloc),
            "{ bytes_req: ~ 2^0  } hitcount:          2\n"
            "{ bytes_req: ~ 2^1  } hitcount:          1\n"
            "{ bytes_req: ~ 2^2  } hitcount:          2\n"
            "{ bytes_req: ~ 2^3  } hitcount:          2\n"
            "{ bytes_req: ~ 2^4  } hitcount:          1\n"
            "{ bytes_req: ~ 2^10 } hitcount:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=bytes_req.log2:vals=hitcount:sort=bytes_req.log2:size=2048 [active]\n");
}

TEST_F(HistTest, GroupsByWidth) {
  trigger(kmalloc, "hist:keys=bytes_req.buckets=10:sort=bytes_req");
  for (const std::int64_t bytes : {0, 9, 10, 19, 25}) alloc(1, bytes);
  EXPECT_EQ(entries(kmalloc),
            "{ bytes_req: ~ 0-9 } hitcount:          2\n"
            "{ bytes_req: ~ 10-19 } hitcount:          2\n"
            "{ bytes_req: ~ 20-29 } hitcount:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=bytes_req.buckets=10:vals=hitcount:sort=bytes_req.buckets=10:size=2048 "
            "[active]\n");
}

TEST_F(HistTest, SortsByTwoFieldsEachInItsDirection) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req:sort=bytes_req.descending,call_site");
  alloc(3, 10);
  alloc(1, 10);
  alloc(2, 50);
  EXPECT_EQ(entries(kmalloc),
            "{ call_site:          2 } hitcount:          1  bytes_req:         50\n"
            "{ call_site:          1 } hitcount:          1  bytes_req:         10\n"
            "{ call_site:          3 } hitcount:          1  bytes_req:         10\n");
}

TEST_F(HistTest, SortsSignedKeysAsSigned) {
  trigger(waking, "hist:keys=prio:sort=prio.ascending");
  for (const std::int64_t prio : {5, -2, 120}) feed(waking, 1, {{"prio", prio}});
  EXPECT_EQ(entries(waking),
            "{ prio: 18446744073709551614 } hitcount:          1\n"
            "{ prio:          5 } hitcount:          1\n"
            "{ prio:        120 } hitcount:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(waking)),
            "hist:keys=prio:vals=hitcount:sort=prio:size=2048 [active]\n");
}

TEST_F(HistTest, CountsWhatFindsNoRoomAsDropped) {
  trigger(kmalloc, "hist:keys=call_site:size=100");
  for (std::int64_t site = 0; site < 130; ++site) alloc(site, 1);
  alloc(0, 1);
  const std::string text = hist(kmalloc);
  EXPECT_NE(text.find("\nTotals:\n    Hits: 129\n    Entries: 128\n    Dropped: 2\n"), text.npos);
  EXPECT_NE(text.find(":size=128 [active]\n"), text.npos);
}

TEST_F(HistTest, ShowsSharesAndGraphs) {
  trigger(kmalloc,
          "hist:keys=call_site:vals=hitcount.percent,bytes_req.percent:sort=call_site:nohitcount");
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req.graph:sort=call_site");
  alloc(1, 10);
  alloc(2, 25);
  alloc(2, 5);
  const std::string text = hist(kmalloc);
  EXPECT_NE(text.find("{ call_site:          1 }  hitcount (%):  33.33  bytes_req (%):  25.00\n"
                      "{ call_site:          2 }  hitcount (%):  66.66  bytes_req (%):  75.00\n"),
            text.npos)
      << text;
  EXPECT_NE(
      text.find("{ call_site:          1 } hitcount:          1  bytes_req: ######            "
                "  \n"),
      text.npos);
  EXPECT_NE(text.find("hitcount:          2  bytes_req: ####################\n"), text.npos);
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc))
                .substr(triggers_text(set.triggers.lines(kmalloc)).find('\n') + 1),
            "hist:keys=call_site:vals=hitcount.percent,bytes_req.percent:sort=call_site:size=2048:"
            "nohitcount [active]\n");
}

TEST_F(HistTest, PrintsStacksOneFrameToALine) {
  trigger(kmalloc, "hist:keys=stacktrace:sort=hitcount");
  EXPECT_TRUE(set.demands.of(kmalloc).stack);
  stack = {0xffffffff8154bc62, 0x10};
  alloc(1, 1);
  alloc(1, 1);
  stack = {0x10};
  alloc(1, 1);
  EXPECT_EQ(set.hists.copy(kmalloc).render(FewSymbols()),
            "# event histogram\n#\n# trigger info: hist:keys=common_stacktrace:vals=hitcount:"
            "sort=hitcount:size=2048 [active]\n#\n\n"
            "{ common_stacktrace:\n"
            "         0x10\n"
            "} hitcount:          1\n"
            "{ common_stacktrace:\n"
            "         usb_control_msg+0x42/0x110\n"
            "         0x10\n"
            "} hitcount:          2\n"
            "\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n");
}

TEST_F(HistTest, KnowsTheSpecialFields) {
  trigger(kmalloc, "hist:keys=common_cpu,common_pid,common_comm:vals=common_timestamp.usecs");
  cpu = 3;
  pid = 77;
  comm = "make";
  alloc(1, 1);
  EXPECT_EQ(entries(kmalloc),
            "{ common_cpu:          3, common_pid:         77, common_comm: make" +
                std::string(46, ' ') + " } hitcount:          1  common_timestamp:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=common_cpu,common_pid,common_comm:vals=hitcount,common_timestamp.usecs:"
            "sort=hitcount:size=2048:clock=global [active]\n");
}

TEST_F(HistTest, KnowsTheOldNameOfTheCpu) {
  trigger(kmalloc, "hist:keys=cpu");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048 [active]\n");
}

TEST_F(HistTest, SumsExpressionsWithoutShowingThem) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_alloc-bytes_req:sort=call_site");
  alloc(1, 10, 16);
  EXPECT_EQ(entries(kmalloc), "{ call_site:          1 } hitcount:          1\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=call_site:vals=hitcount,bytes_alloc-bytes_req:sort=call_site:size=2048 "
            "[active]\n");
}

TEST_F(HistTest, TakesExpressionsAsKeys) {
  trigger(kmalloc, "hist:keys=bytes_alloc-bytes_req");
  alloc(1, 10, 16);
  alloc(2, 20, 26);
  EXPECT_EQ(entries(kmalloc), "{ bytes_alloc-bytes_req:          6 } hitcount:          2\n");
}

TEST_F(HistTest, SeparatesTablesByTwoNewlinesNewestFirst) {
  trigger(kmalloc, "hist:keys=call_site if bytes_req < 0");
  trigger(kmalloc, "hist:keys=call_site if bytes_req == 256");
  alloc(1, 256);
  EXPECT_EQ(hist(kmalloc),
            "# event histogram\n#\n# trigger info: hist:keys=call_site:vals=hitcount:sort=hitcount:"
            "size=2048 if bytes_req == 256 [active]\n#\n\n"
            "{ call_site:          1 } hitcount:          1\n"
            "\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n"
            "\n\n"
            "# event histogram\n#\n# trigger info: hist:keys=call_site:vals=hitcount:sort=hitcount:"
            "size=2048 if bytes_req < 0 [active]\n#\n\n"
            "\nTotals:\n    Hits: 0\n    Entries: 0\n    Dropped: 0\n");
}

TEST_F(HistTest, SharesOneTableAmongTriggersOfOneName) {
  trigger(waking, "hist:name=foo:keys=pid");
  trigger(exec, "hist:name=foo:keys=pid");
  feed(waking, 1, {{"pid", 7}});
  feed(exec, 1, {{"pid", 7}});
  EXPECT_EQ(hist(waking), hist(exec));
  EXPECT_EQ(entries(waking), "{ pid:          7 } hitcount:          2\n");
  EXPECT_EQ(triggers_text(set.triggers.lines(exec)),
            "hist:foo:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]\n");
  trigger(waking, "!hist:name=foo:keys=pid");
  EXPECT_EQ(entries(exec), "{ pid:          7 } hitcount:          2\n");
}

TEST_F(HistTest, PausesContinuesAndClears) {
  trigger(kmalloc, "hist:keys=call_site:pause");
  alloc(1, 1);
  EXPECT_EQ(triggers_text(set.triggers.lines(kmalloc)),
            "hist:keys=call_site:vals=hitcount:sort=hitcount:size=2048 [paused]\n");
  trigger(kmalloc, "hist:keys=call_site:cont");
  alloc(1, 1);
  EXPECT_EQ(entries(kmalloc), "{ call_site:          1 } hitcount:          1\n");
  trigger(kmalloc, "hist:keys=call_site:pause");
  alloc(1, 1);
  trigger(kmalloc, "hist:keys=call_site:continue");
  EXPECT_EQ(entries(kmalloc), "{ call_site:          1 } hitcount:          1\n");
  trigger(kmalloc, "hist:keys=call_site:clear");
  EXPECT_NE(hist(kmalloc).find("    Hits: 0\n    Entries: 0\n"), std::string::npos);
}

TEST_F(HistTest, SaysWhetherItChanged) {
  trigger(kmalloc, "hist:keys=call_site");
  const std::uint64_t before = set.hists.hits(kmalloc);
  EXPECT_EQ(set.hists.hits(kmalloc), before);
  alloc(1, 1);
  EXPECT_NE(set.hists.hits(kmalloc), before);
}

TEST_F(HistTest, RemovesByTheSameCommandOnly) {
  trigger(kmalloc, "hist:keys=call_site:vals=bytes_req if bytes_req > 3");
  trigger(kmalloc, "!hist:keys=call_site:vals=bytes_req");
  trigger(kmalloc, "!hist:keys=call_site if bytes_req > 3");
  EXPECT_NE(hist(kmalloc), "");
  trigger(kmalloc, "!hist:key=call_site:val=bytes_req if bytes_req > 3");
  EXPECT_EQ(hist(kmalloc), "");
}

TEST_F(HistTest, IgnoresRecordsThatAreTooShortOrOfNoEvent) {
  trigger(kmalloc, "hist:keys=call_site");
  set.feed({.event = kmalloc, .bytes = "short"});
  set.feed({.event = 12345, .bytes = "short"});
  EXPECT_EQ(set.counts().records_short, 1u);
  EXPECT_EQ(set.counts().records_unknown, 1u);
  EXPECT_EQ(entries(kmalloc), "");
}

TEST_F(HistTest, TakesACopyThatOutlivesTheTrigger) {
  trigger(kmalloc, "hist:keys=call_site");
  alloc(1, 1);
  const HistCopy copy = set.hists.copy(kmalloc);
  set.triggers.truncate(kmalloc);
  EXPECT_NE(copy.render(NoSymbols()).find("{ call_site:          1 } hitcount:          1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace tallyfs::tracing
