// The kernel's answers about TCP connections, taken apart.
#include "feeders/tcp/tcp_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include <cstring>
#include <string>

#include "tests/unit/program_sock_diag/messages.h"

namespace tallyfs {
namespace {

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

TEST(TcpConnectionsTest, ReadsAConnectionAmongOtherAttributes) {
  TcpConnections::Scan scan;
  read_connection(
      a_connection(attribute(INET_DIAG_SHUTDOWN, "\1") + attribute(INET_DIAG_INFO, an_info())),
      scan);
  ASSERT_EQ(scan.connections.size(), 1u);
  const Connection& read = scan.connections[0];
  EXPECT_EQ(name_of(read), "127.0.0.1:5201-127.0.0.2:40000");
  EXPECT_EQ(read.cookie, 0x1'0000'0005u);
  EXPECT_EQ(read.rtt_us, 25u);
  EXPECT_EQ(read.cwnd_segments, 10u);
  EXPECT_EQ(read.retransmits, 3u);
  EXPECT_EQ(read.delivery_bytes_per_s, 5'000'000'000u);
}

TEST(TcpConnectionsTest, TakesTheShorterInfoOfAnOlderKernel) {
  TcpConnections::Scan scan;
  const std::string old = an_info().substr(0, offsetof(tcp_info, tcpi_delivery_rate));
  read_connection(a_connection(attribute(INET_DIAG_INFO, old)), scan);
  ASSERT_EQ(scan.connections.size(), 1u);
  EXPECT_EQ(scan.connections[0].retransmits, 3u);
  EXPECT_EQ(scan.connections[0].delivery_bytes_per_s, 0u);
}

TEST(TcpConnectionsTest, PassesOverWhatHasNoTcpInfo) {
  TcpConnections::Scan scan;
  read_connection(a_connection(""), scan);
  read_connection(a_connection(attribute(INET_DIAG_SHUTDOWN, "\1")), scan);
  read_connection(std::string("short"), scan);
  EXPECT_TRUE(scan.connections.empty());
}

TEST(TcpConnectionsTest, NamesBothEndsOfVersion6) {
  Connection connection;
  connection.is_v6 = true;
  connection.local[15] = connection.remote[15] = 1;
  connection.local_port = 80;
  connection.remote_port = 65535;
  EXPECT_EQ(name_of(connection), "[::1]:80-[::1]:65535");
}

}  // namespace
}  // namespace tallyfs
