// The reader of ELF files, beside readelf on files of this machine, and on files that are broken.
#include "core/tracing/probe/elf_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/tracing/built_elf.h"

namespace tallyfs::tracing {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a command, and returns what it prints.
std::string output_of(const std::string& command) {
  std::string text;
  std::array<char, 65'536> piece;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (!pipe) return text;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), pipe)) {
    text.append(piece.data(), size);
  }
  return ::pclose(pipe) == 0 ? text : std::string();
}

using Function = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // name, address, size

// `Num: Value Size Type Bind Vis Ndx Name`, of functions that the file defines. Without versions.
std::multiset<Function> functions_by_readelf(const std::string& path) {
  std::multiset<Function> functions;
  std::istringstream lines(output_of("readelf -Ws '" + path + "' 2>/dev/null"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, binding, visibility, section, name;
    words >> number >> value >> size >> type >> binding >> visibility >> section >> name;
    if (type != "FUNC" || section == "UND" || name.empty()) continue;
    functions.emplace(name.substr(0, name.find('@')), std::stoull(value, nullptr, 16),
                      std::stoull(size, nullptr, 0));
  }
  return functions;
}

std::multiset<Function> functions_of(const ElfFile& file) {
  std::multiset<Function> functions;
  for (const ElfFile::Section* const table : {file.dynamic_symbols(), file.symbols()}) {
    if (!table) continue;
    const auto done = file.each_symbol(*table, [&](const ElfSymbol& symbol) {
      if (symbol.type != SymbolType::kFunction || symbol.is_undefined) return;
      functions.emplace(symbol.name.substr(0, symbol.name.find('@')), symbol.value, symbol.size);
    });
    EXPECT_TRUE(done) << done.error().reason;
  }
  return functions;
}

// Files of this machine, with and without tables of their own: libraries in C and C++, programs,
// and this test.
std::vector<std::string> files_here() {
  std::vector<std::string> files = {std::filesystem::read_symlink("/proc/self/exe"), "/bin/bash",
                                    "/usr/bin/python3"};
  std::set<std::string> libraries;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == line.npos || line.find(".so") == line.npos) continue;
    libraries.insert(line.substr(path));
  }
  files.insert(files.end(), libraries.begin(), libraries.end());
  std::erase_if(files, [](const std::string& each) { return !std::filesystem::exists(each); });
  return files;
}

