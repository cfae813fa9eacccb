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

constexpr std::uint64_t kStatistics = 524'288;

// As a feeder maps it.
const Switch* map(const SwitchPage& page) {
  void* const mapped = ::mmap(nullptr, page.bytes(), PROT_READ, MAP_SHARED, page.fd(), 0);
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

TEST(SwitchPageTest, NobodyCanWriteShrinkGrowOrUnsealIt) {
  auto page = SwitchPage::create(1000).value();
  // Opened anew, for writing: what a feeder of our uid may try.
  const Fd again(
      ::open(("/proc/self/fd/" + std::to_string(page.fd())).c_str(), O_RDWR | O_CLOEXEC));
  for (const int fd : {page.fd(), again.get()}) {
    if (fd < 0) continue;
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    EXPECT_EQ(::pwrite(fd, "x", 1, 0), -1);
    EXPECT_EQ(::ftruncate(fd, 0), -1);
    EXPECT_EQ(::ftruncate(fd, 1 << 20), -1);
    EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
    EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(::mprotect(mapped, 4096, PROT_READ | PROT_WRITE), -1);
    ::munmap(mapped, 4096);
  }
  page.entries()[0].on = 1;
  EXPECT_EQ(map(page)[0].on, 1u) << "but we can";
}

TEST(SwitchPageTest, StaysWithThoseWhoMappedItWhenTheDaemonEnds) {
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
