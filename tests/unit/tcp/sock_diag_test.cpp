// The kernel's answers about TCP connections, taken apart.
#include "feeders/tcp/sock_diag.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include <cstring>
#include <random>
#include <string>

namespace tally {
namespace {

constexpr std::uint32_t kSequence = 7;

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string message(std::uint16_t type, const std::string& body, std::uint32_t sequence = kSequence) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  header.nlmsg_seq = sequence;
  std::string bytes = bytes_of(header) + body;
  bytes.resize((bytes.size() + 3) & ~std::size_t{3});
  return bytes;
}

std::string attribute(std::uint16_t type, const std::string& body) {
  const nlattr header{static_cast<std::uint16_t>(sizeof header + body.size()), type};
  std::string bytes = bytes_of(header) + body;
  bytes.resize((bytes.size() + 3) & ~std::size_t{3});
  return bytes;
}

std::string a_connection(const std::string& attributes) {
  inet_diag_msg about{};
  about.idiag_family = AF_INET;
  about.id.idiag_sport = htons(5201);
  about.id.idiag_dport = htons(40000);
  about.id.idiag_src[0] = htonl(0x7F000001);
  about.id.idiag_dst[0] = htonl(0x7F000002);
  about.id.idiag_cookie[0] = 5;
  about.id.idiag_cookie[1] = 1;
  return bytes_of(about) + attributes;
}

std::string an_info() {
  tcp_info info{};
  info.tcpi_rtt = 25;
  info.tcpi_snd_cwnd = 10;
  info.tcpi_total_retrans = 3;
  info.tcpi_delivery_rate = 5'000'000'000;
  return bytes_of(info);
}

TEST(SockDiagTest, ReadsAConnectionAmongOtherAttributes) {
  SockDiag::Dump dump;
  const std::string bytes =
      message(SOCK_DIAG_BY_FAMILY, a_connection(attribute(INET_DIAG_SHUTDOWN, "\1") +
                                                attribute(INET_DIAG_INFO, an_info()))) +
      message(NLMSG_DONE, std::string(4, '\0'));
  EXPECT_EQ(read_dump(bytes, kSequence, dump).value(), DumpState::kDone);
  ASSERT_EQ(dump.connections.size(), 1u);
  const Connection& read = dump.connections[0];
  EXPECT_EQ(name_of(read), "127.0.0.1:5201-127.0.0.2:40000");
  EXPECT_EQ(read.cookie, 0x1'0000'0005u);
  EXPECT_EQ(read.rtt_us, 25u);
  EXPECT_EQ(read.cwnd_segments, 10u);
  EXPECT_EQ(read.retransmits, 3u);
  EXPECT_EQ(read.delivery_bytes_per_s, 5'000'000'000u);
}

TEST(SockDiagTest, TakesTheShorterInfoOfAnOlderKernel) {
  SockDiag::Dump dump;
  const std::string old = an_info().substr(0, offsetof(tcp_info, tcpi_delivery_rate));
  const auto bytes =
      message(SOCK_DIAG_BY_FAMILY, a_connection(attribute(INET_DIAG_INFO, old)));
  EXPECT_EQ(read_dump(bytes, kSequence, dump).value(), DumpState::kGoesOn);
  ASSERT_EQ(dump.connections.size(), 1u);
  EXPECT_EQ(dump.connections[0].retransmits, 3u);
  EXPECT_EQ(dump.connections[0].delivery_bytes_per_s, 0u);
}

TEST(SockDiagTest, PassesOverWhatIsNotItsOwn) {
  SockDiag::Dump dump;
  const auto whole = a_connection(attribute(INET_DIAG_INFO, an_info()));
  const std::string bytes = message(SOCK_DIAG_BY_FAMILY, whole, kSequence - 1) +
                            message(NLMSG_DONE, "", kSequence - 1) +
                            message(SOCK_DIAG_BY_FAMILY, a_connection(""));
  EXPECT_EQ(read_dump(bytes, kSequence, dump).value(), DumpState::kGoesOn);
  EXPECT_TRUE(dump.connections.empty());
}

TEST(SockDiagTest, TellsTheKernelsError) {
  SockDiag::Dump dump;
  nlmsgerr error{};
  error.error = -EINVAL;
  const auto done = read_dump(message(NLMSG_ERROR, bytes_of(error)), kSequence, dump);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, "sock_diag: Invalid argument");
}

TEST(SockDiagTest, NamesBothEndsOfVersion6) {
  Connection connection;
  connection.is_v6 = true;
  connection.local[15] = connection.remote[15] = 1;
  connection.local_port = 80;
  connection.remote_port = 65535;
  EXPECT_EQ(name_of(connection), "[::1]:80-[::1]:65535");
}

TEST(SockDiagTest, StaysWithinWhateverBytesItIsGiven) {
  const std::string whole =
      message(SOCK_DIAG_BY_FAMILY, a_connection(attribute(INET_DIAG_SHUTDOWN, "\1") +
                                                attribute(INET_DIAG_INFO, an_info()))) +
      message(NLMSG_DONE, "");
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(0, random() % (whole.size() + 1));
    for (unsigned i = random() % 4; i > 0 && !damaged.empty(); --i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    SockDiag::Dump dump;
    const std::vector<char> exactly(damaged.begin(), damaged.end());
    (void)read_dump(exactly, kSequence, dump);
    EXPECT_LE(dump.connections.size(), 2u);
  }
}

}  // namespace
}  // namespace tally
