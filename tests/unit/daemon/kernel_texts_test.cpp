#include "fs/daemon/kernel_feeder/kernel_texts.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(KernelTextsTest, AreFoundByTheirAddresses) {
  const std::string lines =
      "0xffffffff8281a3f9 : \"preempt_rcu\"\n"
      "0xffffffff8281a405 : \"a \\\"b\\\" \\\\ c\\n\\td\"\n"
      "0xffffffff8281a411 : \"\"\n";
  const KernelTexts texts(lines);
  EXPECT_EQ(texts.at(0xffffffff8281a3f9), "preempt_rcu");
  EXPECT_EQ(texts.at(0xffffffff8281a405), "a \"b\" \\ c\n\td");
  EXPECT_EQ(texts.at(0xffffffff8281a411), "");
  EXPECT_FALSE(texts.at(0xffffffff8281a3fa));
  EXPECT_EQ(texts.printk_formats(), lines);
}

TEST(KernelTextsTest, OtherLinesArePassedOver) {
  const KernelTexts texts("junk\n0x1 : \"\n0x2 : two\n : \"x\"\n0xzz : \"z\"\n\n0x3 : \"three\"");
  for (const std::uint64_t address : {0UL, 1UL, 2UL}) EXPECT_FALSE(texts.at(address)) << address;
  EXPECT_EQ(texts.at(3), "three");
  EXPECT_FALSE(KernelTexts().at(0));
}

}  // namespace
}  // namespace tallyfs
