// Work on much: in steps, between which others are served.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/wire/binary.h"
#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

class WorkInStepsTest : public IntakeTest {
 protected:
  static constexpr int kMany = 1000;

  void fill(const std::string& interface, int count = kMany) {
    for (int i = 0; i < count; ++i) {
      NamedSamples samples;
      const std::string path = interface + "/s" + std::to_string(i);
      samples.push(path, {.x = 1});
      EXPECT_EQ(statistics_.add(samples, ::geteuid(), clock_.now()).samples, 1u);
    }
  }
  // Each step of it has no time, and is put off. between(n) comes behind the n-th of them but the
  // last. Returns how many there were.
  int take_late(
      Dispatcher& dispatcher, std::string_view datagram,
      const std::function<void(int)>& between = [](int) {}) {
    const Origin origin{.pid = 4711, .uid = ::geteuid()};
    std::vector<char> bytes(datagram.begin(), datagram.end());
    auto piece = Dispatcher::Piece::kWhole;
    LineProgress progress;
    for (int steps = 1;; ++steps) {
      const Datagram late{.bytes = bytes, .origin = origin};
      dispatcher.begin(late, clock_.now(), piece, Dispatcher::Commands::kCarriedOut, progress);
      if (dispatcher.resume({std::chrono::nanoseconds(0)})) return steps;
      bytes = dispatcher.put_off().rest;
      progress = dispatcher.progress();
      piece = Dispatcher::Piece::kRest;
      between(steps);
    }
  }
};

TEST_F(WorkInStepsTest, WhatFollowsARemovalFindsAllOfItDone) {
  fill("m");
  Dispatcher dispatcher(socket_.fd(), dependencies());
  EXPECT_GT(take_late(dispatcher, "m/s7 1\nremove m\ncreate m/s0 on=1\nm/s0 5\n"), 5);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(read("m"), "s0 1\n");
  EXPECT_EQ(own("commands"), 2u);
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(WorkInStepsTest, ARequestIsAnsweredWhenAllOfItIsDone) {
  fill("m");
  Dispatcher dispatcher(socket_.fd(), dependencies());
  wire::DatagramWriter writer(0);
  writer.request(1, "remove m");
  writer.request(2, "remove m");  // there is none any more
  const auto bytes = writer.bytes();
  EXPECT_GT(take_late(dispatcher, {bytes.data(), bytes.size()}), 5);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(read("m"), "(no interface)");
  EXPECT_EQ(own("commands"), 1u);
  EXPECT_EQ(own("rejects"), 1u);
}

// What another has sent before a step that comes to its statistic is discarded; what it sends
// behind the step counts.
TEST_F(WorkInStepsTest, OthersAreServedBetweenTwoStepsOfALine) {
  constexpr int kAll = 4 * static_cast<int>(statistics::Interface::kLineAtOnce);
  fill("m", kAll);
  const std::string last = "m/s" + std::to_string(kAll - 1);
  Dispatcher dispatcher(socket_.fd(), dependencies());
  const auto add = [&](const std::string& path) {
    NamedSamples samples;
    samples.push(path, {.x = 4});
    EXPECT_EQ(statistics_.add(samples, ::geteuid(), clock_.now()).samples, 1u);
  };
  wire::DatagramWriter writer(0);
  writer.request(1, "define m data=reset");
  writer.request(2, "m/s1 9");
  const auto bytes = writer.bytes();
  bool has_begun = false;
  const int steps = take_late(dispatcher, {bytes.data(), bytes.size()}, [&](int) {
    if (!has_begun && read("m").starts_with("s0 0 0 0.000 0\n")) {
      add("m/s0");
      add(last);
      has_begun = true;
    }
  });
  EXPECT_GE(steps, 4);
  EXPECT_TRUE(has_begun);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(own("commands"), 1u);
  EXPECT_EQ(own("rejects"), 0u);
  const std::string data = read("m");
  EXPECT_TRUE(data.starts_with("s0 1 4 4.000 4\ns1 1 9 9.000 9\ns2 0 0 0.000 0\n"))
      << data.substr(0, 60);
  EXPECT_TRUE(data.ends_with(last.substr(2) + " 0 0 0.000 0\n")) << data.substr(data.size() - 60);
}

TEST_F(WorkInStepsTest, ObjectsThatAreWithdrawnGoInSteps) {
  Dispatcher dispatcher(socket_.fd(), dependencies());
  std::string lines = "subsystem sub\n";
  for (int i = 0; i < kMany; ++i) lines += "object sub/o" + std::to_string(i) + "\n";
  (void)take_late(dispatcher, lines);
  const auto stats = tree_.lookup(Tree::kRoot, "stats").value();
  ASSERT_TRUE(tree_.lookup(stats.id, "sub"));
  EXPECT_GT(take_late(dispatcher, "withdraw sub\nsubsystem sub\nobject sub/o1\n"), 5);
  const auto sub = tree_.lookup(stats.id, "sub").value();
  EXPECT_TRUE(tree_.lookup(sub.id, "o1"));
  EXPECT_FALSE(tree_.lookup(sub.id, "o2"));
}

}  // namespace
}  // namespace tallyfs
