// Pages that are written are read back by the reader of the kernel's pages.
#include "core/tracing/trace/page_writer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/tracing/trace/built_in_formats.h"
#include "feeders/tracefs/ring_page.h"

namespace tallyfs::tracing {
namespace {

using Records = std::vector<std::pair<std::uint64_t, std::string>>;

const PageFormat& format() {
  static const PageFormat page = parse_page_format(kRingPageFormat).value();
  return page;
}

Records read_all(const std::string& bytes) {
  auto page = RingPage::open(format(), bytes).value();
  Records records;
  while (const auto record = page.next()) {
    records.emplace_back(record->time_ns,
                         std::string(record->payload.begin(), record->payload.end()));
  }
  EXPECT_FALSE(page.broken());
  return records;
}

bool add(PageWriter& writer, std::uint64_t time_ns, const std::string& bytes) {
  char* const to = writer.add(time_ns, bytes.size());
  if (to) bytes.copy(to, bytes.size());
  return to != nullptr;
}

// The page with these records, which must fit.
std::string page_of(const Records& records) {
  PageWriter writer;
  for (const auto& [time_ns, bytes] : records) EXPECT_TRUE(add(writer, time_ns, bytes));
  return writer.finish();
}

std::uint64_t lost_before(const std::string& page) {
  return RingPage::open(format(), page).value().lost();
}

TEST(PageWriterTest, HasTheSizesThatItsDescriptionTells) {
  EXPECT_EQ(format().page_bytes(), PageWriter::kPageBytes);
  EXPECT_EQ(format().data.offset, PageWriter::kHeadBytes);
  EXPECT_EQ(page_of({}).size(), PageWriter::kPageBytes);
  EXPECT_EQ(read_all(page_of({})), Records{});
}

TEST(PageWriterTest, GivesBackWhatWasWritten) {
  const Records records{{1000, "aaaa"}, {1000, "bbbbbbbb"}, {1007, std::string(112, 'c')}};
  EXPECT_EQ(read_all(page_of(records)), records);
}

TEST(PageWriterTest, PadsRecordsToWordsWithZeros) {
  EXPECT_EQ(read_all(page_of({{1, "a"}, {2, "bbbbb"}})),
            (Records{{1, std::string("a\0\0\0", 4)}, {2, std::string("bbbbb\0\0\0", 8)}}));
}

TEST(PageWriterTest, GivesLongRecordsASizeOfTheirOwn) {
  const Records records{{1, std::string(116, 'a')}, {2, std::string(3000, 'b')}};
  EXPECT_EQ(read_all(page_of(records)), records);
}

TEST(PageWriterTest, ExtendsTimesBeyond27BitsAndGoesBack) {
  const Records records{{1ull << 40, "aaaa"},
                        {(1ull << 40) + (1 << 27) - 1, "bbbb"},
                        {(1ull << 40) + (1 << 28), "cccc"},
                        {1ull << 58, "dddd"},
                        {(1ull << 58) - 1, "eeee"},
                        {5, "ffff"}};
  EXPECT_EQ(read_all(page_of(records)), records);
}

TEST(PageWriterTest, KeepsTheUpperBitsOfTheTime) {
  const std::uint64_t top = 1ull << 60;
  const Records records{{top + 9, "aaaa"}, {top + 3, "bbbb"}};
  EXPECT_EQ(read_all(page_of(records)), records);
  PageWriter writer;
  ASSERT_TRUE(add(writer, top, "aaaa"));
  EXPECT_FALSE(add(writer, top - 1, "bbbb")) << "no entry of a page can say so";
  EXPECT_TRUE(add(writer, top, "cccc"));
}

TEST(PageWriterTest, FillsThePageToItsLastByte) {
  const Records whole{{1, std::string(PageWriter::kRecordBytesMax, 'a')}};
  EXPECT_EQ(read_all(page_of(whole)), whole);
  PageWriter writer;
  EXPECT_FALSE(add(writer, 1, std::string(PageWriter::kRecordBytesMax + 1, 'a')));
  Records records;
  while (add(writer, records.size(), "aaaa")) records.emplace_back(records.size(), "aaaa");
  EXPECT_EQ(records.size(), 4080u / 8);
  EXPECT_EQ(read_all(writer.finish()), records);
}

TEST(PageWriterTest, TellsWhatIsMissing) {
  const auto lost = [](PageRoom::Missing missing, std::size_t bytes) {
    PageWriter writer;
    writer.miss(missing);
    EXPECT_TRUE(add(writer, 1, std::string(bytes, 'a')));
    const std::string page = writer.finish();
    EXPECT_EQ(read_all(page).size(), 1u);
    return lost_before(page);
  };
  EXPECT_EQ(lost({}, 4), 0u);
  EXPECT_EQ(lost({.number = 12'345}, 4), 12'345u);
  EXPECT_EQ(lost({.number = 12'345, .is_at_least = true}, 4), 1u) << "some";
  EXPECT_EQ(lost({.number = 12'345}, PageWriter::kRecordBytesMax), 1u) << "no room for the number";
}

TEST(PageWriterTest, KeepsRoomForTheNumberOfMissingRecords) {
  PageWriter writer;
  writer.miss({.number = 7});
  std::size_t records = 0;
  while (add(writer, records, "aaaa")) ++records;
  EXPECT_EQ(records, 4072u / 8);
  EXPECT_EQ(lost_before(writer.finish()), 7u);
}

TEST(PageWriterTest, GivesBackAnyRecords) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    PageWriter writer;
    Records records;
    for (std::uint64_t time_ns = random();;) {
      const std::string bytes(4 * (1 + random() % (random() % 8 == 0 ? 300 : 30)),
                              static_cast<char>('a' + random() % 26));
      if (!add(writer, time_ns, bytes)) break;
      records.emplace_back(time_ns, bytes);
      time_ns += std::uint64_t{random()} >> random() % 32;
    }
    EXPECT_FALSE(records.empty());
    EXPECT_EQ(read_all(writer.finish()), records);
  }
}

}  // namespace
}  // namespace tallyfs::tracing