TEST(ElfFileTest, FindsTheFunctionsThatReadelfFinds) {
  if (output_of("readelf --version").empty()) GTEST_SKIP() << "NO READELF: INSTALL binutils";
  std::size_t all = 0;
  for (const std::string& path : files_here()) {
    const std::string bytes = read_whole(path);
    const auto file = open_elf(bytes);
    ASSERT_TRUE(file) << path << ": " << file.error().reason;
    const auto expected = functions_by_readelf(path);
    EXPECT_EQ(functions_of(file.value()), expected) << path;
    all += expected.size();
    for (const auto& [name, address, size] : expected) {
      EXPECT_TRUE(file.value().offset_of_code(address)) << path << ": " << name;
    }
  }
  EXPECT_GT(all, 5'000U) << "of libc and libstdc++ alone";
}

TEST(ElfFileTest, KnowsBuildIdsAsReadelfDoes) {
  if (output_of("readelf --version").empty()) GTEST_SKIP() << "NO READELF: INSTALL binutils";
  for (const std::string& path : files_here()) {
    const std::string shown = output_of("readelf -nW '" + path + "' 2>/dev/null");
    const std::size_t at = shown.find("Build ID: ");
    const std::string bytes = read_whole(path);
    const auto file = open_elf(bytes);
    ASSERT_TRUE(file) << path;
    const std::string rest = at == shown.npos ? "" : shown.substr(at + 10);
    EXPECT_EQ(file.value().build_id(), rest.substr(0, rest.find('\n'))) << path;
  }
}

TEST(ElfFileTest, APlaceIsTheAddressWithinItsSegment) {
  for (const ElfMachine machine : {ElfMachine::kX86_64, ElfMachine::kI386, ElfMachine::kAarch64}) {
    BuiltElf elf;
    elf.machine = machine;
    const std::string bytes = elf.bytes();
    const auto file = open_elf(bytes);
    ASSERT_TRUE(file) << file.error().reason;
    EXPECT_EQ(file.value().machine(), machine);
    EXPECT_EQ(file.value().offset_of_code(0x401010), 0x1010U);
    EXPECT_EQ(file.value().offset_of(0x804010), 0x2010U);
    EXPECT_EQ(file.value().offset_of_code(0x804010), std::nullopt) << "data is not executed";
    EXPECT_EQ(file.value().offset_of(0x402000), std::nullopt) << "behind the segment";
    EXPECT_EQ(file.value().offset_of(0), std::nullopt);
  }
}

TEST(ElfFileTest, ReadsTheNameOfADebugFileAndNoPath) {
  const auto link = [](const std::string& text) {
    BuiltElf elf;
    elf.more = {{.name = ".gnu_debuglink", .bytes = text + std::string(4, '\0')}};
    const std::string bytes = elf.bytes();
    return open_elf(bytes).value().debug_link();
  };
  EXPECT_EQ(link("libc.so.debug"), "libc.so.debug");
  EXPECT_EQ(link("../libc.so.debug"), "");
  EXPECT_EQ(link(".."), "");
  EXPECT_EQ(link("a\nb"), "");
}

TEST(ElfFileTest, RefusesWhatIsNoProgram) {
  const auto reason = [](const std::string& bytes) {
    const auto file = open_elf(bytes);
    return file ? std::string() : file.error().reason;
  };
  EXPECT_EQ(reason(""), "no program: the file is not ELF");
  EXPECT_EQ(reason("#!/bin/sh\n"), "no program: the file is not ELF");
  const std::string good = BuiltElf().bytes();
  EXPECT_EQ(reason(good), "");
  EXPECT_EQ(reason(good.substr(0, 40)), "the program file is broken: its header");
  EXPECT_EQ(reason(good.substr(0, 0x110)), "the program file is broken: its segments");
  EXPECT_EQ(reason(good.substr(0, good.size() - 1)), "the program file is broken: its sections");
  std::string other = good;
  other[5] = 2;
  EXPECT_EQ(reason(other), "a program for x86-64, i386 or aarch64 is needed") << "big-endian";
  other = good;
  other[18] = 8;
  EXPECT_EQ(reason(other), "a program for x86-64, i386 or aarch64 is needed") << "MIPS";
  other = good;
  other[16] = 1;
  EXPECT_EQ(reason(other), "the file is neither a program nor a library");
}

// Each byte of headers and tables is changed: there is an answer, and never a place beyond the
// file.
TEST(ElfFileTest, ReadsNothingBeyondABrokenFile) {
  BuiltElf elf;
  elf.code.resize(16);
  elf.symbols = {{"alpha", 0x401000, 16}, {"beta", 0x401008, 8}};
  elf.dynamic = {{.name = "gamma", .value = 0x401004, .size = 4, .version = 2}};
  elf.versions = {{2, "V_1"}};
  const std::string good = elf.bytes();
  std::minstd_rand random(7);
  std::size_t opened = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= 0x200 && at < 0x3000) continue;  // code and data
    for (const unsigned value : {0U, 0x7fU, 0xffU, static_cast<unsigned>(random() & 0xff)}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      const auto file = open_elf(bytes);
      if (!file) continue;
      opened += 1;
      for (const auto* const table : {file.value().symbols(), file.value().dynamic_symbols()}) {
        if (!table) continue;
        (void)file.value().each_symbol(*table, [&](const ElfSymbol& symbol) {
          const auto offset = file.value().offset_of(symbol.value);
          EXPECT_LT(offset.value_or(0), bytes.size()) << at;
        });
      }
      (void)file.value().build_id();
    }
  }
  EXPECT_GT(opened, 1'000U);
}

TEST(ElfFileTest, AFileThatShrinksMeanwhileIsBroken) {
  BuiltElf elf;
  elf.symbols = {{"alpha", 0x401000, 16}};
  const std::string whole = elf.bytes();
  const auto open_cut = [&whole](std::size_t left) {
    const auto file = ElfFile::open(
        [&whole, left](std::uint64_t offset, std::span<char> into) {
          const std::size_t begin = std::min<std::size_t>(offset, left);
          const std::size_t count = std::min(left - begin, into.size());
          std::memcpy(into.data(), whole.data() + begin, count);
          return count;
        },
        whole.size());
    return file ? std::string() : file.error().reason;
  };
  EXPECT_EQ(open_cut(whole.size()), "");
  EXPECT_EQ(open_cut(whole.size() - 1), "the program file is broken: its sections");
  EXPECT_EQ(open_cut(0x108), "the program file is broken: its segments");
}

TEST(ElfFileTest, ATableOfAbsurdSizeIsRefused) {
  const std::string good = [] {
    BuiltElf elf;
    elf.symbols = {{"alpha", 0x401000, 16}};
    return elf.bytes();
  }();
  const auto file = open_elf(good);
  ASSERT_TRUE(file);
  ElfFile::Section table = *file.value().symbols();
  table.bytes = std::uint64_t{1} << 40;
  const auto ignored = [](const ElfSymbol&) {};
  EXPECT_EQ(file.value().each_symbol(table, ignored).error().code, ErrorCode::kTooBig);
  table = *file.value().symbols();
  table.offset = good.size() - 1;
  EXPECT_EQ(file.value().each_symbol(table, ignored).error().reason,
            "the program file is broken: its symbols");
  table = *file.value().symbols();
  table.link = 99;
  EXPECT_EQ(file.value().each_symbol(table, ignored).error().reason,
            "the program file is broken: its symbols have no names");
}

}  // namespace
}  // namespace tallyfs::tracing
