// What a server leaves of its work with the socket, and the next one goes on with.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/unit/intake/intake_fixture.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs {
namespace {

// Each look at it takes a millisecond.
class SlowClock final : public Clock {
 public:
  Timestamp now() const override {
    passed_ += std::chrono::milliseconds(1);
    return {.monotonic = passed_, .realtime = passed_};
  }

 private:
  mutable std::chrono::nanoseconds passed_{0};
};

class TransferredIntakeTest : public IntakeTest {
 protected:
  Dispatcher::Dependencies ticking_dependencies() {
    return {.statistics = statistics_, .branches = branches_, .errors = errors_, .clock = ticks_};
  }
  // What one leaves is loaded by the next.
  static void hand_over(Intake& from, Intake& to) {
    SavedObjects objects;
    TransferredFds none;
    from.save_for_successor(objects, none);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const SavedObject each = objects.at(i);
      const auto loaded = to.load(each, {.now = {}, .has_pages = true}, none);
      EXPECT_TRUE(loaded) << each.label << ": " << loaded.error().reason;
    }
  }

  SlowClock ticks_;
  EventLoop first_loop_, next_loop_;
};

TEST_F(TransferredIntakeTest, WhatWasReceivedAndNotTakenInGoesToTheNextServer) {
  constexpr int kDatagrams = 12, kLines = 30;
  Intake first(first_loop_, socket_, ticking_dependencies());
  Feeder feeder(path_);
  for (int i = 0; i < kDatagrams; ++i) {
    std::string lines;
    for (int j = 0; j < kLines; ++j) {
      lines.append("create web/").append(std::to_string(kLines * i + j)).append("\n");
    }
    feeder.send(lines);
  }
  // In the middle of the first of them.
  const auto taken = first.take_queued(std::chrono::milliseconds(20));
  EXPECT_EQ(taken.datagrams, 0u);
  first.finish(std::chrono::nanoseconds(0));
  Intake next(next_loop_, socket_, ticking_dependencies());
  hand_over(first, next);
  next.take_queued(std::chrono::hours(1));
  for (int i = 0; i < kDatagrams * kLines; ++i) {
    const std::string line = "create web/" + std::to_string(i);
    const auto parsed = wire::parse_line(line);
    const auto done = statistics_.execute(std::get<wire::CommandLine>(parsed.value()),
                                          Sender(::geteuid()), clock_.now());
    EXPECT_EQ(done.value().made, wire::Made::kWasThere) << line;
  }
  EXPECT_EQ(own("datagrams"), static_cast<std::uint64_t>(kDatagrams));
  EXPECT_EQ(own("rejects"), 0u);
}

// In the middle of the first of them it is over.
TEST_F(TransferredIntakeTest, WhatIsNotTakenInAtTheEndIsCounted) {
  constexpr std::uint64_t kDatagrams = 12;
  Intake last(first_loop_, socket_, ticking_dependencies());
  Feeder feeder(path_);
  std::string lines;
  for (int i = 0; i < 30; ++i) lines.append("create web/").append(std::to_string(i)).append("\n");
  for (std::uint64_t i = 0; i < kDatagrams; ++i) feeder.send(lines);
  EXPECT_TRUE(socket_.refuse_senders());
  const auto taken = last.take_queued(std::chrono::milliseconds(20), Intake::Senders::kRefused);
  EXPECT_EQ(taken.datagrams, 0u);
  EXPECT_FALSE(taken.all);
  EXPECT_EQ(last.drop_left(Intake::Senders::kRefused), kDatagrams);
  EXPECT_EQ(last.drop_left(Intake::Senders::kRefused), 0u);
}

TEST_F(TransferredIntakeTest, ASocketThatRefusesSendersGivesWhatItHas) {
  Intake last(first_loop_, socket_, ticking_dependencies());
  Feeder feeder(path_);
  feeder.send("web/a 1");
  EXPECT_TRUE(socket_.refuse_senders());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof address), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(fd);
  const auto taken = last.take_queued(std::chrono::hours(1), Intake::Senders::kRefused);
  EXPECT_EQ(taken.datagrams, 1u);
  EXPECT_TRUE(taken.all);
}

TEST_F(TransferredIntakeTest, AnUidClaimsNoMoreDropsByAReload) {
  Intake first(first_loop_, socket_, ticking_dependencies());
  Feeder feeder(path_);
  const auto claim = [&](Intake& intake) {
    wire::DatagramWriter writer(0);
    writer.dropped(DropClaims::kOfUidMax - 5);
    feeder.send(writer.bytes());
    intake.take_queued(std::chrono::hours(1));
  };
  claim(first);
  first.finish(std::chrono::nanoseconds(0));
  Intake next(next_loop_, socket_, ticking_dependencies());
  hand_over(first, next);
  claim(next);
  EXPECT_EQ(own("dropped"), DropClaims::kOfUidMax);
}

TEST_F(TransferredIntakeTest, WhatIsCutOffIsRefused) {
  Intake first(first_loop_, socket_, ticking_dependencies());
  SavedObjects objects;
  TransferredFds none;
  first.save_for_successor(objects, none);
  ASSERT_EQ(objects.size(), 2u);
  for (const SavedObject whole : {objects.at(0), objects.at(1)}) {
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
      SavedObject part = whole;
      part.bytes = whole.bytes.substr(0, size);
      Intake next(next_loop_, socket_, ticking_dependencies());
      EXPECT_FALSE(next.load(part, {.now = {}, .has_pages = true}, none)) << size;
    }
  }
}

}  // namespace
}  // namespace tallyfs
