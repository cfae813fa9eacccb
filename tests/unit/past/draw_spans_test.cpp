#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/past/store_model.h"
#include "tests/unit/temporary_directory.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/ctl/time_span.h"

namespace tallyfs {
namespace {

// A recorder writes ten seconds more while a picture is drawn.
TEST(DrawSpansTest, TheSpanBeforeEndsWhereTheOtherOneBeginsThoughTheStoreGrows) {
  const TemporaryDirectory directory;
  const auto writer = past::write_to(directory / "store");
  past::Model model(*writer);
  std::uint64_t end_us = realtime_now_us() / 1'000'000 * 1'000'000;
  model.write(end_us - 60'000'000, 60);
  ASSERT_TRUE(writer->flush());
  Session session;
  session.options.json = true;  // without headings
  PastOptions options{.last = "10s", .versus = "before", .store = directory / "store"};
  std::vector<past::Span> drawn;
  const auto draw = [&](Session& each) -> int {
    std::optional<PastSpan> opened;
    if (const auto status = each.open_store(options, opened, {})) return *status;
    drawn.push_back(opened->wanted().value());
    model.write(end_us, 10);
    end_us += 10'000'000;
    return writer->flush() ? kDone : kRefused;
  };
  ASSERT_EQ(draw_spans(session, options, draw), kDone);
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[1].end_us, drawn[0].begin_us);
  EXPECT_EQ(drawn[0].end_us - drawn[0].begin_us, 10'000'000u);
  EXPECT_TRUE(writer->end());
}

}  // namespace
}  // namespace tallyfs
