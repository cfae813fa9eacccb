#include "core/wire/refused_samples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tallyfs::wire {
namespace {

std::string message_of(std::uint16_t kind, std::uint16_t flags, std::size_t length) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(kind);
  out.put(flags);
  out.put(static_cast<std::uint32_t>(length));
  return bytes.append(length, 'x');
}

TEST(RefusedSamplesTest, EachOfARefusedMessageCounts) {
  const struct {
    std::uint16_t flags;
    std::size_t length;
    std::uint64_t samples;
  } cases[] = {{kWithY, 16'016, 1000}, {kWithTime, 16'016, 1000},
               {kFull, 24'016, 1000},  {kFull, 24'024, 1000},
               {4, 16'008, 1000},      {4 | kFull, 32'008, 1000},
               {0x8000, 16'016, 1000}, {kWithY, 16, 1},
               {kXOnly, 0, 1},         {4, 8, 1}};
  for (const auto& each : cases) {
    const std::string sent = std::string(DatagramWriter(1).bytes()) +
                             message_of(kSamplesKind, each.flags, each.length) + "behind";
    std::vector<std::uint64_t> aligned(sent.size() / 8 + 1);
    std::memcpy(aligned.data(), sent.data(), sent.size());
    auto reader =
        DatagramReader::open({reinterpret_cast<char*>(aligned.data()), sent.size()}).value();
    const auto before = reader.rest();
    EXPECT_FALSE(reader.next()->has_value()) << each.flags;
    EXPECT_EQ(refused_samples(before), each.samples) << each.flags << ' ' << each.length;
  }
}

TEST(RefusedSamplesTest, OfAWrongLengthOrAnotherKindNothingIsKnown) {
  EXPECT_EQ(refused_samples({}), 1u);
  const std::string other = message_of(2, 0, 4000),
                    cut = message_of(kSamplesKind, 0, 4000).substr(0, 90);
  EXPECT_EQ(refused_samples(other), 1u);
  EXPECT_EQ(refused_samples(cut), 1u);
}

}  // namespace
}  // namespace tallyfs::wire
