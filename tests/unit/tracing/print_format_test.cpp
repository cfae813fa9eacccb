// How kernel events are worded, by print formats as kernels have them.
#include "core/tracing/print/print_format.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class PrintFormatTest : public EventFixture {
 protected:
  static constexpr char kFields[] =
      "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
      "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
      "\tfield:u64 state;\toffset:32;\tsize:8;\tsigned:0;\n"
      "\tfield:void * ip;\toffset:40;\tsize:8;\tsigned:0;\n"
      "\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;\n"
      "\tfield:u8 few[4];\toffset:52;\tsize:4;\tsigned:0;\n"
      "\tfield:__u8 six[16];\toffset:56;\tsize:16;\tsigned:0;\n"
      "\tfield:__u8 from[28];\toffset:72;\tsize:28;\tsigned:0;\n"
      "\tfield:__data_loc u64[] many;\toffset:100;\tsize:4;\tsigned:0;\n"
      "\tfield:long three[3];\toffset:104;\tsize:24;\tsigned:1;\n"
      "\tfield:const char * where;\toffset:128;\tsize:8;\tsigned:0;\n"
      "\tfield:__data_loc cpumask_t cpus;\toffset:136;\tsize:4;\tsigned:0;\n";

  static std::string text_with(const std::string& line) {
    std::string text = format_of("x", 77, kFields);
    return text.substr(0, text.find("print fmt")) + "print fmt: " + line + "\n";
  }
  std::string shown(const std::string& line, const std::vector<Given>& given) {
    const EventNumber event = set.take_over_event("some", text_with(line)).value();
    EXPECT_TRUE(set.switches.write(event, "1"));
    set.trace.clear();
    feed(event, 1, given);
    const std::string text = set.trace.copy().render(NoSymbols(), {.header = false});
    const std::string_view mark = ": x:";
    return text.substr(text.find(mark) + mark.size() + 1);
  }
  // As shown(), of a record made byte by byte: `put` writes at an offset; behind the fixed fields
  // lie `many` and `cpus`.
  std::string shown_raw(const std::string& line,
                        const std::vector<std::pair<std::size_t, std::string>>& put,
                        const std::vector<std::uint64_t>& many = {}) {
    const std::string text = text_with(line);
    const EventFormat format = parse_event_format(text).value();
    const auto compiled = PrintFormat::compile(text, format);
    if (!compiled) return "not understood";
    std::string bytes(format.fixed_bytes(), '\0');
    for (const auto& [at, what] : put) bytes.replace(at, what.size(), what);
    const auto where = static_cast<std::uint32_t>(bytes.size() | many.size() * 8 << 16);
    for (const std::size_t at : {100u, 136u}) std::memcpy(bytes.data() + at, &where, sizeof where);
    bytes.append(reinterpret_cast<const char*>(many.data()), many.size() * 8);
    std::string out;
    compiled->append(out, {.bytes = bytes}, NoSymbols());
    return out;
  }
  static bool is_understood(const std::string& line) {
    const std::string text = text_with(line);
    return PrintFormat::compile(text, parse_event_format(text).value()).has_value();
  }
};

TEST_F(PrintFormatTest, IsCompiledOnceByThreadsThatShareTheFormat) {
  const auto shared = SharedFormat::parse(text_with("\"%d\", REC->pid")).value();
  std::array<const PrintFormat*, 4> got{};
  {
    std::vector<std::jthread> threads;
    for (const PrintFormat*& each : got) {
      threads.emplace_back([&each, wording = shared.wording] { each = wording->get(); });
    }
  }
  EXPECT_NE(got[0], nullptr);
  for (const PrintFormat* const each : got) EXPECT_EQ(each, got[0]);
  EXPECT_EQ(SharedFormat::parse(text_with("what(")).value().wording->get(), nullptr);
}

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
  EXPECT_EQ(shown(R"("%#x|%#010x|%-#6x|%#o", REC->pid, REC->pid, REC->pid, REC->pid)", {}),
            "0x0|0x00000000|0x0   |0\n")
      << "unlike C's";
  EXPECT_EQ(shown(R"("dev=%s %-6s|" " %6s", __get_str(name), __get_str(name), "a")", given),
            "dev=eth0 eth0  |      a\n");
  EXPECT_EQ(shown(R"("ip=%p %pS %ps %c\n", REC->ip, (void *)REC->ip, REC->ip, 65)", given),
            "ip=0000000000000010 0x10 0x10 A\n");
}

