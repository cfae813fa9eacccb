// The intake over real sockets, without a mount: arrivals, answers, and waiting senders.
// Longer than most: all cases stand on one intake and its socket.
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>
#include <thread>

#include "feeders/intake/queue_length.h"
#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

TEST_F(IntakeTest, WhatWasSentBeforeSettleIsCountedAfterIt) {
  Feeder feeder(path_);
  for (int i = 1; i <= 100; ++i) {
    feeder.send("web/hits 1");
    intake_.drain_feeders();
    ASSERT_EQ(read("web"), "hits " + std::to_string(i) + " 1 1.000 1\n");
  }
}

TEST_F(IntakeTest, SettleGivesATimeBehindAllThatWasTakenIn) {
  Feeder feeder(path_);
  for (int i = 0; i < 20; ++i) {
    feeder.send("web/hits 1");
    const auto settled = intake_.drain_feeders().monotonic;
    const auto counted = file_of("web")->last_change(clock_.now()).monotonic;
    EXPECT_GE(settled, counted);
    const auto idle = intake_.drain_feeders().monotonic;
    EXPECT_GE(idle, settled);
    EXPECT_LE(idle, clock_.now().monotonic);
  }
}

TEST_F(IntakeTest, ABadLineIsCountedAndShownAndTheOthersOfItsDatagramCount) {
  Feeder(path_).send("web/hits 1\nweb/hits\n\ncreate web/size type=list\nweb/hits 2 5");
  intake_.drain_feeders();
  EXPECT_EQ(read("web"), "hits 6 1 1.833 2\n");
  EXPECT_EQ(own("rejects"), 2u);
  EXPECT_EQ(own("samples"), 2u);
  const std::string log = errors_.render(clock_.now(), 1 << 20).value();
  EXPECT_NE(log.find("socket pid " + std::to_string(::getpid()) + " uid " +
                     std::to_string(::getuid()) + ": error: "),
            std::string::npos);
  EXPECT_NE(log.find("  Command: create web/size type=list\n"), std::string::npos);
}

TEST_F(IntakeTest, SamplesAndCommandsOfADatagramTakeEffectInTheirOrder) {
  Feeder(path_).send("a/x 1\nremove a\na/x 1\n");
  intake_.drain_feeders();
  EXPECT_EQ(read("a"), "x 1 1 1.000 1\n");
}

TEST_F(IntakeTest, ARequestIsAnsweredWithItsNumberByWhichSamplesThenArrive) {
  Feeder feeder(path_);
  wire::DatagramWriter writer(0);
  writer.request(1, "create web/hits on=1");
  writer.request(2, "attach web/nothing");
  feeder.send(writer.bytes());
  intake_.drain_feeders();
  const auto responses = feeder.responses();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].sequence, 1u);
  EXPECT_EQ(responses[0].error, 0u);
  EXPECT_EQ(responses[1].sequence, 2u);
  EXPECT_EQ(responses[1].error, static_cast<std::uint32_t>(ENOENT));

  writer.clear(feeder.epoch());
  writer.samples(responses[0].number, std::array{Sample{.x = 1, .y = 2}, Sample{.x = 1, .y = 3}},
                 wire::kFull);
  feeder.send(writer.bytes());
  intake_.drain_feeders();
  EXPECT_EQ(read("web"), "hits 5\n");
  EXPECT_TRUE(feeder.responses().empty());
}

TEST_F(IntakeTest, SamplesOfAnotherEpochAreRefusedAndSaidToBeStaleOnce) {
  Feeder feeder(path_);
  wire::DatagramWriter writer(12345);
  writer.samples(1ull << 32, std::array{Sample{}}, wire::kXOnly);
  writer.samples(1ull << 32, std::array{Sample{}}, wire::kXOnly);
  feeder.send(writer.bytes());
  intake_.drain_feeders();
  feeder.expect_stale();
  EXPECT_EQ(own("rejects"), 2u);
}

