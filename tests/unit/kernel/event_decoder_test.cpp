#include "feeders/kernel/event_decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "feeders/kernel/wanted_trace.h"
#include "tests/unit/kernel_formats.h"

namespace tallyfs {
namespace {

constexpr std::chrono::nanoseconds kTime{123};

// A record of the event, with values at the fields of these names.
class Record {
 public:
  explicit Record(const char* format, std::size_t size = 64)
      : format_(tracing::parse_event_format(format).value()), payload_(size, '\0') {
    put("common_type", std::uint64_t{format_.id});
  }
  Record& put(const char* name, std::uint64_t value) {
    const tracing::TraceField field = format_.field(name).value();
    std::memcpy(payload_.data() + field.offset, &value, field.size);
    return *this;
  }
  Record& put(const char* name, std::string text) {
    const tracing::TraceField field = format_.field(name).value();
    text.resize(field.size);
    std::memcpy(payload_.data() + field.offset, text.data(), field.size);
    return *this;
  }
  const std::string& payload() const { return payload_; }

 private:
  const tracing::EventFormat format_;
  std::string payload_;
};

EventDecoder make_decoder() {
  EventDecoder decoder;
  for (const char* const format : {kSchedWakeup, kSchedSwitch, kSchedMigrateTask, kHrtimerStart,
                                   kHrtimerExpireEntry, kHrtimerCancel, kSysExit}) {
    EXPECT_TRUE(decoder.add(tracing::parse_event_format(format).value()));
  }
  return decoder;
}

KernelEvent decode(const Record& record) {
  return make_decoder().decode(kTime, 3, record.payload()).value();
}

TEST(EventDecoderTest, AWakeupIsOfTheCpuWhereTheTaskIsToRun) {
  const auto event = decode(
      Record(kSchedWakeup).put("comm", "rt").put("pid", 10).put("prio", 19).put("target_cpu", 1));
  EXPECT_EQ(event.kind, KernelEventKind::kWakeup);
  EXPECT_EQ(event.time_ns, 123);
  EXPECT_EQ(event.cpu, 1u);
  EXPECT_EQ(event.task.pid, 10);
  EXPECT_EQ(event.task.priority, 19);
  EXPECT_EQ(event.task.command(), "rt");
}

TEST(EventDecoderTest, AWakeupIsTheDoingOfATaskUnlessAnInterruptCameInBetween) {
  const auto by = [](std::uint64_t flags) {
    return decode(
               Record(kSchedWakeup).put("pid", 10).put("common_pid", 7).put("common_flags", flags))
        .previous.pid;
  };
  EXPECT_EQ(by(0x01), 7);
  EXPECT_EQ(by(0x09), 0) << "a hard interrupt";
  EXPECT_EQ(by(0x11), 0) << "a soft one";
}

TEST(EventDecoderTest, TheExitOfASystemCallSaysWhichTaskRuns) {
  const auto event = decode(Record(kSysExit).put("common_pid", 10));
  EXPECT_EQ(event.kind, KernelEventKind::kTaskRan);
  EXPECT_EQ(event.task.pid, 10);
}

TEST(EventDecoderTest, ASwitchNamesBothTasks) {
  const auto event = decode(Record(kSchedSwitch)
                                .put("prev_comm", "swapper/3")
                                .put("prev_prio", 120)
                                .put("next_comm", "sixteen_letters!")
                                .put("next_pid", 10)
                                .put("next_prio", 19));
  EXPECT_EQ(event.kind, KernelEventKind::kSwitch);
  EXPECT_EQ(event.cpu, 3u);
  EXPECT_EQ(event.task.pid, 10);
  EXPECT_EQ(event.task.command(), "sixteen_letters!");
  EXPECT_EQ(event.previous.priority, 120);
  EXPECT_EQ(event.previous.command(), "swapper/3");
}

TEST(EventDecoderTest, AMigrationSaysWhereFromAndWhereTo) {
  const auto event =
      decode(Record(kSchedMigrateTask).put("pid", 10).put("orig_cpu", 1).put("dest_cpu", 2));
  EXPECT_EQ(event.kind, KernelEventKind::kMigrate);
  EXPECT_EQ(event.task.pid, 10);
  EXPECT_EQ(event.cpu, 1u);
  EXPECT_EQ(event.destination, 2u);
}

TEST(EventDecoderTest, TimersHaveTheirAddressTheirTimeAndTheRunningTask) {
  const auto started =
      decode(Record(kHrtimerStart).put("common_pid", 10).put("hrtimer", 0xa0).put("expires", 5000));
  EXPECT_EQ(started.kind, KernelEventKind::kTimerStart);
  EXPECT_EQ(started.number, 0xa0u);
  EXPECT_EQ(started.clock_ns, 5000);
  EXPECT_EQ(started.task.pid, 10);
  const auto expired = decode(Record(kHrtimerExpireEntry).put("hrtimer", 0xa0).put("now", 5001));
  EXPECT_EQ(expired.kind, KernelEventKind::kTimerExpire);
  EXPECT_EQ(expired.clock_ns, 5001);
  EXPECT_EQ(decode(Record(kHrtimerCancel).put("hrtimer", 0xa0)).kind,
            KernelEventKind::kTimerCancel);
}

TEST(EventDecoderTest, PassesOverOtherEventsAndRecordsThatAreTooShort) {
  const EventDecoder decoder = make_decoder();
  const std::string whole = Record(kSchedSwitch).payload();
  EXPECT_TRUE(decoder.decode(kTime, 0, whole));
  EXPECT_FALSE(decoder.decode(kTime, 0, std::string_view(whole).substr(0, 63)));
  EXPECT_FALSE(decoder.decode(kTime, 0, std::string(64, '\x7f')));
  EXPECT_FALSE(decoder.decode(kTime, 0, {}));
}

TEST(EventDecoderTest, RefusesAnEventThatLacksAField) {
  std::string format = kSchedWakeup;
  format.replace(format.find("int prio"), 8, "int prix");
  EventDecoder decoder;
  EXPECT_EQ(decoder.add(tracing::parse_event_format(format).value()).error().code,
            ErrorCode::kNotFound);
}

std::string told(const WantedEvents& wanted, const std::vector<pid_t>& without = {},
                 const std::vector<pid_t>& exits_of = {}) {
  std::string out;
  for (const auto& event : trace_events(wanted, without, exits_of)) {
    out += event.system + ":" + event.name + " " + event.filter + "\n";
  }
  return out;
}

TEST(WantedTraceTest, FiltersRealTimeTasksInTheKernel) {
  EXPECT_EQ(told({.wakeups = true}, {5, 6}),
            "sched:sched_switch next_prio<100||prev_prio<100\n"
            "sched:sched_wakeup (prio<100)&&pid!=5&&pid!=6\n"
            "sched:sched_wakeup_new (prio<100)&&pid!=5&&pid!=6\n"
            "sched:sched_migrate_task prio<100\n");
}

TEST(WantedTraceTest, TracesExitsOfSystemCallsOfTheTasksThatNeedThem) {
  EXPECT_NE(told({.wakeups = true}, {}, {7, 9})
                .find("raw_syscalls:sys_exit common_pid==7||common_pid==9\n"),
            std::string::npos);
  EXPECT_EQ(told({.wakeups = true}).find("sys_exit"), std::string::npos);
}

TEST(WantedTraceTest, LetsSelectedTasksPass) {
  EXPECT_EQ(told({.wakeups = true, .wakeup_pid = 7, .timer_pid = 8}),
            "sched:sched_switch next_prio<100||next_pid==7||next_pid==8||prev_prio<100||"
            "prev_pid==7||prev_pid==8\n"
            "sched:sched_wakeup (prio<100||pid==7||pid==8)\n"
            "sched:sched_wakeup_new (prio<100||pid==7||pid==8)\n"
            "sched:sched_migrate_task prio<100||pid==7||pid==8\n");
}

TEST(WantedTraceTest, TracesWhatIsWantedOnly) {
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({.sections = true}),
            "preemptirq:irq_disable \npreemptirq:irq_enable \npreemptirq:preempt_disable \n"
            "preemptirq:preempt_enable \n");
  const std::string timers = told({.timers = true});
  EXPECT_NE(timers.find("timer:hrtimer_start function.function == hrtimer_wakeup\n"),
            std::string::npos);
  EXPECT_NE(timers.find("sched:sched_switch"), std::string::npos)
      << "the running task must be known";
}

}  // namespace
}  // namespace tallyfs
