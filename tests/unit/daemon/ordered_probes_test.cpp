// Orders for probes, beside a feeder that is played.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/ordered_feeder_stand.h"

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
              " 7 1400 /bin/x:0x0010 n=%di\nname: alloc\n");
  const auto made = waiting.get();
  ASSERT_TRUE(made);
  EXPECT_EQ(made.value().source_id, 1400u);
  EXPECT_EQ(made.value().text, "/bin/x:0x0010 n=%di");
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

TEST_F(OrderedProbesTest, ANewFeederMakesTheProbesBeforeItIsToldThatThatIsAll) {
  places_ = {{.serial = 3, .event = "a", .text = "/bin/x:0x10"},
             {.serial = 5, .kind = ProbeKind::kReturn, .event = "b", .text = "/bin/x:0x20"}};
  played_.say("hello 4711");
  const std::string first = played_.number_of("probe");
  const std::string second = played_.hear();
  EXPECT_TRUE(second.ends_with(" 5 known r b /bin/x:0x20")) << second;
  EXPECT_EQ(played_.hear(50), "") << "the rest waits for the answers";
  played_.say("probed " + first + " 3 1400 /bin/x:0x10\nname: a\n");
  EXPECT_EQ(made_.get_future().get().first, 3u);
  played_.say("refused " + second.substr(6, second.find(' ', 6) - 6) +
              " ENOENT - trace_uprobe Failed to find the given file");
  EXPECT_EQ(unmade_.get_future().get().second, "Failed to find the given file");
  const std::string others = played_.hear();
  EXPECT_TRUE(others.starts_with("probes ") && others.ends_with(" 3,5")) << others;
  played_.number_of("events");
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
  played_.say("probed " + number + " 7 1400 /bin/x:0x20\nname: a\n");
  played_.number_of("want");  // and no order to remove it is before
}

TEST_F(OrderedProbesTest, AProbeThatIsMadeTooLateIsRemoved) {
  arrive();
  state_ = FeederActivity::State::kStopped;
  auto waiting = std::async(std::launch::async, [this] {
    return feeder_.define({.serial = 7, .event = "a", .text = "/bin/x:0x10"}, {});
  });
  const std::string number = played_.number_of("probe");
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kTimedOut);
  played_.say("probed " + number + " 7 1400 /bin/x:0x10\nname: a\n");
  const std::string order = played_.hear();
  EXPECT_TRUE(order.starts_with("unprobe ") && order.ends_with(" 7")) << order;
}

}  // namespace
}  // namespace tallyfs
