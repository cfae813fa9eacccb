// Traced records that are taken out as pages of the kernel's ring buffer.
#include <string>
#include <vector>

#include "core/tracing/trace/built_in_formats.h"
#include "feeders/tracefs/ring_page.h"
#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

constexpr auto kTrace = TraceStore::Buffer::kTrace;
constexpr auto kSnapshot = TraceStore::Buffer::kSnapshot;

class TracePageTest : public EventFixture {
 protected:
  struct Page {
    std::uint64_t lost = 0;
    std::vector<std::uint64_t> times_us;
    std::vector<std::string> records;
  };

  TracePageTest() { EXPECT_TRUE(set.switches.write(waking, "1")); }

  Page take(std::uint32_t of_cpu, TraceStore::Buffer buffer = kTrace) {
    static const PageFormat format = parse_page_format(kRingPageFormat).value();
    Page taken;
    const bool is_there = set.trace.has_records(buffer, of_cpu);
    PageCopy copied;
    set.trace.take_page(buffer, of_cpu, copied);
    const std::string bytes = copied.encode();
    EXPECT_EQ(bytes.empty(), !is_there);
    if (bytes.empty()) return taken;
    auto page = RingPage::open(format, bytes).value();
    taken.lost = page.lost();
    while (const auto record = page.next()) {
      taken.times_us.push_back(record->time_ns / 1000);
      taken.records.emplace_back(record->payload.begin(), record->payload.end());
    }
    return taken;
  }
  void feed_on(std::uint32_t on_cpu, std::uint64_t time_us) {
    cpu = on_cpu;
    feed(waking, time_us, {{"comm", "wget"}, {"pid", 7}});
  }
  using Times = std::vector<std::uint64_t>;
};

TEST_F(TracePageTest, TakesTheRecordsOfOneCpuInOrder) {
  for (std::uint64_t i = 0; i < 10; ++i) feed_on(i % 2, 100 + i);
  EXPECT_EQ(take(1).times_us, (Times{101, 103, 105, 107, 109}));
  EXPECT_EQ(take(1).times_us, Times{});
  feed_on(1, 120);
  EXPECT_EQ(take(1).times_us, Times{120}) << "goes on behind what was taken";
  EXPECT_EQ(take(0).times_us, (Times{100, 102, 104, 106, 108}));
  EXPECT_EQ(take(2).times_us, Times{});
  EXPECT_TRUE(set.trace.is_empty());
}

TEST_F(TracePageTest, TakesEachRecordOnceAsAPageOrAsText) {
  for (std::uint64_t i = 0; i < 4; ++i) feed_on(i % 2, 100 + i);
  EXPECT_EQ(take(1).times_us, (Times{101, 103}));
  const std::string text = set.trace.copy().render(NoSymbols());
  EXPECT_NE(text.find("entries-written: 2/2"), text.npos) << text;
  EXPECT_EQ(text.find("[001]"), text.npos) << text;
  EXPECT_NE(set.trace.copy().render_stats(1, 0).find("read events: 2\n"), text.npos);
  const std::string rest = set.trace.take(1 << 20).render(NoSymbols(), {.header = false});
  EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), 2) << rest;
  EXPECT_EQ(take(0).times_us, Times{});
}

TEST_F(TracePageTest, TakesTheRecordsOfOneCpuAsText) {
  for (std::uint64_t i = 0; i < 6; ++i) feed_on(i % 2, 100 + i);
  const auto text = [this](std::size_t bytes_max, std::uint32_t of_cpu) {
    return set.trace.take(bytes_max, of_cpu).render(NoSymbols(), {.header = false});
  };
  const std::string first = text(1, 1);
  EXPECT_NE(first.find(" 0.000101: "), first.npos) << first;
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1) << "one record alone";
  const std::string rest = text(1 << 20, 1);
  EXPECT_NE(rest.find(" 0.000103: "), rest.npos) << rest;
  EXPECT_NE(rest.find(" 0.000105: "), rest.npos) << rest;
  EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), 2) << rest;
  EXPECT_EQ(text(1 << 20, 1), "");
  EXPECT_EQ(text(1 << 20, 7), "");
  EXPECT_FALSE(set.trace.has_records(kTrace, 1));
  EXPECT_NE(set.trace.copy().render_stats(1, 0).find("entries: 0\n"), std::string::npos);
  EXPECT_NE(set.trace.copy().render_stats(1, 0).find("read events: 3\n"), std::string::npos);
  EXPECT_EQ(take(0).times_us, (Times{100, 102, 104}));
  EXPECT_TRUE(set.trace.is_empty());
  EXPECT_EQ(set.trace.kept_bytes(), 0u);
}

