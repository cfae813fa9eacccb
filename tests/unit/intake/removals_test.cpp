// Removals of much: in steps, between which others are served.
#include <chrono>
#include <string>
#include <vector>

#include "core/wire/binary.h"
#include "tests/unit/intake/intake_stand.h"

namespace tallyfs {
namespace {

class RemovalsTest : public IntakeTest {
 protected:
  static constexpr int kMany = 1000;

  void fill(const std::string& interface) {
    for (int i = 0; i < kMany; ++i) {
      NamedSamples samples;
      const std::string path = interface + "/s" + std::to_string(i);
      samples.push(path, {.x = 1});
      EXPECT_EQ(statistics_.add(samples, ::geteuid(), clock_.now()).samples, 1u);
    }
  }
  // Each step of it has no time, and is put off. Returns how many there were.
  int take_late(Dispatcher& dispatcher, std::string_view datagram) {
    const Origin origin{.pid = 4711, .uid = ::geteuid()};
    std::vector<char> bytes(datagram.begin(), datagram.end());
    auto piece = Dispatcher::Piece::kWhole;
    for (int steps = 1;; ++steps) {
      const Datagram late{.bytes = bytes, .origin = origin};
      dispatcher.begin(late, clock_.now(), piece);
      if (dispatcher.go_on({std::chrono::nanoseconds(0)})) return steps;
      bytes = dispatcher.put_off();
      piece = Dispatcher::Piece::kRest;
    }
  }
};

TEST_F(RemovalsTest, WhatFollowsARemovalFindsAllOfItDone) {
  fill("m");
  Dispatcher dispatcher(socket_.fd(), ports());
  EXPECT_GT(take_late(dispatcher, "m/s7 1\nremove m\ncreate m/s0 on=1\nm/s0 5\n"), 5);
  dispatcher.publish_counts(clock_.now());
  EXPECT_EQ(read("m"), "s0 1\n");
  EXPECT_EQ(own("commands"), 2u);
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(RemovalsTest, ARequestIsAnsweredWhenAllOfItIsDone) {
  fill("m");
  Dispatcher dispatcher(socket_.fd(), ports());
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

TEST_F(RemovalsTest, ObjectsThatAreWithdrawnGoInSteps) {
  Dispatcher dispatcher(socket_.fd(), ports());
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
