// Triggers and histograms of an EventSet after a restart: another EventSet with the same events, in
// which they are set again in the order of their serial numbers.
#include <gtest/gtest.h>

#include "core/tracing/hist/hist_contents.h"
#include "tests/unit/tracing/wakeups.h"

namespace tallyfs::tracing {
namespace {

std::string contents_of(const Trigger& trigger) {
  std::string bytes;
  ByteWriter out(bytes);
  HistContents(trigger.plan, *trigger.table).encode(out);
  return bytes;
}

Result<void> fill(const Trigger& trigger, std::string_view bytes,
                  HistVariables variables = HistVariables::kKept) {
  ByteReader in(bytes);
  return load_hist(in, *trigger.plan, *trigger.table, variables);
}

SavedTrigger through_bytes(const SavedTrigger& saved) {
  std::string bytes;
  ByteWriter out(bytes);
  saved.save(out);
  ByteReader in(bytes);
  const SavedTrigger loaded = SavedTrigger::load(in);
  EXPECT_TRUE(in.ok() && in.left() == 0);
  return loaded;
}

class SavedTriggersTest : public WakeupFixture {
 protected:
  // Defines the events of `set` in another one, under the same numbers.
  void define_in(EventSet& to) const {
    for (const auto& event : set.events.entries()) {
      if (event->is_synthetic()) {
        ASSERT_TRUE(to.synthetic.add(event->fields, event->fields->text()));
      } else {
        ASSERT_TRUE(to.events.define_event(event->system, *event->format_text));
      }
    }
  }
  void fill_all(EventSet& to, const SavedTrigger& saved, HistVariables variables) const {
    const EventNumber event = to.events.find(saved.system, saved.event).value();
    Trigger* const made = to.triggers.find(event, saved.serial);
    ASSERT_TRUE(made);
    if (!made->table || !made->table->is_empty()) return;
    const auto filled =
        fill(*made, contents_of(*set.triggers.find(event, saved.serial)), variables);
    ASSERT_TRUE(filled) << filled.error().reason;
  }
  void restart_into(EventSet& to, HistVariables variables = HistVariables::kKept) const {
    define_in(to);
    to.trace.set_on(set.trace.is_on());
    for (const SavedTrigger& each : set.triggers.saved()) {
      const auto made = to.commands.restore(through_bytes(each));
      ASSERT_TRUE(made) << each.parameters << ": " << made.error().reason;
      for (const SavedTrigger& hidden : each.hidden) fill_all(to, hidden, variables);
      fill_all(to, each, variables);
    }
  }
  static std::string all_texts(const EventSet& of) {
    std::string text;
    for (EventNumber event = 0; event < of.events.size(); ++event) {
      text.append(of.events.full_name(event)).append("\n");
      text.append(triggers_text(of.triggers.lines(event)));
      text.append(of.hists.copy(event).render(NoSymbols()));
    }
    return text;
  }
  // The same texts after a restart, and after further records.
  template <typename Feed>
  void expect_to_outlive(const Feed& feed_some) {
    feed_some(set);
    EventSet after;
    restart_into(after);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_EQ(all_texts(after), all_texts(set));
    feed_some(set);
    feed_some(after);
    EXPECT_EQ(all_texts(after), all_texts(set));
    EXPECT_NE(all_texts(set).find("hitcount"), std::string::npos);
  }
  void feed_to(EventSet& to, EventNumber event, std::uint64_t time_us,
               const std::vector<Given>& given) const {
    const std::string bytes = bytes_of(event, given);
    to.feed({.event = event,
             .time_ns = time_us * 1000,
             .cpu = cpu,
             .pid = pid,
             .bytes = bytes,
             .comm = "task",
             .stack = stack});
  }
  void feed_kmalloc(EventSet& to) const {
    for (std::int64_t i = 0; i < 40; ++i) {
      feed_to(to, kmalloc, static_cast<std::uint64_t>(100 + i),
              {{"call_site", 0x1000 + i % 5},
               {"bytes_req", 7 * i},
               {"bytes_alloc", i},
               {"gfp_flags", i % 3}});
    }
  }
  void feed_wakeups(EventSet& to) const {
    for (std::int64_t i = 0; i < 9; ++i) {
      const auto time = static_cast<std::uint64_t>(1000 + 10 * i);
      feed_to(to, waking, time, {{"comm", "cyclictest"}, {"pid", 2000 + i}, {"prio", 19}});
      if (i % 3 == 2) continue;  // its variables wait
      feed_to(to, switched, time + static_cast<std::uint64_t>(i),
              {{"next_comm", "cyclictest"},
               {"next_pid", 2000 + i},
               {"next_prio", 19},
               {"prev_pid", 3}});
    }
  }
};

TEST_F(SavedTriggersTest, KeysAndTheirModifiers) {
  trigger(kmalloc, "hist:keys=call_site.sym,gfp_flags.hex");
  trigger(kmalloc, "hist:keys=bytes_req.log2:size=256");
  trigger(kmalloc, "hist:keys=bytes_req.log2=2,bytes_alloc.buckets=16:sort=bytes_alloc");
  trigger(kmalloc, "hist:keys=common_pid.execname:sort=hitcount.descending");
  trigger(kmalloc, "hist:keys=stacktrace,cpu");
  trigger(kmalloc, "hist:keys=call_site.sym-offset,common_timestamp.usecs:size=128");
  trigger(sys_enter, "hist:keys=id.syscall:vals=hitcount");
  trigger(exec, "hist:keys=filename,common_comm");
  stack = {0x10, 0x20};
  pid = 7;
  expect_to_outlive([this](EventSet& to) {
    feed_kmalloc(to);
    feed_to(to, sys_enter, 5, {{"id", 1}});
    feed_to(to, exec, 6, {{"filename", "/bin/true"}});
  });
}

TEST_F(SavedTriggersTest, ValuesAndTheirModifiers) {
  trigger(kmalloc,
          "hist:keys=call_site:vals=bytes_req,bytes_req.avg,bytes_req.min,bytes_req.max,"
          "bytes_alloc.stddev,bytes_req.p50,bytes_req.p99,bytes_req.p999:"
          "sort=bytes_req.descending,call_site:limit=3");
  trigger(kmalloc, "hist:keys=gfp_flags:vals=bytes_req.percent,bytes_alloc.graph:nohitcount");
  trigger(kmalloc, "hist:keys=gfp_flags:vals=bytes_req.hex:clock=mono if bytes_req > 50");
  expect_to_outlive([this](EventSet& to) { feed_kmalloc(to); });
}

TEST_F(SavedTriggersTest, VariablesAndTheActionsThatUseThem) {
  synthetic("wakeup_latency u64 lat; pid_t pid; int prio");
  trigger(waking, "hist:keys=$saved_pid:saved_pid=pid:ts0=common_timestamp.usecs,text=comm");
  trigger(switched,
          "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0,was=$text:"
          "onmatch(sched.sched_waking).wakeup_latency($lat,next_pid,next_prio):"
          "onmax($lat).save(next_comm,prev_pid):onchange($lat).snapshot()");
  trigger(set.events.find("synthetic", "wakeup_latency").value(),
          "hist:keys=pid,prio,lat:sort=pid,lat");
  expect_to_outlive([this](EventSet& to) { feed_wakeups(to); });
}

TEST_F(SavedTriggersTest, HiddenHistogramsGoOnAndGoWithTheirOwner) {
  synthetic("wakeup_latency u64 lat; int prio");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  const char kOwner[] =
      "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:"
      "onmatch(sched.sched_waking).wakeup_latency($lat,prio)";
  trigger(switched, kOwner);
  expect_to_outlive([this](EventSet& to) { feed_wakeups(to); });
  EventSet after;
  restart_into(after);
  ASSERT_EQ(after.triggers.lines(waking).size(), 2u);
  ASSERT_TRUE(after.commands.write(switched, std::string("!") + kOwner));
  EXPECT_EQ(after.triggers.lines(waking).size(), 1u);
}

TEST_F(SavedTriggersTest, VariablesThatWereSetInAnotherBootAreUnset) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  feed_to(set, waking, 1000, {{"pid", 5}});
  for (const auto variables : {HistVariables::kKept, HistVariables::kUnset}) {
    EventSet after;
    restart_into(after, variables);
    EXPECT_EQ(all_texts(after), all_texts(set));
    feed_to(after, switched, 1010, {{"next_pid", 5}});
    const bool is_counted = after.hists.hits(switched) == 1;
    EXPECT_EQ(is_counted, variables == HistVariables::kKept);
  }
}

TEST_F(SavedTriggersTest, ExpiryGoesOn) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs:size=128:expire=1ms");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  expect_to_outlive([this](EventSet& to) {
    for (std::int64_t i = 0; i < 200; ++i) {
      feed_to(to, waking, static_cast<std::uint64_t>(10 * i), {{"pid", i}});
    }
    feed_to(to, switched, 5000, {{"next_pid", 199}});
  });
}