// A feeder goes on until it hears of it.
TEST_F(IntakeTest, SamplesOfAVoidNumberAreInTheErrorLogOnceForEachSenderAndNumber) {
  Feeder feeder(path_);
  meet(feeder);
  wire::DatagramWriter writer(feeder.epoch());
  for (int i = 0; i < 3; ++i) {
    writer.clear(feeder.epoch());
    writer.samples(1ull << 32, std::array{Sample{}, Sample{}}, wire::kXOnly);
    writer.samples(1ull << 32 | 1, std::array{Sample{}}, wire::kXOnly);
    feeder.send(writer.bytes());
    intake_.drain_feeders();
  }
  EXPECT_EQ(own("rejects"), 9u);
  const std::string log = errors_.render(clock_.now(), 1 << 20).value();
  std::size_t entries = 0;
  for (std::size_t at = 0; (at = log.find("error: ", at)) != std::string::npos; ++at) ++entries;
  EXPECT_EQ(entries, 2u) << log;
}

TEST_F(IntakeTest, VoidNumbersThatADatagramHasTooManyOfAreToldByTheNext) {
  Feeder feeder(path_);
  meet(feeder);
  wire::DatagramWriter writer(feeder.epoch());
  for (std::uint64_t i = 0; i < 6; ++i) {
    writer.samples(1ull << 32 | i, std::array{Sample{}}, wire::kXOnly);
  }
  const auto told = [&] {
    clock_.advance(std::chrono::milliseconds(1));
    const Timestamp before = clock_.now();
    feeder.send(writer.bytes());
    intake_.drain_feeders();
    return errors_.last_change(clock_.now()).monotonic >= before.monotonic;
  };
  EXPECT_TRUE(told());
  EXPECT_TRUE(told());
  EXPECT_FALSE(told());
  EXPECT_EQ(own("rejects"), 18u);
}

TEST_F(IntakeTest, AttachedDescriptorsAreRefusedAndTheTextTaken) {
  const sockaddr_un daemon = address_of(path_);
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(sender.get(), reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon), 0);
  const int next_before = Fd(::dup(0)).get();
  for (int i = 0; i < 5; ++i) {
    ASSERT_GT(send_with(sender.get(), "web/hits 1", sender.get()), 0);
    intake_.drain_feeders();
  }
  while (Fd(::dup(0)).get() != next_before) ::usleep(100);  // another thread closes them
  EXPECT_EQ(read("web"), "hits 5 1 1.000 1\n");
  EXPECT_EQ(own("fds_refused"), 5u);
}

