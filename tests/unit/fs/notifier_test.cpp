#include "fs/notifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs {
namespace {

constexpr NodeId kParent = 2;
constexpr NodeId kDirectory = 7;

// Without a kernel: it knows the nodes that the test says.
class NotifierTest : public testing::Test {
 protected:
  // Until a node was told so often.
  void wait_until_told(NodeId node, std::size_t times) {
    const MutexLock lock(mutex_);
    while (static_cast<std::size_t>(std::ranges::count(told_, node)) < times) {
      told_changed_.wait(mutex_);
    }
  }
  std::vector<NodeId> told() {
    const MutexLock lock(mutex_);
    return told_;
  }

  Mutex mutex_{LockRank::kTest};
  std::condition_variable_any told_changed_;
  std::vector<NodeId> told_ GUARDED_BY(mutex_);
  std::size_t unknown_ GUARDED_BY(mutex_) = 0;  // how often kDirectory is not known yet
  Notifier notifier_{[this](NodeId node) {
    const MutexLock lock(mutex_);
    told_.push_back(node);
    told_changed_.notify_all();
    return node != kDirectory || unknown_ == 0 || unknown_-- == 0;
  }};
};

// What the kernel was answered about it is under way when it is removed.
TEST_F(NotifierTest, TellsAgainOfADirectoryThatTheKernelDoesNotKnowYet) {
  {
    const MutexLock lock(mutex_);
    unknown_ = 2;
  }
  notifier_.gives_attributes(kDirectory);
  notifier_.entry_removed(kParent, "web", kDirectory);
  wait_until_told(kDirectory, 3);
}

TEST_F(NotifierTest, TellsOnceOfWhatWasNeverGiven) {
  {
    const MutexLock lock(mutex_);
    unknown_ = 9;
  }
  notifier_.entry_removed(kParent, "web", kDirectory);
  notifier_.gives_attributes(kParent);
  notifier_.directory_changed(kParent);
  wait_until_told(kParent, 1);
  EXPECT_EQ(told(), (std::vector<NodeId>{kDirectory, kParent}));
}

TEST_F(NotifierTest, GivesUpAfterAFewTimesAndGoesWhileSomeAreLeft) {
  {
    const MutexLock lock(mutex_);
    unknown_ = 99;
  }
  notifier_.gives_attributes(kDirectory);
  notifier_.entry_removed(kParent, "web", kDirectory);
  wait_until_told(kDirectory, 1 + Notifier::kRepeats.size());
  notifier_.gives_attributes(kDirectory);
  notifier_.entry_removed(kParent, "web", kDirectory);
}

TEST_F(NotifierTest, ForgetsWhatItGaveOfADirectoryThatIsRemoved) {
  notifier_.gives_attributes(kDirectory);
  EXPECT_EQ(notifier_.given(), 1u);
  notifier_.entry_removed(kParent, "web", kDirectory);
  EXPECT_EQ(notifier_.given(), 0u);
}

// Node ids are never used again, so that what was left here would stay for good.
TEST_F(NotifierTest, KeepsNothingOfADirectoryRemovedWhileItsAttributesWereRead) {
  notifier_.entry_removed(kParent, "web", kDirectory);
  notifier_.gives_attributes(kDirectory);
  notifier_.withholds_attributes(kDirectory);
  EXPECT_EQ(notifier_.given(), 0u);
}

TEST_F(NotifierTest, ForgetsAChangedDirectoryUntilItIsAskedForAgain) {
  notifier_.gives_attributes(kDirectory);
  notifier_.directory_changed(kDirectory);
  EXPECT_EQ(notifier_.given(), 0u);
}

TEST_F(NotifierTest, ASuccessorKnowsWhatTheKernelHas) {
  notifier_.gives_attributes(kParent);
  notifier_.stop();
  std::string bytes;
  ByteWriter out(bytes);
  notifier_.save(out);
  Notifier next([&](NodeId node) {
    const MutexLock lock(mutex_);
    told_.push_back(node);
    told_changed_.notify_all();
    return true;
  });
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(next.resume(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_EQ(next.given(), 0u);
  const auto left = next.resume(bytes);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left.value().empty());
  next.directory_changed(kDirectory);
  next.directory_changed(kParent);
  wait_until_told(kParent, 1);
  EXPECT_EQ(this->told(), std::vector<NodeId>{kParent});
}

TEST_F(NotifierTest, ASuccessorHearsOfNoticesThatWereLeft) {
  {
    const MutexLock lock(mutex_);
    unknown_ = 99;
  }
  notifier_.gives_attributes(kDirectory);
  const auto began = std::chrono::steady_clock::now();
  notifier_.directory_changed(kDirectory);
  wait_until_told(kDirectory, 1);  // and to be told again
  notifier_.stop();
  if (std::chrono::steady_clock::now() - began >= Notifier::kRepeats.back()) {
    GTEST_SKIP() << "so late, the notice may have been repeated for the last time";
  }
  notifier_.gives_attributes(kParent);
  notifier_.directory_changed(kParent);  // nothing tells it any more
  std::string bytes;
  ByteWriter out(bytes);
  notifier_.save(out);
  Notifier next([](NodeId) { return true; });
  const auto left = next.resume(bytes);
  ASSERT_TRUE(left);
  EXPECT_EQ(left.value(), (std::vector<NodeId>{kParent, kDirectory}));
  EXPECT_EQ(next.given(), 2u);
}

}  // namespace
}  // namespace tallyfs
