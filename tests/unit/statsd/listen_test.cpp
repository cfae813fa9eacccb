// Listen addresses, allowed networks, and golden bytes of the streams' framing.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "feeders/statsd/listen/connection_shares.h"
#include "feeders/statsd/listen/listen_address.h"
#include "feeders/statsd/listen/stream_framing.h"

namespace tallyfs::statsd {
namespace {

using State = StreamFraming::State;
using namespace std::literals;

struct Taken {
  std::vector<std::string> packets;
  State state = State::kOpen;
};

// Feeds the pieces, and the end of the stream unless the stream was closed.
Taken frame(StreamFraming::Kind kind, const std::vector<std::string_view>& pieces) {
  StreamFraming framing(kind);
  Taken taken;
  const auto take = [&](std::string_view packet) { taken.packets.emplace_back(packet); };
  for (const auto piece : pieces) {
    taken.state = framing.take(piece, take);
    if (taken.state != State::kOpen) return taken;
  }
  taken.state = framing.finish(take);
  return taken;
}

using Packets = std::vector<std::string>;
constexpr auto kLines = StreamFraming::Kind::kLines;
constexpr auto kDetected = StreamFraming::Kind::kDetected;

TEST(StatsdFramingTest, TakesLinesOfAStream) {
  EXPECT_EQ(frame(kLines, {"a:1|c\nb:2|c\n"}).packets, Packets{"a:1|c\nb:2|c"});
  EXPECT_EQ(frame(kLines, {"a:1", "|c\nb:", "2|c\n"}).packets, (Packets{"a:1|c", "b:2|c"}));
  EXPECT_EQ(frame(kLines, {"a:1|c"}).packets, Packets{"a:1|c"});
  EXPECT_EQ(frame(kLines, {"\0\0\0\0\n"sv}).packets, Packets{"\0\0\0\0"s});
}

TEST(StatsdFramingTest, TakesFramesWithALengthBeforeThem) {
  const auto frames = "\5\0\0\0a:1|c\0\0\0\0\13\0\0\0b:1|c\nc:1|g"sv;
  const Packets wanted{"a:1|c", "", "b:1|c\nc:1|g"};
  EXPECT_EQ(frame(kDetected, {frames}).packets, wanted);
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < frames.size(); ++i) bytes.push_back(frames.substr(i, 1));
  EXPECT_EQ(frame(kDetected, bytes).packets, wanted);
}

TEST(StatsdFramingTest, TellsLinesFromFramesByTheFirstFourBytes) {
  EXPECT_EQ(frame(kDetected, {"a:1", "|c\n"}).packets, Packets{"a:1|c"});
  EXPECT_EQ(frame(kDetected, {"a:1"}).packets, Packets{"a:1"});
  EXPECT_EQ(frame(kDetected, {"\1\0", "\0\0x"}).packets.size(), 1u);
}

TEST(StatsdFramingTest, EndsAtWhatIsTooLong) {
  EXPECT_EQ(frame(kDetected, {"\0\0\2\0abc"sv}).state, State::kTooLong);
  EXPECT_EQ(frame(kDetected, {"\1\0\1\0"sv}).state, State::kTooLong);
  EXPECT_EQ(frame(kDetected, {"\0\0\1\0"sv, std::string(65'536, 'x')}).packets.size(), 1u);
  EXPECT_EQ(frame(kDetected, {"\5\0\0\0a:1"sv}).state, State::kTooLong);
  const std::string line(65'536, 'x');
  EXPECT_EQ(frame(kLines, {line, "\n"}).packets, Packets{line});
  EXPECT_EQ(frame(kLines, {line, "x"}).state, State::kTooLong);
  EXPECT_EQ(frame(kLines, {"a:1|c\n" + line + "x\n"}).state, State::kTooLong);
}

std::string parsed(const std::string& text) {
  const auto address = parse_listen_address(text);
  return address ? to_text(address.value()) : "refused";
}

TEST(StatsdFramingTest, TellsWhetherAStreamHasLengths) {
  const auto has_lengths = [](StreamFraming::Kind kind, std::string_view bytes) {
    StreamFraming framing(kind);
    (void)framing.take(bytes, [](std::string_view) {});
    return framing.has_lengths();
  };
  EXPECT_TRUE(has_lengths(kDetected, "\5\0\0\0a:1|c"sv));
  EXPECT_FALSE(has_lengths(kDetected, "a:1|c\n"));
  EXPECT_FALSE(has_lengths(kDetected, "a:1"));
  EXPECT_FALSE(has_lengths(kLines, "\5\0\0\0a:1|c"sv));
}

TEST(StatsdConnectionsTest, TheUserWithMostGivesWay) {
  const ConnectionOwner a(1), b(2), c(3), unknown;
  const auto chosen = [](std::vector<ConnectionOwner> owners, const ConnectionOwner& newcomer) {
    return choose_giving_way(owners, newcomer);
  };
  // b has waited longest, but a has most.
  EXPECT_EQ(chosen({b, a, a, a}, c), 1u);
  EXPECT_EQ(chosen({b, a, a, a}, a), 1u);
  EXPECT_EQ(chosen({b, a, a, b}, a), 1u);
  // With as many as another, the newcomer takes of its own.
  EXPECT_EQ(chosen({a, a, b}, b), 2u);
  EXPECT_EQ(chosen({a, b, c}, a), 0u);
  EXPECT_EQ(chosen({b, a, c}, a), 1u);
  EXPECT_EQ(chosen({a, b}, c), 0u);
  EXPECT_EQ(chosen({unknown, unknown}, unknown), 0u);
}

TEST(StatsdAddressTest, ReadsAddresses) {
  for (const char* text : {"udp:127.0.0.1:8125", "udp:[::1]:8125", "tcp:0.0.0.0:0",
                           "unixgram:/run/x", "unix:/run/a:b"}) {
    EXPECT_EQ(parsed(text), text);
  }
  for (const char* text :
       {"", "udp:", "udp:localhost:8125", "udp:127.0.0.1", "udp:::1:8125", "udp:127.0.0.1:65536",
        "udp:127.0.0.1:", "tcp:[127.0.0.1]:1", "unix:relative", "unixgram:", "127.0.0.1:8125"}) {
    EXPECT_EQ(parsed(text), "refused") << text;
  }
}

bool allows(const std::string& list, const std::string& address) {
  return AllowList::parse(list).value().allows(
      parse_listen_address("udp:" + address + ":1").value().address);
}

TEST(StatsdAddressTest, AllowsNetworks) {
  EXPECT_TRUE(allows("", "127.9.9.9"));
  EXPECT_TRUE(allows("", "[::1]"));
  EXPECT_TRUE(allows("", "[::ffff:127.0.0.1]"));
  EXPECT_FALSE(allows("", "10.0.0.1"));
  EXPECT_TRUE(allows("any", "10.0.0.1"));
  EXPECT_TRUE(allows("10.0.0.0/8", "10.255.0.1"));
  EXPECT_TRUE(allows("10.0.0.0/8", "[::ffff:10.1.1.1]"));
  EXPECT_FALSE(allows("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(allows("192.168.0.0/16,10.1.2.128/25", "10.1.2.200"));
  EXPECT_FALSE(allows("10.1.2.128/25", "10.1.2.100"));
  EXPECT_TRUE(allows("10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(allows("fd00::/12", "[fd0f::1]"));
  EXPECT_FALSE(allows("fd00::/12", "[fd1f::1]"));
  EXPECT_FALSE(allows("fd00::/12", "10.0.0.1"));
  for (const char* text : {"x", "10.0.0.0/33", "10.0.0.0/", "::/129"}) {
    EXPECT_FALSE(AllowList::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tallyfs::statsd
