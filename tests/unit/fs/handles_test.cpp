#include "fs/handles.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

std::shared_ptr<OpenFile> open_file(uid_t uid, std::size_t bytes) {
  auto file = std::make_shared<OpenFile>();
  file->uid = uid;
  file->text.assign(bytes, 'x');
  return file;
}

TEST(HandlesTest, ANumberIsNeverUsedForTwo) {
  Handles handles({});
  const auto first = handles.add(open_file(0, 1)).value();
  handles.remove(first);
  const auto second = handles.add(open_file(0, 1)).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(handles.find(first), nullptr);
  EXPECT_NE(handles.find(second), nullptr);
  handles.remove(first);  // released twice, or forged
  EXPECT_EQ(handles.size(), 1u);
}

TEST(HandlesTest, NumbersNeverGivenOutAreNotFound) {
  const Handles handles({});
  for (const std::uint64_t number : {0ull, 1ull, 1ull << 32, ~0ull}) {
    EXPECT_EQ(handles.find(number), nullptr);
  }
}

TEST(HandlesTest, BoundsFilesAndBytesPerUidAndGivesThemBack) {
  Handles handles({.files_per_uid = 2, .bytes_per_uid = 10});
  const auto first = handles.add(open_file(1, 6)).value();
  EXPECT_EQ(handles.add(open_file(1, 5)).error().code, ErrorCode::kTooManyFiles);
  ASSERT_TRUE(handles.add(open_file(1, 4)));
  EXPECT_FALSE(handles.add(open_file(1, 0)));
  EXPECT_TRUE(handles.add(open_file(2, 10)));
  handles.remove(first);
  EXPECT_TRUE(handles.add(open_file(1, 6)));
}

TEST(HandlesTest, KeepsATenthOfAllForRootAndTheDaemonsUid) {
  constexpr uid_t kDaemon = 500;
  Handles handles({.files_per_uid = 9, .bytes_per_uid = 100, .bytes_total = 100}, kDaemon);
  for (const uid_t uid : {1u, 2u, 3u}) ASSERT_TRUE(handles.add(open_file(uid, 30)));
  EXPECT_EQ(handles.bytes_left(4), 0u);
  EXPECT_EQ(handles.add(open_file(4, 1)).error().reason,
            "its text of 1 bytes is longer than what is left for it, 0");
  EXPECT_TRUE(handles.add(open_file(kDaemon, 4)));
  EXPECT_TRUE(handles.add(open_file(0, 6)));
  EXPECT_FALSE(handles.add(open_file(0, 1)));
}

TEST(HandlesTest, ShowsTheDaemonsOwnNumbersToRootThoughAllIsFull) {
  Handles handles({.files_per_uid = 1, .bytes_per_uid = 10, .bytes_total = 10});
  const auto own = [](uid_t uid) {
    auto file = open_file(uid, 11);
    file->shows = Shows::kOwnNumbers;
    return file;
  };
  ASSERT_TRUE(handles.add(open_file(0, 10)));
  EXPECT_EQ(handles.check_files(0).error().reason, "it has 1 files open");
  for (std::size_t i = 0; i < Handles::kOwnFilesMax; ++i) ASSERT_TRUE(handles.add(own(0)));
  EXPECT_FALSE(handles.add(own(0)));
  EXPECT_FALSE(handles.add(own(1)));
}

TEST(HandlesTest, ALaterTextCountsLikeTheFirst) {
  Handles handles({.files_per_uid = 9, .bytes_per_uid = 10});
  const auto file = handles.add(open_file(1, 4)).value();
  ASSERT_TRUE(handles.replace_later(file, 5));
  EXPECT_EQ(handles.bytes_left(1), 1u);
  ASSERT_TRUE(handles.replace_later(file, 6));  // in place of the 5
  EXPECT_EQ(handles.replace_later(file, 7).error().code, ErrorCode::kTooManyFiles);
  EXPECT_EQ(handles.bytes_left(1), 0u);
  EXPECT_EQ(handles.remove(file), 10u);
  EXPECT_EQ(handles.bytes_left(1), 10u);
  EXPECT_EQ(handles.replace_later(file, 1).error().code, ErrorCode::kStale);
}

TEST(HandlesTest, WhatAFileHoldsIsGivenBackWhenItIsClosed) {
  Handles handles({});
  const auto mark = std::make_shared<char>();
  auto opened = open_file(1, 1);
  opened->held = mark;
  const auto number = handles.add(opened).value();
  EXPECT_EQ(mark.use_count(), 2);
  handles.remove(number);
  EXPECT_EQ(mark.use_count(), 1) << "though the file is still in use";
}

TEST(HandlesTest, WhatAFileHoldsLaterIsGivenBackTooAndNotWhenItIsClosedMeanwhile) {
  Handles handles({});
  const auto mark = std::make_shared<char>();
  const auto number = handles.add(open_file(1, 1)).value();
  handles.hold(number, mark);
  EXPECT_EQ(mark.use_count(), 2);
  handles.remove(number);
  EXPECT_EQ(mark.use_count(), 1);
  handles.hold(number, mark);
  EXPECT_EQ(mark.use_count(), 1);
}

TEST(HandlesTest, BoundsTheBytesOfAllUidsTogether) {
  Handles handles(
      {.files_per_uid = 9, .bytes_per_uid = 10, .bytes_total = 16});  // 1 of it for root
  const auto first = handles.add(open_file(1, 10)).value();
  EXPECT_EQ(handles.bytes_left(2), 5u);
  const auto refused = handles.add(open_file(2, 6));
  EXPECT_EQ(refused.error().reason, "its text of 6 bytes is longer than what is left for it, 5");
  ASSERT_TRUE(handles.add(open_file(2, 5)));
  EXPECT_EQ(handles.bytes_left(3), 0u);
  handles.remove(first);
  EXPECT_EQ(handles.bytes_left(3), 10u);
}

TEST(HandlesTest, ASuccessorHasTheFilesUnderTheirNumbersAndCountsThem) {
  Handles handles({});
  const std::uint64_t closed = handles.add(open_file(7, 1)).value();
  const std::uint64_t lost = handles.add(open_file(7, 1)).value();
  const std::uint64_t kept = handles.add(open_file(7, 60)).value();
  ASSERT_TRUE(handles.replace_later(kept, 30));
  handles.remove(closed);
  std::string bytes;
  ByteWriter out(bytes);
  handles.save(out);
  auto files = handles.all();
  EXPECT_EQ(files.size(), 2u);
  files.erase(lost);
  files.emplace(closed, open_file(7, 1000));
  Handles next({.files_per_uid = 2, .bytes_per_uid = 100});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(next.load(std::string_view(bytes).substr(0, size), files)) << size;
  }
  EXPECT_EQ(next.size(), 0u);
  files.erase(closed);
  ASSERT_TRUE(next.load(bytes, files));
  EXPECT_EQ(next.size(), 1u);
  EXPECT_EQ(next.find(kept), handles.find(kept));
  EXPECT_EQ(next.bytes_left(7), 10u);
  const std::uint64_t added = next.add(open_file(7, 10)).value();
  EXPECT_TRUE(added != closed && added != lost);
  EXPECT_FALSE(next.add(open_file(7, 0))) << "files are counted";
  EXPECT_EQ(next.remove(kept), 90u);
  EXPECT_EQ(next.bytes_left(7), 90u);
}

}  // namespace
}  // namespace tallyfs
