// The commands of the kernel's documentation of histograms, as they are written there, in its
// order, on the events that they are for. What they then show is in hist_test and inter_event_test.
#include <gtest/gtest.h>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

class DocumentationTest : public EventFixture {
 protected:
  DocumentationTest() {
    const std::string skb =
        "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
        "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n";
    receive = set.events.define_event("net", format_of("netif_receive_skb", 1, skb)).value();
    rx = set.events.define_event("net", format_of("netif_rx", 2, skb)).value();
    const std::string task =
        "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
        "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
        "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n";
    leave = set.events.define_event("sched", format_of("sched_process_exit", 3, task)).value();
    wakeup_new = set.events.define_event("sched", format_of("sched_wakeup_new", 4, task)).value();
    fork = set.events.define_event("sched", format_of("sched_process_fork", 5, task)).value();
    read = set.events
               .define_event("syscalls",
                             format_of("sys_enter_read", 6,
                                       "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                                       "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
                                       "\tfield:char * buf;\toffset:24;\tsize:8;\tsigned:0;\n"
                                       "\tfield:size_t count;\toffset:32;\tsize:8;\tsigned:0;\n"))
               .value();
    probe = set.events
                .define_event("tcp",
                              format_of("tcp_probe", 7,
                                        "\tfield:__u16 dport;\toffset:8;\tsize:2;\tsigned:0;\n"
                                        "\tfield:__u32 snd_cwnd;\toffset:12;\tsize:4;\tsigned:0;\n"
                                        "\tfield:__u32 snd_wnd;\toffset:16;\tsize:4;\tsigned:0;\n"
                                        "\tfield:__u32 srtt;\toffset:20;\tsize:4;\tsigned:0;\n"
                                        "\tfield:__u32 rcv_wnd;\toffset:24;\tsize:4;\tsigned:0;\n"))
                .value();
  }

  // Set, shown, and removed by the same command again.
  void takes(EventNumber event, const std::string& command) {
    trigger(event, command);
    trigger(event, "!" + command);
    EXPECT_EQ(triggers_text(set.triggers.lines(event))[0], '#') << command;
  }

  EventNumber receive, rx, leave, wakeup_new, fork, read, probe;
};

TEST_F(DocumentationTest, TakesTheBasicExamples) {
  for (const std::string command :
       {"hist:key=call_site:val=bytes_req", "hist:key=call_site.hex:val=bytes_req",
        "hist:key=call_site.sym:val=bytes_req",
        "hist:key=call_site.sym:val=bytes_req:sort=bytes_req.descending",
        "hist:key=call_site.sym-offset:val=bytes_req:sort=bytes_req.descending",
        "hist:keys=call_site.sym:values=bytes_req,bytes_alloc:sort=bytes_alloc.descending",
        "hist:keys=stacktrace:values=bytes_req,bytes_alloc:sort=bytes_alloc",
        "hist:keys=common_stacktrace:values=bytes_req,bytes_alloc:sort=bytes_alloc"}) {
    takes(kmalloc, command);
  }
  takes(read, "hist:key=common_pid.execname:val=count:sort=count.descending");
  takes(sys_enter, "hist:key=id.syscall:val=hitcount");
  takes(sys_enter, "hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount");
  takes(sys_enter,
        "hist:key=id.syscall,common_pid.execname:val=hitcount:sort=id,hitcount if id == 16");
  takes(read, "hist:key=common_pid.execname,count:val=hitcount:sort=common_pid,count");
}

TEST_F(DocumentationTest, StartsAndStopsAsDocumented) {
  trigger(receive, "hist:key=stacktrace:vals=len:pause");
  trigger(exec, "enable_hist:net:netif_receive_skb if filename==\"/usr/bin/wget\"");
  trigger(leave, "disable_hist:net:netif_receive_skb if comm==\"wget\"");
  trigger(receive, "hist:key=stacktrace:vals=len:clear");
  EXPECT_EQ(triggers_text(set.triggers.lines(receive)),
            "hist:keys=common_stacktrace:vals=hitcount,len:sort=hitcount:size=2048 [paused]\n");
}

TEST_F(DocumentationTest, SetsSeveralHistogramsOnOneEvent) {
  for (const std::string command :
       {"hist:keys=skbaddr.hex:vals=len if len < 0", "hist:keys=skbaddr.hex:vals=len if len > 4096",
        "hist:keys=skbaddr.hex:vals=len if len == 256", "hist:keys=skbaddr.hex:vals=len",
        "hist:keys=len:vals=common_preempt_count"}) {
    trigger(receive, command);
  }
  EXPECT_EQ(triggers_text(set.triggers.lines(receive)),
            "hist:keys=len:vals=hitcount,common_preempt_count:sort=hitcount:size=2048 [active]\n"
            "hist:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048 [active]\n"
            "hist:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048 if len == 256 "
            "[active]\n"
            "hist:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048 if len > 4096 "
            "[active]\n"
            "hist:keys=skbaddr.hex:vals=hitcount,len:sort=hitcount:size=2048 if len < 0 "
            "[active]\n");
}

