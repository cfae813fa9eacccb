#include "exporters/web/server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/fd.h"

namespace tallyfs::web {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A test that hangs ends; all else is as fast as the times that it sets.
constexpr milliseconds kPatience{60'000};
// Its answer has no body.
constexpr std::string_view kRequest = "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n";

class OkSite : public Site {
 public:
  bool is_of_holder(const Request& request) const override {
    return request.authorization == "Bearer t";
  }
  std::optional<Response> answer_at_once(const Request&) override {
    return text_response(200, "ok");
  }
  Response answer(const Request&) override { return {}; }
  void tick() override {}
  void count_limit(Limit) override {}
};

// A server on a thread of its own, and connections to it.
class ServerTest : public testing::Test {
 protected:
  void start(const ClientTimes& times) {
    auto listening = listen_on("127.0.0.1:0");
    ASSERT_TRUE(listening);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listening.value().fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = address.sin_port;
    server_ = std::make_unique<Server>(std::move(listening).value(), site_, times);
    thread_ = std::thread([this] { server_->run(); });
  }
  ~ServerTest() override {
    if (!thread_.joinable()) return;
    ::kill(::getpid(), SIGTERM);  // which it waits for
    thread_.join();
  }

  Fd connect() const {
    Fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port_;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return made;
  }

 private:
  OkSite site_;
  in_port_t port_ = 0;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

void send_text(const Fd& to, std::string_view text) {
  ASSERT_EQ(::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// What comes next, up to the end of a header; empty: the connection was ended.
std::string receive(const Fd& from) {
  pollfd readable{.fd = from.get(), .events = POLLIN, .revents = 0};
  std::string text;
  while (!text.ends_with("\r\n\r\n")) {
    if (::poll(&readable, 1, static_cast<int>(kPatience.count())) != 1) return "nothing in time";
    char byte = 0;
    if (::recv(from.get(), &byte, 1, 0) != 1) break;
    text.push_back(byte);
  }
  return text;
}

// How long it takes until the server ends the connection.
milliseconds time_until_end(const Fd& connection, Clock::time_point since) {
  EXPECT_EQ(receive(connection), "");
  return std::chrono::duration_cast<milliseconds>(Clock::now() - since);
}

TEST_F(ServerTest, ARequestThatIsNotSentToItsEndIsGivenUp) {
  start({.request = milliseconds(300), .idle = kPatience});
  for (const std::string_view part : {kRequest.substr(0, 20), kRequest.substr(0, 1)}) {
    const Fd connection = connect();
    const auto begun = Clock::now();
    send_text(connection, part);
    EXPECT_GE(time_until_end(connection, begun), milliseconds(300)) << part;
  }
}

// Byte by byte, too: each of them would be in time. A machine that is busy may have no time for a
// second one.
TEST_F(ServerTest, TheTimeOfARequestIsThatOfAllOfIt) {
  start({.request = milliseconds(1000), .idle = kPatience});
  for (std::size_t sent = 0; sent < 2;) {
    const Fd connection = connect();
    pollfd ended{.fd = connection.get(), .events = POLLIN, .revents = 0};
    const auto begun = Clock::now();
    send_text(connection, "GET / HTTP/1.1\r\nX: ");
    for (sent = 0; ::poll(&ended, 1, 20) == 0 && Clock::now() - begun < kPatience; ++sent) {
      ::send(connection.get(), "x", 1, MSG_NOSIGNAL);
    }
    EXPECT_GE(time_until_end(connection, begun), milliseconds(1000));
  }
}

TEST_F(ServerTest, AnIdleConnectionIsEnded) {
  start({.request = kPatience, .idle = milliseconds(300)});
  // Each time begins before the server's own does.
  const auto begun = Clock::now();
  const Fd silent = connect();
  EXPECT_GE(time_until_end(silent, begun), milliseconds(300));
  for (bool is_answered = false; !is_answered;) {
    const auto connecting = Clock::now();
    const Fd idle = connect();
    const auto requested = Clock::now();
    send_text(idle, kRequest);
    const std::string answer = receive(idle);
    is_answered = answer.starts_with("HTTP/1.1 200");
    // On a busy machine the request may be sent when the time is over already.
    ASSERT_TRUE(is_answered || Clock::now() - connecting >= milliseconds(300)) << answer;
    if (is_answered) {
      EXPECT_GE(time_until_end(idle, requested), milliseconds(300));
    }
  }
}

// The silence before a request is not counted as the request's.
TEST_F(ServerTest, ARequestMayComeLate) {
  start({.request = milliseconds(200), .idle = kPatience});
  const Fd connection = connect();
  pollfd ended{.fd = connection.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 400), 0) << "it stays";
  send_text(connection, kRequest);
  EXPECT_TRUE(receive(connection).starts_with("HTTP/1.1 200"));
}

// Of two holders one is idle for longer than all others, however many these are.
TEST_F(ServerTest, HoldersOfTheTokenKeepTheirConnections) {
  start({.request = kPatience, .idle = kPatience});
  constexpr std::string_view kHolders =
      "HEAD / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\n\r\n";
  const std::array<Fd, 2> holders = {connect(), connect()};
  for (const Fd& each : holders) {
    send_text(each, kHolders);
    ASSERT_TRUE(receive(each).starts_with("HTTP/1.1 200"));
  }
  std::vector<Fd> others;
  for (std::size_t i = 0; i < 2 * kConnectionsMax; ++i) {
    others.push_back(connect());
    send_text(others.back(), i % 2 == 0 ? kRequest : kRequest.substr(0, 20));
    if (i % 2 == 0) {
      ASSERT_TRUE(receive(others.back()).starts_with("HTTP/1.1 200")) << i;
    }
  }
  EXPECT_EQ(receive(others.front()), "") << "it was idle for longest";
  for (const Fd& each : holders) {
    send_text(each, kHolders);
    EXPECT_TRUE(receive(each).starts_with("HTTP/1.1 200"));
  }
}

TEST(ClientTimesTest, AreThoseOfTheManual) {
  EXPECT_EQ(ClientTimes().request, std::chrono::seconds(10));
  EXPECT_EQ(ClientTimes().idle, std::chrono::seconds(60));
}

}  // namespace
}  // namespace tallyfs::web
