// Which branch gets a line or message.
#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

// Takes what it is told to, and counts it.
class CountingBranch final : public Branch {
 public:
  explicit CountingBranch(const Handled& handled) : handled_(handled) {}
  Handled handles() const override { return handled_; }
  Result<Done> execute(const wire::Line&, Call&) override {
    lines += 1;
    return Done{};
  }
  Result<Done> take(const wire::Message&, Call&) override {
    messages += 1;
    return Done{};
  }

  int lines = 0, messages = 0;

 private:
  const Handled handled_;
};

class DispatcherTest : public IntakeTest {
 protected:
  Dispatcher make(std::span<Branch* const> branches) {
    Dispatcher::Dependencies all = dependencies();
    all.branches = branches;
    return Dispatcher(-1, all);
  }
  void take(Dispatcher& dispatcher, std::string_view text) {
    std::vector<char> bytes(text.begin(), text.end());
    const Datagram datagram{.bytes = bytes, .origin = {.uid = kSender}};
    dispatcher.begin(datagram, clock_.now());
    while (!dispatcher.resume({std::chrono::nanoseconds::max()})) {
    }
  }

  static constexpr uid_t kSender = 1000;
  CountingBranch events_{{.lines = kLines<wire::EventLine>}};
};

TEST_F(DispatcherTest, GivesALineToTheBranchThatHandlesIt) {
  CountingBranch stats({.lines = kLines<wire::StatsLine>});
  const std::array<Branch*, 2> branches{&stats, &events_};
  Dispatcher dispatcher = make(branches);
  take(dispatcher, "event a/b c=1\nevent remove a/b\nsubsystem web\n");
  EXPECT_EQ(events_.lines, 2);
  EXPECT_EQ(stats.lines, 1);
}

TEST_F(DispatcherTest, RefusesALineThatNoBranchHandles) {
  const std::array<Branch*, 1> branches{&events_};
  Dispatcher dispatcher = make(branches);
  take(dispatcher, "subsystem web\n");
  EXPECT_EQ(events_.lines, 0);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(own("rejects"), 1u);
}

TEST_F(DispatcherTest, CountsEachLineOfAMixtureOfGoodAndRefusedOnes) {
  Dispatcher dispatcher = make(branches_);
  std::string lines;
  std::uint64_t good = 0, refused = 0;
  for (std::uint64_t row = 1; row < 12; ++row) {
    for (std::uint64_t i = 0; i < row; ++i) lines += "web/a x" + std::to_string(i) + "\n";
    for (std::uint64_t i = 0; i < row; ++i) lines += "web/b=" + std::to_string(i) + " 1\n";
    for (std::uint64_t i = 0; i < row; ++i) lines += "web/a 1.5\n";
    for (std::uint64_t i = 0; i < 12 - row; ++i) lines += "web/a " + std::to_string(i) + "\n";
    good += 12 - row;
    refused += 3 * row;
  }
  take(dispatcher, lines);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(own("samples"), good);
  EXPECT_EQ(own("rejects"), refused);
  EXPECT_TRUE(read("web").starts_with("a " + std::to_string(good) + " ")) << read("web");
}

// What commands of a datagram have changed takes time that no deadline cuts.
TEST_F(DispatcherTest, WritesWhatCommandsChangedAfterSomeAndAfterEachWhileItTakesLong) {
  std::chrono::microseconds write_takes{1};
  int writes = 0;
  statistics_.changes().keep({.write = [&](const auto&) {
    ++writes;
    clock_.advance(write_takes);
    return true;
  }});
  Dispatcher dispatcher = make(branches_);
  std::string lines = "create web/a\n";
  for (int i = 0; i < 129; ++i) lines += "define web name=a units=u" + std::to_string(i) + "\n";
  take(dispatcher, lines);
  EXPECT_EQ(writes, 64 / 64 + 64 / 64 + 1);
  write_takes = 5ms;
  writes = 0;
  take(dispatcher, lines);
  EXPECT_EQ(writes, 1 + (130 - 64));
}

TEST_F(DispatcherTest, TwoBranchesThatHandleOneAlternativeAbort) {
  CountingBranch twin({.lines = kLines<wire::StatsLine, wire::EventLine>});
  CountingBranch first({.messages = kMessages<wire::PackedBlob>});
  CountingBranch second({.messages = kMessages<wire::PackedBlob, wire::Template>});
  const std::array<Branch*, 2> lines{&events_, &twin};
  const std::array<Branch*, 2> messages{&first, &second};
  EXPECT_DEATH(make(lines), "two branches handle one kind of line or message");
  EXPECT_DEATH(make(messages), "two branches handle one kind of line or message");
}

}  // namespace
}  // namespace tallyfs
