#include "fs/group_access.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace tallyfs {
namespace {

constexpr gid_t kOwner = 1;
constexpr gid_t kReaders = 2;
constexpr gid_t kWriters = 3;

// "MODE GROUP", with the mode in octal.
std::string shown(NodeKind kind, const Audience& audience, const Groups& groups) {
  const auto [mode, gid] = access_of({.kind = kind, .audience = audience}, groups, kOwner);
  char text[32];
  std::snprintf(text, sizeof text, "%04o %u", mode, gid);
  return text;
}
std::string file(const Audience& audience, const Groups& groups) {
  return shown(NodeKind::kFile, audience, groups);
}
std::string directory(const Audience& audience, const Groups& groups) {
  return shown(NodeKind::kDirectory, audience, groups);
}

const Groups kNone{};
const Groups kBoth{.readers = kReaders, .writers = kWriters};
const Groups kRead{.readers = kReaders};
const Groups kWrite{.writers = kWriters};

TEST(GroupAccessTest, WithoutGroupsAllIsTheOwners) {
  EXPECT_EQ(file({.permissions = 0400, .readers = true}, kNone), "0400 1");
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, kNone), "0600 1");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true, .writers = true}, kNone), "0755 1");
}

TEST(GroupAccessTest, ReadersReadAndEnter) {
  EXPECT_EQ(file({.permissions = 0400, .readers = true}, kRead), "0440 2");
  EXPECT_EQ(file({.permissions = 0444, .readers = true}, kRead), "0444 2");
  EXPECT_EQ(file({.permissions = 0640, .readers = true}, kRead), "0640 2");
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, kRead), "0640 2");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true}, kRead), "0750 2") << "others do not";
  EXPECT_EQ(directory({.permissions = 0755, .readers = true, .writers = true}, kRead), "0750 2");
}

TEST(GroupAccessTest, WritersWriteAndRemove) {
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, kWrite), "0660 3");
  EXPECT_EQ(file({.permissions = 0640, .writers = true}, kWrite), "0660 3");
  EXPECT_EQ(file({.permissions = 0400, .readers = true}, kWrite), "0400 1");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true, .writers = true}, kWrite), "0775 3");
  EXPECT_EQ(directory({.permissions = 0755, .writers = true}, kWrite), "0775 3");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true}, kWrite), "0755 1");
}

TEST(GroupAccessTest, MembersOfTheOwnersGroupHaveNoMoreWhereItIsOneOfTheTwo) {
  for (const Groups& groups : {Groups{.readers = kOwner}, Groups{.writers = kOwner}}) {
    EXPECT_EQ(file({0440}, groups), "0400 1");
    EXPECT_EQ(file({0640}, groups), "0600 1");
    EXPECT_EQ(file({0220}, groups), "0200 1") << "to free_buffer of tracing/";
    EXPECT_EQ(file({0444}, groups), "0444 1");
    EXPECT_EQ(directory({0755}, groups), "0755 1");
  }
  const Groups readers{.readers = kOwner};
  EXPECT_EQ(file({.permissions = 0640, .readers = true}, readers), "0640 1");
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, readers), "0640 1");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true}, readers), "0750 1");
  const Groups both{.readers = kOwner, .writers = kOwner};
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, both), "0660 1");
}

TEST(GroupAccessTest, WhereReadersAndWritersAreTwoTheGroupIsTheReaders) {
  EXPECT_TRUE(kBoth.are_two());
  EXPECT_FALSE((Groups{.readers = kReaders, .writers = kReaders}.are_two()));
  EXPECT_EQ(file({.permissions = 0600, .readers = true, .writers = true}, kBoth), "0660 2");
  EXPECT_EQ(directory({.permissions = 0755, .readers = true, .writers = true}, kBoth), "0770 2");
  EXPECT_EQ(file({.permissions = 0640, .writers = true}, kBoth), "0660 3") << "not the readers'";
  EXPECT_EQ(directory({.permissions = 0755, .writers = true}, kBoth), "0775 3");
  const Groups owners{.readers = kOwner, .writers = kWriters};
  EXPECT_EQ(file({.permissions = 0640, .writers = true}, owners), "0660 1") << "readers read on";
}

TEST(GroupAccessTest, TheRestIsTheOwners) {
  EXPECT_EQ(file({0640}, kBoth), "0640 1");
  EXPECT_EQ(file({0400}, kBoth), "0400 1");
  EXPECT_EQ(directory({0755}, kBoth), "0755 1");
}

}  // namespace
}  // namespace tallyfs
