#include "feeders/intake/switch_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace tallyfs {
namespace {

constexpr std::uint64_t kStatistics = 1'048'576;

// As a feeder maps it.
const Switch* map(const SwitchPage& page) {
  void* const mapped =
      ::mmap(nullptr, page.bytes(), PROT_READ, MAP_SHARED, page.fd_for_feeders(), 0);
  EXPECT_NE(mapped, MAP_FAILED);
  return static_cast<const Switch*>(mapped);
}

TEST(SwitchPageTest, IsSharedAndHoldsASwitchForEveryStatistic) {
  auto page = SwitchPage::create(kStatistics).value();
  EXPECT_EQ(page.bytes(), 8 * kStatistics);
  EXPECT_EQ(page.entries().size(), kStatistics);
  const Switch* const seen = map(page);
  EXPECT_EQ(seen[kStatistics - 1].on, 0u);
  page.entries()[kStatistics - 1].on.store(1, std::memory_order_release);
  EXPECT_EQ(seen[kStatistics - 1].on, 1u);
}

TEST(SwitchPageTest, ConsistsOfWholePages) {
  EXPECT_EQ(SwitchPage::create(1).value().bytes(), 4096u);
  EXPECT_EQ(SwitchPage::create(512).value().bytes(), 4096u);
  EXPECT_EQ(SwitchPage::create(513).value().bytes(), 8192u);
}

TEST(SwitchPageTest, TakesMemoryOnlyWhereThereAreStatistics) {
  auto page = SwitchPage::create(kStatistics).value();
  for (std::size_t i = 0; i < 1000; ++i) page.entries()[i].on = 1;
  struct stat state {};
  ASSERT_EQ(::fstat(page.fd(), &state), 0);
  EXPECT_LE(state.st_blocks * 512, 2 * 4096);
}

TEST(SwitchPageTest, NoFeederCanWriteShrinkGrowOrUnsealIt) {
  auto page = SwitchPage::create(1000).value();
  const int fd = page.fd_for_feeders();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(::pwrite(fd, "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(fd, 0), -1);
  EXPECT_EQ(::ftruncate(fd, 1 << 20), -1);
  EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(::mprotect(mapped, 4096, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(::madvise(mapped, 4096, MADV_REMOVE), -1);
  ::munmap(mapped, 4096);
  page.entries()[0].on = 1;
  EXPECT_EQ(map(page)[0].on, 1u) << "but we can";
}

TEST(SwitchPageTest, NeitherWeNorAFeederShrinksItByTheDescriptorOfTheNextServer) {
  auto page = SwitchPage::create(1000).value();
  EXPECT_EQ(::ftruncate(page.fd(), 0), -1);
  EXPECT_EQ(::ftruncate(page.fd(), 1 << 20), -1);
  EXPECT_EQ(::fcntl(page.fd(), F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST(SwitchPageTest, TheNextServerWritesTheSamePage) {
  Fd handed;
  const Switch* seen = nullptr;
  std::uint64_t bytes = 0;
  {
    auto page = SwitchPage::create(1000).value();
    page.entries()[3].on = 7;
    seen = map(page);
    bytes = page.bytes();
    handed = Fd(::dup(page.fd()));
  }
  EXPECT_FALSE(SwitchPage::adopt(Fd(::dup(handed.get())), bytes + 4096)) << "of another size";
  EXPECT_FALSE(SwitchPage::adopt(Fd(), bytes));
  auto next = SwitchPage::adopt(std::move(handed), bytes);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.value().entries()[3].on, 7u);
  next.value().entries()[3].on = 9;
  EXPECT_EQ(seen[3].on, 9u);
}

TEST(SwitchPageTest, IsNotAdoptedIfItCanShrink) {
  Fd file(::memfd_create("no page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
  EXPECT_FALSE(SwitchPage::adopt(std::move(file), 4096));
}

TEST(SwitchPageTest, StaysWithProcessesThatMappedItWhenTheDaemonEnds) {
  const Switch* seen = nullptr;
  {
    auto page = SwitchPage::create(10).value();
    seen = map(page);
    page.entries()[3].on = 1;
    const SwitchPage moved = std::move(page);
    EXPECT_EQ(moved.bytes(), 4096u);
  }
  EXPECT_EQ(seen[3].on, 1u);
}

TEST(SwitchPageTest, NoPageIsAnErrorAndNoCrash) { EXPECT_FALSE(SwitchPage::create(0)); }

}  // namespace
}  // namespace tallyfs
