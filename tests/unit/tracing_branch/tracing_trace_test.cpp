// The files of what an instance has traced: trace, trace_marker, trace_pipe, saved_cmdlines.
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

class TracingTraceTest : public TracingTest {};

TEST_F(TracingTraceTest, AMarkerBecomesAnEventThatIsAlwaysTraced) {
  ASSERT_TRUE(write("events/ftrace/print/trigger", "hist:keys=common_pid"));
  ASSERT_TRUE(write("trace_marker", "hello, world\n"));
  const std::string trace = read("trace");
  EXPECT_NE(trace.find("-77 "), std::string::npos) << trace;
  EXPECT_TRUE(trace.ends_with(": tracing_mark_write: hello, world\n")) << trace;
  EXPECT_NE(read("events/ftrace/print/hist").find("{ common_pid:         77 }"), std::string::npos);
  ASSERT_TRUE(truncate("trace"));
  EXPECT_EQ(read("trace").find("hello"), std::string::npos);
  ASSERT_TRUE(write("options/markers", "0"));
  const auto refused = write("trace_marker", "hello");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read("trace").find("hello"), std::string::npos);
  EXPECT_EQ(read("available_events"), "");
}

TEST_F(TracingTraceTest, CountsWhatAnInstanceHasLostSinceItWasCleared) {
  const auto lost = [this](const std::string& instance) {
    const std::string text = read(instance + "trace");
    const std::string head = "# tracer: nop\n#\n# records lost on their way: ";
    return text.starts_with(head)
               ? text.substr(head.size(), text.find(" in all", head.size()) - head.size())
               : "";
  };
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  const auto instances = tree_.rules(node("instances").value().id).value();
  ASSERT_TRUE(instances->make_directory("foo", clock_.now()));
  ASSERT_TRUE(instances->make_directory("bar", clock_.now()));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  ASSERT_TRUE(write("instances/foo/events/sched/sched_waking/trigger", "hist:keys=pid"));
  tracing_.lost(kernel_, 3, clock_.now());
  EXPECT_EQ(lost(""), "3");
  EXPECT_EQ(lost("instances/foo/"), "3");
  EXPECT_EQ(lost("instances/bar/"), "") << "which asks for nothing";
  ASSERT_TRUE(truncate("trace"));
  EXPECT_EQ(lost(""), "");
  tracing_.lost(kernel_, 2, clock_.now());
  EXPECT_EQ(lost(""), "2");
  EXPECT_EQ(lost("instances/foo/"), "5");
}

class TracingTwoCpusTest : public TracingTest {
 protected:
  TracingTwoCpusTest() : TracingTest({}, {.cpus = 2}) {}
  bool says_lost() { return read("trace").find("records lost on their way") != std::string::npos; }
};

// It is not known on which CPU they were lost.
TEST_F(TracingTwoCpusTest, WhatWasLostIsForgottenWhenTheTraceOfEachCpuWasCleared) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  tracing_.lost(kernel_, 3, clock_.now());
  ASSERT_TRUE(truncate("per_cpu/cpu1/trace"));
  ASSERT_TRUE(truncate("per_cpu/cpu1/trace"));
  EXPECT_TRUE(says_lost()) << "the others' are still there";
  ASSERT_TRUE(truncate("per_cpu/cpu0/trace"));
  EXPECT_FALSE(says_lost());
  ASSERT_TRUE(truncate("per_cpu/cpu1/trace"));
  tracing_.lost(kernel_, 1, clock_.now());
  ASSERT_TRUE(truncate("per_cpu/cpu0/trace"));
  EXPECT_TRUE(says_lost()) << "cpu1 was cleared before";
}

TEST_F(TracingTraceTest, AMarkerIsShownAsItWasWritten) {
  const auto marked = [this](const std::string& text) {
    EXPECT_TRUE(truncate("trace"));
    EXPECT_TRUE(write("trace_marker", text));
    const std::string trace = read("trace");
    return trace.substr(trace.find("tracing_mark_write: ") + 20);
  };
  EXPECT_EQ(marked("a"), "a\n");
  EXPECT_EQ(marked("a\n"), "a\n");
  EXPECT_EQ(marked("a\n\n"), "a\n\n");
  EXPECT_EQ(marked("two\nlines\tand a tab"), "two\nlines\tand a tab\n");
  EXPECT_EQ(marked("\033[1m"), "\\x1b[1m\n");
  EXPECT_EQ(marked(std::string(4096, 'x')), std::string(4054, 'x') + "\n");
  EXPECT_EQ(file("trace_marker")->marker()->bytes_max(), 4054u);
}

