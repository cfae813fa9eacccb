#include "core/tracing/probe/probe_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tallyfs::tracing {
namespace {

ProbeLine defined_by(std::string_view line) {
  const auto command = parse_probe_line(line);
  EXPECT_TRUE(command) << line << ": " << command.error().reason;
  return command ? std::get<ProbeLine>(command.value()) : ProbeLine();
}
std::pair<std::string, std::string> removed_by(std::string_view line) {
  const auto command = parse_probe_line(line);
  EXPECT_TRUE(command) << line << ": " << command.error().reason;
  if (!command) return {};
  const auto& removal = std::get<ProbeRemoval>(command.value());
  return {removal.group, removal.event};
}

TEST(ProbeLineTest, ReadsTheNameAndLeavesTheRestToTheKernel) {
  const ProbeLine line = defined_by("r:mine/back  /usr/bin/x:0x10   ret=$retval\t+0(%si):string");
  EXPECT_EQ(line.kind, ProbeKind::kReturn);
  EXPECT_EQ(line.group, "mine");
  EXPECT_EQ(line.event, "back");
  EXPECT_EQ(line.text(), "/usr/bin/x:0x10 ret=$retval +0(%si):string");
}

TEST(ProbeLineTest, NamesAnEventAsTheKernelDoes) {
  const auto name = [](std::string_view line) {
    const ProbeLine parsed = defined_by(line);
    return parsed.group + "/" + parsed.event;
  };
  EXPECT_EQ(name("p /bin/bash:0x5000"), "uprobes/p_bash_0x5000");
  EXPECT_EQ(name("r /bin/bash:0x5000"), "uprobes/p_bash_0x5000");
  EXPECT_EQ(name("p /usr/lib/libc.so.6:0x30000 x=%di"), "uprobes/p_libc_0x30000");
  EXPECT_EQ(name("p:mine/ /bin/bash:0x1000"), "mine/p_bash_0x1000");
  EXPECT_EQ(name("p:a /bin/bash:0x1000%return"), "uprobes/a");
  EXPECT_EQ(name("p:mine.a /bin/bash:4096(0x10)"), "mine/a");
  EXPECT_EQ(name("p /bin/bash:4096(0x10)"), "uprobes/p_bash_0x1000");
}

TEST(ProbeLineTest, KnowsAReturnByThePlaceToo) {
  EXPECT_EQ(defined_by("p:a /bin/bash:0x1000%return x=%ax").kind, ProbeKind::kReturn);
  EXPECT_EQ(defined_by("p:a /bin/bash:0x1000%return(0x10)").kind, ProbeKind::kReturn);
  EXPECT_EQ(defined_by("r:a /bin/bash:0x1000%return").kind, ProbeKind::kReturn);
  EXPECT_EQ(defined_by("p:a /bin/a%return(1):0x1000").kind, ProbeKind::kEntry);
}

TEST(ProbeLineTest, ReadsPlacesByName) {
  const ProbeLine plain = defined_by("p /usr/lib/libc.so.6:malloc size=$arg1");
  EXPECT_EQ(plain.event, "p_libc_malloc");
  EXPECT_EQ(plain.place.value().name, "malloc");
  EXPECT_EQ(plain.place.value().kind, ProbeKind::kEntry);
  EXPECT_EQ(defined_by("r:a /bin/x:f").place.value().kind, ProbeKind::kReturn);
  const ProbeLine back = defined_by("p:mine/ /bin/x:ns::f%return");
  EXPECT_EQ(back.kind, ProbeKind::kReturn);
  EXPECT_EQ(back.group + "/" + back.event, "mine/r_x_ns__f");
  EXPECT_FALSE(defined_by("p:a /bin/x:10a").place) << "the kernel says what is wrong";
}

// Lines and names of Documentation/trace/kprobetrace.rst, and of the kernel's own tests.
TEST(ProbeLineTest, ReadsProbesOfTheKernel) {
  const ProbeLine open =
      defined_by("p:myprobe do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)");
  EXPECT_EQ(open.target, ProbeTarget::kKernel);
  EXPECT_EQ(open.group + "/" + open.event, "kprobes/myprobe");
  EXPECT_EQ(open.text(), "do_sys_open dfd=%ax filename=%dx flags=%cx mode=+4($stack)");
  EXPECT_FALSE(open.place) << "the kernel finds it";
  const ProbeLine back = defined_by("r10:mine/back vfs_read $retval comm=$comm");
  EXPECT_EQ(back.kind, ProbeKind::kReturn);
  EXPECT_EQ(back.instances, 10u);
  EXPECT_EQ(back.group + "/" + back.event, "mine/back");
  EXPECT_EQ(defined_by("p:a vfs_read%return").kind, ProbeKind::kReturn);
  EXPECT_EQ(defined_by("p:a /bin/bash:0x10").target, ProbeTarget::kProgram);
  const auto name = [](std::string_view line) {
    const ProbeLine parsed = defined_by(line);
    return parsed.group + "/" + parsed.event;
  };
  EXPECT_EQ(name("p vfs_read"), "kprobes/p_vfs_read_0");
  EXPECT_EQ(name("r4096 vfs_read"), "kprobes/r_vfs_read_0");
  EXPECT_EQ(name("p:mine/ vfs_read+0x10 $arg1"), "mine/p_vfs_read_16");
  EXPECT_EQ(name("p vfs_read%return"), "kprobes/r_vfs_read_0");
  EXPECT_EQ(name("p xfs:xfs_read.isra.0"), "kprobes/p_xfs_xfs_read_isra_0_0");
}

// Lines that Linux 6.12 takes, and the names that it gives.
TEST(ProbeLineTest, ReadsProbesOfEventsFunctionsAndTracepoints) {
  using enum ProbeTarget;
  const std::tuple<std::string, ProbeTarget, char, ProbeKind, std::string> cases[] = {
      {"e:my/e sched.sched_switch n=$next_pid if prev_pid == 1", kEvent, 'e', ProbeKind::kEntry,
       "my/e"},
      {"e sched/sched_switch", kEvent, 'e', ProbeKind::kEntry, "eprobes/sched_switch"},
      {"f:my/a vfs_read count=$arg3", kFunction, 'f', ProbeKind::kEntry, "my/a"},
      {"f vfs_read", kFunction, 'f', ProbeKind::kEntry, "fprobes/vfs_read__entry"},
      {"f vfs_write ret=$retval", kFunction, 'f', ProbeKind::kReturn, "fprobes/vfs_write__exit"},
      {"f vfs_write x=$retvals", kFunction, 'f', ProbeKind::kEntry, "fprobes/vfs_write__entry"},
      {"f xfs:xfs_read%return", kFunction, 'f', ProbeKind::kReturn, "fprobes/xfs_xfs_read__exit"},
      {"t sched_switch prev=$arg2", kTracepoint, 't', ProbeKind::kEntry,
       "tracepoints/sched_switch"},
      {"t 9p_protocol_dump", kTracepoint, 't', ProbeKind::kEntry, "tracepoints/_9p_protocol_dump"}};
  for (const auto& [line, target, letter, kind, name] : cases) {
    const ProbeLine parsed = defined_by(line);
    EXPECT_EQ(parsed.target, target) << line;
    EXPECT_EQ(parsed.kind, kind) << line;
    EXPECT_EQ(letter_of(parsed.target, parsed.kind), letter);
    EXPECT_EQ(parsed.group + "/" + parsed.event, name);
    EXPECT_EQ(parsed.text(), line.substr(line.find(' ') + 1)) << "the kernel reads the rest";
    for (const auto only : {kProgram, kKernel}) EXPECT_FALSE(parse_probe_line(line, only));
  }
  EXPECT_EQ(defined_by("f10:my/c vfs_read%return").instances, 10u);
}

TEST(ProbeLineTest, RefusesWrongLinesOfTheseAsTheKernelDoes) {
  const std::tuple<std::string, std::string, std::string, std::size_t> cases[] = {
      {"f10 vfs_read", "trace_fprobe", "Maxactive is only for function exit", 1},
      {"t10 sched_switch", "trace_fprobe", "Maxactive is only for function exit", 1},
      {"f9999 vfs_read%return", "trace_fprobe", "Maxactive is too big", 1},
      {"f:my/1z vfs_read", "trace_fprobe", "Event name must follow the same rules as C identifiers",
       5},
      {"e:1x/a sched.sched_switch", "event_probe",
       "Group name must follow the same rules as C identifiers", 2},
      {"e:a sched_switch", "probe", "an event is SYSTEM.EVENT or SYSTEM/EVENT", 4},
      {"e:a .sched_switch", "probe", "an event is SYSTEM.EVENT or SYSTEM/EVENT", 4},
      {"e:a", "probe", "an event is missing: SYSTEM.EVENT", 3},
      {"f:a", "probe", "a FUNCTION is missing", 3},
      {"t:a", "probe", "a tracepoint is missing", 3}};
  for (const auto& [line, location, reason, at] : cases) {
    const auto command = parse_probe_line(line);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().reason, reason);
    EXPECT_EQ(command.error().location, location) << line;
    EXPECT_EQ(command.error().token_at, at) << line;
  }
  EXPECT_EQ(parse_probe_line("e10:a sched.sched_switch").error().token_at, 1u);
}

