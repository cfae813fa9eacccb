#include "core/tracing/probe/function_search.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/tracing/probe/demangled.h"
#include "tests/unit/tracing/built_elf.h"

namespace tallyfs::tracing {
namespace {

PlaceName place_of(const std::string& name, ProbeKind kind = ProbeKind::kEntry) {
  auto place = parse_place_name("/bin/x:" + name, kind);
  EXPECT_TRUE(place) << name << ": " << place.error().reason;
  return place ? place.value() : PlaceName();
}

Result<FoundPlaces> search_function(const BuiltElf& elf, const PlaceName& place,
                                    const BuiltElf* debug = nullptr) {
  const std::string bytes = elf.bytes(), debug_bytes = debug ? debug->bytes() : std::string();
  const auto file = open_elf(bytes);
  if (!file) return file.error();
  if (!debug) return find_function(file.value(), nullptr, place);
  const auto debug_file = open_elf(debug_bytes);
  if (!debug_file) return debug_file.error();
  return find_function(file.value(), &debug_file.value(), place);
}

// The offsets in the file as `1000 1010`, or the reason.
std::string found(const BuiltElf& elf, const std::string& name,
                  ProbeKind kind = ProbeKind::kEntry) {
  const auto places = search_function(elf, place_of(name, kind));
  if (!places) return places.error().reason;
  std::string text;
  for (const FoundPlace& each : places.value().places) {
    std::array<char, 32> number;
    std::snprintf(number.data(), number.size(), "%s%llx", text.empty() ? "" : " ",
                  static_cast<unsigned long long>(each.offset));
    text += number.data();
    if (each.is_after_endbr64) text += " after endbr64";
  }
  return text;
}

BuiltElf with_symbols(std::vector<BuiltSymbol> symbols) {
  BuiltElf elf;
  elf.symbols = std::move(symbols);
  return elf;
}

TEST(FunctionSearchTest, FindsAFunctionByItsSymbol) {
  const BuiltElf elf = with_symbols({{"alpha", 0x401000, 16}, {"alpha2", 0x401010, 16}});
  EXPECT_EQ(found(elf, "alpha"), "1000");
  EXPECT_EQ(found(elf, "alpha+8"), "1008");
  EXPECT_EQ(found(elf, "alpha+0xf"), "100f");
  EXPECT_EQ(found(elf, "alpha+16"), "alpha has 16 bytes");
  EXPECT_EQ(found(elf, "alpha%return"), "1000");
}

TEST(FunctionSearchTest, TheNamesOfOnePlaceAreOneAndThoseOfOneNameAreAll) {
  const BuiltElf elf = with_symbols({{"same", 0x401000, 16},
                                     {"same", 0x401000, 8},
                                     {"same", 0x401020, 16},
                                     {"same.cold", 0x401040, 8},
                                     {"same.part.0", 0x401050, 8}});
  EXPECT_EQ(found(elf, "same"), "1000 1020");
  EXPECT_EQ(found(elf, "same.cold"), "1040");
  EXPECT_EQ(found(elf, "same+4"), "same is 2 functions: an offset is one's alone");
}

TEST(FunctionSearchTest, ABranchTargetIsProbedBehindIt) {
  BuiltElf elf = with_symbols({{"alpha", 0x401000, 16}, {"beta", 0x401010, 16}});
  elf.code.replace(0, 4, "\xf3\x0f\x1e\xfa");
  EXPECT_EQ(found(elf, "alpha"), "1004 after endbr64");
  EXPECT_EQ(found(elf, "alpha", ProbeKind::kReturn), "1004 after endbr64");
  EXPECT_EQ(found(elf, "alpha+0"), "1000") << "as it was said";
  EXPECT_EQ(found(elf, "beta"), "1010");
  elf.machine = ElfMachine::kAarch64;
  EXPECT_EQ(found(elf, "alpha"), "1000");
}

TEST(FunctionSearchTest, FindsFunctionsOfCxxWhateverTheirParameters) {
  const BuiltElf elf = with_symbols({{"_ZN2ns1fEi", 0x401000, 16},
                                     {"_ZN2ns1fEv", 0x401010, 16},
                                     {"_ZN2ns1fEv.cold", 0x401020, 16},
                                     {"_ZN2ns1fIiEEvT_", 0x401030, 16},
                                     {"_ZNK2ns1A3getEv", 0x401040, 16},
                                     {"_ZN2ns1AC1Ev", 0x401050, 16},
                                     {"_ZN2ns1AD1Ev", 0x401060, 16},
                                     {"_Z5plaini", 0x401070, 16},
                                     {"_ZN2ns1gB5cxx11Ev", 0x401080, 16},
                                     {"_ZN2ns1hE17h0123456789abcdefE", 0x401090, 16},
                                     {"_ZN2ns1r17h0123456789abcdefE", 0x4010a0, 16}});
  EXPECT_EQ(found(elf, "ns::f"), "1000 1010");
  EXPECT_EQ(found(elf, "ns::A::get"), "1040");
  EXPECT_EQ(found(elf, "ns::A::A"), "1050");
  EXPECT_EQ(found(elf, "ns::A::~A"), "1060");
  EXPECT_EQ(found(elf, "plain"), "1070");
  EXPECT_EQ(found(elf, "ns::g"), "1080");
  EXPECT_EQ(found(elf, "ns::r"), "10a0") << "of Rust";
  EXPECT_EQ(found(elf, "ns::"), "no function ns::");
}

TEST(FunctionSearchTest, ANameWithoutAVersionIsTheDefaultOne) {
  BuiltElf elf;
  elf.dynamic = {{.name = "f", .value = 0x401000, .size = 8, .version = 3},
                 {.name = "f", .value = 0x401010, .size = 8, .version = 0x8002},
                 {.name = "old", .value = 0x401020, .size = 8, .version = 0x8002},
                 {.name = "plain", .value = 0x401030, .size = 8}};
  elf.versions = {{2, "V_1"}, {3, "V_2"}};
  EXPECT_EQ(found(elf, "f"), "1000");
  EXPECT_EQ(found(elf, "f@V_2"), "1000");
  EXPECT_EQ(found(elf, "f@V_1"), "1010");
  EXPECT_EQ(found(elf, "f@@V_1"), "1010");
  EXPECT_EQ(found(elf, "plain"), "1030");
  EXPECT_EQ(found(elf, "old"), "old has no default version: name old@V_1");
  EXPECT_EQ(found(elf, "f@V_9"), "f has no such version: name f@V_1");
  const BuiltElf whole = with_symbols({{"f@@V_2", 0x401000, 8}, {"f@V_1", 0x401010, 8}});
  EXPECT_EQ(found(whole, "f"), "1000");
  EXPECT_EQ(found(whole, "f@V_1"), "1010");
}

TEST(FunctionSearchTest, SaysWhyANameIsNoPlace) {
  const BuiltElf elf = with_symbols({{"copy", 0x401000, 16, SymbolType::kIndirect},
                                     {"__copy_fast", 0x401010, 16},
                                     {"__copy_slow", 0x401020, 16},
                                     {"__copy_chk_fast", 0x401030, 16},
                                     {"pick", 0x401000, 16, SymbolType::kIndirect},
                                     {.name = "elsewhere", .is_undefined = true},
                                     {"table", 0x804000, 16, SymbolType::kObject},
                                     {"lost", 0x901000, 16},
                                     {"make_child", 0x401030, 16}});
  EXPECT_EQ(found(elf, "copy"),
            "copy is chosen at run time: name one of __copy_fast or __copy_slow");
  EXPECT_EQ(found(elf, "pick"), "pick is chosen at run time");
  EXPECT_EQ(found(elf, "elsewhere"), "elsewhere is in another file");
  EXPECT_EQ(found(elf, "table"), "table is data, and no function");
  EXPECT_EQ(found(elf, "lost"), "lost is in no segment with code");
  EXPECT_EQ(found(elf, "make_chld"), "no function make_chld; did you mean make_child?");
  EXPECT_EQ(found(elf, "nothing_like_it"), "no function nothing_like_it");
  EXPECT_EQ(found(BuiltElf(), "f"), "no function f (the file is stripped)");
}

TEST(FunctionSearchTest, MoreThan1024PlacesAreRefused) {
  BuiltElf elf;
  for (std::uint64_t i = 0; i < 1'024; ++i) elf.symbols.push_back({"f", 0x401000 + i * 2, 2});
  EXPECT_EQ(search_function(elf, place_of("f")).value().places.size(), 1'024U);
  elf.symbols.push_back({"f", 0x401fff, 1});
  EXPECT_EQ(found(elf, "f"), "f has more than 1024 places");
}

TEST(FunctionSearchTest, AReturnOfAProgramInGoIsRefused) {
  BuiltElf elf = with_symbols({{"main.work", 0x401000, 16}});
  elf.more = {{.name = ".go.buildinfo", .bytes = "x"}};
  EXPECT_EQ(found(elf, "main.work"), "1000");
  EXPECT_TRUE(search_function(elf, place_of("main.work")).value().is_go);
  EXPECT_EQ(found(elf, "main.work%return"), "a return probe makes Go programs crash");
}

TEST(FunctionSearchTest, AStrippedProgramHasTheSymbolsOfItsDebugFile) {
  const BuiltElf debug = with_symbols({{"hidden", 0x401010, 16}});
  const auto places = search_function(BuiltElf(), place_of("hidden"), &debug);
  ASSERT_TRUE(places) << places.error().reason;
  EXPECT_EQ(places.value().places.at(0).offset, 0x1010U);
}

TEST(FunctionSearchTest, WhatIsNoNameIsNotDemangled) {
  EXPECT_EQ(demangled("malloc"), "");
  EXPECT_EQ(demangled("_Zx"), "");
  EXPECT_EQ(demangled("_Z1fv"), "f()");
  EXPECT_EQ(demangled("_Z1fv.part.0"), "");
  EXPECT_EQ(demangled("_Z999" + std::string(999, 'f') + "v"), std::string(999, 'f') + "()");
  EXPECT_FALSE(is_function_named("void ns::f<int>(int)", "ns::f"));
  EXPECT_FALSE(is_function_named("ns::f::h0123", "ns::f"));
  EXPECT_TRUE(is_function_named("ns::f[abi:cxx11](int)", "ns::f"));
}

}  // namespace
}  // namespace tallyfs::tracing
