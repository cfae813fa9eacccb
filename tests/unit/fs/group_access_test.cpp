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
std::string file(std::string_view path, unsigned permissions, const Groups& groups) {
  const auto [mode, gid] = access_of({.permissions = permissions}, path, groups, kOwner);
  char text[32];
  std::snprintf(text, sizeof text, "%04o %u", mode, gid);
  return text;
}

std::string directory(std::string_view path, const Groups& groups) {
  const NodeInfo info{.kind = NodeKind::kDirectory, .permissions = 0755};
  const auto [mode, gid] = access_of(info, path, groups, kOwner);
  char text[32];
  std::snprintf(text, sizeof text, "%04o %u", mode, gid);
  return text;
}

const Groups kNone{};
const Groups kBoth{.readers = kReaders, .writers = kWriters};
const Groups kRead{.readers = kReaders};
const Groups kWrite{.writers = kWriters};

TEST(GroupAccessTest, WithoutGroupsAllIsTheOwners) {
  EXPECT_EQ(file("statistics/web/data", 0400, kNone), "0400 1");
  EXPECT_EQ(file("statistics/web/definition", 0600, kNone), "0600 1");
  EXPECT_EQ(directory("statistics", kNone), "0755 1");
}

TEST(GroupAccessTest, ReadersReadAndEnter) {
  for (const char* path : {"statistics/web/data", "statistics/web/data.json", "statistics.json",
                           "stats/templates", "stats/tcp/x", "metrics/tallyfs.prom"}) {
    EXPECT_EQ(file(path, 0400, kRead), "0440 2") << path;
  }
  EXPECT_EQ(file("tracing/events/a/b/hist.json", 0440, kRead), "0440 2");
  EXPECT_EQ(file("tracing/events/a/b/hist.json", 0400, kRead), "0400 1") << "of a probe";
  for (const char* path : {"statistics/web/definition", "rules", "stats/tcp/sample_rates"}) {
    EXPECT_EQ(file(path, 0600, kRead), "0640 2") << path;
  }
  EXPECT_EQ(file("tracing/error_log", 0640, kRead), "0640 2");
  for (const char* path : {"statistics", "stats", "metrics"}) {
    EXPECT_EQ(directory(path, kRead), "0750 2") << path;
  }
}

TEST(GroupAccessTest, WritersWriteWhatIsMarkedAndRemoveBranches) {
  constexpr unsigned kMarked = 0600 | kForWriteGroup;
  for (const char* path : {"statistics/web/definition", "rules", "stats/tcp/sample_rates"}) {
    EXPECT_EQ(file(path, kMarked, kNone), "0600 1") << path;
    EXPECT_EQ(file(path, kMarked, kRead), "0640 2") << path;
    EXPECT_EQ(file(path, kMarked, kWrite), "0660 3") << path;
  }
  EXPECT_EQ(file("tracing/events/a/b/trigger", 0640 | kForWriteGroup, kBoth), "0660 3");
  EXPECT_EQ(file("tracing/events/a/b/trigger", 0640, kBoth), "0640 1");
  EXPECT_EQ(file("statistics/web/data", 0400, kWrite), "0400 1");
  EXPECT_EQ(directory("statistics", kWrite), "0775 3");
  EXPECT_EQ(directory("stats/tcp", kWrite), "0775 3");
  EXPECT_EQ(directory("metrics", kWrite), "0755 1");
}

TEST(GroupAccessTest, WhereReadersAndWritersAreTwoTheGroupIsTheReaders) {
  EXPECT_TRUE(kBoth.are_two());
  EXPECT_FALSE((Groups{.readers = kReaders, .writers = kReaders}.are_two()));
  for (const char* path : {"statistics/web/definition", "rules", "tracing/error_log"}) {
    const unsigned marked = 0600 | kForWriteGroup;
    EXPECT_EQ(file(path, marked, kBoth), "0660 2") << path;
    EXPECT_TRUE(is_for_writers({.permissions = marked}, path)) << path;
  }
  EXPECT_EQ(directory("statistics", kBoth), "0770 2");
  EXPECT_FALSE(is_for_writers({.permissions = 0400}, "statistics/web/data"));
}

TEST(GroupAccessTest, TheRestIsTheOwners) {
  for (const char* path : {"tracing/trace", "tracing/hist", "tracing/events/a/b/hist",
                           "statistics/web/other", "data", "definition"}) {
    EXPECT_EQ(file(path, 0640, kBoth), "0640 1") << path;
  }
  for (const char* path : {"", "tracing", "statistics/web", "tracing/stats"}) {
    EXPECT_EQ(directory(path, kBoth), "0755 1") << path;
  }
}

}  // namespace
}  // namespace tallyfs
