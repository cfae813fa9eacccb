#include "core/tracing/branch/user_events.h"

#include <array>

#include "core/tracing/branch/record_text.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/saved_objects.h"
#include "tests/unit/senders.h"
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

class UserEventsTest : public TracingTest {
 protected:
  Result<Done> define(std::string_view fields, const Sender& sender = {kAlice, 7},
                      std::string_view name = "request") {
    return events_.define("web", name, fields, sender, clock_.now());
  }
  Result<void> write_event(std::string_view text, const Sender& sender = {kAlice, 7}) {
    return events_.write("web", "request", text, sender, clock_.now());
  }
  bool is_on(const Done& done) const {
    return switches_[static_cast<std::uint32_t>(done.number) - 100].on.load() != 0;
  }

  std::array<Switch, 8> switches_{};
  FakeProcesses processes_;
  UserEvents events_{
      tracing_, ledger_, kDaemon, {.switches = {switches_, 100}, .processes = &processes_}};
};

TEST_F(UserEventsTest, AnEventIsThereWithItsFieldsAndTakesRecordsAsText) {
  const auto defined = define("u64 lat; char comm[16]; char[] path");
  ASSERT_TRUE(defined);
  EXPECT_FALSE(is_on(defined.value()));
  ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=comm,path:vals=lat"));
  EXPECT_TRUE(is_on(defined.value()));
  ASSERT_TRUE(write_event(R"(lat=0x10 comm="two words" path=/a)"));
  ASSERT_TRUE(write_event(R"(path=/a lat=5 comm="two words")"));
  EXPECT_NE(read("events/web/request/hist").find("hitcount:          2  lat:         21\n"),
            std::string::npos)
      << read("events/web/request/hist");
  ASSERT_TRUE(write("events/web/request/trigger", "!hist:keys=comm,path:vals=lat"));
  EXPECT_FALSE(is_on(defined.value()));
}

TEST_F(UserEventsTest, SaysWhatIsWrongAndWhere) {
  const auto junk = define("u64 lat; junk x");
  ASSERT_FALSE(junk);
  EXPECT_EQ(junk.error().reason,
            "Invalid type: types are u8 to u64, s8 to s64, int, long, bool, pid_t, char[N] and "
            "others of C");
  EXPECT_EQ(define("lifetime=ever u64 lat").error().token_at, 9u);
  EXPECT_FALSE(events_.define("synthetic", "x", "u64 lat", {kAlice, 7}, clock_.now()));
  EXPECT_FALSE(events_.define("web", "", "u64 lat", {kAlice, 7}, clock_.now()));
  EXPECT_EQ(write_event("lat=1").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(define("u8 lat; s8 s; char comm[4]"));
  const auto at = [&](std::string_view text) {
    const auto done = write_event(text);
    return done ? -1 : static_cast<int>(done.error().token_at);
  };
  EXPECT_EQ(at("lat=255 s=-128 comm=abcd"), -1);
  EXPECT_EQ(at("lat=256"), 4);
  EXPECT_EQ(at("lat=1 s=-129"), 8);
  EXPECT_EQ(at("lat=1 s=128"), 8);
  EXPECT_EQ(at("lat=-1"), 4);
  EXPECT_EQ(at("lat=1 comm=abcde"), 11);
  EXPECT_EQ(at("lat=1 lat=2"), 6);
  EXPECT_EQ(at("junk=1"), 0);
  EXPECT_EQ(at("lat"), 0);
  EXPECT_EQ(at("comm=\"ab"), 5);
}

TEST_F(UserEventsTest, ATextHasUpTo1024Bytes) {
  ASSERT_TRUE(define("char path[]"));
  EXPECT_TRUE(write_event("path=" + std::string(1024, 'x')));
  const auto longer = write_event("path=" + std::string(1025, 'x'));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().reason, "longer than 1,024 bytes");
}

