#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "core/lane/ring_reader.h"
#include "core/lane/ring_writer.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kRingWords = kRingBytesMin / 8;

// A lane file that has one ring of the smallest size, at the beginning of the heap.
class RingFixture {
 public:
  RingFixture() : lines_((kLaneHeapAt + kRingBytesMin) / sizeof(Line)) {
    writer_ = RingWriter({.begin = bytes() + kLaneHeapAt,
                          .bytes = kRingBytesMin,
                          .entry = &entry_,
                          .tail = &tail_});
    reader_ = open(place());
  }

  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  std::byte* bytes() { return reinterpret_cast<std::byte*>(lines_.data()); }
  std::size_t size() const { return lines_.size() * sizeof(Line); }
  static std::uint64_t place() { return std::uint64_t{kRingBytesMin} << 32 | kLaneHeapAt; }
  std::optional<RingReader> open(std::uint64_t ring, std::uint64_t position = 0) {
    return RingReader::open({bytes(), size()}, ring, position);
  }
  std::atomic<std::uint64_t>& word(std::uint64_t position) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(bytes() + kLaneHeapAt)[position];
  }
  bool put(std::int64_t x) {
    if (!writer_.has_room(2) && writer_.look() == RingWriter::Room::kNone) return false;
    writer_.put(1, 0, x, 1, 0);
    return true;
  }
  // All that can be taken now, and says so to the writer.
  std::vector<RingRecord> take() {
    const std::uint64_t head = entry_.head.load(std::memory_order_acquire);
    std::vector<RingRecord> all;
    if (!reader_->accept(head)) return all;
    std::array<RingRecord, 100> some;
    for (;;) {
      const auto taken = reader_->take(head, some);
      all.insert(all.end(), some.begin(), some.begin() + static_cast<long>(taken.records));
      bad_ += taken.is_bad ? 1 : 0;
      if (taken.records < some.size()) break;
    }
    tail_.position.store(reader_->position(), std::memory_order_release);
    return all;
  }

  std::vector<Line> lines_;
  LaneEntry entry_{};
  LaneTail tail_{};
  RingWriter writer_;
  std::optional<RingReader> reader_;
  int bad_ = 0;
};

