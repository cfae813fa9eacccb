#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "tests/unit/held_descriptors.h"

namespace tallyfs {
namespace {

Fd some_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(TransferredFdsTest, HoldsEachOnceUntilItIsRemovedAndThatIsFlushed) {
  HeldDescriptors held;
  TransferredFds descriptors(&held);
  const Fd one = some_descriptor(), two = some_descriptor();
  const auto number = descriptors.add(one.get());
  EXPECT_EQ(descriptors.add(one.get()), number);
  EXPECT_NE(descriptors.add(two.get()), number);
  EXPECT_EQ(held.size(), 2u);
  descriptors.remove(one.get());
  EXPECT_EQ(held.size(), 2u) << "objects may name it still";
  descriptors.flush();
  EXPECT_EQ(held.size(), 1u);
  EXPECT_NE(descriptors.add(one.get()), number) << "another one may have that number of a file";
}

TEST(TransferredFdsTest, TheNextServerKeepsThoseThatItAdoptsUnderTheirNumbers) {
  HeldDescriptors held;
  std::uint32_t kept = 0, unknown = 0;
  {
    TransferredFds before(&held);
    const Fd one = some_descriptor(), two = some_descriptor();
    kept = before.add(one.get());
    unknown = before.add(two.get());
  }
  TransferredFds next(&held, held.received());
  const Fd one = next.take(kept);
  ASSERT_TRUE(one.valid());
  EXPECT_FALSE(next.take(kept).valid()) << "once";
  next.adopt(kept, one.get());
  EXPECT_EQ(next.add(one.get()), kept);
  const Fd more = some_descriptor();
  const auto number = next.add(more.get());
  EXPECT_TRUE(number != kept && number != unknown);
  next.flush();
  EXPECT_EQ(held.size(), 2u) << "what nothing named is let go of";
}

// The kernel gives the number of a file that was closed to the next one that is opened.
TEST(TransferredFdsTest, WhereNothingIsKeptThoseOfAReloadAreThoseThatAreOpenThen) {
  HeldDescriptors held;
  std::uint32_t first = 0;
  {
    TransferredFds before(&held);
    first = before.add(some_descriptor().get());
  }
  TransferredFds next(&held, held.received());
  Fd one = next.take(first);
  next.adopt(first, one.get());
  next.forget_all();
  EXPECT_EQ(held.size(), 0u);
  const int of_one = one.get();
  one.reset();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd read_end(ends[0]), write_end(ends[1]);
  ASSERT_EQ(read_end.get(), of_one);
  const auto number = next.add(read_end.get());
  EXPECT_NE(number, first);
  const auto received = held.received();
  ASSERT_EQ(received.size(), 1u);
  struct stat is {}, expected {};
  ASSERT_EQ(::fstat(received[0].second.get(), &is), 0);
  ASSERT_EQ(::fstat(read_end.get(), &expected), 0);
  EXPECT_EQ(is.st_ino, expected.st_ino);
}

TEST(TransferredFdsTest, RefusesOneTooManyAndTakesItOnceAnotherIsRemoved) {
  HeldDescriptors held;
  held.allow(2);
  TransferredFds descriptors(&held);
  const Fd one = some_descriptor(), two = some_descriptor(), three = some_descriptor();
  (void)descriptors.add(one.get());
  (void)descriptors.add(two.get());
  EXPECT_EQ(descriptors.add(three.get()), TransferredFds::kNone);
  EXPECT_EQ(held.size(), 2u);
  descriptors.remove(one.get());
  EXPECT_NE(descriptors.add(three.get()), TransferredFds::kNone);
  EXPECT_EQ(held.size(), 2u);
}

TEST(TransferredFdsTest, ARefusalForWantOfRoomGoesOverNoneThatAreInUse) {
  HeldDescriptors held;
  held.allow(1);
  TransferredFds descriptors(&held);
  const Fd one = some_descriptor(), two = some_descriptor();
  (void)descriptors.add(one.get());
  EXPECT_EQ(descriptors.add(two.get()), TransferredFds::kNone);
  EXPECT_EQ(held.times_kept(), 0u);
}

TEST(TransferredFdsTest, HoldsARemovedOneUntilItIsFlushedHoweverManyAreAdded) {
  HeldDescriptors held;
  TransferredFds descriptors(&held);
  const Fd one = some_descriptor();
  const auto number = descriptors.add(one.get());
  descriptors.remove(one.get());
  std::vector<Fd> others(200);
  for (Fd& each : others) {
    each = some_descriptor();
    ASSERT_NE(descriptors.add(each.get()), TransferredFds::kNone);
  }
  EXPECT_NE(held.times_kept(), 0u);
  EXPECT_TRUE(held.has(number));
  descriptors.flush();
  EXPECT_FALSE(held.has(number));
  EXPECT_EQ(held.size(), others.size());
}

TEST(TransferredFdsTest, TheFirstFlushLetsGoOfWhatAServerOfAnotherVersionHasLeft) {
  HeldDescriptors held;
  (void)held.hold(5, some_descriptor().get());
  TransferredFds descriptors(&held);
  descriptors.flush();
  EXPECT_EQ(held.size(), 0u);
  descriptors.flush();
  EXPECT_EQ(held.times_kept(), 1u) << "there is nothing to let go of";
}

}  // namespace
}  // namespace tallyfs