TEST_F(IntakeTest, NothingIsTakenOfADatagramLongerThanTheBuffer) {
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int bytes = 4 << 20;
  ::setsockopt(sender.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  const sockaddr_un daemon = address_of(path_);
  std::string text;
  while (text.size() <= wire::kDatagramBytesMax) text += "web/hits 1\n";
  if (::sendto(sender.get(), text.data(), text.size(), 0,
               reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon) < 0) {
    GTEST_SKIP() << "this user may not send so much at once";
  }
  intake_.drain_feeders();
  EXPECT_EQ(read("web"), "(no interface)");
  EXPECT_EQ(own("truncated"), 1u);
  EXPECT_EQ(own("rejects"), 1u);
}

// What a flooding process shares with the test.
struct Flood {
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> sent = 0;
};

// In a process of its own, since each process is a sender by itself.
TEST_F(IntakeTest, ReadersGetTheirTurnConcurrentlyWithAFloodAndNoSampleIsLost) {
  void* const shared =
      ::mmap(nullptr, sizeof(Flood), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Flood& flood = *new (shared) Flood;
  const pid_t flooding = ::fork();
  ASSERT_GE(flooding, 0);
  if (flooding == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Feeder feeder(path_);
    while (!flood.done) {
      feeder.send("flood/hits 1");
      ++flood.sent;
    }
    ::_exit(0);
  }
  intake_.start();
  std::thread intake([&] { loop_.run([](int) {}); });
  while (flood.sent == 0) std::this_thread::yield();  // else it may begin when all is over
  Feeder polite(path_);
  int counted = 0;
  for (int i = 1; i <= 300; ++i) {
    polite.send("polite/hits 1");
    intake_.drain_feeders();
    counted += read("polite") == "hits " + std::to_string(i) + " 1 1.000 1\n" ? 1 : 0;
  }
  flood.done = true;
  EXPECT_EQ(::waitpid(flooding, nullptr, 0), flooding);
  loop_.stop();
  intake.join();
  intake_.take_queued(std::chrono::hours(1));
  EXPECT_EQ(counted, 300);
  EXPECT_EQ(read("flood"), "hits " + std::to_string(flood.sent) + " 1 1.000 1\n");
  ::munmap(shared, sizeof(Flood));
}

// Every look at it takes a millisecond, so that a deadline comes after a known amount of work.
class TickingClock final : public Clock {
 public:
  Timestamp now() const override {
    ++ticks_;
    return {.monotonic = std::chrono::milliseconds(ticks_), .realtime = {}};
  }
  std::chrono::nanoseconds cpu_time() const override { return std::chrono::milliseconds(ticks_); }
  void advance(std::chrono::milliseconds by) { ticks_ += by.count(); }

 private:
  mutable std::int64_t ticks_ = 0;
};

class CutIntakeTest : public IntakeTest {
 protected:
  // 1,000 lines, of which the last alone can be seen in the data.
  static std::string long_datagram() {
    std::string text;
    for (int i = 0; i < 999; ++i) text += "create a/x on=1\n";
    return text + "a/x 7\n";
  }

  // Runs the loop until then.
  void go_on_until(const std::string& data) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    cut_loop_.post([=, this] { stop_at(data, deadline); });
    cut_loop_.run([](int) {});
    EXPECT_EQ(read("a"), data);
  }
  void stop_at(const std::string& data, std::chrono::steady_clock::time_point deadline) {
    const bool is_late = std::chrono::steady_clock::now() > deadline;
    if (read("a") == data || is_late) return cut_loop_.stop();
    cut_loop_.post([=, this] { stop_at(data, deadline); });
  }

  TickingClock ticking_;
  EventLoop cut_loop_;
  Intake cut_{
      cut_loop_, socket_,
      Dispatcher::Dependencies{
          .statistics = statistics_, .branches = branches_, .errors = errors_, .clock = ticking_}};
};

TEST_F(CutIntakeTest, AReaderDoesNotWaitForAllOfACostlyDatagramAndThatIsCounted) {
  Feeder(path_).send(long_datagram());
  cut_.drain_feeders();
  EXPECT_EQ(own("drains_cut"), 1u);
  EXPECT_EQ(read("a"), "x 0\n");
  // Each of them may be as costly as all the time there is.
  EXPECT_LE(own("commands"), 21u);
}

TEST_F(CutIntakeTest, ASenderThatKnowsNoEndIsToldOfAgainAfterAWhile) {
  Feeder feeder(path_);
  wire::DatagramWriter writer(12345);
  writer.samples(1ull << 32, std::array{Sample{}}, wire::kXOnly);
  const auto told = [&] {
    const Timestamp before = ticking_.now();
    feeder.send(writer.bytes());
    cut_.drain_feeders();
    return errors_.last_change(ticking_.now()).monotonic > before.monotonic;
  };
  EXPECT_TRUE(told());
  EXPECT_FALSE(told());
  ticking_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(told());
  EXPECT_EQ(own("rejects"), 3u);
}

TEST_F(CutIntakeTest, WhatWasCutGoesOnInItsOrderUntilItIsDone) {
  Feeder feeder(path_);
  feeder.send(long_datagram());
  feeder.send("remove a\na/y 1\n");
  // In each, its commands take 7 of 25 ms, which is more than a share of the time.
  for (int i = 0; i < 60; ++i) cut_.drain_feeders();
  // Readers do not wait for a sender beyond its share: the loop's turns carry out what is left.
  go_on_until("y 1 1 1.000 1\n");
  EXPECT_EQ(own("datagrams"), 2u);
  EXPECT_EQ(own("commands"), 1'000u);
  EXPECT_EQ(own("rejects"), 0u);
  EXPECT_GE(own("put_off"), 2u);
}

TEST_F(CutIntakeTest, ReadersSeldomWaitForASenderBeyondItsShare) {
  Feeder feeder(path_);
  for (int i = 0; i < 4; ++i) feeder.send(long_datagram());
  while (own("put_off") == 0) cut_.drain_feeders();
  const auto next = [&] {
    const auto begun = ticking_.now().monotonic;
    const std::uint64_t done = own("commands");
    for (; own("commands") == done; cut_.drain_feeders())
      ticking_.advance(std::chrono::milliseconds(10));
    return ticking_.now().monotonic - begun;
  };
  // All that they had is used up, so that the next waits for 20 ms in a second.
  for (int i = 0; i < 10; ++i) (void)next();
  for (int i = 0; i < 10; ++i) EXPECT_GE(next(), std::chrono::milliseconds(300)) << i;
}

TEST_F(CutIntakeTest, WhatWasCutIsFinishedWithoutAnyMoreDatagrams) {
  Feeder(path_).send(long_datagram());
  cut_.drain_feeders();
  ASSERT_EQ(read("a"), "x 0\n");
  // The cut posted a turn, and each cut turn posts the next.
  go_on_until("x 1\n");
}

TEST_F(IntakeTest, WhatSaturatesInAReadersDrainIsLoggedWithoutAnyMoreDatagrams) {
  const std::string sample = "web/bytes 9223372036854775807 18446744073709551615\n";
  Feeder(path_).send("create web/bytes on=1 type=value mode=products\n" + sample + sample);
  testing::internal::CaptureStdout();  // where the log goes that no program has opened
  intake_.drain_feeders();
  loop_.post([this] { loop_.stop(); });
  loop_.run([](int) {});
  const std::string log = testing::internal::GetCapturedStdout();
  EXPECT_NE(log.find("a counter of statistics/web reached the end"), std::string::npos) << log;
}

TEST_F(IntakeTest, AQueueWhoseLengthIsNotKnownIsDrainedUntilItIsEmpty) {
  const std::string path = directory_ / "passed";
  Fd passed;
  {
    const QueueLength queue(300);
    if (!queue.granted()) GTEST_SKIP() << "this user may not set net.unix.max_dgram_qlen";
    passed = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  }
  const sockaddr_un address = address_of(path);
  ASSERT_EQ(::bind(passed.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  auto adopted = FeedSocket::adopt(passed.release());
  ASSERT_TRUE(adopted);
  EXPECT_FALSE(adopted.value().queue_length());
  Intake intake(loop_, adopted.value(), dependencies());
  Feeder feeder(path);
  for (int i = 0; i < 200; ++i) feeder.send("web/hits 1");
  intake.drain_feeders();
  EXPECT_EQ(read("web"), "hits 200 1 1.000 1\n");
}

TEST(FeedSocketTest, LeavesASocketAloneThatIsHeld) {
  const TemporaryDirectory directory;
  const auto first = FeedSocket::bind({.path = directory / "socket"});
  ASSERT_TRUE(first);
  const auto second = FeedSocket::bind({.path = directory / "socket"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  Feeder feeder(directory / "socket");
}

TEST(FeedSocketTest, TakesOverWhatADeadDaemonLeftAndNothingElse) {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  {
    const Fd dead(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_of(path);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_TRUE(FeedSocket::bind({.path = path}));
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directory(path);
  EXPECT_FALSE(FeedSocket::bind({.path = path}));
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

TEST(FeedSocketTest, MakesItsLastDirectoryAndRemovesItAgain) {
  const TemporaryDirectory directory;
  {
    const auto made = FeedSocket::bind({.path = directory / "made/socket"});
    ASSERT_TRUE(made) << made.error().reason;
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "made"));
  EXPECT_FALSE(FeedSocket::bind({.path = directory / "a/b/socket"}));
}

// Under a umask that takes nothing away: a mode that is set behind bind() would be seen.
TEST(FeedSocketTest, HasItsModeFromTheMomentItIsThere) {
  const TemporaryDirectory directory;
  const Fd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string path = directory / "";
  ASSERT_GE(::inotify_add_watch(watch.get(), path.c_str(), IN_CREATE | IN_ATTRIB), 0);
  const mode_t before = ::umask(0);
  const auto bound = FeedSocket::bind({.path = directory / "socket", .permissions = 0600});
  ::umask(before);
  ASSERT_TRUE(bound);
  struct stat status {};
  ASSERT_EQ(::stat((directory / "socket").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  alignas(inotify_event) std::array<char, 4096> events{};
  const ssize_t size = ::read(watch.get(), events.data(), events.size());
  ASSERT_GT(size, 0);
  for (ssize_t at = 0; at < size;) {
    inotify_event event{};
    std::memcpy(&event, events.data() + at, sizeof event);
    EXPECT_EQ(event.mask & IN_ATTRIB, 0u) << events.data() + at + sizeof event;
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
}

TEST(FeedSocketTest, AdoptsOnlyAUnixDatagramSocket) {
  EXPECT_FALSE(FeedSocket::adopt(::socket(AF_UNIX, SOCK_STREAM, 0)));
  EXPECT_FALSE(FeedSocket::adopt(::socket(AF_INET, SOCK_DGRAM, 0)));
}

}  // namespace
}  // namespace tallyfs
