// Markers (USDT): their notes and their arguments.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/tracing/probe/marker_argument.h"
#include "core/tracing/probe/marker_search.h"
#include "tests/unit/tracing/built_elf.h"

namespace tallyfs::tracing {
namespace {

std::string fetched(std::string_view argument, ElfMachine machine = ElfMachine::kX86_64) {
  const FindData find = [](std::string_view name, std::int64_t plus) {
    const bool is_known = name == "count";
    return is_known ? std::optional(0x2000 + static_cast<std::uint64_t>(plus)) : std::nullopt;
  };
  const Fetch fetch = fetch_of(argument, machine, find);
  return fetch.text.empty() ? "" : fetch.text + ":" + fetch.type;
}

TEST(MarkerArgumentTest, ReadsWhatCompilersWriteForX86) {
  EXPECT_EQ(fetched("8@%rdi"), "%di:u64");
  EXPECT_EQ(fetched("-4@%edx"), "%dx:s32");
  EXPECT_EQ(fetched("2@%ax"), "%ax:u16");
  EXPECT_EQ(fetched("-1@%sil"), "%si:s8");
  EXPECT_EQ(fetched("4@%r8d"), "%r8:u32");
  EXPECT_EQ(fetched("8@%r15"), "%r15:u64");
  EXPECT_EQ(fetched("1@%ah"), "%ax:b8@8/16");
  EXPECT_EQ(fetched("-4@$-5"), "\\-5:s32");
  EXPECT_EQ(fetched("4@$0x10"), "\\16:u32");
  EXPECT_EQ(fetched("8@-80(%rbx)"), "-80(%bx):u64");
  EXPECT_EQ(fetched("8@(%rax)"), "+0(%ax):u64");
  EXPECT_EQ(fetched("-4@112(%rsp)"), "+112(%sp):s32");
  EXPECT_EQ(fetched("8@count(%rip)"), "@+8192:u64");
  EXPECT_EQ(fetched("8@count+16(%rip)"), "@+8208:u64");
  EXPECT_EQ(fetched("4@8(%ebp)", ElfMachine::kI386), "+8(%bp):u32");
}

TEST(MarkerArgumentTest, ReadsWhatCompilersWriteForAarch64) {
  const auto arm = [](std::string_view text) { return fetched(text, ElfMachine::kAarch64); };
  EXPECT_EQ(arm("8@x0"), "%x0:u64");
  EXPECT_EQ(arm("-4@w30"), "%x30:s32");
  EXPECT_EQ(arm("4@5"), "\\5:u32");
  EXPECT_EQ(arm("8@[sp]"), "+0(%sp):u64");
  EXPECT_EQ(arm("8@[sp, 76]"), "+76(%sp):u64");
  EXPECT_EQ(arm("-4@[x19,-8]"), "-8(%x19):s32");
  EXPECT_EQ(arm("8@[x0, x1]"), "");
  EXPECT_EQ(arm("8@x31"), "");
  EXPECT_EQ(arm("8@%rdi"), "");
}

TEST(MarkerArgumentTest, FetchesNothingItDoesNotKnow) {
  for (const char* const text :
       {"8@(%rsi,%rdi,4)", "8f@%xmm0", "8@%xmm0", "3@%rdi", "-2@%ah", "8@other(%rip)", "8@(%rip)",
        "%rdi", "8@", "@%rdi", "8@%r16", "8@%r7", "8@$x", "8@x0", "8@8(%rax", "8@%rd", "-@%rdi",
        "8@count+x(%rip)"}) {
    EXPECT_EQ(fetched(text), "") << text;
  }
}

TEST(MarkerArgumentTest, ABlankInsideDoesNotEndAnArgument) {
  using Texts = std::vector<std::string_view>;
  EXPECT_EQ(split_arguments("8@%rdi -4@$-5"), (Texts{"8@%rdi", "-4@$-5"}));
  EXPECT_EQ(split_arguments("8@[sp, 76]  4@w0 "), (Texts{"8@[sp, 76]", "4@w0"}));
  EXPECT_EQ(split_arguments(""), Texts());
  std::string many;
  for (int i = 0; i < 200; ++i) many += "8@%rdi ";
  EXPECT_EQ(split_arguments(many).size(), FoundPlaces::kArgumentsMax);
}

struct Marker {
  std::uint64_t address = 0, base = 0, counter = 0;
  std::string name, arguments;
};

BuiltElf with_markers(const std::vector<Marker>& markers, std::uint64_t base = 0x801000) {
  std::string notes;
  ByteWriter out(notes);
  for (const Marker& each : markers) {
    std::string text;
    ByteWriter description(text);
    for (const std::uint64_t word : {each.address, each.base, each.counter}) description.put(word);
    text += std::string("app") + '\0' + each.name + '\0' + each.arguments + '\0';
    out.put(std::uint32_t{8});
    out.put(static_cast<std::uint32_t>(text.size()));
    out.put(std::uint32_t{3});
    notes.append("stapsdt", 8).append(text);
    notes.resize((notes.size() + 3) / 4 * 4, '\0');
  }
  BuiltElf elf;
  elf.more = {{.name = ".note.stapsdt", .bytes = notes, .type = 7},
              {.name = ".stapsdt.base", .bytes = "x", .address = base}};
  return elf;
}

Result<FoundPlaces> search_marker(const BuiltElf& elf, const std::string& name) {
  const std::string bytes = elf.bytes();
  const auto file = open_elf(bytes);
  if (!file) return file.error();
  return find_marker(file.value(), parse_place_name("/x:" + name, ProbeKind::kEntry).value());
}

TEST(MarkerSearchTest, FindsAllPlacesWithTheirCounterAndArguments) {
  const BuiltElf elf = with_markers({{0x401010, 0x801000, 0x804002, "start", "8@%rdi -4@%xmm0"},
                                     {0x401020, 0x801000, 0x804004, "done", ""},
                                     {0x401030, 0x801000, 0x804002, "start", "8@%rax -4@$3"}});
  const auto found = search_marker(elf, "app:start");
  ASSERT_TRUE(found) << found.error().reason;
  EXPECT_EQ(print(found.value()), "x86_64\n4112 8194 %di:u64 -\n4144 8194 %ax:u64 \\3:s32\n");
  EXPECT_EQ(print(search_marker(elf, "app:done").value()), "x86_64\n4128 8196\n");
}

TEST(MarkerSearchTest, AFileWithMoreMarkersThanAreReadIsRefused) {
  const BuiltElf elf = with_markers(std::vector<Marker>(65'537, {0x401010, 0x801000, 0, "a", ""}));
  EXPECT_EQ(search_marker(elf, "app:a").error().code, ErrorCode::kTooBig);
  const std::string bytes = elf.bytes();
  const auto listed = list_markers(open_elf(bytes).value());
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kTooBig);
}

TEST(MarkerSearchTest, AProgramThatWasMovedHasItsMarkersMoved) {
  const BuiltElf elf = with_markers({{0x1010, 0x401000, 0x404002, "start", ""}});
  const auto found = search_marker(elf, "app:start");
  ASSERT_TRUE(found) << found.error().reason;
  EXPECT_EQ(print(found.value()), "x86_64\n4112 8194\n");
}

// The kernel counts data from the begin of the file that the code's segment would have.
TEST(MarkerSearchTest, DataOfTheProgramIsCountedFromTheSegmentOfThePlace) {
  BuiltElf elf = with_markers({{0x401010, 0x801000, 0, "start", "8@count+8(%rip) 8@none(%rip)"}});
  elf.symbols = {{"count", 0x804100, 8, SymbolType::kObject}};
  const auto found = search_marker(elf, "app:start");
  ASSERT_TRUE(found) << found.error().reason;
  EXPECT_EQ(found.value().places[0].arguments[0].text, "@+" + std::to_string(0x804108 - 0x400000));
  EXPECT_EQ(found.value().places[0].arguments[1].text, "");
}

// A program has hundreds of places of one marker, and a million symbols.
TEST(MarkerSearchTest, SearchesTheSymbolsOnceForEachName) {
  constexpr std::size_t kPlaces = 200;
  const std::string both = "8@count(%rip) 8@none(%rip)";
  BuiltElf elf = with_markers(std::vector<Marker>(kPlaces, {0x401010, 0x801000, 0, "start", both}));
  elf.symbols = {{"count", 0x804100, 8, SymbolType::kObject}};
  const std::string bytes = elf.bytes();
  std::size_t reads = 0;
  const auto file = ElfFile::open(
      [&](std::uint64_t offset, std::span<char> into) {
        reads += 1;
        bytes.copy(into.data(), into.size(), static_cast<std::size_t>(offset));
        return into.size();
      },
      bytes.size());
  ASSERT_TRUE(file) << file.error().reason;
  reads = 0;
  const auto found =
      find_marker(file.value(), parse_place_name("/x:app:start", ProbeKind::kEntry).value());
  ASSERT_TRUE(found) << found.error().reason;
  ASSERT_EQ(found.value().places.size(), kPlaces);
  EXPECT_EQ(found.value().places.back().arguments[0].text, "@+" + std::to_string(0x404100));
  EXPECT_LT(reads, kPlaces);
}

TEST(MarkerSearchTest, SaysWhyAMarkerIsNone) {
  const BuiltElf elf = with_markers({{0x401010, 0x801000, 0, "start", ""},
                                     {0x901010, 0x801000, 0, "lost", ""},
                                     {0x401010, 0x801000, 0x1, "counted", ""}});
  EXPECT_EQ(search_marker(elf, "app:strt").error().reason,
            "no marker app:strt; did you mean app:start?");
  EXPECT_EQ(search_marker(BuiltElf(), "app:start").error().reason,
            "no marker app:start: the file has none");
  EXPECT_EQ(search_marker(elf, "app:lost").error().reason, "app:lost is in no segment with code");
  EXPECT_EQ(search_marker(elf, "app:counted").error().reason,
            "the counter of app:counted is not in the file");
}

}  // namespace
}  // namespace tallyfs::tracing