TEST_F(SavedTriggersTest, NamedHistogramsShareTheirEntries) {
  trigger(waking, "hist:name=both:keys=common_pid:vals=hitcount:size=512");
  trigger(switched, "hist:name=both:keys=common_pid:vals=hitcount");
  feed_wakeups(set);
  trigger(waking, "!hist:name=both:keys=common_pid:vals=hitcount");  // the second has its size
  expect_to_outlive([this](EventSet& to) { feed_wakeups(to); });
  EventSet after;
  restart_into(after);
  const auto& left = after.events.at(switched).triggers.front();
  EXPECT_EQ(left->table->map.shape().entries_max, 512u);
}

TEST_F(SavedTriggersTest, PausedAndClearedOnesStaySo) {
  trigger(waking, "hist:keys=pid");
  trigger(switched, "hist:keys=next_pid:pause");
  trigger(kmalloc, "hist:keys=call_site");
  feed_wakeups(set);
  feed_kmalloc(set);
  trigger(waking, "hist:keys=pid:pause");
  trigger(switched, "hist:keys=next_pid:cont");
  trigger(kmalloc, "hist:keys=call_site:clear");
  expect_to_outlive([this](EventSet& to) {
    feed_wakeups(to);
    feed_kmalloc(to);
  });
}

TEST_F(SavedTriggersTest, OtherTriggersKeepTheirCounts) {
  trigger(waking, "traceoff:3 if pid == 2001");
  trigger(waking, "stacktrace:100");
  trigger(waking, "snapshot");
  trigger(waking, "enable_event:kmem:kmalloc:2");
  trigger(waking, "hist:keys=pid");
  trigger(switched, "disable_hist:sched:sched_waking if next_pid == 2004");
  trigger(switched, "disable_event:kmem:kmalloc");
  trigger(exec, "traceon:0x10");
  expect_to_outlive([this](EventSet& to) { feed_wakeups(to); });
}

