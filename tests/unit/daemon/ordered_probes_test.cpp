// Orders for probes, beside a feeder that is played.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/ordered_feeder_fixture.h"

namespace tallyfs {
namespace {

class OrderedProbesTest : public OrderedFeederTest {};

TEST_F(OrderedProbesTest, AProbeIsMadeWhenTheFeederHasDescribedIt) {
  arrive();
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.define({.serial = 7, .event = "alloc", .text = "/bin/x:0x10 n=%di"}, {});
  });
  const std::string order = played_.hear();
  EXPECT_TRUE(order.ends_with(" 7 new p alloc /bin/x:0x10 n=%di")) << order;
  played_.say("probed " + order.substr(6, order.find(' ', 6) - 6) +
              " 7 1400 8:1:77 /bin/x:0x0010 n=%di\nname: alloc\n");
  const auto made = waiting.get();
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value().source_id, 1400u);
  EXPECT_EQ(made.value().text, "/bin/x:0x0010 n=%di");
  EXPECT_EQ(made.value().file, "8:1:77");
  EXPECT_EQ(made.value().format, "name: alloc\n");
}

TEST_F(OrderedProbesTest, ARefusalOfAProbeHasTheKernelsPlace) {
  arrive();
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.define({.serial = 7, .event = "a", .text = "/bin/x:0x10 n=%zz"}, {});
  });
  played_.say("refused " + played_.number_of("probe") +
              " EINVAL 14 trace_uprobe Invalid register name");
  const auto made = waiting.get();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(made.error().token_at, 14u);
  EXPECT_EQ(made.error().location, "trace_uprobe");
}

TEST_F(OrderedProbesTest, APlaceIsWhatTheFeederHasFound) {
  arrive();
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.find(tracing::ProbeKind::kReturn, "/bin/x:alpha", {});
  });
  const std::string order = played_.hear();
  EXPECT_TRUE(order.starts_with("find ") && order.ends_with(" r /bin/x:alpha")) << order;
  const std::string number = order.substr(5, order.find(' ', 5) - 5);
  played_.say("working " + number);
  played_.say("found " + number + "\nx86_64\n4096 0\n");
  const auto found = waiting.get();
  ASSERT_TRUE(found) << found.error().reason;
  EXPECT_EQ(found.value(), "x86_64\n4096 0\n");
}

TEST_F(OrderedProbesTest, HitsComeInAsManyRepliesAsThePlacesTake) {
  arrive();
  auto waiting = std::async(std::launch::async, [this] { return feeder_.hits({}); });
  played_.say("profiled " + played_.number_of("profile") + "\n3 7 0 8:1:77 /x:0x1\n");
  const std::string order = played_.hear();
  EXPECT_TRUE(order.ends_with(" 3 1")) << order;
  const std::string number = order.substr(8, order.find(' ', 8) - 8);
  played_.say("profiled " + number + "\n3 5 4 ? /x:0x1\n4 9 0 - /x:0x2 gone\n");
  played_.say("profiled " + played_.number_of("profile") + "\n");
  const auto hits = waiting.get();
  ASSERT_TRUE(hits) << hits.error().reason;
  ASSERT_EQ(hits.value().leaving.size(), 1u);
  EXPECT_EQ(hits.value().leaving[0].event, "gone");
  EXPECT_EQ(hits.value().leaving[0].hits, 9u);
  ASSERT_EQ(hits.value().places.size(), 1u);
  const auto& places = hits.value().places.begin()->second;
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].file, "8:1:77");
  EXPECT_EQ(places[1].hits, 5u);
  EXPECT_EQ(places[1].missed, 4u);
  EXPECT_FALSE(places[1].file.has_value());
}

TEST_F(OrderedProbesTest, AFeederThatGivesNoEndOfHitsErrs) {
  arrive();
  auto waiting = std::async(std::launch::async, [this] { return feeder_.hits({}); });
  for (int replies = 0; replies < OrderedFeeder::kProfiledMax; ++replies) {
    played_.say("profiled " + played_.number_of("profile") + "\n3 7 0 - /x:0x1\n");
  }
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kNoDevice);
}

TEST_F(OrderedProbesTest, AFeederThatSaysItIsAtWorkIsNotSilent) {
  arrive();
  const std::string number = fall_silent();
  std::string order;
  // Each word holds for a second, in which this machine may have no time for us.
  for (int tries = 0; tries < 30 && order.empty(); ++tries) {
    played_.say("working " + number);
    auto waiting = std::async(std::launch::async, [this] {
      return feeder_.find(tracing::ProbeKind::kEntry, "/bin/x:alpha", {});
    });
    order = played_.hear(500);
    if (!order.empty()) played_.say("found " + order.substr(5, order.find(' ', 5) - 5) + "\nx");
    (void)waiting.get();
  }
  EXPECT_TRUE(order.starts_with("find ")) << order;
}

