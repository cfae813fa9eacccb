#include "core/tracing/probe/program_list.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/tracing/built_elf.h"

namespace tallyfs::tracing {
namespace {

ProgramList list_of(const BuiltElf& elf) {
  const std::string bytes = elf.bytes();
  const auto file = open_elf(bytes);
  EXPECT_TRUE(file);
  auto list = list_program(file.value(), nullptr);
  EXPECT_TRUE(list);
  return std::move(list.value());
}

TEST(ProgramListTest, HasFunctionsWhereTheyAreProbed) {
  BuiltElf elf;
  elf.symbols = {{"beta", 0x401010, 16},
                 {"_ZN2ns1fEi", 0x401000, 16},
                 {"beta.cold", 0x401040, 8},
                 {"elsewhere", 0, 0, SymbolType::kFunction, true},
                 {"data", 0x401020, 8, SymbolType::kObject},
                 {"chosen", 0x401020, 8, SymbolType::kIndirect}};
  elf.code.replace(0, 4, "\xf3\x0f\x1e\xfa");
  const ProgramList list = list_of(elf);
  ASSERT_EQ(list.functions.size(), 3U);
  EXPECT_EQ(list.functions[0].offset, 0x1004U) << "after the endbr64";
  EXPECT_EQ(list.functions[0].name(), "ns::f(int)");
  EXPECT_EQ(list.functions[1].name(), "beta");
  EXPECT_EQ(list.functions[1].cost, HitCost::kEmulated) << "a nop";
  EXPECT_TRUE(list.functions[2].is_indirect);
  EXPECT_FALSE(list.may_throw);
  EXPECT_TRUE(list.has_symbols);
}

// A library has its exported functions in two tables.
TEST(ProgramListTest, AFunctionOfSeveralTablesCountsOnce) {
  constexpr std::size_t kFunctions = 132'000;
  static_assert(2 * kFunctions > ProgramList::kFunctionsMax);
  BuiltElf elf;
  for (std::size_t i = 0; i < kFunctions; ++i) {
    elf.symbols.push_back({"f" + std::to_string(i), 0x401000 + i % 0x1000, 1});
  }
  elf.dynamic = elf.symbols;
  EXPECT_EQ(list_of(elf).functions.size(), kFunctions);
}

TEST(ProgramListTest, SaysWhetherExceptionsMayPass) {
  BuiltElf elf;
  elf.dynamic = {{"__cxa_throw", 0, 0, SymbolType::kNone, true}};
  EXPECT_TRUE(list_of(elf).may_throw);
  EXPECT_FALSE(list_of(elf).has_symbols);
}

TEST(ProgramListTest, KnowsWhatTheKernelEmulates) {
  const auto is_cheap = [](std::string_view code) {
    return cost_of(ElfMachine::kX86_64, code) == HitCost::kEmulated;
  };
  EXPECT_TRUE(is_cheap("\x55"));               // push %rbp
  EXPECT_TRUE(is_cheap("\x41\x57"));           // push %r15
  EXPECT_TRUE(is_cheap("\x0f\x1f\x44"));       // nop
  EXPECT_TRUE(is_cheap("\xe9"));               // jmp
  EXPECT_TRUE(is_cheap("\x0f\x84"));           // je
  EXPECT_FALSE(is_cheap("\x48\x83\xec"));      // sub $8,%rsp
  EXPECT_FALSE(is_cheap("\xf3\x0f\x1e\xfa"));  // endbr64
  EXPECT_FALSE(is_cheap("\x41\x89"));          // mov
  EXPECT_FALSE(is_cheap(""));
  EXPECT_EQ(cost_of(ElfMachine::kAarch64, "\x55"), HitCost::kUnknown);
}

TEST(ProgramListTest, KnowsFunctionsWhoseReturnsMustNotBeProbed) {
  for (const char* const each : {"_start", "__sigsetjmp", "longjmp", "vfork", "__restore_rt"}) {
    EXPECT_TRUE(is_return_unsafe(each)) << each;
  }
  for (const char* const each : {"main", "thread_start", "_start_routine"}) {
    EXPECT_FALSE(is_return_unsafe(each)) << each;
  }
}

}  // namespace
}  // namespace tallyfs::tracing