TEST_F(PrintFormatTest, HashesPointersWhereThatIsAskedFor) {
  const PointerHash hash({1, 2});
  const std::string line = R"("%p|%px|%pK", REC->ip, REC->ip, REC->ip)";
  const std::string address{0, 0, 0, 0, 0, 1, 2, '\xff'};
  const auto with = [&](const PointerHash* pointers) {
    const std::string text = text_with(line);
    const EventFormat format = parse_event_format(text).value();
    std::string bytes(format.fixed_bytes(), '\0');
    bytes.replace(40, 8, address);
    std::string out;
    PrintFormat::compile(text, format)->append(out, {.bytes = bytes}, NoSymbols(), pointers);
    return out;
  };
  EXPECT_EQ(with(nullptr), "ff02010000000000|ff02010000000000|ff02010000000000");
  char hashed[17];
  std::snprintf(hashed, sizeof hashed, "%016llx",
                static_cast<unsigned long long>(hash.shown(0xff02010000000000)));
  EXPECT_EQ(with(&hash), std::string(hashed) + "|ff02010000000000|" + hashed);
  EXPECT_EQ(with(&hash).substr(0, 8), "00000000");
}

TEST_F(PrintFormatTest, ShowsTextsOfTheKernelThatAreKnown) {
  class Texts final : public Symbols {
   public:
    Place place(std::uint64_t) const override { return {}; }
    std::string syscall(std::uint64_t) const override { return {}; }
    std::optional<std::string> text(std::uint64_t address) const override {
      return address == 0x41 ? std::optional<std::string>("Start\ncontext") : std::nullopt;
    }
  };
  const std::string text = text_with(R"("%s|%-16s|", REC->where, REC->where)");
  const EventFormat format = parse_event_format(text).value();
  const auto of = [&](char address) {
    std::string bytes(format.fixed_bytes(), '\0');
    bytes[128] = address;
    std::string out;
    PrintFormat::compile(text, format)->append(out, {.bytes = bytes}, Texts());
    return out;
  };
  EXPECT_EQ(of(0x41), "Start\\x0acontext|Start\\x0acontext|");
  EXPECT_EQ(of(0x42), "0x42|0x42|") << "which is not known";
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
      << "a constant of unknown value";
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

TEST_F(PrintFormatTest, ShowsAddressesOfNetworksAndUuids) {
  const std::string six = {0x20, 1, 0xd, '\xb8', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(shown_raw(R"("%pI4|%pM", REC->few, REC->six)", {{52, {127, 0, 0, 1}}, {56, six}}),
            "127.0.0.1|20:01:0d:b8:00:00");
  EXPECT_EQ(shown_raw(R"("%pI6c|%pI6", REC->six, REC->six)", {{56, six}}),
            "2001:db8::1|2001:0db8:0000:0000:0000:0000:0000:0001");
  EXPECT_EQ(shown_raw(R"("%pU: %pUB", REC->six, REC->six)", {{56, six}}),
            "20010db8-0000-0000-0000-000000000001: 20010DB8-0000-0000-0000-000000000001");
  const std::string four_address = {AF_INET, 0, 0x30, 0x39, 10, 0, 0, 7};
  EXPECT_EQ(shown_raw(R"("src=%pISpc dest=%pIS", REC->from, REC->from)", {{72, four_address}}),
            "src=10.0.0.7:12345 dest=10.0.0.7");
  const std::string six_address = std::string{AF_INET6, 0, 0, 80, 0, 0, 0, 0} + six;
  EXPECT_EQ(shown_raw(R"("%pISpc", REC->from)", {{72, six_address}}), "[2001:db8::1]:80");
  EXPECT_EQ(shown_raw(R"("%pISpc", REC->from)", {}), "?") << "of no family";
  EXPECT_EQ(shown_raw(R"("%pI6c", REC->few)", {}), "?") << "too short";
}

TEST_F(PrintFormatTest, ShowsArraysAndTheirElements) {
  const std::string few = {1, 2, '\xfe', 4};
  EXPECT_EQ(shown_raw(R"("%d %02x %c", REC->few[0], REC->few[2], 'F')", {{52, few}}), "1 fe F");
  EXPECT_EQ(shown_raw(R"("%ld", (long)(REC)->three[1])", {{112, std::string(8, '\xff')}}), "-1");
  EXPECT_EQ(
      shown_raw(R"("%s|%s", __print_hex(REC->few, REC->few[1]), __print_hex_str(REC->few, 4))",
                {{52, few}}),
      "01 02|0102fe04");
  EXPECT_EQ(
      shown_raw(
          R"("%s of %d", __print_array(__get_dynamic_array(many), )"
          R"(__get_dynamic_array_len(many) / sizeof(u64), sizeof(u64)), sizeof(unsigned int))",
          {}, {7, 0x123456789a}),
      "{0x7,0x123456789a} of 4");
  EXPECT_EQ(shown_raw(R"("%s", __get_cpumask(cpus))", {}, {15}), "00000000,0000000f");
  EXPECT_EQ(shown_raw(R"("%*pbl", 10, REC->three)", {{104, {'\x0f', '\x07'}}}), "0-3,8-9");
  EXPECT_EQ(shown_raw(R"("%s|%s|%s", __get_str(name)[0] ? "some" : "none", REC->where, )"
                      R"(REC->pid ? __get_str(name) : ((void *)0))",
                      {{128, {0x10}}}),
            "none|0x10|(null)");
}

TEST_F(PrintFormatTest, TakesWidthsFromTheRecord) {
  EXPECT_EQ(shown(R"("%.*s|%*d|", 3, REC->comm, REC->prio, REC->pid)",
                  {{"comm", "cyclictest"}, {"pid", 7}, {"prio", 4}}),
            "cyc|   7|\n");
  EXPECT_EQ(shown(R"("%.*s|", REC->prio, REC->comm)", {{"comm", "bash"}, {"prio", -1}}), "|\n");
  EXPECT_EQ(shown(R"("%.*s|", REC->pid, REC->comm)", {{"comm", "bash"}, {"pid", 1 << 30}}),
            "bash|\n");
}

TEST_F(PrintFormatTest, ShowsAQuestionMarkForWhatOnlyTheKernelKnows) {
  EXPECT_EQ(
      shown(R"("page=%p pid=%d", REC->state != -1UL ? (((struct page *)vmemmap_base) + )"
            R"((REC->state)) : ((void *)0), __builtin_expect(!!(REC->pid), 0) ? REC->pid : 1)",
            {{"pid", 7}}),
      "page=? pid=7\n");
  EXPECT_EQ(shown(R"("%s %s %lu", __print_flags(REC->pid, "|", {(1 << HIDDEN), "H"}, )"
                  R"({( int) (( __kernel_rwf_t)0x2), "B"}), HIDDEN ? "a" : "b", (jiffies - 1) / 4)",
                  {{"pid", 3}}),
            "B|0x1 ? ?\n");
}

TEST_F(PrintFormatTest, TakesTextsWithNewlinesInThem) {
  EXPECT_EQ(shown("\"a\nb %d\\n\", REC->pid", {{"pid", 7}}), "a\nb 7\n");
}

TEST_F(PrintFormatTest, FieldsThatAreArraysAreShownToo) {
  EXPECT_NE(shown(R"("%d", jiffies_to_msecs(REC->pid))", {{"few", 0x0201}})
                .find(" few={0x1,0x2,0x0,0x0} "),
            std::string::npos);
}

TEST_F(PrintFormatTest, LeavesAloneWhatItDoesNotUnderstand) {
  EXPECT_TRUE(is_understood(R"("plain")"));
  for (const char* const line : {"",
                                 "\"\"",
                                 "\"%d\"",
                                 "\"%d\", REC->junk",
                                 "\"%d\", REC->comm",
                                 "\"%s\", REC->pid",
                                 "\"%pI4\", REC->ip",
                                 "\"%*d\", REC->pid",
                                 "\"%*.*d\", 1, 1, REC->pid",
                                 "\"%d\", REC->few[4]",
                                 "\"%d\", REC->few[REC->pid]",
                                 "\"%d\", REC->pid[0]",
                                 "\"%d\", REC->few",
                                 "\"%s\", REC->few",
                                 "\"%pbl\", REC->few",
                                 "\"%*pI4\", 3, REC->few",
                                 "\"%d\", many[0]",
                                 "\"%d\", sizeof(struct page)",
                                 "\"%d\", ''",
                                 "\"%s\", __print_hex(REC->pid, 1)",
                                 "\"%s\", __get_cpumask(pid)",
                                 "\"%s\", ({ int x = 1; x; })",
                                 "\"%d\", REC->few ? 1 : REC->few",
                                 "\"%s\", __print_array(__get_dynamic_array(few), 4, 1)",
                                 "\"%d\", jiffies_to_msecs(REC->pid)",
                                 "\"%d\", REC->pid, REC->prio",
                                 "\"%d\", (REC->pid",
                                 "\"%d\", REC->pid +",
                                 "\"%d",
                                 "\"%",
                                 "\"%y\", 1",
                                 "\"%s\", __print_flags(REC->pid, \"|\", {REC->prio, \"a\"})",
                                 "\"%d\", \"a\" + 1"}) {
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
  const EventNumber event =
      set.events.define_event("some", text_with(R"("only %d", REC->pid)")).value();
  ASSERT_TRUE(set.switches.write(event, "1"));
  feed(event, 1, {{"pid", 7}});
  const TraceCopy copy = set.trace.copy();
  EXPECT_NE(copy.render(NoSymbols()).find(": x: only 7\n"), std::string::npos);
  EXPECT_NE(copy.render(NoSymbols(), {.fields = true}).find(" pid=7 "), std::string::npos);
}

}  // namespace
}  // namespace tallyfs::tracing