TEST_F(UserEventsTest, TheKernelsEventTakesThePlaceOfAUsers) {
  const auto squat =
      events_.define("sched", "sched_switch", "u64 x; pid_t pid", {kAlice, 7}, clock_.now());
  ASSERT_TRUE(squat);
  ASSERT_TRUE(write("events/sched/sched_switch/trigger", "hist:keys=pid"));
  ASSERT_TRUE(write("events/sched/sched_switch/enable", "1"));
  EXPECT_TRUE(is_on(squat.value()));
  ASSERT_TRUE(offer(kernel_, "sched_switch", kSwitch));
  EXPECT_NE(read("events/sched/sched_switch/format").find("field:int prio"), std::string::npos);
  EXPECT_EQ(read("events/sched/sched_switch/trigger")[0], '#');
  EXPECT_EQ(read("events/sched/sched_switch/enable"), "0\n");
  // Its former holder is told so, and cannot have it back.
  const UserEvents::Record record{.fields = "0123456789abcdef"};
  EXPECT_EQ(
      events_.feed(squat.value().number, {&record, 1}, {kAlice, 7}, clock_.now()).error().code,
      ErrorCode::kStale);
  EXPECT_EQ(
      events_.define("sched", "sched_switch", "u64 x", {kAlice, 7}, clock_.now()).error().code,
      ErrorCode::kExists);
  ASSERT_TRUE(write("events/sched/sched_switch/trigger", "hist:keys=pid"));
  feed(kernel_, kSwitch, 7, 3);
  EXPECT_NE(read("events/sched/sched_switch/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(UserEventsTest, NoUidTakesAllEvents) {
  const auto fill = [&](uid_t uid) {
    std::size_t taken = 0;
    while (events_.define("web", "u" + std::to_string(uid) + "_" + std::to_string(taken), "u64 lat",
                          {uid, 7}, clock_.now())) {
      taken += 1;
    }
    return taken;
  };
  EXPECT_EQ(fill(kAlice), UserEvents::kEventsPerUidMax);
  EXPECT_EQ(fill(kBob), UserEvents::kEventsPerUidMax);
  EXPECT_EQ(fill(kBob + 1), UserEvents::kEventsPerUidMax);
  EXPECT_EQ(fill(kBob + 2), 0u);
  EXPECT_EQ(fill(0), UserEvents::kEventsMax - UserEvents::kEventsOfOthersMax);
}

TEST_F(UserEventsTest, AnEventOfAnEndedProcessGoesWithTheLastTriggerOnIt) {
  ASSERT_TRUE(define("lifetime=feeder u64 lat"));
  ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=lat"));
  events_.process_ended(7, clock_.now());
  EXPECT_EQ(read("available_events"), "web:request\n");
  const auto trigger = file("events/web/request/trigger");
  ASSERT_TRUE(trigger->truncate(clock_.now()));
  EXPECT_TRUE(node("events/web/request/trigger")) << "it is about to be written to";
  ASSERT_TRUE(trigger->write_line("\n", clock_.now()));
  EXPECT_EQ(read("available_events"), "");
  EXPECT_EQ(write_event("lat=1").error().code, ErrorCode::kNotFound);
}

TEST_F(UserEventsTest, AnEventIsItsUidsAndRoots) {
  ASSERT_TRUE(define("u64 lat"));
  EXPECT_EQ(define("u64 lat", {kBob, 8}).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(write_event("lat=1", {kBob, 8}).error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(events_.remove("web", "request", {kBob, 8}, clock_.now()).error().code,
            ErrorCode::kNotPermitted);
  EXPECT_TRUE(write_event("lat=1", {0, 9}));
  EXPECT_EQ(define("u64 lat", {kAlice, 9}).value().made, wire::Made::kWasThere);
  EXPECT_EQ(define("u32 lat").error().code, ErrorCode::kExists);
  EXPECT_TRUE(events_.remove("web", "request", {kAlice, 7}, clock_.now()));
  EXPECT_TRUE(define("u32 lat", {kBob, 8}));
}

TEST_F(UserEventsTest, GoesWithTheLastProcessThatDefinedIt) {
  ASSERT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 7}));
  ASSERT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 8}));
  events_.process_ended(7, clock_.now());
  EXPECT_TRUE(node("events/web/request"));
  events_.process_ended(8, clock_.now());
  EXPECT_FALSE(node("events/web/request"));
  ASSERT_TRUE(define("u64 lat", {kAlice, 7}));
  events_.process_ended(7, clock_.now());
  EXPECT_TRUE(node("events/web/request")) << "it was defined for good";
}

TEST_F(UserEventsTest, ManyGoInSeveralCallsAndOneThatIsDefinedAgainMeanwhileStays) {
  const auto define_one = [&](const char* name, pid_t process) {
    return events_.define("web", name, "lifetime=feeder u64 lat", {kAlice, process}, clock_.now());
  };
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(define_one(name, 7));
  ASSERT_FALSE(events_.process_ended(7, clock_.now(), always_late));
  EXPECT_FALSE(node("events/web/a"));
  ASSERT_TRUE(define_one("c", 8));
  EXPECT_TRUE(events_.process_ended(7, clock_.now(), always_late));
  EXPECT_FALSE(node("events/web/b"));
  EXPECT_TRUE(node("events/web/c"));
}

