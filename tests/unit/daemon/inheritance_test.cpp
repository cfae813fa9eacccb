#include "fs/daemon/inheritance.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tallyfs {
namespace {

Inheritance inheritance_of_all() {
  Inheritance all;
  all.handover = 3;
  all.handed_state = 4;
  all.mount = 5;
  all.sock_diag = 6;
  all.feeder = 7;
  all.state = 8;
  all.socket.fd = 9;
  all.socket.lock = 10;
  all.socket.path = "/run/a socket\nwith 3:all";
  all.socket.bound = std::pair<dev_t, ino_t>(11, 12);
  all.socket.made_directory = true;
  all.socket.queue_length = 512;
  all.watchdog = {{13, 4711}, {14, 4712}};
  all.owner = {.uid = 15, .gid = 16};
  all.descriptors_in = 17;
  all.descriptors_out = 18;
  all.kept = 19;
  all.has_terminal = true;
  all.mount_point = "/mnt 1:x";
  all.rules_file = "/etc/tallyfs/rules";
  all.formats = "32:1 33:1";
  return all;
}

TEST(InheritanceTest, IsReadAsItWasWritten) {
  const auto text = to_text(inheritance_of_all());
  const auto read = parse_inheritance(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(read.value()), text);
  EXPECT_EQ(read.value().purpose, Inheritance::Purpose::kGoOn);
  EXPECT_EQ(read.value().socket.path, "/run/a socket\nwith 3:all");
  EXPECT_EQ(read.value().socket.bound, (std::pair<dev_t, ino_t>(11, 12)));
  EXPECT_EQ(read.value().socket.queue_length, 512u);
  EXPECT_EQ(read.value().mount_point, "/mnt 1:x");
  EXPECT_EQ(read.value().rules_file, "/etc/tallyfs/rules");
  EXPECT_EQ(read.value().formats, "32:1 33:1");
  EXPECT_EQ(descriptors_of(read.value()),
            (std::vector<int>{3, 4, 17, 18, 19, 5, 6, 7, 8, 9, 10, 13, 14}));
}

TEST(InheritanceTest, MayLackMuch) {
  const auto read = parse_inheritance(to_text({.purpose = Inheritance::Purpose::kCheck}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read.value().purpose, Inheritance::Purpose::kCheck);
  EXPECT_FALSE(read.value().socket.bound);
  EXPECT_FALSE(read.value().socket.queue_length);
  EXPECT_TRUE(descriptors_of(read.value()).empty());
}

TEST(InheritanceTest, RefusesWhatIsNotWholeOrOfAnotherFormat) {
  const auto text = to_text(inheritance_of_all());
  for (std::size_t size = 0; size + 5 < text.size(); ++size) {
    EXPECT_FALSE(parse_inheritance(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_inheritance("4" + text.substr(1)));
}

TEST(InheritanceTest, OfTheFormatBeforeItHasNoMemoryThatIsKept) {
  std::string text = to_text(inheritance_of_all());
  text.resize(text.rfind(" 19"));
  const auto read = parse_inheritance("2" + text.substr(1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read.value().descriptors_out, 18);
  EXPECT_EQ(read.value().kept, -1);
}

TEST(InheritanceTest, OfTheFirstFormatItHasNoFormatsOfObjectsAndNoQueueOfDescriptors) {
  std::string text = to_text(inheritance_of_all());
  text.resize(text.rfind(" 9:32:1"));
  const auto read = parse_inheritance("1" + text.substr(1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read.value().formats, "");
  EXPECT_EQ(read.value().rules_file, "/etc/tallyfs/rules");
  EXPECT_EQ(read.value().descriptors_in, -1);
  EXPECT_EQ(read.value().descriptors_out, -1);
}

TEST(InheritanceTest, IsTakenOnce) {
  ASSERT_EQ(::setenv(Inheritance::kVariable, to_text(inheritance_of_all()).c_str(), 1), 0);
  EXPECT_TRUE(take_inheritance());
  EXPECT_FALSE(take_inheritance());
}

}  // namespace
}  // namespace tallyfs
