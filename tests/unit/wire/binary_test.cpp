#include "core/wire/binary.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

namespace tally::wire {
namespace {

using std::chrono::nanoseconds;

// Datagrams as the intake holds them: aligned, and theirs to change.
class Buffer {
 public:
  explicit Buffer(std::string_view bytes) : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  std::span<char> bytes() { return {reinterpret_cast<char*>(words_.data()), size_}; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

std::vector<Sample> unpack_all(PackedSamples packed, nanoseconds now, std::size_t at_once = 3) {
  std::vector<Sample> scratch(at_once);
  std::vector<Sample> all;
  for (auto some = packed.unpack(scratch, now); !some.empty(); some = packed.unpack(scratch, now)) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// The fenced blocks ```golden of FORMAT.md, as bytes.
std::vector<std::string> golden_datagrams() {
  std::ifstream file(TALLY_SOURCE_DIR "/core/wire/FORMAT.md");
  std::vector<std::string> datagrams;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line.starts_with("```golden ");
      if (inside) datagrams.emplace_back();
    } else if (inside) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        datagrams.back().push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
      }
    }
  }
  return datagrams;
}

TEST(FormatTest, TheWorkedExampleIsWhatTheWriterWrites) {
  const auto golden = golden_datagrams();
  ASSERT_EQ(golden.size(), 4u);
  DatagramWriter writer(0x1122334455667788);
  const std::array samples = {Sample{.x = 5, .y = 2}, Sample{.x = -1, .y = 2}};
  writer.samples(7, samples, kWithY);
  writer.request(1, "attach web/hits");
  EXPECT_EQ(writer.bytes(), golden[0]);
  writer.clear(0x1122334455667788);
  writer.answer({.sequence = 1, .number = 7});
  EXPECT_EQ(writer.bytes(), golden[1]);
}

TEST(FormatTest, TheWorkedExampleIsReadAsItSays) {
  const auto golden = golden_datagrams();
  ASSERT_EQ(golden.size(), 4u);
  Buffer buffer(golden[0]);
  auto reader = DatagramReader::open(buffer.bytes());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader.value().epoch(), 0x1122334455667788u);
  const auto first = reader.value().next();
  ASSERT_TRUE(first && *first);
  const auto& packed = std::get<PackedSamples>(first->value());
  EXPECT_EQ(packed.number(), 7u);
  const auto samples = unpack_all(packed, nanoseconds(99));
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].x, 5);
  EXPECT_EQ(samples[1].x, -1);
  EXPECT_EQ(samples[1].y, 2u);
  EXPECT_EQ(samples[1].time, nanoseconds(99));
  const auto second = reader.value().next();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ(std::get<Request>(second->value()).text, "attach web/hits");
  EXPECT_EQ(std::get<Request>(second->value()).sequence, 1u);
  EXPECT_FALSE(reader.value().next());
}

TEST(BinaryTest, EveryCombinationOfFieldsComesBackAsItWasWritten) {
  const std::vector<Sample> written = {{.x = 1, .y = 9, .time = nanoseconds(10)},
                                       {.x = -2, .y = 8, .time = nanoseconds(20)},
                                       {.x = 3, .y = 7, .time = nanoseconds(30)},
                                       {.x = -4, .y = 6, .time = nanoseconds(40)}};
  for (const auto fields : {kXOnly, kWithY, kWithTime, kFull}) {
    DatagramWriter writer(1);
    writer.samples(5, written, fields);
    Buffer buffer(writer.bytes());
    auto reader = DatagramReader::open(buffer.bytes());
    const auto message = reader.value().next();
    const auto read = unpack_all(std::get<PackedSamples>(message->value()), nanoseconds(1000));
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].x, written[i].x);
      EXPECT_EQ(read[i].y, fields & kWithY ? written[i].y : 1);
      EXPECT_EQ(read[i].time, fields & kWithTime ? written[i].time : nanoseconds(1000));
    }
  }
}

TEST(BinaryTest, NoSampleIsLaterThanItsArrival) {
  for (const auto fields : {kWithTime, kFull}) {
    DatagramWriter writer(1);
    writer.samples(5, std::array{Sample{.x = 1, .time = nanoseconds(500)}}, fields);
    Buffer buffer(writer.bytes());
    const auto message = DatagramReader::open(buffer.bytes()).value().next();
    EXPECT_EQ(unpack_all(std::get<PackedSamples>(message->value()), nanoseconds(400))[0].time,
              nanoseconds(400));
  }
}

TEST(BinaryTest, ABadMessageIsRefusedAndThoseBehindItAreRead) {
  DatagramWriter writer(1);
  writer.request(0, "attach a/b");  // sequence 0
  writer.answer({.sequence = 3, .number = 4});
  Buffer buffer(writer.bytes());
  auto reader = DatagramReader::open(buffer.bytes());
  EXPECT_FALSE(reader.value().next()->has_value());
  EXPECT_TRUE(reader.value().next()->has_value());
  EXPECT_FALSE(reader.value().next());
}

TEST(BinaryTest, EveryPrefixAndRandomDamageOfADatagramEndsInErrorsOnly) {
  const char* given = std::getenv("TALLY_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  SCOPED_TRACE("TALLY_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string whole = golden_datagrams()[0];
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(
        0, round < 200 ? static_cast<std::size_t>(round) : random() % (whole.size() + 1));
    for (unsigned i = random() % 4; i > 0 && !damaged.empty(); --i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    Buffer buffer(damaged);
    auto reader = DatagramReader::open(buffer.bytes());
    if (!reader) continue;
    std::size_t messages = 0;
    while (const auto message = reader.value().next()) {
      ASSERT_LE(++messages, damaged.size() / kMessageHeaderBytes + 1);
      if (!*message) continue;
      if (const auto* packed = std::get_if<PackedSamples>(&message->value())) {
        ASSERT_LE(unpack_all(*packed, nanoseconds(1)).size(), damaged.size() / 8);
      }
    }
  }
}

}  // namespace
}  // namespace tally::wire