TEST_F(SavedTriggersTest, TheOrderOfTriggersIsKeptAndGoesOn) {
  trigger(waking, "hist:keys=pid");
  trigger(switched, "hist:keys=next_pid");
  trigger(waking, "hist:keys=prio");
  trigger(waking, "!hist:keys=pid");
  trigger(waking, "hist:keys=comm");
  EventSet after;
  restart_into(after);
  EXPECT_EQ(after.triggers.next_serial(), set.triggers.next_serial());
  ASSERT_TRUE(after.commands.write(waking, "hist:keys=target_cpu"));
  trigger(waking, "hist:keys=target_cpu");
  EXPECT_EQ(all_texts(after), all_texts(set));
}

TEST_F(SavedTriggersTest, ContentsThatWereNotWrittenSoAreRefusedAndTheHistogramStaysEmpty) {
  trigger(waking, "hist:keys=pid,comm:vals=prio,prio.avg:t=comm:onmax($t2).save(prio):t2=prio");
  feed_wakeups(set);
  const Trigger& written = *set.events.at(waking).triggers.front();
  const std::string whole = contents_of(written);
  const std::string empty = [&] {
    EventSet fresh;
    restart_into(fresh);
    fresh.events.at(waking).triggers.front()->table->clear();
    return all_texts(fresh);
  }();
  EventSet after;
  restart_into(after);
  const Trigger& loaded = *after.events.at(waking).triggers.front();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    loaded.table->clear();
    ASSERT_FALSE(fill(loaded, whole.substr(0, cut))) << cut;
    ASSERT_TRUE(loaded.table->is_empty()) << cut;
  }
  EXPECT_EQ(all_texts(after), empty);
  EXPECT_FALSE(fill(loaded, whole + '\0'));
  // Flipped bits may make other numbers, and no number that is used as a length or a divisor.
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    loaded.table->clear();
    const bool is_filled = fill(loaded, flipped).has_value();
    ASSERT_TRUE(is_filled || loaded.table->is_empty()) << at;
    (void)all_texts(after);
    feed_wakeups(after);
  }
}