TEST_F(OrderedProbesTest, ANewFeederMakesTheProbesBeforeItIsToldThatThatIsAll) {
  places_ = {
      {.serial = 3, .event = "a", .text = "/bin/x:0x10"},
      {.serial = 5, .kind = tracing::ProbeKind::kReturn, .event = "b", .text = "/bin/x:0x20"}};
  played_.say("hello 4711");
  const std::string first = played_.number_of("probe");
  const std::string second = played_.hear();
  EXPECT_TRUE(second.ends_with(" 5 known r b /bin/x:0x20")) << second;
  EXPECT_EQ(played_.hear(50), "") << "the rest waits for the answers";
  played_.say("probed " + first + " 3 1400 - /bin/x:0x10\nname: a\n");
  EXPECT_EQ(made_.get_future().get().first, 3u);
  played_.say("refused " + second.substr(6, second.find(' ', 6) - 6) +
              " ENOENT - trace_uprobe Failed to find the given file");
  EXPECT_EQ(unmade_.get_future().get().second, "Failed to find the given file");
  const std::string others = played_.hear();
  EXPECT_TRUE(others.starts_with("probes ") && others.ends_with(" 3,5")) << others;
  played_.number_of("events");
}

TEST_F(OrderedProbesTest, ANewFeederFindsThePlacesOfNamesBeforeItMakesThem) {
  places_ = {{.serial = 3, .event = "a", .line = "p:a /bin/x:f n=$arg1", .name = "/bin/x:f"},
             {.serial = 5, .event = "b", .line = "p:b /bin/y:g", .name = "/bin/y:g"}};
  played_.say("hello 4711");
  const std::string find = played_.hear();
  EXPECT_TRUE(find.starts_with("find ") && find.ends_with(" p /bin/x:f")) << find;
  const std::string other = played_.number_of("find");
  played_.say("found " + find.substr(5, find.find(' ', 5) - 5) + "\nx86_64\n16 0\n32 0\n");
  const std::string first = played_.hear();
  EXPECT_TRUE(first.ends_with(" 3 known p a /bin/x:0x10 n=%di:u64")) << first;
  const std::string second = played_.hear();
  EXPECT_TRUE(second.ends_with(" 3 known p a /bin/x:0x20 n=%di:u64")) << second;
  played_.say("refused " + other + " EINVAL - probe no function g");
  EXPECT_EQ(unmade_.get_future().get(), std::pair(std::uint64_t{5}, std::string("no function g")));
  EXPECT_EQ(played_.hear(50), "") << "the rest waits for the answers";
}

// The programs were replaced by others, which have more places.
TEST_F(OrderedProbesTest, PlacesThatAreFoundAreBoundedBeforeTheyAreMade) {
  places_max_ = 3;
  places_ = {{.serial = 3, .event = "a", .line = "p:a /bin/x:f", .name = "/bin/x:f"},
             {.serial = 5, .event = "b", .line = "p:b /bin/y:g", .name = "/bin/y:g"}};
  played_.say("hello 4711");
  const std::string first = played_.number_of("find");
  const std::string second = played_.number_of("find");
  played_.say("found " + first + "\nx86_64\n16 0\n32 0\n");
  const std::string made = played_.number_of("probe");
  played_.number_of("probe");
  played_.say("found " + second + "\nx86_64\n16 0\n32 0\n");
  EXPECT_EQ(unmade_.get_future().get(), std::pair(std::uint64_t{5}, std::string("too many")));
  played_.say("probed " + made + " 3 1400 - /bin/x:0x10\nname: a\n");
  EXPECT_EQ(made_.get_future().get().first, 3u);
}

TEST_F(OrderedProbesTest, AProbeStaysThatGetsAnotherPlaceTooLate) {
  arrive();
  has_probe_ = 7;
  state_ = FeederActivity::State::kStopped;
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.define({.serial = 7, .event = "a", .text = "/bin/x:0x20"}, {});
  });
  const std::string number = played_.number_of("probe");
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kTimedOut);
  state_ = FeederActivity::State::kAtWork;
  played_.say("probed " + number + " 7 1400 - /bin/x:0x20\nname: a\n");
  played_.number_of("want");  // and no order to remove it is before
}

TEST_F(OrderedProbesTest, APlaceThatIsMadeTooLateIsOfItsOwnLine) {
  arrive();
  has_probe_ = 7;
  const auto define = [this](const std::string& line, const std::string& text) {
    return feeder_.define({.serial = 7, .event = "a", .text = text, .line = line}, {});
  };
  state_ = FeederActivity::State::kStopped;
  auto late = std::async(std::launch::async, define, "p:a /bin/x:f", "/bin/x:0x20");
  const std::string number = played_.number_of("probe");
  EXPECT_EQ(late.get().error().code, ErrorCode::kTimedOut);
  state_ = FeederActivity::State::kAtWork;
  auto waiting = std::async(std::launch::async, define, "p:a /bin/x:g", "/bin/x:0x30");
  const std::string other = played_.number_of("probe");
  played_.say("probed " + number + " 7 1400 - /bin/x:0x20\nname: a\n");
  EXPECT_EQ(late_.get_future().get(), "p:a /bin/x:f");
  played_.say("probed " + other + " 7 1400 - /bin/x:0x30\nname: a\n");
  EXPECT_TRUE(waiting.get());
}

TEST_F(OrderedProbesTest, AProbeThatIsMadeTooLateIsRemoved) {
  arrive();
  state_ = FeederActivity::State::kStopped;
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.define({.serial = 7, .event = "a", .text = "/bin/x:0x10"}, {});
  });
  const std::string number = played_.number_of("probe");
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kTimedOut);
  played_.say("probed " + number + " 7 1400 - /bin/x:0x10\nname: a\n");
  const std::string order = played_.hear();
  EXPECT_TRUE(order.starts_with("unprobe ") && order.ends_with(" 7")) << order;
}

}  // namespace
}  // namespace tallyfs
