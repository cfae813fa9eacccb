#include "core/tracing/branch/pending_records.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kEndOfTime = ~std::uint64_t{0};

class PendingRecordsTest : public testing::Test {
 protected:
  void put(EventSource& source, std::uint64_t time_ns, std::string_view bytes,
           std::span<const std::uint64_t> stack = {}) {
    pending_.put({.source = &source,
                  .use = 3,
                  .record = {.event = 5,
                             .time_ns = time_ns,
                             .cpu = 2,
                             .pid = 7,
                             .bytes = bytes,
                             .comm = "worker",
                             .stack = stack}});
  }
  std::vector<std::string> release(std::uint64_t until_ns = kEndOfTime) {
    std::vector<std::string> all;
    while (const auto* const first = pending_.front(until_ns)) {
      all.emplace_back(first->record.bytes);
      pending_.pop();
    }
    return all;
  }

  FakeSource kernel_, programs_;
  PendingRecords pending_;
};

TEST_F(PendingRecordsTest, ComeOutInTheOrderOfTheirTimesWhateverTheirSource) {
  put(kernel_, 10, "a");
  put(kernel_, 30, "c");
  put(programs_, 20, "b");
  put(programs_, 40, "d");
  EXPECT_EQ(pending_.first_ns(), 10u);
  EXPECT_EQ(release(20), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(pending_.first_ns(), 30u);
  put(programs_, 25, "late");
  EXPECT_EQ(release(), (std::vector<std::string>{"late", "c", "d"}));
  EXPECT_TRUE(pending_.is_empty());
  EXPECT_EQ(pending_.first_ns(), kEndOfTime);
}

TEST_F(PendingRecordsTest, OfTheSameTimeTheFirstThatCameIsFirst) {
  put(kernel_, 10, "a");
  put(programs_, 10, "b");
  put(kernel_, 10, "c");
  EXPECT_EQ(release(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(PendingRecordsTest, ShowAllThatTheRecordHad) {
  const std::vector<std::uint64_t> stack = {0x1010, 0x2020};
  put(kernel_, 10, std::string("x\0y", 3), stack);
  const auto* const first = pending_.front(10);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->source, &kernel_);
  EXPECT_EQ(first->use, 3u);
  EXPECT_EQ(first->record.event, 5u);
  EXPECT_EQ(first->record.time_ns, 10u);
  EXPECT_EQ(first->record.cpu, 2u);
  EXPECT_EQ(first->record.pid, 7);
  EXPECT_EQ(first->record.bytes, std::string("x\0y", 3));
  EXPECT_EQ(first->record.comm, "worker");
  EXPECT_EQ(std::vector(first->record.stack.begin(), first->record.stack.end()), stack);
}

TEST_F(PendingRecordsTest, MemoryIsGivenBackWhenTheyHaveGone) {
  const std::string large(PendingRecords::kChunkBytes * 2, 'x');
  put(kernel_, 1, large);
  EXPECT_GT(pending_.bytes(), large.size());
  for (std::uint64_t i = 0; i < 100'000; ++i) put(kernel_, 2 + i, "0123456789abcdef");
  EXPECT_GT(pending_.bytes(), 100'000u * 16);
  EXPECT_EQ(release().size(), 100'001u);
  EXPECT_LE(pending_.bytes(), PendingRecords::kChunkBytes) << "the chunk that is being filled";
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Times are the sender's. With a search for each one's place in a row these took minutes.
TEST_F(PendingRecordsTest, TimesThatGoBackCostNotMuchMoreThanThoseInOrder) {
  static constexpr std::uint64_t kRecords = 262'144;
  const auto seconds = [this](const auto& time_of) {
    const double begun = cpu_seconds();
    for (std::uint64_t i = 0; i < kRecords; ++i) put(programs_, time_of(i), "x");
    std::uint64_t last = 0, count = 0;
    while (const auto* const first = pending_.front(kEndOfTime)) {
      EXPECT_LE(last, first->record.time_ns);
      last = first->record.time_ns;
      pending_.pop();
      ++count;
    }
    EXPECT_EQ(count, kRecords);
    return cpu_seconds() - begun;
  };
  const double in_order = seconds([](std::uint64_t i) { return i; });
  const double backwards = seconds([](std::uint64_t i) { return kRecords - i; });
  EXPECT_LT(backwards, 60 * in_order);
}

// More of them than there are rows.
TEST_F(PendingRecordsTest, AnInstancesMarkersGoAndTheOthersStayInOrder) {
  const auto address = [](const int& of) { return reinterpret_cast<const TracingInstance*>(&of); };
  const int one = 1, other = 2;
  for (std::uint64_t i = 1'000; i > 0; --i) {
    pending_.put({.marked = address(i % 2 == 0 ? one : other), .record = {.time_ns = i}});
  }
  pending_.drop_markers(*address(one));
  EXPECT_EQ(pending_.size(), 500u);
  for (std::uint64_t i = 1; i < 1'000; i += 2) {
    const auto* const first = pending_.front(kEndOfTime);
    ASSERT_NE(first, nullptr);
    ASSERT_EQ(first->record.time_ns, i);
    EXPECT_EQ(first->marked, address(other));
    pending_.pop();
  }
  EXPECT_TRUE(pending_.is_empty());
}

// Beside a map, which is what they were kept in once: more rows than there may be.
TEST_F(PendingRecordsTest, AreAsAMapHasThemWhateverTheOrderInWhichTheyCome) {
  const char* const given = std::getenv("TALLY_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::printf("TALLY_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  std::multimap<std::uint64_t, std::string> model;
  std::vector<FakeSource> sources(5);
  for (int turn = 0; turn < 200; ++turn) {
    const std::uint64_t puts = random() % 200;
    for (std::uint64_t i = 0; i < puts; ++i) {
      const std::uint64_t time = static_cast<std::uint64_t>(turn) * 10 + random() % 1'000;
      const std::string bytes(random() % 3'000, static_cast<char>('a' + random() % 26));
      put(sources[random() % sources.size()], time, bytes);
      model.emplace(time, bytes);
    }
    const std::uint64_t until = static_cast<std::uint64_t>(turn) * 10 + random() % 900;
    std::vector<std::string> wanted;
    while (!model.empty() && model.begin()->first <= until) {
      wanted.push_back(std::move(model.begin()->second));
      model.erase(model.begin());
    }
    ASSERT_EQ(release(until), wanted);
    ASSERT_EQ(pending_.size(), model.size());
  }
}

}  // namespace
}  // namespace tallyfs::tracing
