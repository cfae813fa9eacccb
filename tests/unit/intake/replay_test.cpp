// What a killed server had taken in comes again in the next one, each line once.
#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/intake_fixture.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {
namespace {

using statistics::StatisticsBranch;

// A server of the mount. What it has when the next one begins is what a kill leaves.
class Server {
 public:
  Server(const FakeClock& clock, KeptObjects& kept) : clock_(clock), kept_(kept) {
    statistics_.changes().keep({.write = [this](const auto& put) { return put(kept_), true; }});
  }
  // Without one before.
  void begin() {
    ASSERT_TRUE(journal_.make(InputJournal::kLeast, {}));
    statistics_.log_input(journal_, journal_.position());
    dispatcher_.note_in(journal_);
  }
  Intake::Replayed go_on_after(Server& killed) {
    SavedObjects objects;
    HeldDescriptors held;
    TransferredFds sent(&held);
    killed.journal_.save_for_successor(objects, sent);
    TransferredFds received(nullptr, held.received());
    const Loading loading{.now = clock_.now(), .has_pages = true, .is_after_kill = true};
    EXPECT_TRUE(journal_.load(objects.at(0), loading, received));
    EXPECT_TRUE(kept_.for_loading().load_into(statistics_, loading));
    auto replayed = intake_.replay(journal_, std::move(*journal_.left()), 0);
    statistics_.end_replay(Boot::kThis, clock_.now());
    dispatcher_.note_in(journal_);
    return replayed;
  }

  // It is in the journal, and nothing is done with it.
  const Datagram& receive(std::string text) {
    texts_.push_back(std::move(text));
    std::string& bytes = texts_.back();
    received_.push_back({.bytes = bytes, .origin = {.pid = 4711, .uid = ::geteuid()}});
    journal_.append({&received_.back(), 1}, journal_.last_batch() + 1);
    return received_.back();
  }
  // Up to the first command, with what is to be saved of it.
  void begin(const Datagram& datagram) { dispatcher_.begin(datagram, clock_.now()); }
  bool go_on() { return dispatcher_.resume({std::chrono::nanoseconds(0)}); }
  void take(std::string text) {
    begin(receive(std::move(text)));
    while (!go_on()) {
    }
  }
  void save() {
    journal_.follow([this] { return statistics_.input(); });
    journal_.begin_save();
    statistics_.save(kept_);
    journal_.note_saved();
  }
  std::string read(std::string_view interface) {
    const auto directory = tree_.lookup(Tree::kRoot, "statistics").value();
    const auto found = tree_.lookup(directory.id, interface);
    if (!found) return "(no interface)";
    const auto file = tree_.file(tree_.lookup(found.value().id, "data").value().id).value();
    return file->render(clock_.now(), 1 << 20).value();
  }
  StatisticsBranch& statistics() { return statistics_; }

 private:
  const FakeClock& clock_;
  KeptObjects& kept_;
  TemporaryDirectory directory_;
  Tree tree_{clock_.now()};
  Ledger ledger_{Ledger::Limits{}};
  StatisticsBranch statistics_{tree_, ledger_, ::geteuid(), clock_.now()};
  ErrorLog errors_{clock_.now()};
  EventLoop loop_;
  FeedSocket socket_ = FeedSocket::bind({.path = directory_ / "socket"}).value();
  const std::array<Branch*, 1> branches_{&statistics_};
  const Dispatcher::Dependencies dependencies_{
      .statistics = statistics_, .branches = branches_, .errors = errors_, .clock = clock_};
  InputJournal journal_;
  Intake intake_{loop_, socket_, dependencies_};
  Dispatcher dispatcher_{-1, dependencies_};
  std::list<std::string> texts_;
  std::list<Datagram> received_;
};

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() { first_.begin(); }

  FakeClock clock_;
  KeptObjects kept_;
  Server first_{clock_, kept_};
  Server second_{clock_, kept_};
  Server third_{clock_, kept_};
};

