// Rings as opens take them: those of feeders that have bound a statistic of what is opened.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/intake/lanes_fixture.h"
#include "tests/unit/intake/ring_intake_fixture.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

InterfaceFilter just(Subject subject) {
  InterfaceFilter of;
  of.add(subject);
  return of;
}

class RingSubjectsTest : public RingIntakeTest {
 protected:
  RingSubjectsTest() {
    polite_ = create("polite/hits on=1 type=list entries_max=9 base=16");
    number_ = create("web/s on=1 type=list entries_max=9 base=16");
  }
  Subject subject_of(std::string_view interface) { return file_of(interface)->subject(); }
  // As an open of this file does.
  std::string open(Intake& intake, std::string_view interface, std::string_view file = "data") {
    intake.drain_feeders(file_of(interface, file)->subject(), {});
    return read(interface, file);
  }
  std::string open(std::string_view interface) { return open(intake_with_rings_, interface); }
  static bool is_empty(RingFeeder& feeder) { return feeder.taken() == feeder.entry().head / 2; }

  std::uint64_t polite_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(RingSubjectsTest, FilesOfAnInterfaceHaveItAsTheirSubject) {
  const Subject web = subject_of("web");
  EXPECT_NE(web, nullptr);
  for (const char* const each : {"definition", "data", "data.json"}) {
    EXPECT_EQ(file_of("web", each)->subject(), web) << each;
    EXPECT_EQ(file_of("tallyfs", each)->subject(), nullptr) << each;
  }
  EXPECT_NE(subject_of("polite"), web);
  EXPECT_EQ(statistics_.subject_of(number_), web);
  EXPECT_EQ(statistics_.subject_of(number_ + 1), nullptr);
  const auto all = tree_.lookup(Tree::kRoot, "statistics.json");
  EXPECT_EQ(tree_.file(all.value().id).value()->subject(), nullptr);
}

TEST_F(RingSubjectsTest, AnOpenTakesNothingOutOfLanesWithoutItsStatistics) {
  RingFeeder full(*lanes_, other());
  ASSERT_TRUE(full.bind(*lanes_, number_));
  full.fill();
  EXPECT_EQ(open("polite"), "");
  EXPECT_EQ(full.taken(), 0u);
  EXPECT_EQ(own("drains_cut"), 0u);
  open("web");
  EXPECT_TRUE(is_empty(full));
}

TEST_F(RingSubjectsTest, AThousandOpensOfAnotherInterfaceTakeNoTimeForFullRings) {
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  RingFeeder prompt(*lanes_, {::geteuid(), kOther + 2});
  ASSERT_TRUE(one.bind(*lanes_, number_) && two.bind(*lanes_, number_));
  ASSERT_TRUE(prompt.bind(*lanes_, polite_));
  ticks_.is_slow = true;
  ticks_.each = 10us;
  std::uint64_t opens = 0;
  const auto thousand_opens = [&] {
    const auto begun = ticks_.passed;
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(prompt.put(1));
      open(intake, "polite");
      EXPECT_EQ(prompt.taken(), ++opens);
    }
    return ticks_.passed - begun;
  };
  const auto alone = thousand_opens();
  one.fill();
  two.fill();
  EXPECT_EQ(thousand_opens(), alone);
  EXPECT_EQ(one.taken() + two.taken(), 0u);
  EXPECT_EQ(open(intake, "polite"), "hits 0x1 2000\n");
}

TEST_F(RingSubjectsTest, AnOpenTakesAllThatWasPutBeforeForItsInterface) {
  const auto sum = create("web/sum on=1 type=value mode=increments");
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  RingFeeder three(*lanes_, {::geteuid(), kOther + 2});
  ASSERT_TRUE(one.bind(*lanes_, number_) && two.bind(*lanes_, sum));
  ASSERT_TRUE(three.bind(*lanes_, polite_));
  for (int x = 1; x <= 100; ++x) {
    one.put(1);
    two.put(1);
    three.put(1);
    const std::string count = " " + std::to_string(x) + "\n";
    ASSERT_EQ(open("web"), "s 0x1" + count + "sum" + count);
  }
  EXPECT_EQ(three.taken(), 0u);
}

