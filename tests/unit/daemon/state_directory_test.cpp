// The directory of --state, and the boot that a file belongs to.
#include "fs/daemon/state_directory.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fs/daemon/boot_id.h"

namespace tallyfs {
namespace {

TEST(BootIdTest, IsReadAsTheKernelWritesIt) {
  const BootId id = parse_boot_id("00010203-0405-0607-0809-0a0b0c0dFEff\n");
  EXPECT_EQ(id, (BootId{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 254, 255}));
  for (const char* wrong : {"", "\n", "00010203-0405-0607-0809-0a0b0c0d0e", "no boot",
                            "0001020g-0405-0607-0809-0a0b0c0d0e0f"}) {
    EXPECT_EQ(parse_boot_id(wrong), BootId{}) << wrong;
  }
  EXPECT_EQ(read_boot_id(), read_boot_id());
}

TEST(BootIdTest, AnUnknownBootIsNotTheSameAsAnother) {
  const BootId id = {1};
  EXPECT_EQ(boot_of(id, id), Boot::kThis);
  EXPECT_EQ(boot_of(id, {2}), Boot::kOther);
  EXPECT_EQ(boot_of({}, {}), Boot::kOther);
}

class StateDirectoryTest : public testing::Test {
 protected:
  StateDirectoryTest() {
    std::string name = std::filesystem::temp_directory_path() / "tallyfs-state.XXXXXX";
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~StateDirectoryTest() override { std::filesystem::remove_all(path_); }

  Result<StateDirectory> open() const { return StateDirectory::open(path_ / "state", {}); }
  static Result<SavedState> write(StateDirectory& to, const std::string& text) {
    return to.write([&](const StateOutput& output) -> Result<SavedState> {
      if (auto done = output(text); !done) return done.error();
      return SavedState{.objects = 1, .bytes = text.size()};
    });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(path_ / "state")) {
      found.push_back(each.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::filesystem::path path_;
};

TEST_F(StateDirectoryTest, KeepsTheLastThreeFiles) {
  auto directory = open();
  ASSERT_TRUE(directory) << directory.error().reason;
  EXPECT_TRUE(directory.value().numbers().empty());
  for (const char* text : {"a", "b", "c", "d"}) ASSERT_TRUE(write(directory.value(), text));
  EXPECT_EQ(names(), (std::vector<std::string>{"state.2", "state.3", "state.4"}));
  EXPECT_EQ(directory.value().numbers(), (std::vector<std::uint64_t>{4, 3, 2}));
  EXPECT_EQ(directory.value().read(4).value(), "d");
  EXPECT_EQ(directory.value().read(2).value(), "b");
  EXPECT_FALSE(directory.value().read(1));
}

TEST_F(StateDirectoryTest, AFileThatFailsLeavesTheOthers) {
  auto directory = open();
  ASSERT_TRUE(write(directory.value(), "a"));
  const auto failed = directory.value().write([](const StateOutput& output) -> Result<SavedState> {
    (void)output("half");
    return Error{ErrorCode::kNoSpace, "the disk is full"};
  });
  EXPECT_EQ(failed.error().reason, (path_ / "state").string() + ": the disk is full");
  EXPECT_EQ(names(), std::vector<std::string>{"state.1"});
  EXPECT_EQ(directory.value().read(1).value(), "a");
}

TEST_F(StateDirectoryTest, WhatAKilledDaemonLeftIsNoFile) {
  auto directory = open();
  for (const char* name : {"state.tmp", "state.0", "state.01", "state.x", "state.5x", "state.",
                           "state.18446744073709551615", "state.99999999999999999999", "other"}) {
    std::ofstream(path_ / "state" / name) << "half";
  }
  EXPECT_TRUE(directory.value().numbers().empty());
  ASSERT_TRUE(write(directory.value(), "whole"));
  EXPECT_EQ(directory.value().read(1).value(), "whole");
  EXPECT_FALSE(std::filesystem::exists(path_ / "state/state.tmp"));
}

TEST_F(StateDirectoryTest, OneThatIsMadeAgainTakesThePlaceOfOneThatWasRemoved) {
  auto directory = open();
  ASSERT_TRUE(write(directory.value(), "a"));
  std::filesystem::remove_all(path_ / "state");
  EXPECT_EQ(write(directory.value(), "b").error().code, ErrorCode::kNotFound);
  std::filesystem::create_directory(path_ / "state");
  std::filesystem::permissions(path_ / "state", std::filesystem::perms(0755));
  EXPECT_EQ(write(directory.value(), "b").error().code, ErrorCode::kNotPermitted);
  std::filesystem::permissions(path_ / "state", std::filesystem::perms(0700));
  EXPECT_TRUE(write(directory.value(), "b"));
  EXPECT_EQ(names(), std::vector<std::string>{"state.1"});
  EXPECT_EQ(open().error().code, ErrorCode::kBusy) << "it is locked, too";
}

TEST_F(StateDirectoryTest, ASuccessorFindsTheOneThatWasMadeAgain) {
  auto directory = open();
  std::filesystem::remove_all(path_ / "state");
  auto lost = StateDirectory::adopt(Fd(::dup(directory.value().fd())));
  EXPECT_EQ(lost.path(), path_ / "state");
  EXPECT_FALSE(write(lost, "a"));
  ASSERT_TRUE(std::filesystem::create_directory(path_ / "state"));
  std::filesystem::permissions(path_ / "state", std::filesystem::perms(0700));
  auto found = StateDirectory::adopt(Fd(::dup(directory.value().fd())));
  EXPECT_TRUE(write(found, "a"));
  EXPECT_EQ(names(), std::vector<std::string>{"state.1"});
}

TEST_F(StateDirectoryTest, StaysLockedUntilItIsLetGo) {
  {
    const auto directory = open();
    ASSERT_TRUE(directory);
    EXPECT_EQ(open().error().code, ErrorCode::kBusy);
  }
  EXPECT_TRUE(open());
}

TEST_F(StateDirectoryTest, AFileSetAsideStays) {
  auto directory = open();
  ASSERT_TRUE(write(directory.value(), "a"));
  directory.value().set_aside(1);
  for (const char* text : {"b", "c", "d"}) ASSERT_TRUE(write(directory.value(), text));
  EXPECT_EQ(names(),
            (std::vector<std::string>{"state.2", "state.3", "state.4", "state.incomplete"}));
  directory.value().set_aside(4);
  std::string text;
  std::ifstream(path_ / "state/state.incomplete") >> text;
  EXPECT_EQ(text, "d");
}

// As a daemon that was started by a user of the group.
TEST_F(StateDirectoryTest, AFileMayBeReadByAnyGroupOfTheDaemon) {
  constexpr uid_t kUser = 65534;
  constexpr gid_t kGroup = 4242;
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  {
    auto directory = open();
    ASSERT_TRUE(write(directory.value(), "a"));
  }
  for (const auto& each : {path_, path_ / "state"}) {
    ASSERT_EQ(::chown(each.c_str(), kUser, kUser), 0);
  }
  ASSERT_EQ(::chown((path_ / "state/state.1").c_str(), 0, kGroup), 0);
  ASSERT_EQ(::chmod((path_ / "state/state.1").c_str(), 0040), 0);
  const auto opens_with = [this](std::vector<gid_t> groups) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool is_user = ::setgroups(groups.size(), groups.data()) == 0 &&
                           ::setresgid(kUser, kUser, kUser) == 0 &&
                           ::setresuid(kUser, kUser, kUser) == 0;
      ::_exit(!is_user ? 2 : open() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(opens_with({kGroup}), 0);
  EXPECT_EQ(opens_with({kGroup + 1}), 1);
}

}  // namespace
}  // namespace tallyfs