// The save came behind samples that follow the reset in its datagram.
TEST_F(ReplayTest, AResetDiscardsNothingThatCameBehindIt) {
  first_.take("create web/us on=1\n");
  first_.begin(
      first_.receive("web/us 1\ndefine web name=us data=reset\nweb/us 5\nweb/us 6\n"
                     "create web/other\nweb/us 9\n"));
  EXPECT_FALSE(first_.go_on()) << "the reset";
  EXPECT_FALSE(first_.go_on()) << "the creation";
  first_.save();
  (void)second_.go_on_after(first_);
  EXPECT_EQ(second_.read("web"), "us 3\nother 0\n");
}

TEST_F(ReplayTest, AResetThatWasNotSavedIsCarriedOutAgain) {
  first_.take("create web/us on=1\nweb/us 1\n");
  first_.save();
  first_.begin(first_.receive("web/us 2\ndefine web name=us data=reset\nweb/us 5\n"));
  (void)second_.go_on_after(first_);
  EXPECT_EQ(second_.read("web"), "us 1\n");
  (void)third_.go_on_after(second_);
  EXPECT_EQ(third_.read("web"), "us 1\n");
}

TEST_F(ReplayTest, WhatAReplayedLineHasRemovedDoesNotComeBack) {
  first_.take("create web/stays on=1\nweb/gone 1\nweb/stays 1\n");
  first_.begin(first_.receive("remove web/gone\nweb/stays 1\n"));
  (void)second_.go_on_after(first_);
  EXPECT_EQ(second_.read("web"), "stays 2\n");
  (void)third_.go_on_after(second_);
  EXPECT_EQ(third_.read("web"), "stays 2\n");
}

TEST_F(ReplayTest, WhatWasMadeAnewBehindARemovalStays) {
  first_.take("create web/us on=1\nweb/us 1\n");
  first_.begin(first_.receive("remove web/us\ncreate web/us on=1\nweb/us 4\ncreate web/b\n"));
  EXPECT_FALSE(first_.go_on()) << "the removal";
  EXPECT_FALSE(first_.go_on()) << "the creation";
  EXPECT_TRUE(first_.go_on());
  first_.save();
  (void)second_.go_on_after(first_);
  EXPECT_EQ(second_.read("web"), "us 1\nb 0\n");
}

// A line that the killed server was at has no effect before another kill finds the state.
TEST_F(ReplayTest, ASecondKillFindsTheStateOfTheFirst) {
  first_.take("create web/us on=1\nweb/us 1\n");
  first_.save();
  first_.take("web/us 2\n");
  first_.begin(first_.receive("web/us 3\ncreate web/us2 on=1\nweb/us2 1\nweb/us 4\n"));
  EXPECT_FALSE(first_.go_on());
  (void)second_.go_on_after(first_);
  EXPECT_EQ(second_.read("web"), "us 4\nus2 1\n");
  (void)third_.go_on_after(second_);
  EXPECT_EQ(third_.read("web"), "us 4\nus2 1\n");
}

// All of the saved state is behind these lines.
TEST_F(ReplayTest, ACreationTellsTheNumberOfWhatIsThereAndMakesNothingElse) {
  StatisticsBranch& statistics = first_.statistics();
  const auto execute = [&](std::string_view text) {
    const auto line = wire::parse_line(text);
    LineProgress progress;
    return statistics.execute(std::get<wire::CommandLine>(line.value()), ::geteuid(), clock_.now(),
                              {progress, never_late}, {.from = 10, .until = 20});
  };
  const std::uint64_t number = execute("create web/us").value().number;
  statistics.begin_replay({}, {.socket = 100, .rings = 0});
  EXPECT_EQ(execute("create web/us").value().number, number);
  EXPECT_EQ(execute("create web/gone").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(execute("create gone").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(execute("remove web/gone")) << "which is done";
  EXPECT_TRUE(execute("remove web/us")) << "of before";
  EXPECT_EQ(execute("create web/us").value().number, number);
}

}  // namespace
}  // namespace tallyfs
