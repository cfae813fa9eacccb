#include "core/tree/error_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/fake_clock.h"

namespace tallyfs {
namespace {

class ErrorLogTest : public testing::Test {
 protected:
  void report(ErrorLog::Source source, const std::string& text, std::size_t token_at = 0) {
    log_.report({source, 0}, "statistics/web", text, {ErrorCode::kInvalid, "no good", token_at},
                clock_.now());
  }
  std::string text() { return log_.render(clock_.now(), 1 << 20).value(); }

  FakeClock clock_{std::chrono::milliseconds(12'345)};
  ErrorLog log_{clock_.now()};
};

TEST_F(ErrorLogTest, ShowsReasonLineAndACaretUnderTheToken) {
  report(ErrorLog::Source::kMount, "name=µ type=foo", 8);
  EXPECT_EQ(text(),
            "[12.345000] statistics/web: error: no good\n"
            "  Command: name=µ type=foo\n"
            "                  ^\n");
}

TEST_F(ErrorLogTest, SaysOfWhatWasTakenThatItIsAWarning) {
  log_.warn({ErrorLog::Source::kMount, 0}, "statistics/web", "foo=1",
            {ErrorCode::kInvalid, "no such key", 0}, clock_.now());
  EXPECT_TRUE(text().starts_with("[12.345000] statistics/web: warning: no such key\n")) << text();
}

TEST_F(ErrorLogTest, PutsACaretBehindTheEndForWhatIsMissing) {
  report(ErrorLog::Source::kMount, "prio ==", 8);
  EXPECT_TRUE(text().ends_with("  Command: prio ==\n" + std::string(19, ' ') + "^\n")) << text();
  report(ErrorLog::Source::kMount, "prio ==", 1 << 20);
  EXPECT_TRUE(text().ends_with("\n" + std::string(20, ' ') + "^\n")) << "not without bound";
}

TEST_F(ErrorLogTest, KeepsTheLastEight) {
  for (int i = 0; i < 10; ++i) report(ErrorLog::Source::kMount, "line" + std::to_string(i));
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 24);
  EXPECT_EQ(all.find("line1\n"), std::string::npos);
  EXPECT_NE(all.find("line2\n"), std::string::npos);
  EXPECT_NE(all.find("line9\n"), std::string::npos);
}

TEST_F(ErrorLogTest, AFloodFromTheSocketDoesNotPushOutWhatAnAdministratorMistyped) {
  for (int i = 0; i < 4; ++i) report(ErrorLog::Source::kMount, "typed" + std::to_string(i));
  for (int i = 0; i < 100; ++i) report(ErrorLog::Source::kSocket, "garbage" + std::to_string(i));
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(text().find("typed" + std::to_string(i)), std::string::npos);
  }
  EXPECT_NE(text().find("garbage99"), std::string::npos);
  EXPECT_EQ(text().find("garbage95"), std::string::npos);
}

TEST_F(ErrorLogTest, ANewlineForgesNoEntry) {
  report(ErrorLog::Source::kSocket, "x\n[1.000000] statistics/bank: error: forged\x1b[2J");
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3);
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
}

TEST_F(ErrorLogTest, AnErrorMayNameAPlaceAndATextOfItsOwn) {
  log_.report({ErrorLog::Source::kMount, 0}, "tracing/events/a/b", "  hist:keys=x  ",
              {ErrorCode::kInvalid, "Couldn't find field", 10, "hist:a:b", "hist:keys=x"},
              clock_.now());
  EXPECT_EQ(text().substr(text().find(' ') + 1),
            "hist:a:b: error: Couldn't find field\n  Command: hist:keys=x\n"
            "                     ^\n");
}

TEST_F(ErrorLogTest, AWriteClearsIt) {
  report(ErrorLog::Source::kMount, "x");
  ASSERT_TRUE(log_.write_line("", clock_.now()));
  EXPECT_EQ(text(), "");
}

TEST_F(ErrorLogTest, IsThereAfterARestartBeforeWhatCameSince) {
  report(ErrorLog::Source::kMount, "first");
  report(ErrorLog::Source::kSocket, "second");
  std::string bytes;
  ByteWriter out(bytes);
  log_.save(out);
  ErrorLog after(clock_.now());
  after.report(ErrorLog::kDaemon, "statistics/web", "third", {ErrorCode::kInvalid, "bad", 0},
               clock_.now());
  const std::string third = after.render(clock_.now(), 1 << 20).value();
  ByteReader in(bytes);
  after.load(in, Boot::kThis, clock_.now());
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(after.render(clock_.now(), 1 << 20).value(), text() + third);
  ErrorLog rebooted(clock_.now());
  ByteReader again(bytes);
  rebooted.load(again, Boot::kOther, clock_.now());
  EXPECT_TRUE(rebooted.render(clock_.now(), 1 << 20).value().starts_with("[0.000000] stat"));
}

TEST_F(ErrorLogTest, TheSocketsShareHoldsForLoadedEntriesToo) {
  for (int i = 0; i < 4; ++i) report(ErrorLog::Source::kSocket, "before");
  std::string bytes;
  ByteWriter out(bytes);
  log_.save(out);
  ErrorLog after(clock_.now());
  for (int i = 0; i < 3; ++i) {
    after.report({ErrorLog::Source::kSocket, 0}, "socket pid 1 uid 0", "since",
                 {ErrorCode::kInvalid, "bad", 0}, clock_.now());
  }
  ByteReader in(bytes);
  after.load(in, Boot::kThis, clock_.now());
  const std::string shown = after.render(clock_.now(), 1 << 20).value();
  EXPECT_EQ(std::ranges::count(shown, '^'), 4);
  std::string saved;
  ByteWriter writer(saved);
  after.save(writer);
  ByteReader once_more(saved);
  ErrorLog(clock_.now()).load(once_more, Boot::kThis, clock_.now());
  EXPECT_TRUE(once_more.ok());
}

TEST_F(ErrorLogTest, RefusesBytesThatItHasNotSaved) {
  for (int i = 0; i < 3; ++i) report(ErrorLog::Source::kSocket, "line");
  std::string whole;
  ByteWriter out(whole);
  log_.save(out);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    ErrorLog after(clock_.now());
    ByteReader in(std::string_view(whole).substr(0, cut));
    after.load(in, Boot::kThis, clock_.now());
    EXPECT_FALSE(in.ok()) << cut;
    EXPECT_TRUE(after.is_empty()) << cut;
  }
  std::string many;
  ByteWriter too_many(many);
  too_many.put(std::uint32_t{9});
  ByteReader in(many);
  log_.load(in, Boot::kThis, clock_.now());
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace tallyfs