TEST_F(TracePageTest, ClearsASnapshotOfOneCpu) {
  for (std::uint64_t i = 0; i < 4; ++i) feed_on(i % 2, 100 + i);
  set.trace.clear_snapshot(0);
  set.trace.take_snapshot();
  set.trace.clear_snapshot(0);
  EXPECT_EQ(take(0, kSnapshot).times_us, Times{});
  EXPECT_EQ(take(1, kSnapshot).times_us, (Times{101, 103}));
}

TEST_F(TracePageTest, RemembersTheTasksOfWhatWasTaken) {
  pid = 7, comm = "first";
  feed_on(0, 1);
  pid = 8, comm = "second";
  feed_on(1, 2);
  pid = 9, comm = "third";
  feed_on(2, 3);
  const auto names = [this](std::size_t max) {
    return set.trace.copy().render_saved_cmdlines(set.trace.taken_names(), max);
  };
  EXPECT_EQ(names(10), "7 first\n8 second\n9 third\n");
  (void)take(1);
  EXPECT_EQ(names(10), "7 first\n8 second\n9 third\n");
  EXPECT_EQ(names(2), "7 first\n9 third\n") << "those taken are the oldest";
  (void)set.trace.take(1 << 20);
  EXPECT_EQ(names(10), "7 first\n8 second\n9 third\n");
  pid = 8, comm = "renamed";
  feed_on(1, 4);
  (void)take(1);
  EXPECT_EQ(names(1), "8 renamed\n");
}