TEST_F(RingSubjectsTest, AViewShowsWhatWasPutForItsSource) {
  create("web/view of=s type=value mode=increments");
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number_));
  feeder.put(7);
  EXPECT_EQ(open("web"), "s 0x7 1\nview 1\n");
}

TEST_F(RingSubjectsTest, FilesAboutAllTakeAll) {
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number_) && two.bind(*lanes_, polite_));
  one.put(1);
  two.put(1);
  open("tallyfs");
  EXPECT_TRUE(is_empty(one) && is_empty(two));
}

TEST_F(RingSubjectsTest, ABindingThatIsQueuedCountsForTheOpen) {
  const Sender self{::geteuid(), ::getpid()};
  RingFeeder feeder(*lanes_, self);
  ASSERT_TRUE(feeder.bind(*lanes_, number_));
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  feeder.put(1);
  wire::DatagramWriter writer(kEpoch);
  writer.bind({.sequence = 1, .id = RingFeeder::kId, .lane = feeder.lane, .number = polite_});
  Feeder(path_).send(writer.bytes());
  EXPECT_EQ(open(intake, "polite"), "");
  EXPECT_EQ(read("web"), "s 0x1 1\n");  // put before the binding
  feeder.put(2);
  EXPECT_EQ(open(intake, "polite"), "hits 0x2 1\n");
}

TEST_F(RingSubjectsTest, AStatisticThatIsRedefinedOrMadeAgainIsStillTheOpens) {
  RingFeeder feeder(*lanes_, other());
  ASSERT_TRUE(feeder.bind(*lanes_, number_));
  const auto execute = [&](const std::string& line) {
    const auto parsed = wire::parse_line(line);
    const auto done = statistics_.execute(std::get<wire::CommandLine>(parsed.value()),
                                          Sender(::geteuid()), ticks_.now());
    ASSERT_TRUE(done) << done.error().reason;
  };
  execute("define web name=s type=value mode=increments");
  feeder.put(5);
  EXPECT_EQ(open("web"), "s 1\n");
  for (const char* const gone : {"remove web/s", "remove web"}) {
    execute(gone);
    number_ = create("web/s on=1 type=list entries_max=9 base=16");
    feeder.put(1);  // under the number that is gone
    intake_with_rings_.drain_feeders();
    ASSERT_TRUE(feeder.bind(*lanes_, number_));
    feeder.put(6);
    EXPECT_EQ(open("web"), "s 0x6 1\n") << gone;
  }
  EXPECT_EQ(own("rejects"), 2u);
}

TEST_F(RingSubjectsTest, ALaneOfAnEndedProcessIsStillTheOpens) {
  RingFeeder ended(*lanes_, other());
  ASSERT_TRUE(ended.bind(*lanes_, number_));
  ended.fill();
  ASSERT_FALSE(lanes_->process_ended(kOther, ticks_.now(), 0ns));
  ASSERT_FALSE(is_empty(ended));
  open("polite");
  ASSERT_FALSE(is_empty(ended));
  open("web");
  EXPECT_TRUE(is_empty(ended));
}

TEST_F(RingSubjectsTest, ABellOfAnotherInterfaceIsForTheLoop) {
  const Sender self{::geteuid(), ::getpid()};
  EventLoop loop;
  Intake intake(loop, socket_, ports_with_ticks());
  RingFeeder feeder(*lanes_, self);
  ASSERT_TRUE(feeder.bind(*lanes_, number_));
  open(intake, "polite");
  loop.context().poll();  // looks at rings by a timer from now on
  feeder.fill();
  const auto rings = bell(kEpoch, feeder.lane);
  Feeder(path_).send({rings.data(), rings.size()});
  open(intake, "polite");
  ASSERT_EQ(feeder.taken(), 0u);
  loop.context().poll();
  EXPECT_TRUE(is_empty(feeder));
}