TEST_F(DocumentationTest, SharesHistogramsByName) {
  trigger(receive, "hist:name=foo:keys=skbaddr.hex:vals=len");
  trigger(rx, "hist:name=foo:keys=skbaddr.hex:vals=len");
  trigger(fork, "hist:name=bar:key=stacktrace:val=hitcount");
  trigger(rx, "hist:name=bar:key=stacktrace:val=hitcount");
  feed(receive, 1, {{"skbaddr", 0x10}, {"len", 46}});
  feed(rx, 1, {{"skbaddr", 0x10}, {"len", 4}});
  EXPECT_EQ(entries(receive), "{ skbaddr: 10 } hitcount:          2  len:         50\n");
}

TEST_F(DocumentationTest, TakesTheVariablesOfTheDocumentation) {
  takes(switched, "hist:keys=next_pid:vals=$ts0:ts0=common_timestamp");
  takes(switched, "hist:timer_pid=common_pid:key=timer_pid");
  takes(switched, "hist:keys=next_pid:ts1=common_timestamp");
  takes(waking, "hist:keys=pid:vals=$ts0,$b:ts0=common_timestamp,b=prio");
  takes(waking, "hist:keys=pid:ts0=common_timestamp,b=prio:vals=$ts0,$b");
  takes(waking, "hist:keys=pid:ts0=common_timestamp:b=prio");
  takes(switched, "hist:keys=next_pid:timestamp_secs=common_timestamp/1000000");
  takes(switched, "hist:keys=next_pid:us_per_sec=1000000");
  takes(switched,
        "hist:keys=next_pid:us_per_sec=1000000:timestamp_secs=common_timestamp/$us_per_sec");
}

TEST_F(DocumentationTest, MeasuresHowLongTasksAreBlocked) {
  ASSERT_TRUE(
      set.synthetic.write_dynamic("s:block_lat pid_t pid; u64 delta; unsigned long[] stack;"));
  const EventNumber block = set.events.find("synthetic", "block_lat").value();
  trigger(switched,
          "hist:keys=next_pid:ts=common_timestamp.usecs,st=stacktrace  if prev_state == 2");
  trigger(switched,
          "hist:keys=prev_pid:delta=common_timestamp.usecs-$ts,s=$st:"
          "onmax($delta).trace(block_lat,prev_pid,$delta,$s)");
  ASSERT_TRUE(set.switches.write(block, "1"));
  trigger(block, "hist:keys=delta.buckets=100,stack.stacktrace:sort=delta");
  stack = {0x11};
  feed(switched, 100, {{"next_pid", 8}, {"prev_state", 2}});
  feed(switched, 176, {{"prev_pid", 8}});
  EXPECT_EQ(entries(block),
            "{ delta: ~ 0-99, stack.stacktrace         0x11\n} hitcount:          1\n");
  EXPECT_NE(set.trace.copy()
                .render(NoSymbols())
                .find(": block_lat: pid=8 delta=76 stack=STACK:\n=> 0x11\n"),
            std::string::npos)
      << set.trace.copy().render(NoSymbols());
}

TEST_F(DocumentationTest, TracksChangesOfACongestionWindow) {
  trigger(probe,
          "hist:keys=dport:cwnd=snd_cwnd: \\\n"
          "   onchange($cwnd).save(snd_wnd,srtt,rcv_wnd): \\\n"
          "\t      onchange($cwnd).snapshot()");
  feed(probe, 1,
       {{"dport", 80}, {"snd_cwnd", 10}, {"snd_wnd", 28960}, {"srtt", 19604}, {"rcv_wnd", 29312}});
  EXPECT_EQ(entries(probe),
            "{ dport:         80 } hitcount:          1\n"
            "\tchanged:         10  snd_wnd:      28960  srtt:      19604  rcv_wnd:      29312\n"
            "\nSnapshot taken (see tracing/snapshot).  Details:\n"
            "\ttriggering value { onchange($cwnd) }:         10"
            "\ttriggered by event with key: { dport:         80 }\n");
}

TEST_F(DocumentationTest, GeneratesWakeupNewTest) {
  synthetic("wakeup_new_test pid_t pid");
  for (const std::string action :
       {"wakeup_new_test($testpid)", "trace(wakeup_new_test,$testpid)"}) {
    takes(wakeup_new, "hist:keys=$testpid:testpid=pid:onmatch(sched.sched_wakeup_new)." + action +
                          " if comm==\"cyclictest\"");
  }
}

}  // namespace
}  // namespace tallyfs::tracing
