// What a sample of StatsD costs tally-feed-statsd, in CPU time of its process, beside a process
// that only receives with recvmmsg(2), 64 packets at a time. By UDP and by Unix datagrams, counters
// and timers, packets of 1,400 bytes, 10,000 series with three tags each. Beside it is what a
// sample costs the daemon, which adds up cells and takes in rings.
//
//   statsd_bench FEEDER-PID UDP-PORT UNIX-PATH SERVER-PID
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/figures.h"
#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kSeries = 10'000;
constexpr std::size_t kPacketBytes = 1'400;
constexpr std::size_t kPackets = 30'000;
constexpr std::size_t kBatch = 64;
constexpr int kRounds = 9;

std::vector<std::string> make_packets(const std::string& value) {
  std::vector<std::string> packets{""};
  for (int i = 0; i < kSeries; ++i) {
    const std::string line = "bench.requests.v" + std::to_string(i % 50) + value + "|#host:web-" +
                             std::to_string(i / 50) + ",region:eu-west-1,code:200\n";
    if (packets.back().size() + line.size() > kPacketBytes) packets.emplace_back();
    packets.back() += line;
  }
  return packets;
}

// Of all its threads, in seconds.
double cpu_of(pid_t pid) {
  clockid_t clock{};
  require(clock_getcpuclockid(pid, &clock) == 0, "clock_getcpuclockid");
  return clock_ns(clock) / 1e9;
}

// Once the process has nothing to do any more.
double cpu_at_rest(pid_t pid) {
  for (double before = cpu_of(pid);;) {
    std::this_thread::sleep_for(50ms);
    const double now = cpu_of(pid);
    if (now - before < 0.000'5) return now;
    before = now;
  }
}

// Where packets go.
struct Target {
  pid_t pid = 0;
  int fd = -1;        // connected
  unsigned port = 0;  // of UDP
};

Target udp_target(pid_t pid, unsigned port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  require(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "connect");
  return {pid, fd, port};
}

Target unix_target(pid_t pid, const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  require(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, path);
  return {pid, fd, 0};
}

// Packets that the socket of that port has dropped, by /proc/net/udp.
std::uint64_t drops_of(unsigned port) {
  std::ifstream file("/proc/net/udp");
  char wanted[16];
  std::snprintf(wanted, sizeof wanted, ":%04X ", port);
  for (std::string line; std::getline(file, line);) {
    const auto local = line.find(wanted);
    if (local == line.npos || local > 20) continue;
    const auto end = line.find_last_not_of(' ');
    return std::stoull(line.substr(line.rfind(' ', end) + 1));
  }
  return 0;
}

void send_all(const Target& target, const std::vector<std::string>& packets) {
  std::array<iovec, kBatch> vectors{};
  std::array<mmsghdr, kBatch> headers{};
  for (std::size_t sent = 0; sent < kPackets;) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::string& packet = packets[(sent + i) % packets.size()];
      vectors[i] = {const_cast<char*>(packet.data()), packet.size()};
      headers[i].msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    const int count = sendmmsg(target.fd, headers.data(), kBatch, 0);
    require(count > 0, "sendmmsg");
    sent += static_cast<std::size_t>(count);
  }
}

// CPU seconds for each packet that arrived, by rounds.
struct Cost {
  double receiver = 0;
  double daemon = 0;
};
struct Costs {
  Cost least;
  Cost median;
};
Costs costs_of(std::vector<double> receiver, std::vector<double> daemon) {
  std::sort(receiver.begin(), receiver.end());
  std::sort(daemon.begin(), daemon.end());
  return {{receiver.front(), daemon.front()},
          {receiver[receiver.size() / 2], daemon[daemon.size() / 2]}};
}
Costs cost_of_packet(const Target& target, pid_t daemon, const std::vector<std::string>& packets) {
  send_all(target, packets);  // its series come into being
  std::vector<double> receiver;
  std::vector<double> server;
  for (int round = 0; round < kRounds; ++round) {
    const Cost before{cpu_at_rest(target.pid), cpu_at_rest(daemon)};
    const std::uint64_t drops = drops_of(target.port);
    send_all(target, packets);
    const Cost after{cpu_at_rest(target.pid), cpu_at_rest(daemon)};
    const auto arrived = static_cast<double>(kPackets - (drops_of(target.port) - drops));
    receiver.push_back((after.receiver - before.receiver) / arrived);
    server.push_back((after.daemon - before.daemon) / arrived);
  }
  return costs_of(std::move(receiver), std::move(server));
}

