#include "core/wire/binary.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <vector>

#include "core/base/bytes.h"
#include "tests/unit/wire/golden.h"

namespace tallyfs::wire {
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

constexpr std::uint64_t kEpoch = 0x1122334455667788;
constexpr std::uint64_t kReused = 0x100000005;
constexpr std::string_view kReason = "no such interface";
constexpr Task kTask{.pid = 10, .priority = 19, .name = {'r', 't'}};
constexpr Task kIdle{.name = {'s', 'w', 'a', 'p', 'p', 'e', 'r', '/', '1'}};
constexpr std::array kWakeupAndSwitch = {KernelEvent{.time_ns = 1'000'000'001,
                                                     .kind = KernelEventKind::kWakeup,
                                                     .cpu = 1,
                                                     .task = kTask,
                                                     .previous = {.priority = 120}},
                                         KernelEvent{.time_ns = 1'000'004'097,
                                                     .kind = KernelEventKind::kSwitch,
                                                     .cpu = 1,
                                                     .task = kTask,
                                                     .previous = kIdle}};
constexpr LatencySample kLatency{
    .latency_ns = 5'000, .time_ns = 1'000'000'001, .cpu = 1, .task = kTask};

// Of a template "T" with a VOI "x", u32, SUM, as the worked example has it.
std::string blob_of_t() {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(std::uint16_t{0x0101});  // ABI 1, little-endian
  out.put(std::uint16_t{0});
  for (int i = 0; i < 2; ++i) out.put(std::uint16_t{60});
  out.put(std::uint32_t{2074500719});
  out.put(std::uint16_t{40});
  out.put(std::uint16_t{56});
  for (int i = 0; i < 2; ++i) out.put(std::uint64_t{0});
  out.put(std::uint64_t{0x0000'0028'0102'0000});  // the VOI; a vacant slot; SUM
  out.put(std::uint64_t{0x0000'0000'0000'00FF});
  out.put(std::uint64_t{0x0000'0004'0038'0201});
  out.put(std::uint32_t{0});
  return bytes;
}

TEST(FormatTest, TheWorkedExamplesAreWhatTheWriterWrites) {
  const auto golden = golden_datagrams();
  EXPECT_EQ(golden.size(), 8u);
  DatagramWriter writer(kEpoch);
  const std::array samples = {Sample{.x = 5, .y = 2}, Sample{.x = -1, .y = 2}};
  writer.samples(7, samples, kWithY);
  writer.request(1, "attach web/hits");
  EXPECT_EQ(writer.bytes(), golden.at("samples-and-request"));
  writer.clear(kEpoch);
  writer.response({.sequence = 1, .number = 7});
  EXPECT_EQ(writer.bytes(), golden.at("answer"));
  writer.clear(kEpoch);
  const std::array full = {Sample{.x = -9, .y = 3, .time = nanoseconds(1'000'000'001)}};
  const std::array timed = {Sample{.x = 1, .time = nanoseconds(1'000'000'001)},
                            Sample{.x = 2, .time = nanoseconds(1'000'000'002)}};
  writer.samples(kReused, full, kFull);
  writer.samples(kReused, timed, kWithTime);
  writer.samples(7, timed, kXOnly);
  writer.dropped(12);
  EXPECT_EQ(writer.bytes(), golden.at("all-records"));
  writer.clear(kEpoch);
  writer.response({.sequence = 2, .number = kReused, .made = Made::kWasThere});
  writer.response({.sequence = 3, .error = 2, .at = 7, .reason = kReason});
  EXPECT_EQ(writer.bytes(), golden.at("answers"));
  writer.clear(kEpoch);
  std::string blob = blob_of_t();
  writer.define_template({.sequence = 4, .name = "T", .blob = blob, .voi_names = {"x"}});
  blob[56] = 7;
  writer.blob(kReused, blob);
  EXPECT_EQ(writer.bytes(), golden.at("template-and-blob"));
  writer.clear(kEpoch);
  writer.response({.sequence = 5, .number = 3, .text = ":2074500719=10"});
  EXPECT_EQ(writer.bytes(), golden.at("rates"));
  writer.clear(kEpoch);
  writer.kernel_events(kWakeupAndSwitch);
  writer.latencies("my_section", {&kLatency, 1});
  EXPECT_EQ(writer.bytes(), golden.at("latencies"));
}

TEST(FormatTest, TheDecimalsOfAStatisticAreInItsFlags) {
  DatagramWriter writer(kEpoch);
  writer.response({.sequence = 1, .number = 7, .made = Made::kWasThere, .decimals = 9});
  std::string bytes(writer.bytes());
  EXPECT_EQ(bytes[kHeaderBytes + 3], 9);
  const auto read = [&]() -> std::optional<Response> {
    alignas(8) std::array<char, 64> buffer{};
    std::ranges::copy(bytes, buffer.begin());
    auto reader = DatagramReader::open(std::span(buffer).first(bytes.size())).value();
    const auto message = reader.next();
    if (!message || !*message) return std::nullopt;
    return std::get<Response>(message->value());
  };
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->decimals, 9);
  bytes[kHeaderBytes + 3] = 10;
  EXPECT_FALSE(read());
}

// One after the other, the messages of a datagram of this epoch.
class Messages {
 public:
  explicit Messages(std::string_view datagram)
      : buffer_(datagram), reader_(DatagramReader::open(buffer_.bytes()).value()) {
    EXPECT_EQ(reader_.epoch(), kEpoch);
  }
  template <typename Kind>
  Kind next() {
    return std::get<Kind>(reader_.next().value().value());
  }
  bool at_end() { return !reader_.next(); }

 private:
  Buffer buffer_;
  DatagramReader reader_;
};

// (X, Y, time) of each sample, taken in at 2 s.
std::vector<std::array<std::int64_t, 3>> records(const PackedSamples& packed) {
  std::vector<std::array<std::int64_t, 3>> all;
  for (const Sample& sample : unpack_all(packed, nanoseconds(2'000'000'000))) {
    all.push_back({sample.x, static_cast<std::int64_t>(sample.y), sample.time.count()});
  }
  return all;
}

TEST(FormatTest, TheWorkedExamplesOfFeedersAreReadAsTheySay) {
  using Records = std::vector<std::array<std::int64_t, 3>>;
  constexpr std::int64_t kNow = 2'000'000'000;
  const auto golden = golden_datagrams();
  Messages first(golden.at("samples-and-request"));
  const auto two = first.next<PackedSamples>();
  EXPECT_EQ(two.number(), 7u);
  EXPECT_EQ(records(two), (Records{{5, 2, kNow}, {-1, 2, kNow}}));
  const auto request = first.next<Request>();
  EXPECT_EQ(request.sequence, 1u);
  EXPECT_EQ(request.text, "attach web/hits");
  EXPECT_TRUE(first.at_end());

  Messages all(golden.at("all-records"));
  const auto full = all.next<PackedSamples>();
  EXPECT_EQ(full.number(), kReused);
  EXPECT_EQ(records(full), (Records{{-9, 3, 1'000'000'001}}));
  const auto timed = all.next<PackedSamples>();
  EXPECT_EQ(timed.number(), kReused);
  EXPECT_EQ(records(timed), (Records{{1, 1, 1'000'000'001}, {2, 1, 1'000'000'002}}));
  const auto bare = all.next<PackedSamples>();
  EXPECT_EQ(bare.number(), 7u);
  EXPECT_EQ(records(bare), (Records{{1, 1, kNow}, {2, 1, kNow}}));
  EXPECT_EQ(all.next<Dropped>().samples, 12u);
  EXPECT_TRUE(all.at_end());
}

TEST(FormatTest, TheWorkedExamplesOfLatenciesAreReadAsTheySay) {
  const auto golden = golden_datagrams();
  Messages messages(golden.at("latencies"));
  const auto events = messages.next<KernelEvents>().events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::memcmp(events.data(), kWakeupAndSwitch.data(), sizeof kWakeupAndSwitch), 0);
  const auto latencies = messages.next<Latencies>();
  EXPECT_EQ(latencies.name, "my_section");
  ASSERT_EQ(latencies.latencies.size(), 1u);
  EXPECT_EQ(std::memcmp(latencies.latencies.data(), &kLatency, sizeof kLatency), 0);
  EXPECT_TRUE(messages.at_end());
}

TEST(FormatTest, ARequestSaysWhetherAPersonHasWrittenIt) {
  for (const Door door : {Door::kPerson, Door::kProgram}) {
    DatagramWriter writer(kEpoch);
    writer.request(1, "create web/us", door);
    Messages messages(writer.bytes());
    EXPECT_EQ(messages.next<Request>().door, door);
    EXPECT_TRUE(messages.at_end());
  }
}

TEST(FormatTest, TheWorkedExamplesOfAnswersAreReadAsTheySay) {
  const auto golden = golden_datagrams();
  Messages one(golden.at("answer"));
  const auto done = one.next<Response>();
  EXPECT_EQ(done.sequence, 1u);
  EXPECT_EQ(done.error, 0u);
  EXPECT_EQ(done.number, 7u);
  EXPECT_EQ(done.made, Made::kNew);
  EXPECT_TRUE(one.at_end());

  Messages two(golden.at("answers"));
  const auto there = two.next<Response>();
  EXPECT_EQ(there.sequence, 2u);
  EXPECT_EQ(there.number, kReused);
  EXPECT_EQ(there.made, Made::kWasThere);
  const auto refused = two.next<Response>();
  EXPECT_EQ(refused.sequence, 3u);
  EXPECT_EQ(refused.error, 2u);
  EXPECT_EQ(refused.number, 0u);
  EXPECT_EQ(refused.made, Made::kNew);
  EXPECT_EQ(refused.at, 7u);
  EXPECT_EQ(refused.reason, kReason);
  EXPECT_TRUE(two.at_end());
}

TEST(FormatTest, TheWorkedExamplesOfStatsAreReadAsTheySay) {
  const auto golden = golden_datagrams();
  Messages both(golden.at("template-and-blob"));
  const auto given = both.next<Template>();
  EXPECT_EQ(given.sequence, 4u);
  EXPECT_EQ(given.name, "T");
  EXPECT_EQ(given.blob, blob_of_t());
  EXPECT_EQ(given.voi_names, std::vector<std::string_view>{"x"});
  const auto blob = both.next<PackedBlob>();
  EXPECT_EQ(blob.number, kReused);
  EXPECT_EQ(blob.bytes.size(), 64u) << "60 and the padding";
  EXPECT_EQ(blob.bytes[56], 7);
  EXPECT_TRUE(both.at_end());
  Messages one(golden.at("rates"));
  const auto rates = one.next<Response>();
  EXPECT_EQ(rates.number, 3u);
  EXPECT_EQ(rates.text, ":2074500719=10");
  EXPECT_EQ(rates.made, Made::kNew);
}

// What a template must not be.
TEST(BinaryTest, ATemplateWithMoreNamesThanItHasIsRefused) {
  for (const std::uint32_t names : {2u, 8193u, 0xFFFFFFFFu}) {
    DatagramWriter writer(kEpoch);
    writer.define_template({.sequence = 4, .name = "T", .blob = "", .voi_names = {"x"}});
    std::string datagram(writer.bytes());
    std::memcpy(datagram.data() + kHeaderBytes + kMessageHeaderBytes + 4, &names, sizeof names);
    Buffer buffer(datagram);
    EXPECT_FALSE(DatagramReader::open(buffer.bytes()).value().next().value()) << names;
  }
}

TEST(BinaryTest, ReasonsOfAllLengthsComeBackAndTheLongestAreCut) {
  for (const std::size_t length : {0u, 1u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 5000u}) {
    const std::string reason(length, 'x');
    DatagramWriter writer(kEpoch);
    writer.response({.sequence = 1, .error = 22, .reason = reason});
    writer.response({.sequence = 2});
    EXPECT_EQ(writer.size() % 8, 0u);
    Messages messages(writer.bytes());
    const auto refused = messages.next<Response>();
    EXPECT_EQ(refused.reason, reason.substr(0, kReasonBytesMax));
    EXPECT_EQ(refused.at, Response::kNowhere);
    EXPECT_EQ(messages.next<Response>().sequence, 2u);
  }
}

// What a message of responses or drops must not be; what comes behind it is read all the same.
TEST(BinaryTest, MalformedAnswersAndDropsAreRefused) {
  const auto message = [](std::uint16_t kind, std::uint16_t flags,
                          const std::vector<std::uint64_t>& words) {
    std::string bytes;
    ByteWriter out(bytes);
    out.put(kind);
    out.put(flags);
    out.put(static_cast<std::uint32_t>(8 * words.size()));
    for (const std::uint64_t word : words) out.put(word);
    return bytes;
  };
  constexpr std::uint64_t kError = 2ull << 32;
  for (const std::string& bad :
       {message(3, 2, {1, 7}), message(3, 0, {1}), message(3, 0, {1, 7, 0}),
        message(3, 0, {kError | 1, 0}), message(3, 0, {kError | 1, 0, 9ull << 32, 0}),
        message(3, 0, {kError | 1, 0, 8ull << 32, 0, 0}), message(4, 0, {}), message(4, 1, {12}),
        message(4, 0, {12, 0}), message(7, 0, {1}), message(7, 1, {}), message(8, 0, {}),
        message(8, 0, {1, 0, 0, 0, 0, 0, 0}), message(8, 0, {9ull << 32, 0}),
        message(8, 0, {1ull << 32, 0, 0}), message(8, 2, {1ull << 32, 0})}) {
    DatagramWriter writer(kEpoch);
    std::string datagram(writer.bytes());
    datagram += bad + message(4, 0, {5});
    Buffer buffer(datagram);
    auto reader = DatagramReader::open(buffer.bytes()).value();
    const auto refused = reader.next().value();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(std::get<Dropped>(reader.next().value().value()).samples, 5u);
  }
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

TEST(BinaryTest, NoSampleIsLaterThanItsArrivalOrADayOlder) {
  using std::chrono_literals::operator""h;
  const std::array written = {Sample{.time = nanoseconds::min()}, Sample{.time = nanoseconds(0)},
                              Sample{.time = 77h}, Sample{.time = 101h},
                              Sample{.time = nanoseconds::max()}};
  const nanoseconds wanted[] = {76h, 76h, 77h, 100h, 100h};
  for (const auto fields : {kWithTime, kFull}) {
    DatagramWriter writer(1);
    writer.samples(5, written, fields);
    Buffer buffer(writer.bytes());
    const auto message = DatagramReader::open(buffer.bytes()).value().next();
    const auto read = unpack_all(std::get<PackedSamples>(message->value()), 100h);
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].time, wanted[i]) << i;
  }
}

TEST(BinaryTest, ABadMessageIsRefusedAndThoseBehindItAreRead) {
  DatagramWriter writer(1);
  writer.request(0, "attach a/b");  // sequence 0
  writer.response({.sequence = 3, .number = 4});
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
  std::string whole;
  for (const auto& [name, datagram] : golden_datagrams()) {
    whole = whole.empty() ? datagram : whole + datagram.substr(kHeaderBytes);
  }
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(
        0, round < 400 ? static_cast<std::size_t>(round) : random() % (whole.size() + 1));
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
      } else if (const auto* response = std::get_if<Response>(&message->value())) {
        ASSERT_LE(response->reason.size(), damaged.size());
      }
    }
  }
}

}  // namespace
}  // namespace tallyfs::wire
