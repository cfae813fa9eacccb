#include "core/tracing/print/pointer_hash.h"

#include <gtest/gtest.h>

namespace tallyfs::tracing {
namespace {

constexpr PointerHash::Key kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(PointerHashTest, IsSipHashOfEightBytes) {
  // The test vector of the paper for the bytes 0 to 7.
  EXPECT_EQ(sip_hash(kKey, 0x0706050403020100), 0x93f5f5799a932462);
}

TEST(PointerHashTest, Shows32BitsOfAnAddress) {
  const PointerHash hash(kKey);
  EXPECT_EQ(hash.shown(0x0706050403020100), 0x9a932462u);
  EXPECT_EQ(hash.shown(0xffffc90004543b58), hash.shown(0xffffc90004543b58));
  EXPECT_LE(hash.shown(0xffffc90004543b58), 0xffffffffu);
}

TEST(PointerHashTest, ShowsAsItIsWhatIsNoAddress) {
  const PointerHash hash(kKey);
  EXPECT_EQ(hash.shown(0), 0u);
  EXPECT_EQ(hash.shown(static_cast<std::uint64_t>(-12)), static_cast<std::uint64_t>(-12));
  EXPECT_EQ(hash.shown(static_cast<std::uint64_t>(-4095)), static_cast<std::uint64_t>(-4095));
  EXPECT_LE(hash.shown(static_cast<std::uint64_t>(-4096)), 0xffffffffu);
}

TEST(PointerHashTest, HasAKeyOfItsOwnEachTime) {
  EXPECT_NE(PointerHash::make_random().shown(0x1000), PointerHash::make_random().shown(0x1000));
}

}  // namespace
}  // namespace tallyfs::tracing
