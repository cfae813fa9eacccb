// Pages of traced records that several readers take at the same time.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/tracing/trace/built_in_formats.h"
#include "feeders/tracefs/ring_page.h"
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {
namespace {

using Times = std::vector<std::uint64_t>;

class TracingPagesTest : public TracingTest {
 protected:
  // Room for all records of a test.
  TracingPagesTest() : TracingTest({}, {.set = {.trace_bytes_max = 16 << 20}}) {}

  // The times of the page's records.
  static Times times_of(const std::string& bytes) {
    static const PageFormat format = parse_page_format(kRingPageFormat).value();
    auto page = RingPage::open(format, bytes).value();
    EXPECT_EQ(page.lost(), 0u);
    Times times;
    while (const auto record = page.next()) times.push_back(record->time_ns);
    return times;
  }
  // Takes pages until there are no more and no more come.
  Times take_all(const std::atomic<bool>& is_fed) {
    const auto pages = stream("per_cpu/cpu0/trace_pipe_raw");
    Times taken;
    for (;;) {
      const bool was_fed = is_fed;
      const std::string page = pages->next(now_);
      if (!page.empty()) {
        const Times times = times_of(page);
        taken.insert(taken.end(), times.begin(), times.end());
      } else if (was_fed) {
        return taken;
      } else {
        std::this_thread::yield();
      }
    }
  }
  void feed_at(std::uint64_t time_ns) {
    const std::string bytes(16, '\0');
    const EventRecord record{.event = kWaking, .time_ns = time_ns, .pid = 1, .bytes = bytes};
    tracing_.feed(kernel_, {&record, 1}, now_);
  }

  const Timestamp now_ = clock_.now();
};

TEST_F(TracingPagesTest, ConcurrentReadersTakeEachRecordOnceAndInOrder) {
  constexpr std::uint64_t kRecords = 20'000;
  ASSERT_TRUE(offer(kernel_, "sched_waking", kWaking));
  ASSERT_TRUE(write("events/sched/sched_waking/enable", "1"));
  std::atomic<bool> is_fed = false;
  Times taken[3];
  std::vector<std::thread> readers;
  for (Times& of_one : taken) readers.emplace_back([&] { of_one = take_all(is_fed); });
  for (std::uint64_t time_ns = 1; time_ns <= kRecords; ++time_ns) feed_at(time_ns);
  is_fed = true;
  for (std::thread& each : readers) each.join();
  Times all;
  for (const Times& of_one : taken) {
    EXPECT_TRUE(std::ranges::is_sorted(of_one));
    all.insert(all.end(), of_one.begin(), of_one.end());
  }
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), kRecords);
  for (std::uint64_t i = 0; i < kRecords; ++i) ASSERT_EQ(all[i], i + 1);
}

}  // namespace
}  // namespace tallyfs::tracing