TEST(ProbeLineTest, RefusesWrongProbesOfTheKernelAsTheKernelDoes) {
  const std::tuple<std::string, std::string, std::size_t> cases[] = {
      {"p10:a vfs_read", "Maxactive is only for function exit", 1},
      {"r0 vfs_read", "Invalid maxactive number", 1},
      {"r99999999999999999999:a vfs_read", "Invalid maxactive number", 1},
      {"r4097:a vfs_read", "Maxactive is too big", 1},
      {"p:1a/b vfs_read", "Group name must follow the same rules as C identifiers", 2}};
  for (const auto& [line, reason, at] : cases) {
    const auto command = parse_probe_line(line);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().reason, reason);
    EXPECT_EQ(command.error().location, "trace_kprobe");
    EXPECT_EQ(command.error().token_at, at) << line;
  }
  for (const char* const line : {"r10x:a vfs_read", "-5:a", "r10:a /bin/bash:0x10"}) {
    EXPECT_EQ(parse_probe_line(line).error().token_at, 1u) << line;
  }
}

TEST(ProbeLineTest, RefusesAddressesOfTheKernel) {
  for (const char* const line : {"p:a 0xffffffff81000000", "p:a +0xffffffff81000000"}) {
    const auto command = parse_probe_line(line);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().reason,
              "a place in the kernel is FUNCTION or FUNCTION+OFFSET, not an address");
    EXPECT_EQ(command.error().token_at, 4u);
  }
}

