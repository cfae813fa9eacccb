// What of tracing/ is there after a restart, and what is not.
// Longer than most: one stand sets all that is kept.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "core/branch/state.h"
#include "tests/unit/golden_state.h"
#include "tests/unit/tracing_branch/tracing_daemon.h"

namespace tallyfs::tracing {
namespace {

// Files that show all that is kept.
constexpr std::array kShown = {
    "synthetic_events",
    "dynamic_events",
    "set_event",
    "set_event_pid",
    "set_event_notrace_pid",
    "tracing_cpumask",
    "tracing_on",
    "trace_clock",
    "trace_options",
    "saved_cmdlines_size",
    "buffer_size_kb",
    "snapshot",
    "events/sched/filter",
    "events/sched/enable",
    "events/web/request/id",
    "events/web/request/format",
    "events/web/request/filter",
    "events/web/request/trigger",
    "events/web/request/hist",
    "events/synthetic/wakeup/id",
    "events/synthetic/wakeup/trigger",
    "events/synthetic/wakeup/hist",
    "events/sched/sched_waking/trigger",
    "events/sched/sched_waking/hist",
    "events/sched/sched_waking/enable",
    "events/sched/sched_waking/filter",
    "events/sched/sched_switch/trigger",
    "events/sched/sched_switch/hist",
    "instances/deep/tracing_on",
    "instances/deep/set_event",
    "instances/deep/trace_options",
    "instances/deep/buffer_size_kb",
    "instances/deep/events/web/request/hist",
    "instances/deep/events/web/request/trigger",
    "instances/deep/events/web/request/filter",
};

class TracingSavedTest : public testing::Test {
 protected:
  static std::string shown(TracingDaemon& daemon) {
    std::string text;
    for (const char* const path : kShown) {
      text.append("== ").append(path).append("\n").append(daemon.read(path));
    }
    return text;
  }
  static void offer_all(TracingDaemon& daemon) {
    ASSERT_TRUE(daemon.offer("sched_waking", kWaking));
    ASSERT_TRUE(daemon.offer("sched_switch", kSwitch));
  }
  static void do_write(TracingDaemon& daemon, std::string_view path, std::string_view text) {
    const auto written = daemon.write(path, text);
    ASSERT_TRUE(written) << path << ": " << text << ": " << written.error().reason;
  }
  static void define_all(TracingDaemon& daemon) {
    offer_all(daemon);
    ASSERT_TRUE(daemon.tell("event define web/early u8 x"));
    ASSERT_TRUE(daemon.tell("event define web/request u64 lat; pid_t pid; char comm[16]"));
    ASSERT_TRUE(daemon.tell("event remove web/early"));  // so ids do not begin with the first
    do_write(daemon, "synthetic_events", "unused u8 x");
    do_write(daemon, "synthetic_events", "wakeup u64 lat; pid_t pid");
    do_write(daemon, "synthetic_events", "!unused");
    do_write(daemon, "events/sched/sched_waking/trigger",
             "hist:keys=pid:ts0=common_timestamp.usecs if prio > 1");
    do_write(daemon, "events/sched/sched_switch/trigger",
             "hist:keys=pid:lat=common_timestamp.usecs-$ts0:"
             "onmatch(sched.sched_waking).wakeup($lat,pid):onmax($lat).save(prio)");
    do_write(daemon, "events/sched/sched_switch/trigger", "snapshot:3");
    do_write(daemon, "events/synthetic/wakeup/trigger", "hist:keys=pid:vals=lat:sort=lat");
    do_write(daemon, "events/web/request/trigger", "hist:keys=comm:vals=lat.avg:name=both");
    do_write(daemon, "events/web/request/trigger", "enable_event:sched:sched_waking");
    do_write(daemon, "events/web/request/filter", "lat > 5");
    do_write(daemon, "events/sched/filter", "pid != 3");
  }
  static void set_options(TracingDaemon& daemon) {
    do_write(daemon, "set_event", "web:request");
    do_write(daemon, "set_event_pid", "17 5");
    do_write(daemon, "set_event_notrace_pid", "9");
    do_write(daemon, "tracing_cpumask", "1");
    do_write(daemon, "trace_options", "nomarkers");
    do_write(daemon, "trace_options", "verbose");
    do_write(daemon, "trace_clock", "mono");
    do_write(daemon, "saved_cmdlines_size", "77");
    do_write(daemon, "buffer_size_kb", "100");
    do_write(daemon, "per_cpu/cpu1/buffer_size_kb", "200");
    ASSERT_TRUE(daemon.make_directory("instances/deep"));
    do_write(daemon, "instances/deep/tracing_on", "0");
    do_write(daemon, "instances/deep/trace_options", "nooverwrite");
    do_write(daemon, "instances/deep/set_event", "web:request synthetic:wakeup");
    do_write(daemon, "instances/deep/events/web/request/filter", "pid == 1");
    do_write(daemon, "instances/deep/events/web/request/trigger",
             "hist:keys=lat.log2:size=128 if lat > 2");
    do_write(daemon, "instances/deep/events/web/request/trigger",
             "hist:keys=lat.log2:size=128:pause if lat > 2");
  }
  static void feed_all(TracingDaemon& daemon, std::uint64_t from_us) {
    for (std::int32_t i = 1; i < 6; ++i) {
      const auto time = (from_us + static_cast<std::uint64_t>(10 * i)) * 1000;
      daemon.feed(kWaking, i, 2, time);
      if (i < 4) daemon.feed(kSwitch, i, 2 * i, time + 1000u * static_cast<unsigned>(i));
      ASSERT_TRUE(daemon.tell("event web/request lat=" + std::to_string(i) + " comm=nginx"));
    }
  }

