#include "feeders/client/sender.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/wire/binary.h"
#include "tests/unit/fake_clock.h"

namespace tally {
namespace {

using namespace std::chrono_literals;

std::string make_directory() {
  char name[] = "/tmp/tallyfs-sender-XXXXXX";
  return ::mkdtemp(name) ? name : "";
}

// A daemon as far as a sender can tell: numbers what it is asked to create, notes the X of samples.
class Daemon {
 public:
  Daemon(const std::string& path, std::uint64_t epoch)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), epoch_(epoch) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(path.c_str());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  // Takes all that has arrived, and answers.
  void serve() {
    alignas(8) std::array<char, 64 * 1024> bytes;
    sockaddr_un sender{};
    socklen_t length = sizeof sender;
    ssize_t size = 0;
    while ((size = ::recvfrom(fd_.get(), bytes.data(), bytes.size(), 0,
                              reinterpret_cast<sockaddr*>(&sender), &length)) >= 0) {
      EXPECT_LE(static_cast<std::size_t>(size), Sender::kDatagramBytes);
      wire::DatagramWriter answers(epoch_);
      take(std::span(bytes).first(static_cast<std::size_t>(size)), answers);
      if (answers.empty() || !answering) continue;
      ::sendto(fd_.get(), answers.bytes().data(), answers.size(), 0,
               reinterpret_cast<sockaddr*>(&sender), length);
    }
  }
  void forget() { numbers_.clear(); }

  int refuse_with = 0;
  bool answering = true;
  std::vector<std::string> created;
  std::vector<std::int64_t> received;

 private:
  void take(std::span<char> bytes, wire::DatagramWriter& answers) {
    auto reader = wire::DatagramReader::open(bytes).value();
    while (const auto message = reader.next()) {
      const auto& content = message->value();
      if (const auto* request = std::get_if<wire::Request>(&content)) {
        created.emplace_back(request->text);
        if (refuse_with == 0) numbers_[++last_number_] = request->text;
        answers.answer(request->sequence, static_cast<std::uint32_t>(refuse_with), last_number_);
      } else {
        auto samples = std::get<wire::PackedSamples>(content);
        const bool known = reader.epoch() == epoch_ && numbers_.contains(samples.number());
        if (!known) answers.answer(0, ESTALE, 0);
        for (const Sample& sample : samples.unpack({}, 1h)) {
          if (known) received.push_back(sample.x);
        }
      }
    }
  }

  Fd fd_;
  std::uint64_t epoch_;
  std::map<std::uint64_t, std::string> numbers_;
  std::uint64_t last_number_ = 0;
};

class SenderTest : public testing::Test {
 protected:
  ~SenderTest() override { std::filesystem::remove_all(directory_); }

  void start_daemon(std::uint64_t epoch) {
    daemon_.reset();
    daemon_.emplace(path_, epoch);
  }
  // What the sender sends, what the daemon answers, and what follows from it.
  void exchange() {
    for (int i = 0; i < 3; ++i) {
      sender_.flush();
      if (daemon_) daemon_->serve();
    }
  }

  const std::string directory_ = make_directory();
  const std::string path_ = directory_ + "/socket";
  FakeClock clock_{1s};
  std::vector<std::string> reports_;
  Sender sender_{{.path = path_,
                  .wait_max = 0ms,
                  .report = [this](const std::string& what) { reports_.push_back(what); }},
                 clock_};
  const Sender::Handle hits_ = sender_.add_statistic("web/hits", "type=value on=1").value();
  std::optional<Daemon> daemon_;
};

TEST_F(SenderTest, RegistersStatisticsAndSendsTheirSamples) {
  start_daemon(1);
  sender_.add(hits_, {.x = 5});
  exchange();
  EXPECT_EQ(daemon_->created, std::vector<std::string>{"create web/hits type=value on=1"});
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{5});
  EXPECT_FALSE(sender_.holds());
}

