#include "fs/notifier.h"

#include <gtest/gtest.h>

namespace tally {
namespace {

constexpr NodeId kParent = 2;
constexpr NodeId kDirectory = 7;

// Without a session: what would be told to the kernel goes nowhere.
class NotifierTest : public testing::Test {
 protected:
  Notifier notifier_{nullptr, NodeId{1}};
};

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

}  // namespace
}  // namespace tally