TEST_F(UserEventsTest, WatchesAProcessWithoutALock) {
  int watches = 0;
  // Each of these takes the locks of UserEvents.
  processes_.at_watch = [&] {
    events_.process_ended(99, clock_.now());
    watches += 1;
  };
  ASSERT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 7}));
  ASSERT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 8}));
  ASSERT_TRUE(define("u64 lat", {kAlice, 9}));
  EXPECT_EQ(watches, 2);
}

TEST_F(UserEventsTest, AProcessThatCannotBeWatchedDefinesNothing) {
  processes_.refusal = Error{ErrorCode::kNoSpace, "too many"};
  EXPECT_EQ(define("lifetime=feeder u64 lat", {kAlice, 7}).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(define("lifetime=feeder u64 lat", {kAlice, 0}).error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(node("events/web/request"));
}

TEST_F(UserEventsTest, AProcessThatEndedMeanwhileLeavesNothing) {
  processes_.ends_at_once = true;
  EXPECT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 7}));
  EXPECT_FALSE(node("events/web/request"));
}

TEST_F(UserEventsTest, StaysForATriggerAndIsTakenUpByTheNextProcess) {
  ASSERT_TRUE(define("lifetime=feeder u64 lat", {kAlice, 7}));
  ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=lat"));
  ASSERT_TRUE(write_event("lat=3"));
  events_.process_ended(7, clock_.now());
  EXPECT_NE(read("events/web/request/hist").find("Hits: 1\n"), std::string::npos);
  EXPECT_EQ(define("lifetime=feeder u32 lat", {kAlice, 8}).error().code, ErrorCode::kExists);
  const auto again = define("lifetime=feeder u64 lat", {kAlice, 8});
  ASSERT_TRUE(again);
  EXPECT_TRUE(is_on(again.value()));
  ASSERT_TRUE(write_event("lat=3", {kAlice, 8}));
  EXPECT_NE(read("events/web/request/hist").find("Hits: 2\n"), std::string::npos);
  events_.process_ended(8, clock_.now());
  ASSERT_TRUE(truncate("events/web/request/trigger"));
  events_.process_ended(9, clock_.now());
  EXPECT_FALSE(node("events/web/request")) << "a look removes an event without holders";
}