TEST_F(SenderTest, HoldsSamplesUntilADaemonAppears) {
  sender_.add(hits_, {.x = 5});
  exchange();
  EXPECT_EQ(reports_.size(), 1u) << "that it is missing, once";
  start_daemon(1);
  exchange();
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{}) << "it does not look all the time";
  clock_.advance(50ms);
  exchange();
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{5});
}

TEST_F(SenderTest, RegistersAgainWithADaemonThatWasRestarted) {
  start_daemon(1);
  exchange();
  start_daemon(2);
  sender_.add(hits_, {.x = 6});
  exchange();
  clock_.advance(50ms);
  exchange();
  EXPECT_EQ(daemon_->created.size(), 1u);
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{6}) << "held, not lost";
}

TEST_F(SenderTest, NoticesARestartWithoutHavingAnythingToSay) {
  start_daemon(1);
  exchange();
  start_daemon(2);
  clock_.advance(1s);
  exchange();
  clock_.advance(50ms);
  exchange();
  EXPECT_EQ(daemon_->created.size(), 1u);
}

TEST_F(SenderTest, RegistersAgainWhatSomebodyRemoved) {
  start_daemon(1);
  exchange();
  daemon_->forget();
  sender_.add(hits_, {.x = 6});
  exchange();
  sender_.add(hits_, {.x = 7});
  exchange();
  EXPECT_EQ(daemon_->created.size(), 2u);
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{7});
}

TEST_F(SenderTest, DropsAndCountsWhatTheDaemonRefuses) {
  start_daemon(1);
  daemon_->refuse_with = ENOSPC;
  sender_.add(hits_, {.x = 5});
  exchange();
  sender_.add(hits_, {.x = 6});
  EXPECT_EQ(sender_.take_dropped(hits_), 2u);
  EXPECT_EQ(sender_.take_dropped(hits_), 0u);
  EXPECT_NE(reports_.back().find("No space left"), std::string::npos) << reports_.back();
  daemon_->refuse_with = 0;
  clock_.advance(10s);
  sender_.add(hits_, {.x = 7});
  exchange();
  sender_.add(hits_, {.x = 8});
  exchange();
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{8}) << "asked again, later";
}

TEST_F(SenderTest, AsksAgainWhenAnAnswerIsLost) {
  start_daemon(1);
  daemon_->answering = false;
  exchange();
  daemon_->answering = true;
  sender_.add(hits_, {.x = 5});
  exchange();
  EXPECT_EQ(daemon_->created.size(), 1u) << "it is given time to answer";
  clock_.advance(1s);
  exchange();
  EXPECT_EQ(daemon_->created.size(), 2u);
  EXPECT_EQ(daemon_->received, std::vector<std::int64_t>{5});
}

TEST_F(SenderTest, LosesNothingUncountedWhenTheQueueIsFull) {
  start_daemon(1);
  exchange();
  constexpr std::int64_t kSamples = 200'000;
  for (std::int64_t i = 0; i < kSamples; ++i) sender_.add(hits_, {.x = i});
  EXPECT_TRUE(sender_.full());
  const auto dropped = sender_.take_dropped(hits_);
  for (int i = 0; i < 1000 && sender_.holds(); ++i) exchange();
  daemon_->serve();
  EXPECT_EQ(daemon_->received.size() + dropped, static_cast<std::size_t>(kSamples));
  EXPECT_TRUE(std::is_sorted(daemon_->received.begin(), daemon_->received.end()));
}

TEST_F(SenderTest, RegistersManyStatisticsAFewAtATime) {
  start_daemon(1);
  for (int i = 0; i < 1000; ++i) {
    const auto added = sender_.add_statistic("many/" + std::to_string(i), "type=value on=1");
    sender_.add(added.value(), {.x = i});
  }
  for (int i = 0; i < 10; ++i) exchange();
  EXPECT_EQ(daemon_->created.size(), 1001u);
  EXPECT_EQ(daemon_->received.size(), 1000u);
}

}  // namespace
}  // namespace tally
