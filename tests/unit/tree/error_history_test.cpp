#include "core/tree/error_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/tree/error_log.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs {
namespace {

class ErrorHistoryTest : public testing::Test {
 protected:
  void report(uid_t uid, const std::string& text) {
    log_.report({ErrorLog::Source::kSocket, uid}, "socket", text,
                {ErrorCode::kInvalid, "no good", 1}, clock_.now());
  }
  std::string text() { return history_.render(clock_.now(), 1 << 20).value(); }
  bool has(const std::string& line) {
    return text().find("\"text\":\"" + line + "\"") != std::string::npos;
  }

  FakeClock clock_{std::chrono::milliseconds(12'345)};
  ErrorHistory history_{"00ff", 1000, clock_.now()};
  ErrorLog log_{clock_.now(), &history_};
};

TEST_F(ErrorHistoryTest, HasEachPartOfAnEntry) {
  log_.warn({ErrorLog::Source::kMount, 1000}, "statistics/web", "foo=1",
            {ErrorCode::kInvalid, "no such key", 4}, clock_.now());
  const std::string entry =
      "{\"time_us\":12345000,\"realtime_us\":" +
      std::to_string(clock_.now().realtime.count() / 1000) +
      ",\"kind\":\"warning\",\"door\":\"mount\",\"uid\":1000,\"where\":\"statistics/web\","
      "\"reason\":\"no such key\",\"text\":\"foo=1\",\"column\":4}";
  EXPECT_NE(text().find("\"errors\":[" + entry + "]}\n"), std::string::npos) << text();
  EXPECT_TRUE(text().starts_with("{\"epoch\":\"00ff\",")) << text();
}

TEST_F(ErrorHistoryTest, KeepsTheNewest256AndCountsTheOthers) {
  for (int i = 0; i < 300; ++i) report(1000, "line" + std::to_string(i));
  EXPECT_NE(text().find("\"reported\":300,\"dropped\":44,"), std::string::npos);
  EXPECT_FALSE(has("line43"));
  EXPECT_TRUE(has("line44"));
  EXPECT_TRUE(has("line299"));
}

TEST_F(ErrorHistoryTest, AFloodOfOneUidPushesOutOnlyItsOwn) {
  for (int i = 0; i < 10; ++i) report(1000, "typed" + std::to_string(i));
  for (int i = 0; i < 1000; ++i) report(65534, "garbage");
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(has("typed" + std::to_string(i))) << i;
}

TEST_F(ErrorHistoryTest, MoreUidsThanEntriesStayWithinTheBound) {
  for (uid_t uid = 1000; uid < 1400; ++uid) report(uid, "line");
  const std::string all = text();
  std::size_t entries = 0;
  for (std::size_t at = 0; (at = all.find("\"door\"", at)) != std::string::npos; ++at) ++entries;
  EXPECT_EQ(entries, ErrorHistory::kEntries);
}

TEST_F(ErrorHistoryTest, ManyUidsWithOneEntryEachPushOutNoneOfRootAndTheOwner) {
  for (int i = 0; i < 60; ++i) report(0, "root" + std::to_string(i));
  for (int i = 0; i < 60; ++i) report(1000, "owner" + std::to_string(i));
  for (uid_t uid = 2000; uid < 2400; ++uid) report(uid, "line");
  for (const char* whose : {"root", "owner"}) {
    for (int i = 0; i < 60; ++i) EXPECT_TRUE(has(whose + std::to_string(i))) << whose << i;
  }
}

TEST_F(ErrorHistoryTest, TextIsEscapedAndBounded) {
  report(1000, "\x1b[2J\xff" + std::string(4096, 'x'));
  EXPECT_NE(text().find(R"(\\x1b[2J\\xff)"), std::string::npos) << text();
  EXPECT_EQ(text().find('\x1b'), std::string::npos);
  for (int i = 0; i < 256; ++i) report(1000, std::string(4096, '\x01'));
  EXPECT_LT(text().size(), 1u << 20);
}

TEST_F(ErrorHistoryTest, IsNoLongerThanItsReaderTakes) {
  report(1000, "line");
  EXPECT_FALSE(history_.render(clock_.now(), 10));
}

}  // namespace
}  // namespace tallyfs