TEST_F(UserEventsTest, TakesPackedRecordsByTheirNumber) {
  const auto defined = define("u64 lat");
  ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=common_pid:vals=lat"));
  const std::string fields("\7\0\0\0\0\0\0\0", 8);
  const UserEvents::Record record{.time_ns = 5, .pid = 42, .fields = fields};
  ASSERT_TRUE(defined);
  const Sender alice{kAlice, 7};
  ASSERT_TRUE(events_.feed(defined.value().number, {&record, 1}, alice, clock_.now()));
  EXPECT_NE(read("events/web/request/hist")
                .find("{ common_pid:         42 } hitcount:          1  lat:          7\n"),
            std::string::npos);
  const UserEvents::Record shorter{.fields = "1234567"};
  EXPECT_EQ(events_.feed(defined.value().number, {&shorter, 1}, alice, clock_.now()).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(events_.feed(1, {&record, 1}, alice, clock_.now()).error().code, ErrorCode::kStale);
  EXPECT_EQ(
      events_.feed(defined.value().number, {&record, 1}, {kBob, 8}, clock_.now()).error().code,
      ErrorCode::kNotPermitted);
}

// Two programs that gather: what the second has sent first is no reason to miss what the first did.
class TwoProgramsTest : public UserEventsTest {
 protected:
  TwoProgramsTest() {
    clock_.advance(std::chrono::milliseconds(1));
    EXPECT_TRUE(request_ && reply_);
    EXPECT_TRUE(write("events/web/request/trigger", "hist:keys=pid:ts=common_timestamp"));
    EXPECT_TRUE(write("events/web/reply/trigger",
                      "hist:keys=pid:d=common_timestamp-$ts:onmax($d).save(pid)"));
  }
  void feed(const Result<Done>& event, pid_t process, std::uint64_t time_ns) {
    const std::string fields("\7\0\0\0\0\0\0\0", 8);
    const UserEvents::Record record{.time_ns = time_ns, .pid = process, .fields = fields};
    EXPECT_TRUE(events_.feed(event.value().number, {&record, 1}, {kAlice, process}, clock_.now()));
  }

  static constexpr std::uint64_t kMs = 1'000'000;
  const Result<Done> request_ = define("lifetime=feeder pid_t pid", {kAlice, 7});
  const Result<Done> reply_ = define("lifetime=feeder pid_t pid", {kAlice, 8}, "reply");
};

TEST_F(TwoProgramsTest, RecordsOfSeveralProgramsAreFedInTheOrderOfTheirTimes) {
  clock_.advance(std::chrono::milliseconds(20));
  feed(reply_, 8, 12 * kMs);
  feed(request_, 7, 10 * kMs);
  const std::string hist = read("events/web/reply/hist");
  EXPECT_NE(hist.find("Hits: 1\n"), std::string::npos) << hist;
  EXPECT_NE(hist.find("\tmax:    2000000"), std::string::npos) << hist;
}

TEST_F(TwoProgramsTest, TheyWaitForOneAnotherNoLongerThanTheyGather) {
  const auto hist = file("events/web/request/hist");
  clock_.advance(std::chrono::milliseconds(20));
  feed(request_, 7, 12 * kMs);
  clock_.advance(std::chrono::milliseconds(30));
  EXPECT_EQ(hist->news(clock_.now()), 0u);
  clock_.advance(std::chrono::milliseconds(20));
  EXPECT_EQ(hist->news(clock_.now()), 1u);
  feed(request_, 7, 13 * kMs);
  EXPECT_EQ(hist->news(clock_.now()), 2u) << "later records are not waited for";
}

TEST_F(TwoProgramsTest, AKeptTextIsOldOnceWhatWaitedIsFed) {
  const auto hist = file("events/web/request/hist");
  clock_.advance(std::chrono::milliseconds(20));
  feed(request_, 7, 12 * kMs);
  const auto waiting = hist->version(clock_.now());
  hist->opened(clock_.now());
  EXPECT_NE(hist->version(clock_.now()), waiting);
  feed(request_, 7, 13 * kMs);
  const auto more = hist->version(clock_.now());
  clock_.advance(std::chrono::milliseconds(100));
  EXPECT_EQ(hist->news(clock_.now()), 2u);
  EXPECT_NE(hist->version(clock_.now()), more);
}

TEST_F(TwoProgramsTest, OneThatIsLeftAloneWaitsForNoOther) {
  const auto hist = file("events/web/request/hist");
  events_.process_ended(8, clock_.now());
  feed(request_, 7, kMs);
  EXPECT_EQ(hist->news(clock_.now()), 1u);
}

TEST_F(UserEventsTest, JoinsWithTheKernelsByKey) {
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(define("u64 lat; pid_t pid"));
  ASSERT_TRUE(write("events/web/request/trigger", "hist:keys=pid:lat=lat"));
  ASSERT_TRUE(
      write("events/sched/sched_waking/trigger", "hist:keys=pid:v=$lat:onmax($v).save(prio)"));
  ASSERT_TRUE(write_event("lat=12 pid=7"));
  feed(kernel_, kWaking, 7, 1);
  EXPECT_NE(read("events/sched/sched_waking/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(UserEventsTest, InTheNextServerNumbersAndSwitchesStay) {
  const Sender feeder{kAlice, 7};
  const auto kept = define("u64 lat").value().number;
  const auto of_feeder = define("lifetime=feeder u64 lat", feeder, "short").value().number;
  SavedObjects objects;
  ASSERT_TRUE(events_.save_for_successor(objects));
  events_.hand_on_numbers(objects);
  switches_[0].on = 3;  // as the server before has left it
  std::array<Switch, 8>& page = switches_;
  Ledger ledger{Ledger::Limits{}};
  Tree tree(clock_.now());
  const NodeId directory =
      tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  Tracing tracing(tree, directory, ledger, options_, clock_.now());
  UserEvents events{tracing, ledger, kDaemon, {.switches = {page, 100}, .processes = &processes_}};
  const Loading loading{.now = clock_.now(), .has_pages = true};
  ASSERT_TRUE(events.load_fed(objects.at(0), loading));
  EXPECT_EQ(page[0].on, 3u) << "until all that is set on it is loaded";
  ASSERT_TRUE(events.load_fed(objects.at(1), loading));
  ASSERT_TRUE(events.load_numbers(objects.at(2), loading));
  EXPECT_EQ(page[0].on, 0u);
  EXPECT_EQ(events.define("web", "request", "u64 lat", feeder, clock_.now()).value().number, kept);
  events.process_ended(7, clock_.now());
  EXPECT_EQ(events.define("web", "short", "u64 lat", feeder, clock_.now()).value().number,
            of_feeder + (std::uint64_t{1} << 32));
}

}  // namespace
}  // namespace tallyfs::tracing