// The file of a line says which code it is in, whatever the place looks like.
TEST(ProbeLineTest, RefusesLinesOfTheOtherFileWithTheReasonsOfItsOwn) {
  using enum ProbeTarget;
  const std::string name_fault = "Group name must follow the same rules as C identifiers";
  const std::string no_name = "Event name is not specified";
  const std::string of_program = "a place is PATH:OFFSET or PATH:FUNCTION";
  const std::string in_kernel = "a place in the kernel is FUNCTION or FUNCTION+OFFSET";
  const std::tuple<ProbeTarget, std::string, std::string, std::string, std::size_t> cases[] = {
      {kProgram, "p:a vfs_read", "probe", of_program, 4},
      {kProgram, "p:a vfs_read+0x10", "probe", of_program, 4},
      {kProgram, "p:a xfs:xfs_read", "probe", "a path begins with /", 4},
      {kProgram, "p:a 0xffffffff81000000", "probe", of_program, 4},
      {kProgram, "p10:a vfs_read", "probe", "a kind is p or r, and : follows", 1},
      {kProgram, "r4097:a vfs_read", "probe", "a kind is p or r, and : follows", 1},
      {kProgram, "r10x:a vfs_read", "probe", "a kind is p or r, and : follows", 1},
      {kProgram, "p:1a/b vfs_read", "trace_uprobe", name_fault, 2},
      {kProgram, "p: vfs_read", "trace_uprobe", no_name, 2},
      {kProgram, "p:a", "probe", "a place is missing: PATH:OFFSET or PATH:FUNCTION", 3},
      {kKernel, "p:a /bin/bash:0x10", "probe", in_kernel, 4},
      {kKernel, "p:a /bin/bash:main", "probe", in_kernel, 4},
      {kKernel, "p:a bin/bash:main(int)", "probe", in_kernel, 4},
      {kKernel, "r10:a /bin/bash:0x10", "probe", in_kernel, 6},
      {kKernel, "r4097:a /bin/bash:0x10", "trace_kprobe", "Maxactive is too big", 1},
      {kKernel, "rx:a /bin/bash:0x10", "probe", "a kind is p, r or rNUMBER, and : follows", 1},
      {kKernel, "p:1a/b /bin/bash:0x10", "trace_kprobe", name_fault, 2},
      {kKernel, "p: /bin/bash:main", "trace_kprobe", no_name, 2},
      {kKernel, "p:a", "probe", "a place is missing: FUNCTION or FUNCTION+OFFSET", 3},
      {kKernel, "-:1a/", "trace_kprobe", name_fault, 2},
      {kProgram, "-:1a/", "trace_uprobe", name_fault, 2}};
  for (const auto& [only, line, location, reason, at] : cases) {
    const auto command = parse_probe_line(line, only);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().reason, reason) << line;
    EXPECT_EQ(command.error().location, location) << line;
    EXPECT_EQ(command.error().token_at, at) << line;
    EXPECT_EQ(command.error().text, line);
  }
  for (const auto target : {kProgram, kKernel}) {
    const auto removal = parse_probe_line("-:a", target);
    ASSERT_TRUE(removal);
    EXPECT_EQ(std::get<ProbeRemoval>(removal.value()).target, target);
  }
}

