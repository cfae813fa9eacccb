// An EventSet with a few of the kernel's events in it, and records for them made by hand: fields
// are given by name, everything else is 0.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "core/tracing/set/event_set.h"

namespace tallyfs::tracing {

inline constexpr char kCommonFields[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

inline std::string format_of(const std::string& name, int id, const std::string& fields) {
  return "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" + kCommonFields + fields +
         "\nprint fmt: \"\"\n";
}

inline const std::string kSchedWaking =
    format_of("sched_waking", 315,
              "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
              "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
              "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
              "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n");

inline const std::string kSwitchFormat =
    format_of("sched_switch", 314,
              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
              "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
              "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
              "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
              "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
              "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
              "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n");

inline const std::string kKmalloc =
    format_of("kmalloc", 374,
              "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
              "\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"
              "\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"
              "\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"
              "\tfield:gfp_t gfp_flags;\toffset:40;\tsize:4;\tsigned:0;\n");

inline const std::string kProcessExec =
    format_of("sched_process_exec", 310,
              "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
              "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
              "\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n");

inline const std::string kSysEnter =
    format_of("sys_enter", 21,
              "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
              "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n");

inline const std::string kPrint =
    format_of("print", 5,
              "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
              "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n");

class EventFixture : public testing::Test {
 public:
  using Value = std::variant<std::int64_t, std::string>;
  struct Given {
    std::string name;
    Value value;
  };

 protected:
  EventFixture() {
    waking = set.events.define_event("sched", kSchedWaking).value();
    switched = set.events.define_event("sched", kSwitchFormat).value();
    kmalloc = set.events.define_event("kmem", kKmalloc).value();
    exec = set.events.define_event("sched", kProcessExec).value();
    sys_enter = set.events.define_event("raw_syscalls", kSysEnter).value();
    print = set.events.define_event("ftrace", kPrint).value();
  }

  // The fields' bytes; a text of no fixed size goes behind them.
  std::string bytes_of(EventNumber event, const std::vector<Given>& given) const {
    const EventFormat& format = set.events.format(event);
    std::string bytes(format.fixed_bytes(), '\0');
    for (const Given& one : given) {
      const TraceField field = format.field(one.name).value();
      if (const auto* number = std::get_if<std::int64_t>(&one.value)) {
        std::memcpy(bytes.data() + field.offset, number, field.size);
        continue;
      }
      const std::string& text = std::get<std::string>(one.value);
      if (field.kind() == FieldKind::kText) {
        std::memcpy(bytes.data() + field.offset, text.data(),
                    std::min<std::size_t>(text.size(), field.size));
      } else {
        const std::size_t where = bytes.size() | (text.size() + 1) << 16;
        if (field.kind() != FieldKind::kTail) std::memcpy(bytes.data() + field.offset, &where, 4);
        bytes.append(text).push_back('\0');
      }
    }
    return bytes;
  }

  void feed(EventNumber event, std::uint64_t time_us, const std::vector<Given>& given) {
    const std::string bytes = bytes_of(event, given);
    set.feed({.event = event,
              .time_ns = time_us * 1000,
              .cpu = cpu,
              .pid = pid,
              .bytes = bytes,
              .comm = comm,
              .stack = stack});
  }

  EventNumber synthetic(const std::string& definition) {
    const auto written = set.synthetic.write(definition);
    EXPECT_TRUE(written) << definition << ": " << written.error().reason;
    const std::string name = definition.substr(0, definition.find(' '));
    return set.events.find("synthetic", name).value();
  }

  void trigger(EventNumber event, const std::string& text) {
    const auto written = set.commands.write(event, text);
    EXPECT_TRUE(written) << text << ": " << written.error().reason;
  }

  std::string hist(EventNumber event) const { return set.hists.copy(event).render(NoSymbols()); }
  // Only the entries, without the head and the totals.
  std::string entries(EventNumber event) const {
    const std::string text = hist(event);
    const std::size_t start = text.find("#\n\n") + 3;
    return text.substr(start, text.find("\nTotals:") - start);
  }
  // Why it is refused: the reason, the location, the command and a line with the caret.
  std::string refusal(EventNumber event, const std::string& text) {
    return described(set.commands.write(event, text));
  }
  static std::string described(const Result<void>& reply) {
    if (reply) return "not refused";
    const Error& error = reply.error();
    return error.location + ": " + error.reason + "\n" + error.text + "\n" +
           std::string(error.token_at, ' ') + "^\n";
  }
  static ErrorCode code_of(const Result<void>& reply) { return reply.error().code; }

  EventSet set;
  EventNumber waking, switched, kmalloc, exec, sys_enter, print;
  std::uint32_t cpu = 0;
  std::int32_t pid = 0;
  std::string comm;
  std::vector<std::uint64_t> stack;
};

}  // namespace tallyfs::tracing