TEST_F(TracingTraceTest, NamesAsManyProcessesAsItIsTold) {
  EXPECT_EQ(read("saved_cmdlines_size"), "128\n");
  ASSERT_TRUE(write("saved_cmdlines_size", "1024\n"));
  EXPECT_EQ(read("saved_cmdlines_size"), "1024\n");
  for (const char* const junk : {"0", "junk", "4194305", ""}) {
    EXPECT_FALSE(write("saved_cmdlines_size", junk)) << junk;
  }
}

TEST_F(TracingTraceTest, APipeHandsOutWhatWasTraced) {
  const auto pipe = stream("trace_pipe");
  ASSERT_TRUE(pipe);
  EXPECT_EQ(pipe->next(clock_.now()), "");
  EXPECT_FALSE(pipe->has_some(clock_.now()));
  ASSERT_TRUE(write("trace_marker", "one"));
  EXPECT_TRUE(pipe->has_some(clock_.now()));
  EXPECT_EQ(read("trace_pipe"), "") << "how long it is takes nothing out of it";
  const std::string first = pipe->next(clock_.now());
  EXPECT_TRUE(first.ends_with(": tracing_mark_write: one\n")) << first;
  EXPECT_EQ(pipe->next(clock_.now()), "");
  EXPECT_FALSE(pipe->is_over());
  ASSERT_TRUE(write("tracing_on", "0"));
  EXPECT_TRUE(pipe->is_over());
}

// Names of addresses may take their time: a reader's Ctrl-C ends it, and no lock is held.
TEST_F(TracingTraceTest, APipePassesItsTokenToTheSourcesOfNames) {
  class Knowing final : public FakeSource {
   public:
    explicit Knowing(Tracing& tracing) : tracing_(tracing) {}
    std::unique_ptr<const Symbols> symbols(CancellationToken cancel) const override {
      EXPECT_TRUE(cancel.is_cancelled());
      (void)tracing_.wanted(const_cast<Knowing&>(*this));  // takes Tracing's lock
      calls += 1;
      return nullptr;
    }
    mutable int calls = 0;

   private:
    Tracing& tracing_;
  } source(tracing_);
  ASSERT_TRUE(offer(source, "sched_waking", kWaking));
  ASSERT_TRUE(write("trace_marker", "one"));
  const CancellationToken cancelled([] { return true; });
  EXPECT_NE(stream("trace_pipe")->next({clock_.now(), cancelled}), "");
  EXPECT_EQ(source.calls, 1);
  tracing_.withdraw(source, clock_.now());
}

TEST_F(TracingTraceTest, ATraceIsWordedAsTheKernelDoesOrByItsFields) {
  std::string text = format_of("sched_waking", static_cast<int>(kWaking));
  const std::string empty = "print fmt: \"\"";
  text.replace(text.find(empty), empty.size(), R"(print fmt: "task %d", REC->pid)");
  ASSERT_TRUE(tracing_.offer(kernel_, {.system = "sched", .text = text, .source_id = kWaking},
                             clock_.now()));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  feed(kernel_, kWaking, 7, 3);
  EXPECT_TRUE(read("trace").ends_with(": sched_waking: task 7\n")) << read("trace");
  ASSERT_TRUE(write("options/fields", "1"));
  EXPECT_TRUE(read("trace").ends_with(": sched_waking: pid=7 prio=3\n")) << read("trace");
  EXPECT_TRUE(read("per_cpu/cpu0/trace").ends_with(": sched_waking: pid=7 prio=3\n"));
  ASSERT_TRUE(write("trace_options", "nofields"));
  EXPECT_TRUE(read("per_cpu/cpu0/trace").ends_with(": sched_waking: task 7\n"));
}

}  // namespace
}  // namespace tallyfs::tracing
