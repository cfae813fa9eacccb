// How kernel events are worded, by print formats as kernels have them.
#include "core/event/print_format.h"

#include <algorithm>

#include "tests/unit/event/stand.h"

namespace tally {
namespace {

class PrintFormatTest : public EventStand {
 protected:
  static constexpr char kFields[] =
      "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
      "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
      "\tfield:u64 state;\toffset:32;\tsize:8;\tsigned:0;\n"
      "\tfield:void * ip;\toffset:40;\tsize:8;\tsigned:0;\n"
      "\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;\n"
      "\tfield:u8 few[4];\toffset:52;\tsize:4;\tsigned:0;\n";

  static std::string text_with(const std::string& line) {
    std::string text = format_of("x", 77, kFields);
    return text.substr(0, text.find("print fmt")) + "print fmt: " + line + "\n";
  }
  std::string shown(const std::string& line, const std::vector<Given>& given) {
    const EventNumber event = set.take_over_event("some", text_with(line)).value();
    EXPECT_TRUE(set.write_enable(event, "1"));
    set.clear_trace();
    feed(event, 1, given);
    const std::string text = set.copy_trace().render(NoSymbols(), {.header = false});
    const std::string_view mark = ": x:";
    return text.substr(text.find(mark) + mark.size() + 1);
  }
  static bool is_understood(const std::string& line) {
    const std::string text = text_with(line);
    return PrintFormat::compile(text, parse_event_format(text).value()).has_value();
  }
};

TEST_F(PrintFormatTest, ShowsFieldsAsTheKernelWordsThem) {
  const std::vector<Given> given = {{"comm", "cyclictest"}, {"pid", 2255}, {"prio", -2},
                                    {"state", 255},         {"ip", 0x10},  {"name", "eth0"}};
  EXPECT_EQ(shown(R"("comm=%s pid=%d prio=%d", REC->comm, REC->pid, REC->prio)", given),
            "comm=cyclictest pid=2255 prio=-2\n");
  EXPECT_EQ(
      shown(R"("%5d|%-6d|%04x|%#llx|%u|%hhd|%lu%%", REC->pid, REC->pid, REC->pid, REC->state, )"
            R"(REC->prio, REC->state, (unsigned long)REC->state)",
            given),
      " 2255|2255  |08cf|0xff|4294967294|-1|255%\n");
  EXPECT_EQ(shown(R"("dev=%s %-6s|" " %6s", __get_str(name), __get_str(name), "a")", given),
            "dev=eth0 eth0  |      a\n");
  EXPECT_EQ(shown(R"("ip=%p %pS %ps %c\n", REC->ip, (void *)REC->ip, REC->ip, 65)", given),
            "ip=0000000000000010 0x10 0x10 A\n");
}

TEST_F(PrintFormatTest, ShowsStatesByTheirNames) {
  const std::string states =
      R"("prev_state=%s%s ==> pid=%d", (REC->state & ((((0x00000000 | 0x00000001 | 0x00000002) + 1) << 1) - 1)) ? )"
      R"(__print_flags(REC->state & ((((0x00000000 | 0x00000001 | 0x00000002) + 1) << 1) - 1), "|", )"
      R"({ 0x00000001, "S" }, { 0x00000002, "D" }) : "R", )"
      R"(REC->state & 0x100 ? "+" : "", REC->pid)";
  EXPECT_EQ(shown(states, {{"state", 0}, {"pid", 7}}), "prev_state=R ==> pid=7\n");
  EXPECT_EQ(shown(states, {{"state", 1}, {"pid", 7}}), "prev_state=S ==> pid=7\n");
  EXPECT_EQ(shown(states, {{"state", 0x103}, {"pid", 7}}), "prev_state=S|D+ ==> pid=7\n");
  const std::string vec =
      R"("vec=%u [action=%s] %s", REC->pid, __print_symbolic(REC->pid, { 0, "HI" }, { 1, "TIMER" }), )"
      R"(__print_flags(REC->state, "", {0x1UL, "a"}, {1 << 1, "b"}, { -1, ((void *)0) }))";
  EXPECT_EQ(shown(vec, {{"pid", 1}, {"state", 3}}), "vec=1 [action=TIMER] ab\n");
  EXPECT_EQ(shown(vec, {{"pid", 9}, {"state", 12}}), "vec=9 [action=0x9] 0xc\n");
  EXPECT_EQ(shown(R"("%s", __print_symbolic(REC->pid, { IOPRIO_CLASS_NONE, "none" }, { 2, "be" }))",
                  {{"pid", 0}}),
            "0x0\n")
      << "a constant whose value nobody tells";
}

TEST_F(PrintFormatTest, ComputesAsCDoes) {
  const auto value = [&](const std::string& expression, std::int64_t number) {
    std::string text = shown("\"%lld\", " + expression, {{"pid", number}, {"state", 10}});
    text.pop_back();
    return text;
  };
  EXPECT_EQ(value("1 + 2 * 3 - 8 / 4 % 3", 0), "5");
  EXPECT_EQ(value("(1 + 2) * 3", 0), "9");
  EXPECT_EQ(value("REC->pid < 0 ? -1 : REC->pid > 3 ? 1 : 0", -5), "-1");
  EXPECT_EQ(value("REC->pid < 0 ? -1 : REC->pid > 3 ? 1 : 0", 4), "1");
  EXPECT_EQ(value("REC->pid < 0 ? -1 : REC->pid > 3 ? 1 : 0", 3), "0");
  EXPECT_EQ(value("!REC->pid || ~REC->pid == 0 && 1", 0), "1");
  EXPECT_EQ(value("(u8)REC->pid", 257), "1");
  EXPECT_EQ(value("(unsigned int)-1", 0), "4294967295");
  EXPECT_EQ(value("(int)(REC->state << 2 | 3 ^ 1)", 0), "42");
  EXPECT_EQ(value("REC->pid / (REC->state - 10)", 7), "0") << "what would trap";
  EXPECT_EQ(value("REC->pid / -1", -9), "9");
  EXPECT_EQ(value("REC->state >> 64", 0), "0");
}

TEST_F(PrintFormatTest, LeavesAloneWhatItDoesNotUnderstand) {
  EXPECT_TRUE(is_understood(R"("plain")"));
  for (const char* const line :
       {"", "\"\"", "\"%d\"", "\"%d\", REC->junk", "\"%d\", REC->comm", "\"%s\", REC->pid",
        "\"%pI4\", REC->ip", "\"%*d\", 3, REC->pid", "\"%d\", REC->few[0]",
        "\"%s\", __print_array(__get_dynamic_array(few), 4, 1)",
        "\"%d\", jiffies_to_msecs(REC->pid)", "\"%d\", REC->pid, REC->prio", "\"%d\", (REC->pid",
        "\"%d\", REC->pid +", "\"%d", "\"%", "\"%y\", 1",
        "\"%s\", __print_flags(REC->pid, \"|\", {REC->prio, \"a\"})", "\"%d\", \"a\" + 1"}) {
    EXPECT_FALSE(is_understood(line)) << line;
  }
  EXPECT_EQ(shown(R"("%pI4", REC->ip)", {{"pid", 7}}).substr(0, 12), "comm= pid=7 ");
}

TEST_F(PrintFormatTest, IsBoundedInAllItTakes) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_TRUE(is_understood("\"%d\", " + repeated("(", 10) + "1" + repeated(")", 10)));
  EXPECT_FALSE(is_understood("\"%d\", " + repeated("(", 10'000) + "1" + repeated(")", 10'000)));
  EXPECT_FALSE(is_understood("\"%d\", " + repeated("~", 10'000) + "1"));
  EXPECT_FALSE(is_understood("\"%d\", " + repeated("1?1:", 5'000) + "1"));
  EXPECT_TRUE(is_understood("\"%d\", 1" + repeated(" + 1", 500)));
  EXPECT_FALSE(is_understood("\"%d\", 1" + repeated("+1", 10'000)));
  EXPECT_FALSE(is_understood("\"" + std::string(40'000, 'x') + "\""));
}

TEST_F(PrintFormatTest, AFormatsFieldsCanBeShownInstead) {
  const EventNumber event = set.define_event("some", text_with(R"("only %d", REC->pid)")).value();
  ASSERT_TRUE(set.write_enable(event, "1"));
  feed(event, 1, {{"pid", 7}});
  const TraceCopy copy = set.copy_trace();
  EXPECT_NE(copy.render(NoSymbols()).find(": x: only 7\n"), std::string::npos);
  EXPECT_NE(copy.render(NoSymbols(), {.fields = true}).find(" pid=7 "), std::string::npos);
}

}  // namespace
}  // namespace tally
