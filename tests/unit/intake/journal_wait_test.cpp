// The intake beside a journal that has no room before the next save.
#include <chrono>
#include <list>
#include <string>

#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

class JournalWaitTest : public IntakeTest {
 protected:
  JournalWaitTest() {
    EXPECT_TRUE(journal_.make(kBytes, {}));
    journal_.follow([this] { return statistics_.input(); });
    intake_.note_in(journal_);
  }
  // Each of another socket, as one may have no more than one of them in the queue.
  void send_some() {
    const std::string text = "web/a 1\n" + std::string(150'000, 'x');
    for (std::uint64_t i = 0; i < kSome; ++i) feeders_.emplace_back(path_).send(text);
    sent_ += kSome;
  }
  std::uint64_t taken() {
    intake_.drain_feeders();
    return own("samples");
  }
  void fill() {
    while (sent_ * 150'000 < kBytes) {
      send_some();
      if (taken() != sent_) return;
    }
    ADD_FAILURE() << "all of it was taken in";
  }

  static constexpr std::uint64_t kBytes = 64u << 20, kSome = 20;
  InputJournal journal_;
  std::list<Feeder> feeders_;
  std::uint64_t sent_ = 0;
};

TEST_F(JournalWaitTest, NothingIsReceivedBeforeTheSaveAndAllBehindIt) {
  fill();
  EXPECT_EQ(taken(), sent_ - kSome);
  EXPECT_GT(own("drains_cut"), 0u) << "the reader is told";
  EXPECT_TRUE(journal_.wants_save_at_once());
  journal_.begin_save();
  journal_.note_saved();
  EXPECT_EQ(taken(), sent_);
  EXPECT_EQ(journal_.take_missed(), 0u);
}

TEST_F(JournalWaitTest, ASaveThatFailsIsWaitedForOnce) {
  fill();
  clock_.advance(Intake::kSaveWaitMax);
  EXPECT_EQ(taken(), sent_);
  for (int i = 0; i < 5; ++i) {
    send_some();
    EXPECT_EQ(taken(), sent_);
  }
  EXPECT_GT(journal_.take_missed(), 0u);
}

}  // namespace
}  // namespace tallyfs