TEST(ProbeLineTest, ReadsRemovals) {
  EXPECT_EQ(removed_by("-:a"), std::pair(std::string(), std::string("a")));
  EXPECT_EQ(removed_by("-:mine/a"), std::pair(std::string("mine"), std::string("a")));
  EXPECT_EQ(removed_by("-:mine/"), std::pair(std::string("mine"), std::string()));
}

TEST(ProbeLineTest, ReadsRenewals) {
  const auto command = parse_probe_line("=:mine/a", ProbeTarget::kProgram);
  ASSERT_TRUE(command);
  const ProbeRemoval& meant = std::get<ProbeRenewal>(command.value()).meant;
  EXPECT_EQ(meant.group + " " + meant.event, "mine a");
  EXPECT_EQ(meant.target, ProbeTarget::kProgram);
  for (const char* const line : {"=", "=a", "=5:a"}) {
    EXPECT_EQ(parse_probe_line(line).error().token_at, 1u) << line;
  }
}

// The caret is under the character at which the kernel has it, in the line as it was written.
TEST(ProbeLineTest, RefusesWithTheKernelsTextsAndPlaces) {
  const std::string long_name(64, 'a');
  const std::tuple<std::string, std::string, std::size_t> cases[] = {
      {"p:1a/b /bin/bash:0x1000", "Group name must follow the same rules as C identifiers", 2},
      {"p:x/1b /bin/bash:0x1000", "Event name must follow the same rules as C identifiers", 4},
      {"p: /bin/bash:0x1000", "Event name is not specified", 2},
      {"p:/b /bin/bash:0x1000", "Group name is not specified", 2},
      {"p:x/" + long_name + " /bin/bash:0x1000", "Event name is too long", 4},
      {"p:" + long_name + "/b /bin/bash:0x1000", "Group name is too long", 2}};
  for (const auto& [line, reason, at] : cases) {
    const auto command = parse_probe_line(line);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().reason, reason);
    EXPECT_EQ(command.error().location, "trace_uprobe");
    EXPECT_EQ(command.error().token_at, at) << line;
    EXPECT_EQ(command.error().text, line);
  }
}

TEST(ProbeLineTest, RefusesWhatTheKernelRefusesWithoutAText) {
  const std::pair<std::string, std::size_t> cases[] = {{"x:a /bin/bash:0x10", 0},
                                                       {"p5:a /bin/bash:0x10", 1},
                                                       {"p:a", 3},
                                                       {"p:a 0x10", 4},
                                                       {"p:a bin/bash:0x10", 4},
                                                       {"p:a /bin/bash", 4},
                                                       {"p:a /bin/bash:f(int)", 15},
                                                       {"p:a /bin/bash:", 14},
                                                       {"-a", 1},
                                                       {"-:a /bin/bash:0x10", 4},
                                                       {"p:a /bin/bash:0x10 x\x01", 20},
                                                       {"", 0}};
  for (const auto& [line, at] : cases) {
    const auto command = parse_probe_line(line);
    ASSERT_FALSE(command) << line;
    EXPECT_EQ(command.error().code, ErrorCode::kInvalid) << line;
    EXPECT_EQ(command.error().location, "probe") << line;
    EXPECT_EQ(command.error().token_at, at) << line;
  }
  EXPECT_EQ(parse_probe_line("p:a /x:0x1 " + std::string(4'085, 'x')).error().code,
            ErrorCode::kTooBig);
}

TEST(ProbeLineTest, FindsThePlaceOfAByteInTheLineAsItWasWritten) {
  const std::string written = "p:a   /bin/bash:0x10  x=%zz   y=%di";
  const ProbeLine line = defined_by(written);
  const std::string text = line.text();
  for (const std::string_view word : {"/bin", "0x10", "x=%zz", "%zz", "y=%di"}) {
    EXPECT_EQ(line.byte_of(text.find(word)), written.find(word)) << word;
  }
  EXPECT_EQ(line.byte_of(text.size()), written.size());
  EXPECT_EQ(line.byte_of(text.size() + 9), written.size());
}

}  // namespace
}  // namespace tallyfs::tracing