TEST(RingTest, RecordsHaveWhatTheyNeed) {
  RingFixture fixture;
  EXPECT_EQ(fixture.writer_.look(), RingWriter::Room::kThere);
  fixture.writer_.put(1, 0, -5, 77, 88);
  fixture.writer_.put(2, kRecordY, 6, 7, 88);
  fixture.writer_.put(3, kRecordCycles, 8, 77, 9);
  fixture.writer_.put(65'535, kRecordY | kRecordNs, INT64_MIN, UINT64_MAX, 10);
  const auto all = fixture.take();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(fixture.entry_.head, 2u + 3 + 3 + 4);
  EXPECT_EQ(all[0].id, 1u);
  EXPECT_EQ(all[0].x, -5);
  EXPECT_EQ(all[0].y, 1u);
  EXPECT_EQ(all[1].y, 7u);
  EXPECT_EQ(all[2].time, 9u);
  EXPECT_EQ(all[2].follows, kRecordCycles);
  EXPECT_EQ(all[3].id, 65'535u);
  EXPECT_EQ(all[3].x, INT64_MIN);
  EXPECT_EQ(all[3].y, UINT64_MAX);
  EXPECT_EQ(all[3].time, 10u);
}

TEST(RingTest, TellsWhenHalfIsUsedAndOnceOnly) {
  RingFixture fixture;
  int bells = 0;
  std::uint64_t puts = 0;
  for (;; ++puts) {
    if (!fixture.writer_.has_room(2)) {
      const auto room = fixture.writer_.look();
      if (room == RingWriter::Room::kNone) break;
      if (room == RingWriter::Room::kBell) {
        ++bells;
        EXPECT_GE(puts * 2 + kRecordWordsMax, kRingWords / 2);
        EXPECT_LE(puts * 2, kRingWords / 2);
      }
    }
    fixture.writer_.put(1, 0, 1, 1, 0);
  }
  EXPECT_EQ(bells, 1);
  EXPECT_GE(puts * 2 + kRecordWordsMax, kRingWords - kRecordWordsMax);
  EXPECT_EQ(fixture.take().size(), puts);
  EXPECT_EQ(fixture.writer_.look(), RingWriter::Room::kThere);
  EXPECT_FALSE(fixture.bad_);
}

TEST(RingTest, AFullRingIsNotOverwritten) {
  RingFixture fixture;
  std::int64_t next = 0;
  std::int64_t taken = 0;
  for (int round = 0; round < 20; ++round) {
    while (fixture.put(next)) ++next;
    EXPECT_FALSE(fixture.put(next));
    for (const RingRecord& each : fixture.take()) ASSERT_EQ(each.x, taken++);
    EXPECT_EQ(taken, next);
  }
  EXPECT_EQ(fixture.bad_, 0);
}

TEST(RingTest, OpensOnlyWhatLiesInTheFile) {
  RingFixture fixture;
  EXPECT_TRUE(fixture.open(fixture.place()));
  for (const std::uint64_t bytes : {0u, 4096u, kRingBytesMin + 8, 3 * kRingBytesMin / 2,
                                    2 * kRingBytesMin, 2 * kRingBytesMax, 0xffff'ffffu}) {
    EXPECT_FALSE(fixture.open(bytes << 32 | kLaneHeapAt)) << bytes;
  }
  for (const std::uint64_t at : {0u, kLaneHeapAt - 64, kLaneHeapAt + 8, kLaneHeapAt + 64,
                                 static_cast<std::uint32_t>(fixture.size()), 0xffff'ffc0u}) {
    EXPECT_FALSE(fixture.open(std::uint64_t{kRingBytesMin} << 32 | at)) << at;
  }
}

TEST(RingTest, SkipsToAHeadThatCannotBe) {
  RingFixture fixture;
  ASSERT_TRUE(fixture.put(1));
  for (const std::uint64_t head : {std::uint64_t{kRingWords + 1}, UINT64_MAX, UINT64_MAX - 1,
                                   std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_FALSE(fixture.reader_->accept(head)) << head;
    EXPECT_EQ(fixture.reader_->position(), head);
    EXPECT_TRUE(fixture.reader_->accept(head));
    std::array<RingRecord, 4> some;
    EXPECT_EQ(fixture.reader_->take(head, some).records, 0u);
  }
}

TEST(RingTest, SkipsWhatIsNoRecord) {
  constexpr std::array kBadHeads = {
      std::uint64_t{0},
      record_head(1, 1, 0),
      record_head(1, 3, 0),
      record_head(1, 2, kRecordY),
      record_head(1, 4, kRecordCycles | kRecordNs),
      record_head(1, 5, kRecordY | kRecordCycles | kRecordNs),
      record_head(1, 3, 8),
      record_head(kLaneIdsMax, 2, 0),
      record_head(1, 2, 0) | std::uint64_t{1} << 48,
      record_head(1, 4, kRecordY | kRecordNs),  // beyond the head
      UINT64_MAX,
  };
  for (const std::uint64_t bad : kBadHeads) {
    RingFixture fixture;
    ASSERT_TRUE(fixture.put(5));
    ASSERT_TRUE(fixture.put(6));
    fixture.word(2) = bad;
    const auto all = fixture.take();
    ASSERT_EQ(all.size(), 1u) << bad;
    EXPECT_EQ(all[0].x, 5);
    EXPECT_EQ(fixture.bad_, 1);
    ASSERT_TRUE(fixture.put(7));
    ASSERT_EQ(fixture.take().size(), 1u) << "and goes on behind it";
  }
}

TEST(RingTest, ATailThatNoDaemonWritesLeavesNoRoom) {
  RingFixture fixture;
  ASSERT_TRUE(fixture.put(1));
  for (const std::uint64_t tail : {std::uint64_t{3}, UINT64_MAX, std::uint64_t{1} << 62}) {
    fixture.tail_.position = tail;
    EXPECT_EQ(fixture.writer_.look(), RingWriter::Room::kNone);
    EXPECT_FALSE(fixture.writer_.has_room(2));
  }
  fixture.tail_.position = 2;
  EXPECT_EQ(fixture.writer_.look(), RingWriter::Room::kThere);
}

TEST(RingTest, NothingIsLostOrTornWhileAThreadWritesConcurrently) {
  constexpr std::int64_t kSamples = 500'000;
  RingFixture fixture;
  std::thread thread([&] {
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const auto y = static_cast<std::uint64_t>(i) * 3;
      while (!fixture.writer_.has_room(4) && fixture.writer_.look() == RingWriter::Room::kNone) {
        std::this_thread::yield();
      }
      if (i % 3 == 0) {
        fixture.writer_.put(1, 0, i, y, 0);
      } else {
        fixture.writer_.put(2, kRecordY | kRecordNs, i, y, y + 1);
      }
    }
  });
  std::int64_t next = 0;
  while (next < kSamples) {
    for (const RingRecord& each : fixture.take()) {
      ASSERT_EQ(each.x, next);
      const auto y = static_cast<std::uint64_t>(next) * 3;
      ASSERT_EQ(each.y, next % 3 == 0 ? 1 : y);
      ASSERT_EQ(each.time, next % 3 == 0 ? 0 : y + 1);
      ++next;
    }
  }
  thread.join();
  EXPECT_EQ(fixture.bad_, 0);
}

// Any bytes, which change while they are read.
TEST(RingTest, ARingOfAnyBytesIsReadConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  RingFixture fixture;
  std::atomic<bool> ends{false};
  std::thread thread([&] {
    std::mt19937_64 random(seed);
    while (!ends) {
      const std::uint64_t at = random() % kRingWords;
      const auto words = static_cast<std::uint32_t>(random() % 6);
      const auto follows = static_cast<std::uint32_t>(random() % 8);
      const bool is_alike = random() % 4 != 0;
      fixture.word(at) = is_alike ? record_head(1, words, follows) : random();
      if (random() % 16 == 0) fixture.entry_.head += random() % 64;
      if (random() % 4096 == 0) fixture.entry_.head = random() >> random() % 64;
    }
  });
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t head = fixture.entry_.head;
    const std::uint64_t before = fixture.reader_->position();
    if (!fixture.reader_->accept(head)) continue;
    std::array<RingRecord, 64> some;
    const auto taken = fixture.reader_->take(head, some);
    ASSERT_LE(fixture.reader_->position() - before, kRingWords);
    ASSERT_LE(fixture.reader_->position(), head);
    for (std::size_t k = 0; k < taken.records; ++k) ASSERT_LT(some[k].id, kLaneIdsMax);
  }
  ends = true;
  thread.join();
}

}  // namespace
}  // namespace tallyfs
