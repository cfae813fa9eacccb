#include "core/wire/events.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "core/wire/binary.h"
#include "tests/unit/wire/golden.h"

namespace tallyfs::wire {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kNow(2'000'000'000);

// A datagram as the intake holds it: aligned.
class Received {
 public:
  explicit Received(std::string_view bytes) : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  Result<Message> message() {
    auto reader = DatagramReader::open({reinterpret_cast<char*>(words_.data()), size_});
    return reader.value().next().value();
  }
  char* bytes() { return reinterpret_cast<char*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

std::string told(const EventRecord& record) {
  std::string text = std::to_string(record.event) + "@" + std::to_string(record.time_ns) + " cpu" +
                     std::to_string(record.cpu) + " pid" + std::to_string(record.pid) + " '" +
                     std::string(record.bytes) + "' '" + std::string(record.comm) + "'";
  for (const std::uint64_t frame : record.stack) text += " " + std::to_string(frame);
  return text;
}

std::string told(PackedEvents packed, std::size_t at_once = 2) {
  std::vector<EventRecord> scratch(at_once);
  std::string text;
  for (auto some = packed.unpack(scratch, kNow); !some.empty();
       some = packed.unpack(scratch, kNow)) {
    for (const EventRecord& record : some) text += told(record) + "\n";
  }
  return packed.broken() ? text + "broken\n" : text;
}

const std::array<std::uint64_t, 2> kStack = {11, 12};
const std::array<EventRecord, 3> kRecords = {
    EventRecord{.event = 375, .time_ns = 1'000, .cpu = 1, .pid = 7, .bytes = "12345678abc"},
    EventRecord{.event = 376, .time_ns = 1'001, .pid = -1, .bytes = "x", .comm = "cat"},
    EventRecord{.event = 375, .time_ns = 1'002, .cpu = 255, .bytes = "", .stack = kStack}};

// As the worked example `events` of FORMAT.md has it.
TEST(EventsTest, TheWorkedExampleIsWhatTheWriterWrites) {
  const std::string fields("\x77\1\0\0\7\0\0\0\xff\xff\xff\xff", 12);
  const std::array<std::uint64_t, 1> stack = {0xffffffff81000010};
  const std::array source = {EventRecord{.event = 375,
                                         .time_ns = 1'000'000'001,
                                         .cpu = 1,
                                         .pid = 7,
                                         .bytes = fields,
                                         .comm = "cat",
                                         .stack = stack}};
  const std::string seven("\7\0\0\0\0\0\0\0", 8);
  const std::array user = {EventRecord{.time_ns = 1'000'000'002, .pid = 9, .bytes = seven}};
  DatagramWriter writer(0x1122334455667788);
  writer.offer({.id = 375, .system = "sched", .format = "name: x\n"});
  writer.source_records(source);
  writer.user_records(0x100000005, user);
  writer.lost_events(12);
  EXPECT_EQ(writer.bytes(), golden_datagrams().at("events"));
}

TEST(EventsTest, RecordsComeBackAsTheyWereWritten) {
  DatagramWriter writer(0);
  writer.source_records(kRecords);
  Received received(writer.bytes());
  const auto packed = std::get<PackedEvents>(received.message().value());
  EXPECT_EQ(packed.number(), std::nullopt);
  const std::string all =
      "375@1000 cpu1 pid7 '12345678abc' ''\n"
      "376@1001 cpu0 pid-1 'x' 'cat'\n"
      "375@1002 cpu255 pid0 '' '' 11 12\n";
  EXPECT_EQ(told(packed), all);
  EXPECT_EQ(told(packed, 1), all);
}

TEST(EventsTest, RecordsOfAUsersEventHaveItsNumber) {
  DatagramWriter writer(0);
  const std::array records = {EventRecord{.time_ns = 5, .pid = 9, .bytes = "12345678"}};
  writer.user_records(0x100000005, records);
  Received received(writer.bytes());
  const auto packed = std::get<PackedEvents>(received.message().value());
  EXPECT_EQ(packed.number(), 0x100000005u);
  EXPECT_EQ(told(packed), "0@5 cpu0 pid9 '12345678' ''\n");
}

TEST(EventsTest, WhatIsAppendedOneByOneIsTheSameMessage) {
  DatagramWriter at_once(0);
  at_once.source_records(kRecords);
  std::string packed;
  for (const EventRecord& record : kRecords) append_record(packed, record);
  DatagramWriter one_by_one(0);
  one_by_one.packed_source_records(packed);
  EXPECT_EQ(one_by_one.bytes(), at_once.bytes());
}

TEST(EventsTest, NoRecordIsLaterThanItsArrival) {
  DatagramWriter writer(0);
  const std::array records = {EventRecord{.event = 1, .time_ns = 3'000'000'000}};
  writer.source_records(records);
  Received received(writer.bytes());
  EXPECT_EQ(told(std::get<PackedEvents>(received.message().value())),
            "1@2000000000 cpu0 pid0 '' ''\n");
}

TEST(EventsTest, NoRecordIsOlderThanADayOrLaterThanItsArrival) {
  constexpr std::chrono::nanoseconds now = std::chrono::hours(100);
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  const std::array records = {EventRecord{.event = 1, .time_ns = 0},
                              EventRecord{.event = 1, .time_ns = 77 * kHour},
                              EventRecord{.event = 1, .time_ns = std::uint64_t{1} << 63},
                              EventRecord{.event = 1, .time_ns = UINT64_MAX}};
  DatagramWriter writer(0);
  writer.source_records(records);
  Received received(writer.bytes());
  std::array<EventRecord, 4> scratch;
  auto packed = std::get<PackedEvents>(received.message().value());
  const auto read = packed.unpack(scratch, now);
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[0].time_ns, 76 * kHour);
  EXPECT_EQ(read[1].time_ns, 77 * kHour);
  EXPECT_EQ(read[2].time_ns, 100 * kHour);
  EXPECT_EQ(read[3].time_ns, 100 * kHour);
}

TEST(EventsTest, ARecordThatReachesBeyondItsMessageIsRefusedAndThoseBeforeAreNot) {
  struct Damage {
    std::size_t at;  // in the second record
    char byte;
  };
  // Its bytes are 9; its name has 17 bytes; it has a frame.
  for (const auto& [at, byte] : {Damage{20, 9}, Damage{22, 17}, Damage{23, 1}}) {
    DatagramWriter writer(0);
    const std::array records = {EventRecord{.event = 1, .bytes = "12345678"},
                                EventRecord{.event = 2, .bytes = "12345678"}};
    writer.source_records(records);
    Received received(writer.bytes());
    constexpr std::size_t kSecond = kHeaderBytes + kMessageHeaderBytes + 32;
    received.bytes()[kSecond + at] = byte;
    EXPECT_EQ(told(std::get<PackedEvents>(received.message().value())),
              "1@0 cpu0 pid0 '12345678' ''\nbroken\n")
        << at;
  }
}

TEST(EventsTest, AUsersRecordNamesNoEventOfASource) {
  DatagramWriter writer(0);
  const std::array records = {EventRecord{.event = 4}};
  writer.user_records(1, records);
  Received received(writer.bytes());
  EXPECT_EQ(told(std::get<PackedEvents>(received.message().value())), "broken\n");
}

TEST(EventsTest, AnOfferComesBackAsItWasWritten) {
  DatagramWriter writer(0);
  writer.offer({.id = 375, .system = "sched", .format = "name: x\n"});
  Received received(writer.bytes());
  const auto offered = std::get<OfferedEvent>(received.message().value());
  EXPECT_EQ(offered.id, 375u);
  EXPECT_EQ(offered.system, "sched");
  EXPECT_EQ(offered.format, "name: x\n");
}

TEST(EventsTest, LostRecordsComeBackAsTheyWereWritten) {
  DatagramWriter writer(0);
  writer.lost_events(12);
  Received received(writer.bytes());
  EXPECT_EQ(std::get<LostEvents>(received.message().value()).records, 12u);
}

TEST(EventsTest, MalformedOffersAndNumbersAreRefused) {
  EXPECT_FALSE(read_offered_event(1, "12345678"));
  EXPECT_FALSE(read_offered_event(0, ""));
  EXPECT_FALSE(read_offered_event(0, std::string_view("\1\0\0\0\xff\0\0\0\0\0\0\0", 12)));
  EXPECT_FALSE(read_lost_events(0, "1234"));
  EXPECT_FALSE(read_lost_events(1, "12345678"));
  EXPECT_FALSE(read_records(kUserRecords, 0, {}));
  EXPECT_FALSE(read_records(kSourceRecords, 1, {}));
}

}  // namespace
}  // namespace tallyfs::wire
