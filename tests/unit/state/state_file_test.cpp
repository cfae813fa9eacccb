// State files: the bytes of FORMAT.md, and what is read of files that are not whole.
#include "core/state/state_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"

namespace tallyfs {
namespace {

struct Object {
  std::uint16_t kind;
  std::string label;
  std::string bytes;

  bool operator==(const Object&) const = default;
};

const StateHeader kHeader{
    .boot = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    .saved = {.monotonic = std::chrono::seconds(5), .realtime = std::chrono::seconds(7)}};
const std::vector<Object> kObjects = {
    {2, "1", "web/a on=1"}, {1, "web", std::string(70, 'w')}, {1, "empty", ""}, {9, "", "x"}};

std::string file_of(const std::vector<Object>& objects) {
  std::string bytes;
  StateWriter writer(kHeader, bytes);
  for (const Object& each : objects) {
    writer.begin_object({each.kind, 1, each.label, each.bytes});
    bytes.append(each.bytes);
  }
  writer.end();
  return bytes;
}

std::vector<Object> objects_of(const StateFile& file) {
  std::vector<Object> objects;
  for (const SavedObject& each : file.objects) {
    EXPECT_EQ(each.format, 1u);
    objects.push_back({each.kind, std::string(each.label), std::string(each.bytes)});
  }
  return objects;
}

// Some of the objects that were written, in their order, each as it was.
bool is_part_of(const std::vector<Object>& part, const std::vector<Object>& all) {
  auto next = all.begin();
  for (const Object& each : part) {
    next = std::find(next, all.end(), each);
    if (next == all.end()) return false;
    ++next;
  }
  return true;
}

std::string example() {
  std::ifstream page(TALLY_SOURCE_DIR "/core/state/FORMAT.md");
  std::string line, bytes;
  while (std::getline(page, line) && line != "```state") continue;
  while (std::getline(page, line) && line != "```") {
    std::istringstream words(line);
    for (int byte = 0; words >> std::hex >> byte;) bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// The numbers of `= N,` in the list of kinds, and those that begin a row of the page's tables.
std::vector<int> kinds_of_the_program() {
  std::ifstream header(TALLY_SOURCE_DIR "/core/branch/saved_object.h");
  std::vector<int> kinds;
  std::string line;
  while (std::getline(header, line) && line != "enum class SavedKind : std::uint16_t {") continue;
  while (std::getline(header, line) && line != "};") {
    if (const auto at = line.find(" = "); at != std::string::npos) {
      kinds.push_back(std::stoi(line.substr(at + 3)));
    }
  }
  return kinds;
}
std::vector<int> kinds_of_the_page() {
  std::ifstream page(TALLY_SOURCE_DIR "/core/state/FORMAT.md");
  std::vector<int> kinds;
  std::string line;
  while (std::getline(page, line) && line != "## Kinds") continue;
  while (std::getline(page, line) && !line.starts_with("## ")) {
    std::istringstream words(line);
    std::string bar;
    int kind = 0;
    for (words >> bar; bar == "|" && words >> kind; words.ignore()) kinds.push_back(kind);
  }
  std::ranges::sort(kinds);  // its tables are by what has them
  return kinds;
}

TEST(StateFileTest, TheFormatHasEachKindOfTheProgramOnce) {
  const std::vector<int> kinds = kinds_of_the_program();
  EXPECT_GT(kinds.size(), 30u);
  EXPECT_EQ(kinds_of_the_page(), kinds);
}

TEST(StateFileTest, TheExampleOfTheFormatIsWhatIsWritten) {
  const std::string bytes = example();
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(file_of({kObjects[0]}), bytes);
  const auto file = read_state(bytes);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file.value().is_whole());
  EXPECT_EQ(file.value().header.boot, kHeader.boot);
  EXPECT_EQ(file.value().header.saved.monotonic, kHeader.saved.monotonic);
  EXPECT_EQ(file.value().header.saved.realtime, kHeader.saved.realtime);
  EXPECT_EQ(objects_of(file.value()), std::vector<Object>{kObjects[0]});
}

TEST(StateFileTest, AFileOfNothingIsWhole) {
  const std::string bytes = file_of({});
  const auto file = read_state(bytes);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file.value().is_whole());
  EXPECT_TRUE(file.value().objects.empty());
}

TEST(StateFileTest, CutOffAnywhereItHasTheObjectsBefore) {
  const std::string bytes = file_of(kObjects);
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto file = read_state(std::string_view(bytes).substr(0, size));
    if (!file) {
      EXPECT_LT(size, 48u);
      continue;
    }
    EXPECT_FALSE(file.value().is_whole()) << size;
    const auto objects = objects_of(file.value());
    EXPECT_TRUE(std::equal(objects.begin(), objects.end(), kObjects.begin())) << size;
    EXPECT_GE(objects.size(), most) << size;
    most = objects.size();
  }
  EXPECT_EQ(most, kObjects.size());
}

TEST(StateFileTest, AnyFlippedBitCostsAtMostTheObjectThatItIsIn) {
  const std::string bytes = file_of(kObjects);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string wrong = bytes;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
    const auto file = read_state(wrong);
    if (!file) {
      EXPECT_LT(bit / 8, 48u);
      continue;
    }
    EXPECT_GE(bit / 8, 48u);
    EXPECT_FALSE(file.value().is_whole()) << bit;
    const auto objects = objects_of(file.value());
    EXPECT_TRUE(is_part_of(objects, kObjects)) << bit;
    EXPECT_GE(objects.size() + 1, kObjects.size()) << bit;
  }
}

TEST(StateFileTest, AFaultNamesTheObject) {
  std::string bytes = file_of(kObjects);
  bytes[bytes.find("wwww")] = 'v';
  const auto file = read_state(bytes);
  ASSERT_TRUE(file);
  ASSERT_EQ(file.value().faults.size(), 1u);
  EXPECT_EQ(file.value().faults[0], "the object 'web' of kind 1 at byte 83 has wrong bytes");
}

// The mark, kind and checksums of another file, as a feeder might send them in its samples.
TEST(StateFileTest, AnObjectOfAnotherFileIsNone) {
  std::string other;
  StateHeader header = kHeader;
  header.saved.realtime += std::chrono::nanoseconds(1);
  StateWriter writer(header, other);
  const std::size_t begin = other.size();
  writer.begin_object({2, 1, "1", "web/a on=1"});
  other.append("web/a on=1");
  std::string bytes = file_of({{1, "web", other.substr(begin)}, kObjects[0]});
  bytes[50] ^= 1;  // the first head, so that its contents are searched
  const auto file = read_state(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(objects_of(file.value()), std::vector<Object>{kObjects[0]});
}

TEST(StateFileTest, WhatIsNoStateIsRefused) {
  EXPECT_EQ(read_state("").error().reason, "this is no state of tallyfs");
  EXPECT_EQ(read_state(std::string(4096, 'x')).error().reason, "this is no state of tallyfs");
  std::string other = example();
  other[8] = 2;
  EXPECT_EQ(read_state(other).error().reason, "its header is broken");
  std::string header = other.substr(0, 44);
  ByteWriter(header).put(crc32c(header));
  EXPECT_EQ(read_state(header).error().reason, "it has the format 2, not 1");
}

TEST(StateFileTest, WhatStandsBehindTheEndIsAFault) {
  const std::string bytes = file_of(kObjects) + "x";
  const auto file = read_state(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file.value().objects.size(), kObjects.size());
  ASSERT_EQ(file.value().faults.size(), 1u);
  EXPECT_EQ(file.value().faults[0], "there is something behind the end mark");
}

}  // namespace
}  // namespace tallyfs
