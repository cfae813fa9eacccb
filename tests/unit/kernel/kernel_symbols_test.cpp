#include "feeders/kernel/kernel_symbols.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

constexpr const char* kText =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffffa0000000 t ext4_sync\t[ext4]\n"
    "ffffffff81000100 t schedule\n"
    "0000000000000000 A fixed_percpu_data\n"
    "not a line\n";

std::string told(const Symbols::Place& place) {
  return place.name + "+" + std::to_string(place.offset) + "/" + std::to_string(place.size) +
         (place.module.empty() ? "" : " [" + place.module + "]");
}

TEST(KernelSymbolsTest, AnAddressBelongsToTheSymbolBeforeIt) {
  const auto symbols = KernelSymbols::parse(kText);
  EXPECT_EQ(told(symbols.place(0xffffffff81000100)), "schedule+0/520093440");
  EXPECT_EQ(told(symbols.place(0xffffffff81000110)), "schedule+16/520093440");
  EXPECT_EQ(told(symbols.place(0xffffffffa0000008)), "ext4_sync+8/0 [ext4]");
}

TEST(KernelSymbolsTest, OfSeveralForOneAddressItIsTheFirst) {
  EXPECT_EQ(told(KernelSymbols::parse(kText).place(0xffffffff81000004)), "_stext+4/256");
}

TEST(KernelSymbolsTest, BeforeTheFirstThereIsNone) {
  EXPECT_EQ(KernelSymbols::parse(kText).place(0x1000).name, "");
  EXPECT_EQ(KernelSymbols::parse("").place(~0ull).name, "");
}

TEST(KernelSymbolsTest, AUserThatMayNotSeeAddressesHasNone) {
  EXPECT_TRUE(
      KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 T schedule\n").empty());
}

}  // namespace
}  // namespace tallyfs