// A child that receives and throws away, with sockets as the feeder's.
class BareLoop {
 public:
  explicit BareLoop(int fd) : fd_(fd), pid_(fork()) {
    require(pid_ >= 0, "fork");
    if (pid_ == 0) receive();
  }
  ~BareLoop() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(fd_);
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;
  pid_t pid() const { return pid_; }

 private:
  [[noreturn]] void receive() const {
    if (std::thread::hardware_concurrency() > 1) pin(1);
    std::vector<char> bytes(kBatch * 65'536);
    std::array<iovec, kBatch> vectors{};
    std::array<mmsghdr, kBatch> headers{};
    for (std::size_t i = 0; i < kBatch; ++i) {
      vectors[i] = {bytes.data() + i * 65'536, 65'536};
      headers[i].msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    for (;;) recvmmsg(fd_, headers.data(), kBatch, MSG_WAITFORONE, nullptr);
  }

  int fd_;
  pid_t pid_;
};

int bound_udp(unsigned& port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int bytes = 4 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  require(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  require(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  port = ntohs(address.sin_port);
  return fd;
}

int bound_unix(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  require(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, path);
  return fd;
}

void compare(const char* what, const Target& feeder, const Target& bare, pid_t daemon,
             const char* value) {
  const auto packets = make_packets(value);
  const double ns = 1e9 / (double{kSeries} / static_cast<double>(packets.size()));
  const Cost bare_cost = cost_of_packet(bare, daemon, packets).least;
  const auto [least, median] = cost_of_packet(feeder, daemon, packets);
  std::printf(
      "%-24s %4.0f ns of CPU a sample, and %4.0f ns of the daemon; median %4.0f, %4.0f ns; a "
      "bare loop %3.0f ns\n",
      what, least.receiver * ns, least.daemon * ns, median.receiver * ns, median.daemon * ns,
      bare_cost.receiver * ns);
  note_figure("statsd", what, "feeder, least", least.receiver * ns);
  note_figure("statsd", what, "daemon, least", least.daemon * ns);
  note_figure("statsd", what, "feeder, median", median.receiver * ns);
  note_figure("statsd", what, "daemon, median", median.daemon * ns);
  note_figure("statsd", what, "bare loop", bare_cost.receiver * ns);
}

int run(pid_t feeder, unsigned port, const std::string& path, pid_t daemon) {
  if (std::thread::hardware_concurrency() > 1) pin(0);
  unsigned bare_port = 0;
  const BareLoop bare_udp(bound_udp(bare_port));
  const BareLoop bare_unix(bound_unix(path + ".bare"));
  const Target udp = udp_target(feeder, port);
  const Target by_path = unix_target(feeder, path);
  const Target to_bare_udp = udp_target(bare_udp.pid(), bare_port);
  const Target to_bare_unix = unix_target(bare_unix.pid(), path + ".bare");
  compare("UDP, counters", udp, to_bare_udp, daemon, ":1|c");
  compare("UDP, timers", udp, to_bare_udp, daemon, ".t:320.5|ms");
  compare("Unix datagrams, counters", by_path, to_bare_unix, daemon, ":1|c");
  compare("Unix datagrams, timers", by_path, to_bare_unix, daemon, ".t:320.5|ms");
  unlink((path + ".bare").c_str());
  return 0;
}

}  // namespace
}  // namespace tallyfs::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: statsd_bench FEEDER-PID UDP-PORT UNIX-PATH SERVER-PID\n");
    return 2;
  }
  return tallyfs::bench::run(std::atoi(argv[1]), static_cast<unsigned>(std::atoi(argv[2])), argv[3],
                             std::atoi(argv[4]));
}