TEST_F(TracePageTest, BoundsTheNamesThatItRemembers) {
  TaskNames names;
  for (std::int32_t i = 0; i < 20'000; ++i) names.note(i, "task");
  names.note(19'999, "");
  EXPECT_EQ(names.all().size(), TaskNames::kNamesMax);
  EXPECT_EQ(names.all().front().pid, 20'000 - static_cast<std::int32_t>(TaskNames::kNamesMax));
}

TEST_F(TracePageTest, GivesRecordsAsTheirFormatSays) {
  const EventNumber own = set.events.define_fields("web", "request u64 ms; char[8] host").value();
  ASSERT_TRUE(set.switches.write(own, "1"));
  cpu = 0;
  pid = 77;
  feed(own, 1, {{"ms", 12}, {"host", "here"}});
  const auto page = take(0);
  ASSERT_EQ(page.records.size(), 1u);
  const EventFormat& format = set.events.format(own);
  EXPECT_EQ(read_raw<std::uint16_t>(page.records[0].data()), format.id);
  EXPECT_EQ(read_raw<std::uint64_t>(page.records[0].data() + format.field("ms").value().offset),
            12u);
  EXPECT_EQ(page.records[0].substr(format.field("host").value().offset, 5),
            std::string("here\0", 5));
}

TEST_F(TracePageTest, EndsMarkersAsTheKernelDoes) {
  const EventNumber marker = set.events.define_built_in("ftrace", kPrintFormat).value();
  std::string bytes(16, '\0');
  set.feed({.event = marker, .time_ns = 1, .bytes = bytes.append("abc")});
  const EventNumber raw = set.events.define_built_in("ftrace", kRawDataFormat).value();
  std::string data(8, '\0');
  set.feed({.event = raw, .time_ns = 2, .bytes = data.append("IIIIabc")});
  const auto page = take(0);
  ASSERT_EQ(page.records.size(), 2u);
  EXPECT_EQ(page.records[0].substr(16), std::string("abc\n\0\0\0\0", 8));
  EXPECT_EQ(page.records[1].substr(8), std::string("IIIIabc\0", 8));
  EXPECT_EQ(read_raw<std::uint16_t>(page.records[0].data()), 5u);
  EXPECT_EQ(read_raw<std::uint16_t>(page.records[1].data()), 16u);
}

TEST_F(TracePageTest, GivesStacksAsTheKernelDoes) {
  trigger(kmalloc, "stacktrace:1");
  stack = {0x10, 0x20};
  pid = 9;
  feed(kmalloc, 1, {});
  const auto page = take(0);
  ASSERT_EQ(page.records.size(), 1u);
  const std::string& record = page.records[0];
  ASSERT_EQ(record.size(), 32u);
  EXPECT_EQ(read_raw<std::uint16_t>(record.data()), kKernelStackId);
  EXPECT_EQ(read_raw<std::int32_t>(record.data() + 4), 9);
  EXPECT_EQ(read_raw<std::int32_t>(record.data() + 8), 2);
  EXPECT_EQ(read_raw<std::uint64_t>(record.data() + 24), 0x20u);
}

TEST_F(TracePageTest, TellsHowManyRecordsGaveWay) {
  set.trace.resize(16 * 1024);
  for (std::uint64_t i = 0; i < 1000; ++i) feed_on(0, i);
  const Page first = take(0);
  ASSERT_FALSE(first.times_us.empty());
  EXPECT_EQ(first.lost, first.times_us.front());
  for (std::uint64_t next = first.times_us.back() + 1; next < 1000;) {
    const Page page = take(0);
    ASSERT_FALSE(page.times_us.empty());
    EXPECT_EQ(page.lost, 0u);
    EXPECT_EQ(page.times_us.front(), next);
    next = page.times_us.back() + 1;
  }
  EXPECT_EQ(take(0).times_us, Times{});
}

TEST_F(TracePageTest, BeginsAPageBehindAGap) {
  feed_on(0, 1);
  set.trace.add_gap(2000, 1);
  feed_on(0, 3);
  const Page before = take(0);
  EXPECT_EQ(before.times_us, Times{1});
  EXPECT_EQ(before.lost, 0u);
  const Page behind = take(0);
  EXPECT_EQ(behind.times_us, Times{3});
  EXPECT_EQ(behind.lost, 1u) << "an unknown number";
  set.trace.add_gap(4000, 1);
  EXPECT_EQ(take(0).times_us, Times{}) << "a gap alone is no page";
  feed_on(0, 5);
  EXPECT_EQ(take(0).lost, 1u);
}

TEST_F(TracePageTest, CountsRecordsThatNoPageHasRoomFor) {
  const EventNumber big = set.events.define_fields("web", "big char[] text").value();
  ASSERT_TRUE(set.switches.write(big, "1"));
  feed_on(0, 1);
  feed(big, 2, {{"text", std::string(5000, 'x')}});
  feed_on(0, 3);
  EXPECT_EQ(take(0).times_us, Times{1});
  const Page behind = take(0);
  EXPECT_EQ(behind.times_us, Times{3});
  EXPECT_EQ(behind.lost, 1u);
  EXPECT_NE(set.trace.copy().render_stats(0, 0).find("dropped events: 1\n"), std::string::npos);
}

TEST_F(TracePageTest, TakesSnapshotsOnTheirOwn) {
  EXPECT_FALSE(set.trace.has_records(kSnapshot, 0));
  feed_on(0, 1);
  set.trace.take_snapshot();
  feed_on(0, 2);
  EXPECT_EQ(take(0, kSnapshot).times_us, Times{1});
  EXPECT_EQ(take(0, kSnapshot).times_us, Times{});
  EXPECT_EQ(take(0).times_us, Times{2});
}

// While records come, are taken and give way, every record of a CPU is taken once and in order, or
// is told as lost.
TEST_F(TracePageTest, MissesNothingWhileTheBufferTurns) {
  set.trace.resize(64 * 1024);
  constexpr std::uint32_t kCpus = 3;
  std::uint64_t fed[kCpus] = {}, seen[kCpus] = {};
  std::uint64_t state = 88172645463325252;  // xorshift: the same run each time
  const auto random = [&state] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto on = static_cast<std::uint32_t>(random() % kCpus);
    feed_on(on, ++fed[on]);
    if (random() % 100 != 0) continue;
    const auto from = static_cast<std::uint32_t>(random() % kCpus);
    const Page page = take(from);
    if (page.times_us.empty()) continue;
    ASSERT_EQ(page.times_us.front(), seen[from] + page.lost + 1);
    ASSERT_EQ(page.times_us.back() - page.times_us.front() + 1, page.times_us.size());
    seen[from] = page.times_us.back();
  }
  for (std::uint32_t from = 0; from < kCpus; ++from) {
    for (Page page = take(from); !page.times_us.empty(); page = take(from)) {
      ASSERT_EQ(page.times_us.front(), seen[from] + page.lost + 1);
      seen[from] = page.times_us.back();
    }
    EXPECT_EQ(seen[from], fed[from]);
  }
  EXPECT_TRUE(set.trace.is_empty());
}

}  // namespace
}  // namespace tallyfs::tracing