  Timestamp now() const { return clock_.now(); }

  FakeClock clock_{std::chrono::seconds(10)};
  TracingDaemon first_{clock_}, second_{clock_};
};

TEST_F(TracingSavedTest, AllIsThereAndGoesOn) {
  define_all(first_);
  set_options(first_);
  feed_all(first_, 1000);
  const auto loaded = second_.load(first_.saved());
  ASSERT_TRUE(loaded) << loaded.error().reason;
  EXPECT_EQ(shown(second_), shown(first_));
  EXPECT_EQ(second_.saved(), first_.saved());
  EXPECT_TRUE(second_.kernel().is_wanted.empty());
  offer_all(second_);
  EXPECT_EQ(shown(second_), shown(first_));
  EXPECT_EQ(second_.kernel().is_wanted, first_.kernel().is_wanted);
  EXPECT_EQ(second_.kernel().is_wanted.size(), 2u);
  feed_all(first_, 2000);
  feed_all(second_, 2000);
  EXPECT_EQ(shown(second_), shown(first_));
  EXPECT_NE(shown(first_).find("Hits: 10"), std::string::npos);
  EXPECT_EQ(second_.saved(), first_.saved());
}

TEST_F(TracingSavedTest, ATriggerAndItsNamesakeInAnInstanceStayApart) {
  define_all(first_);
  ASSERT_TRUE(first_.make_directory("instances/deep"));
  do_write(first_, "instances/deep/events/web/request/trigger", "hist:keys=comm:name=both");
  ASSERT_TRUE(second_.load(first_.saved()));
  EXPECT_EQ(shown(second_), shown(first_));
}

TEST_F(TracingSavedTest, EventsOfAnotherKernelAreArmedAgain) {
  define_all(first_);
  feed_all(first_, 1000);
  ASSERT_TRUE(second_.load(first_.saved()));
  ASSERT_TRUE(second_.offer("sched_waking", 415,
                            "\tfield:int target_cpu;\toffset:16;\tsize:4;\tsigned:1;\n"));
  ASSERT_TRUE(second_.offer("sched_switch", 414));
  EXPECT_EQ(shown(second_), shown(first_));
  EXPECT_EQ(second_.read("events/sched/sched_waking/id"), "415\n");
  EXPECT_EQ(second_.errors().render(clock_.now(), 1 << 20).value(), "");
  std::vector<std::uint32_t> wanted;
  for (const WantedEvent& each : second_.kernel().is_wanted) wanted.push_back(each.source_id);
  EXPECT_EQ(wanted, (std::vector<std::uint32_t>{414, 415}));
  second_.feed(414, 4, 1, 1'500'000);
  first_.feed(kSwitch, 4, 1, 1'500'000);
  EXPECT_EQ(shown(second_), shown(first_));
}

TEST_F(TracingSavedTest, WhatDoesNotFitAnotherKernelIsToldInTheErrorLog) {
  offer_all(first_);
  do_write(first_, "events/sched/sched_waking/trigger", "hist:keys=prio");
  ASSERT_TRUE(second_.load(first_.saved()));
  std::string text = format_of("sched_waking", 315);
  text.replace(text.find(" prio;"), 6, " rank;");
  ASSERT_TRUE(second_.branch().tracing().offer(
      second_.kernel(), {.system = "sched", .text = text, .source_id = 315}, clock_.now()));
  EXPECT_NE(
      second_.errors()
          .render(clock_.now(), 1 << 20)
          .value()
          .find("trigger:sched:sched_waking: warning: Couldn't find field\n  Command: keys=prio"),
      std::string::npos)
      << second_.errors().render(clock_.now(), 1 << 20).value();
  EXPECT_TRUE(second_.kernel().is_wanted.empty());
}

TEST_F(TracingSavedTest, AnEventWithoutAnythingSetIsNotKeptForTheKernel) {
  offer_all(first_);
  ASSERT_TRUE(second_.load(first_.saved()));
  EXPECT_EQ(second_.read("events/sched/sched_waking/id"), "(none)");
}

TEST_F(TracingSavedTest, EventsOfProgramsKeepTheirOwners) {
  ASSERT_TRUE(first_.tell("event define web/request u64 lat"));
  ASSERT_TRUE(second_.load(first_.saved()));
  EXPECT_EQ(second_.tell("event web/request lat=1", {kBob, 8}).error().code,
            ErrorCode::kNotPermitted);
  EXPECT_EQ(second_.tell("event define web/request u64 lat").value().made, wire::Made::kWasThere);
  EXPECT_TRUE(second_.tell("event web/request lat=1"));
}

TEST_F(TracingSavedTest, AnEventWithALifetimeIsKeptForWhatIsSetOnIt) {
  ASSERT_TRUE(first_.tell("event define web/idle lifetime=feeder u64 lat"));
  ASSERT_TRUE(first_.tell("event define web/used lifetime=feeder u64 lat"));
  do_write(first_, "events/web/used/trigger", "hist:keys=lat");
  ASSERT_TRUE(second_.load(first_.saved()));
  EXPECT_EQ(second_.read("events/web/idle/id"), "(none)");
  EXPECT_EQ(second_.read("events/web/used/trigger"), first_.read("events/web/used/trigger"));
  do_write(second_, "events/web/used/trigger", "!hist:keys=lat");
  EXPECT_EQ(second_.read("events/web/used/id"), "(none)");
}

TEST_F(TracingSavedTest, OptionsWithANumberKeepIt) {
  ASSERT_TRUE(first_.make_directory("instances/mine"));
  do_write(first_, "buffer_percent", "30");
  do_write(first_, "instances/mine/buffer_percent", "100");
  ASSERT_TRUE(second_.load(first_.saved()));
  EXPECT_EQ(second_.read("buffer_percent"), "30\n");
  EXPECT_EQ(second_.read("instances/mine/buffer_percent"), "100\n");
}

TEST_F(TracingSavedTest, EventForkIsOnAgain) {
  ASSERT_TRUE(
      first_.tell("event define sched/sched_process_fork pid_t parent_pid; pid_t child_pid"));
  ASSERT_TRUE(first_.tell("event define sched/sched_process_exit pid_t pid"));
  do_write(first_, "set_event_pid", "5");
  do_write(first_, "trace_options", "event-fork");
  ASSERT_TRUE(second_.load(first_.saved()));
  ASSERT_TRUE(second_.tell("event sched/sched_process_fork parent_pid=5 child_pid=6"));
  EXPECT_EQ(second_.read("set_event_pid"), "5\n6\n");
}

TEST_F(TracingSavedTest, ProcessesOfAnotherBootHaveEnded) {
  do_write(first_, "set_event_pid", "5");
  ASSERT_TRUE(second_.load(first_.saved(), Boot::kOther));
  EXPECT_EQ(second_.read("set_event_pid"), "");
}

TEST_F(TracingSavedTest, TheStampChangesWithWhatIsSaved) {
  const auto stamp = [this] { return first_.branch().stamp(clock_.now()); };
  define_all(first_);
  std::uint64_t last = stamp();
  EXPECT_EQ(stamp(), last);
  const auto changes = [&] {
    const std::uint64_t now = stamp();
    return std::exchange(last, now) != now;
  };
  ASSERT_TRUE(first_.tell("event web/request lat=1"));
  EXPECT_TRUE(changes());
  do_write(first_, "tracing_on", "0");
  EXPECT_TRUE(changes());
  ASSERT_TRUE(first_.make_directory("instances/deep"));
  EXPECT_TRUE(changes());
  ASSERT_TRUE(first_.tell("event define web/more u8 x"));
  EXPECT_TRUE(changes());
  ASSERT_TRUE(first_.tell("event remove web/more"));
  EXPECT_TRUE(changes());
  EXPECT_FALSE(changes());
}

TEST_F(TracingSavedTest, WhatNeedsALostObjectIsLeftOutAlone) {
  define_all(first_);
  const SavedObjects saved = first_.saved();
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const Loading loading{.now = clock_.now()};
    if (is_of(saved.at(i), SavedKind::kSyntheticEvent)) continue;
    left_out += second_.branch().load(saved.at(i), loading) ? 0 : 1;
  }
  // The trigger on it, that which fills it, and the histograms of both.
  EXPECT_EQ(left_out, 4u);
  EXPECT_EQ(second_.read("events/web/request/trigger"), first_.read("events/web/request/trigger"));
  EXPECT_EQ(second_.read("events/synthetic/wakeup/id"), "(none)");
}

TEST_F(TracingSavedTest, ObjectsOfAnotherFormatAndThoseThatAreThereAreRefused) {
  define_all(first_);
  set_options(first_);
  const SavedObjects saved = first_.saved();
  const Loading loading{.now = clock_.now()};
  for (std::size_t i = 0; i < saved.size(); ++i) {
    SavedObject object = saved.at(i);
    object.format = 2;
    EXPECT_FALSE(second_.branch().load(object, loading)) << object.label;
  }
  ASSERT_TRUE(second_.load(saved));
  const std::string before = shown(second_);
  for (std::size_t i = 0; i < saved.size(); ++i) (void)second_.branch().load(saved.at(i), loading);
  EXPECT_EQ(shown(second_), before);
}

TEST_F(TracingSavedTest, FilesOfTheFirstFormatsLoadAndShowWhatWasSaved) {
  define_all(first_);
  set_options(first_);
  feed_all(first_, 1000);
  first_.errors().report(ErrorLog::kDaemon, "tracing", "bad junk x",
                         {ErrorCode::kInvalid, "Invalid type", 4}, now());
  golden::expect_same("tracing.1.hex", golden::to_hex(golden::file_of(first_.branch(), now())));
  golden::load_file(golden::from_hex(golden::read("tracing.1.hex")), second_.branch(), now());
  golden::expect_same("tracing.1.txt", shown(second_) + second_.read("error_log"));
}

// A file of state that is damaged at every offset in turn.
class DamagedTracingTest : public TracingSavedTest {
 protected:
  DamagedTracingTest() {
    offer_all(first_);
    EXPECT_TRUE(first_.tell("event define web/request u64 lat; char comm[16]"));
    do_write(first_, "synthetic_events", "wakeup u64 lat; pid_t pid");
    do_write(first_, "events/sched/sched_waking/trigger",
             "hist:keys=pid:ts0=common_timestamp.usecs:size=128");
    do_write(first_, "events/sched/sched_switch/trigger",
             "hist:keys=pid:lat=common_timestamp.usecs-$ts0:size=128:"
             "onmatch(sched.sched_waking).wakeup($lat,pid)");
    do_write(first_, "events/web/request/trigger", "hist:keys=lat:size=128");
    do_write(first_, "events/web/request/filter", "lat > 1");
    EXPECT_TRUE(first_.make_directory("instances/deep"));
    feed_all(first_, 1000);
    saved_ = first_.saved();
    file_ = golden::file_of(first_.branch(), now());
  }
  // What is read of a damaged file was written so. Each set of such objects is loaded once.
  void load_damaged(const std::string& bytes) {
    const auto file = read_state(bytes);
    if (!file) return;
    std::string read;
    for (const SavedObject& each : file.value().objects) {
      ASSERT_TRUE(was_saved(each)) << each.label;
      read.append(std::to_string(each.kind)).append(each.label).append("\n");
    }
    if (tried_.insert(read).second) load_and_save(file.value());
  }
  // Of what is saved again, each object is as it was. A histogram that was lost is empty, and of
  // the top there is always one.
  void load_and_save(const StateFile& file) {
    TracingDaemon daemon(clock_);
    Branch* const branches[] = {&daemon.branch()};
    const LoadedState loaded = load_state(file, branches, {1}, clock_.now());
    ASSERT_EQ(loaded.objects + loaded.faults.size(), file.objects.size() + file.faults.size());
    const SavedObjects after = daemon.saved();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const SavedObject each = after.at(i);
      const bool is_lost = std::ranges::none_of(file.objects, [&](const SavedObject& read) {
        return read.kind == each.kind && read.label == each.label;
      });
      if (is_lost && is_of(each, SavedKind::kHistogram)) continue;
      ASSERT_TRUE(was_saved(each)) << each.label;
    }
  }
  bool was_saved(const SavedObject& object) const {
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      const SavedObject each = saved_.at(i);
      if (each.kind == object.kind && each.label == object.label && each.bytes == object.bytes) {
        return true;
      }
    }
    return false;
  }

  std::string file_;
  SavedObjects saved_;
  std::set<std::string> tried_;
};

