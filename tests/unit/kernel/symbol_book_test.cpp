#include "feeders/kernel/symbol_book.h"

#include <gtest/gtest.h>

#include <vector>

namespace tallyfs {
namespace {

constexpr const char* kSymbols =
    "0000000000001000 t trace_event_raw_event_sched_switch\n"
    "0000000000002000 T __traceiter_sched_switch\n"
    "0000000000003000 t __schedule\n";

TEST(SymbolBookTest, LeavesOutWhatStandsAboveTheTracedCode) {
  SymbolBook book([] { return Result<KernelSymbols>(KernelSymbols::parse(kSymbols)); });
  const std::vector<std::uint64_t> stack = {0x1010, 0x2010, 0x3010, 0x1020};
  const auto rest = book.without_tracing(stack);
  EXPECT_EQ(std::vector(rest.begin(), rest.end()), (std::vector<std::uint64_t>{0x3010, 0x1020}));
  EXPECT_TRUE(book.without_tracing({}).empty());
}

TEST(SymbolBookTest, ReadsOnceAndOnlyWhenAsked) {
  int reads = 0;
  SymbolBook book([&] {
    reads += 1;
    return Result<KernelSymbols>(KernelSymbols::parse(kSymbols));
  });
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(book.place(0x3010).name, "__schedule");
  EXPECT_EQ(book.place(0x3010).offset, 0x10u);
  EXPECT_EQ(reads, 1);
}

TEST(SymbolBookTest, WithoutSymbolsNothingHasAName) {
  SymbolBook book([] { return Result<KernelSymbols>(Error{ErrorCode::kNotFound, "no"}); });
  const std::vector<std::uint64_t> stack = {0x1010};
  EXPECT_EQ(book.place(0x1010).name, "");
  EXPECT_EQ(book.without_tracing(stack).size(), 1u);
}

}  // namespace
}  // namespace tallyfs
