// Which connections have an object. There is no daemon: what libtally holds is asked by making an
// object of that name, which is refused while there is one.
#include "feeders/tcp/tcp_feeder.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "feeders/tcp/tcp_rates.h"
#include "tally/statistic.h"

namespace tallyfs {
namespace {

constexpr std::size_t kObjectsMax = 3;

Connection connection(std::uint64_t cookie, std::uint16_t port) {
  Connection made;
  made.cookie = cookie;
  made.local = made.remote = {127, 0, 0, 1};
  made.local_port = port;
  made.remote_port = 40'000;
  made.rtt_us = 100;
  return made;
}

TcpConnections::Scan scan_with(std::uint16_t connections) {
  TcpConnections::Scan scan;
  for (std::uint16_t i = 0; i < connections; ++i) {
    scan.connections.push_back(connection(1 + i, static_cast<std::uint16_t>(1000 + i)));
  }
  return scan;
}

bool has_object(const Connection& connection) {
  stats_object* object = nullptr;
  const int error =
      ::stats_object_create(&object, TcpFeeder::kSubsystem, name_of(connection).c_str(), 0);
  if (error == 0) ::stats_object_remove(&object);
  return error == -EEXIST;
}

int objects_of(const TcpConnections::Scan& scan) {
  int objects = 0;
  for (const Connection& each : scan.connections) objects += has_object(each);
  return objects;
}

class TcpFeederTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
    settings.socket = "/nonexistent/tallyfs-test";
    ASSERT_EQ(::statistic_configure(&settings), 0);
    template_id = TcpBlob::make_template().value();
  }
  // A callback is for one subsystem and for ever; the list behind it is set before that is known.
  static void set_rates(const std::string& text) {
    static int calls = 0;
    ASSERT_TRUE(tcp_rates::follow(("rates" + std::to_string(calls++)).c_str(), text));
  }

  static std::uint32_t template_id;
};
std::uint32_t TcpFeederTest::template_id = 0;

TEST_F(TcpFeederTest, AConnectionHasAnObjectAsLongAsItIsThere) {
  set_rates("TCP_DEFAULT=100");
  auto feeder = TcpFeeder::create(template_id, kObjectsMax);
  ASSERT_TRUE(feeder);
  const auto two = scan_with(2);
  feeder.value().take(two);
  EXPECT_EQ(objects_of(two), 2);
  feeder.value().take(scan_with(1));
  EXPECT_TRUE(has_object(two.connections[0]));
  EXPECT_FALSE(has_object(two.connections[1]));
}

TEST_F(TcpFeederTest, RatesThatChangeAreFollowedByTheNextDump) {
  set_rates("TCP_DEFAULT=0");
  auto feeder = TcpFeeder::create(template_id, kObjectsMax);
  const auto scan = scan_with(3);
  feeder.value().take(scan);
  EXPECT_EQ(objects_of(scan), 0);
  set_rates("TCP_DEFAULT=100");
  feeder.value().take(scan);
  EXPECT_EQ(objects_of(scan), 3);
  set_rates("");
  feeder.value().take(scan);
  EXPECT_EQ(objects_of(scan), 0);
}

TEST_F(TcpFeederTest, WhatWasSentAgainBeforeItLookedDoesNotCount) {
  set_rates("TCP_DEFAULT=100");
  auto feeder = TcpFeeder::create(template_id, kObjectsMax);
  const auto sent_again = [&] {
    constexpr std::int32_t kRetransmits = 2;
    std::uint32_t sum = 0;
    auto* const blob = const_cast<statsblob*>(feeder.value().total().get());
    EXPECT_EQ(stats_voistat_fetch_u32(blob, kRetransmits, VS_STYPE_SUM, &sum), 0);
    return sum;
  };
  auto scan = scan_with(1);
  scan.connections[0].retransmits = 900;
  scan.left_out = 1;
  feeder.value().take(scan);
  EXPECT_EQ(sent_again(), 0u) << "its past";
  scan.connections[0].retransmits = 905;
  scan.connections.push_back(connection(7, 7));
  scan.connections[1].retransmits = 500;
  scan.left_out = 0;
  feeder.value().take(scan);
  EXPECT_EQ(sent_again(), 5u) << "the second was left out before";
  scan.connections.push_back(connection(8, 8));
  scan.connections[2].retransmits = 2;
  feeder.value().take(scan);
  EXPECT_EQ(sent_again(), 7u) << "the third has begun since";
}

TEST_F(TcpFeederTest, NoMoreObjectsThanItMayHave) {
  set_rates("TCP_DEFAULT=100");
  auto feeder = TcpFeeder::create(template_id, kObjectsMax);
  const auto scan = scan_with(10);
  feeder.value().take(scan);
  EXPECT_EQ(objects_of(scan), static_cast<int>(kObjectsMax));
}

TEST_F(TcpFeederTest, AFeederThatEndsTakesItsObjectsAlong) {
  set_rates("TCP_DEFAULT=100");
  const auto scan = scan_with(2);
  {
    auto feeder = TcpFeeder::create(template_id, kObjectsMax);
    feeder.value().take(scan);
    EXPECT_EQ(objects_of(scan), 2);
  }
  EXPECT_EQ(objects_of(scan), 0);
}

}  // namespace
}  // namespace tallyfs
