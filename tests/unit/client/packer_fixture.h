// A buffer that is packed by hand, and what the daemon would read of the datagrams.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "core/base/near_time.h"
#include "core/wire/binary.h"
#include "feeders/client/packer.h"
#include "thread_buffer_fixture.h"

namespace tallyfs {

inline constexpr std::uint64_t kEpoch = 0x1122334455667788;

// A sample as the daemon gets it.
struct Told {
  std::uint64_t number = 0;
  std::int64_t x = 0;
  std::uint64_t y = 1;
  std::int64_t ns = 0;

  bool operator==(const Told&) const = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << told.number << ": x=" << told.x << " y=" << told.y << " ns=" << told.ns;
  }
};

// A message of samples as it stands in the datagram.
struct Packet {
  std::uint64_t number = 0;
  std::vector<Told> samples;
};

inline std::vector<Packet> runs_of(std::string_view datagram) {
  std::vector<std::uint64_t> words((datagram.size() + 7) / 8);
  std::memcpy(words.data(), datagram.data(), datagram.size());
  auto reader =
      wire::DatagramReader::open(std::span(reinterpret_cast<char*>(words.data()), datagram.size()));
  EXPECT_TRUE(reader);
  EXPECT_EQ(reader.value().epoch(), kEpoch);
  std::vector<Packet> runs;
  while (auto message = reader.value().next()) {
    EXPECT_TRUE(*message);
    auto& packed = std::get<wire::PackedSamples>(message->value());
    Packet& run = runs.emplace_back();
    run.number = packed.number();
    std::array<Sample, 16> scratch;
    // Times of less than a day stay as they are.
    for (auto some = packed.unpack(scratch, kNearMax); !some.empty();
         some = packed.unpack(scratch, kNearMax)) {
      for (const Sample& sample : some) {
        run.samples.push_back({packed.number(), sample.x, sample.y, sample.time.count()});
      }
    }
  }
  return runs;
}

inline std::vector<Told> all_of(std::string_view datagram) {
  std::vector<Told> all;
  for (const Packet& run : runs_of(datagram)) {
    all.insert(all.end(), run.samples.begin(), run.samples.end());
  }
  return all;
}

class PackerFixture : public testing::Test {
 protected:
  FedStatistic& numbered(std::uint64_t number) {
    FedStatistic& made = statistics_.emplace_back();
    made.number = number;
    made.registration = Registration::kRegistered;
    return made;
  }
  FedStatistic& unknown() { return statistics_.emplace_back(); }
  FedStatistic& refused() {
    FedStatistic& made = statistics_.emplace_back();
    made.registration = Registration::kRefused;
    return made;
  }
  void add(FedStatistic& statistic, std::int64_t x, std::uint64_t y = 1, std::uint64_t ns = 0) {
    buffer_->append(UnsentSample(statistic, x, y, at_ns(ns)));
  }
  void add_many(FedStatistic& statistic, int samples, std::uint64_t y = 1) {
    for (int i = 0; i < samples; ++i) add(statistic, i, y);
  }
  void make_void(const FedStatistic& statistic) {
    const MutexLock lock(buffer_->mutex());
    buffer_->make_void(&statistic);
  }
  Packed pack() { return pack(at(0, INT64_MAX)); }
  Packed pack(const SampleTimes& times) {
    const MutexLock lock(buffer_->mutex());
    return tallyfs::pack(*buffer_, times, kEpoch);
  }
  // It is `ns`, and so many cycles of a nanosecond.
  static SampleTimes at(std::uint64_t cycles, std::int64_t ns) {
    const auto begun = static_cast<std::uint64_t>(ns);
    return {.line = {.cycles = cycles, .ns = begun, .rate = std::uint64_t{1} << 32}, .now_ns = ns};
  }

  std::deque<FedStatistic> statistics_;
  BufferPointer buffer_ = make_buffer(8192);
};

}  // namespace tallyfs