TEST_F(DamagedTracingTest, OfACutFileWhatIsWholeIsThere) {
  for (std::size_t cut = 0; cut < file_.size() && !HasFatalFailure(); ++cut) {
    load_damaged(file_.substr(0, cut));
  }
}

TEST_F(DamagedTracingTest, OfAFlippedBitOnlyItsObjectsAreLost) {
  for (std::size_t at = 0; at < file_.size() && !HasFatalFailure(); ++at) {
    std::string damaged = file_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    load_damaged(damaged);
  }
}

// Bytes with a good checksum that no daemon has written: what is loaded can be shown, and saved as
// something that loads again.
TEST_F(DamagedTracingTest, ContentsThatWereNotWrittenSoDoNoHarm) {
  constexpr std::size_t kStride = 17;
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const SavedObject whole = saved_.at(i);
    for (std::size_t at = i % kStride; at < whole.bytes.size(); at += kStride) {
      std::string flipped(whole.bytes);
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      TracingDaemon daemon(clock_);
      for (std::size_t each = 0; each < saved_.size(); ++each) {
        SavedObject object = saved_.at(each);
        if (each == i) object.bytes = flipped;
        (void)daemon.branch().load(object, {.now = now()});
      }
      (void)shown(daemon);
      TracingDaemon again(clock_);
      const auto loaded = again.load(daemon.saved());
      ASSERT_TRUE(loaded) << whole.label << " " << at << ": " << loaded.error().reason;
      (void)again.offer("sched_waking", kWaking);
      (void)again.offer("sched_switch", kSwitch);
      again.feed(kWaking, 1, 2);
      again.feed(kSwitch, 1, 2);
      (void)again.tell("event web/request lat=1 comm=nginx");
      (void)shown(again);
    }
  }
}

}  // namespace
}  // namespace tallyfs::tracing