TEST_F(SavedTriggersTest, EntriesOfAnotherLayoutAreRefused) {
  trigger(waking, "hist:keys=pid:vals=prio");
  trigger(waking, "hist:keys=pid:vals=target_cpu");
  feed_wakeups(set);
  const Trigger& other = *set.events.at(waking).triggers.front();
  const Trigger& first = *set.events.at(waking).triggers.back();
  const std::string bytes = contents_of(first);
  EXPECT_EQ(fill(first, bytes).error().code, ErrorCode::kExists);
  other.table->clear();
  EXPECT_EQ(fill(other, bytes).error().reason, "its entries have another layout; it begins empty");
}

TEST_F(SavedTriggersTest, ATriggerOfWhichSomethingIsMissingIsNotSet) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  trigger(switched, "enable_event:kmem:kmalloc");
  const auto saved = set.triggers.saved();
  EventSet after;
  define_in(after);
  EXPECT_EQ(after.commands.restore(saved[1]).error().reason, fault::kVariableNotFound);
  SavedTrigger changed = saved[0];
  changed.entries_max = 1u << 30;
  EXPECT_EQ(after.commands.restore(changed).error().reason, fault::kBadSize);
  changed = saved[0];
  changed.event = "sched_nothing";
  EXPECT_EQ(after.commands.restore(changed).error().reason, fault::kNoSuchEvent);
  changed = saved[2];
  changed.parameters = "kmem:kfree";
  EXPECT_EQ(after.commands.restore(changed).error().reason, fault::kNoSuchEvent);
  EXPECT_TRUE(after.triggers.saved().empty());
  ASSERT_TRUE(after.commands.restore(saved[0]));
  EXPECT_EQ(after.commands.restore(saved[0]).error().reason, fault::kDuplicateVariable);
}

TEST_F(SavedTriggersTest, BytesOfATriggerThatWereNotWrittenSoAreRefused) {
  synthetic("lat u64 lat; int prio");
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(
      switched,
      "hist:keys=next_pid:l=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).lat($l,prio)");
  std::string whole;
  ByteWriter out(whole);
  set.triggers.saved().back().save(out);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    ByteReader in(std::string_view(whole).substr(0, cut));
    (void)SavedTrigger::load(in);
    EXPECT_FALSE(in.ok()) << cut;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    ByteReader in(flipped);
    const SavedTrigger loaded = SavedTrigger::load(in);
    EventSet after;
    define_in(after);
    if (in.ok() && in.left() == 0) (void)after.commands.restore(loaded);
  }
}

TEST_F(SavedTriggersTest, AnEventOfAnotherKernelGetsAllThatWasSet) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  trigger(exec, "enable_event:sched:sched_waking");
  ASSERT_TRUE(set.filters.write(waking, "prio > 3"));
  ASSERT_TRUE(set.switches.write(waking, "1"));
  feed_wakeups(set);
  const auto texts = [this] { return all_texts(set) + set.switches.state(waking).text(); };
  const std::string before = texts();
  std::string moved = kSchedWaking;
  moved.replace(moved.find("ID: 315"), 7, "ID: 400");
  const auto redefined = set.redefine_event("sched", moved);
  ASSERT_TRUE(redefined) << redefined.error().reason;
  EXPECT_TRUE(redefined.value().empty());
  EXPECT_EQ(texts(), before);
  EXPECT_EQ(set.filters.state(waking).filter, "prio > 3");
  EXPECT_EQ(set.events.format(waking).id, 400);
}

TEST_F(SavedTriggersTest, OfAnEventThatHasLostAFieldWhatDoesNotFitGoes) {
  trigger(waking, "hist:keys=pid:ts0=common_timestamp.usecs");
  trigger(waking, "hist:keys=target_cpu");
  trigger(switched, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0");
  feed_wakeups(set);
  const std::string kept = hist(switched);
  std::string less = kSchedWaking;
  less.replace(less.find(" target_cpu;"), 12, " cpu_target;");
  const auto redefined = set.redefine_event("sched", less);
  ASSERT_TRUE(redefined);
  ASSERT_EQ(redefined.value().size(), 1u);
  EXPECT_EQ(redefined.value().front().reason, fault::kFieldNotFound);
  EXPECT_EQ(set.triggers.lines(waking).size(), 1u);
  EXPECT_EQ(hist(switched), kept);
}

}  // namespace
}  // namespace tallyfs::tracing