TEST_F(RingSubjectsTest, BellsOfTheOpensLanesAreAnsweredByTheOpen) {
  Dispatcher dispatcher(-1, dependencies_with_rings());
  RingFeeder one(*lanes_, other()), two(*lanes_, {::geteuid(), kOther + 1});
  ASSERT_TRUE(one.bind(*lanes_, number_) && two.bind(*lanes_, polite_));
  const auto web = just(subject_of("web"));
  const auto ring = [&](RingFeeder& feeder) {
    feeder.put(1);
    take(dispatcher, bell(dispatcher.epoch(), feeder.lane), feeder.sender);
  };
  ring(one);
  dispatcher.note_ring_heads(Lanes::Which::kAll, web);
  EXPECT_EQ(dispatcher.take_rings(1h, Lanes::Which::kAll, web).records, 1u);
  EXPECT_FALSE(dispatcher.has_rung());
  ring(one);
  ring(two);
  dispatcher.note_ring_heads(Lanes::Which::kAll, web);
  EXPECT_EQ(dispatcher.take_rings(1h, Lanes::Which::kAll, web).records, 1u);
  EXPECT_TRUE(dispatcher.has_rung());
  dispatcher.note_ring_heads(Lanes::Which::kRung);
  EXPECT_EQ(dispatcher.take_rings(1h, Lanes::Which::kRung).records, 1u);
  EXPECT_TRUE(is_empty(two));
  EXPECT_FALSE(dispatcher.has_rung());
}

TEST_F(RingSubjectsTest, OfTheOpensLanesOneThatStaysFullDelaysAnotherByATurn) {
  RingFeeder one(*lanes_, other()), polite(*lanes_, {::geteuid(), kOther + 1});
  RingFeeder two(*lanes_, {::geteuid(), kOther + 2});
  ASSERT_TRUE(one.bind(*lanes_, number_) && two.bind(*lanes_, number_));
  ASSERT_TRUE(polite.bind(*lanes_, polite_));
  polite.fill();
  const auto web = just(subject_of("web"));
  for (int turn = 0; turn < 4; ++turn) {
    one.fill();
    two.fill();
    lanes_->note_heads(Lanes::Which::kAll, web);
    EXPECT_FALSE(lanes_->take(ticks_.now().monotonic, Lanes::Which::kAll, web).all);
  }
  EXPECT_EQ(one.taken(), two.taken());
  EXPECT_NE(one.taken(), 0u);
  EXPECT_EQ(polite.taken(), 0u);
  // The others have kept their places.
  lanes_->note_heads();
  EXPECT_TRUE(lanes_->take(1h).all);
  EXPECT_TRUE(is_empty(polite));
}

TEST(SubjectsOfLanesTest, TheNextServerKnowsWhatALaneIsOf) {
  LanesFixture fixture("type=list entries_max=9 base=16");
  const auto polite = fixture.execute("create polite/hits on=1").value().number;
  const Sender sender{0, 12};
  RingFeeder feeder(*fixture.lanes_, sender);
  ASSERT_TRUE(feeder.bind(*fixture.lanes_, fixture.number_));
  feeder.put(3);
  fixture.hand_over();
  const auto take = [&](std::uint64_t number) {
    const auto of = just(fixture.statistics_->subject_of(number));
    fixture.lanes_->note_heads(Lanes::Which::kAll, of);
    return fixture.lanes_->take(1h, Lanes::Which::kAll, of).records;
  };
  EXPECT_EQ(take(polite), 0u);
  EXPECT_EQ(take(fixture.number_), 1u);
  EXPECT_EQ(fixture.read("data"), "s 0x3 1\n");
}

}  // namespace
}  // namespace tallyfs
