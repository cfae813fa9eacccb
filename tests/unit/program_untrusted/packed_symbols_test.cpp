// In both builds: with liblzma, and without it.
#include "program/untrusted/packed_symbols.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "core/tracing/probe/function_search.h"
#include "program/untrusted/program_file.h"
#include "tests/unit/temporary_directory.h"
#include "tests/unit/tracing/built_elf.h"
#if TALLY_LZMA
#include <lzma.h>
#endif

namespace tallyfs {
namespace {

#if TALLY_LZMA
std::string packed(const std::string& bytes) {
  std::string into(bytes.size() + 4'096, '\0');
  std::size_t size = 0;
  const auto done = ::lzma_easy_buffer_encode(
      0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
      bytes.size(), reinterpret_cast<std::uint8_t*>(into.data()), &size, into.size());
  EXPECT_EQ(done, LZMA_OK);
  into.resize(size);
  return into;
}

std::string names() {
  tracing::BuiltElf elf;
  elf.symbols = {{"hidden", 0x401020, 16}};
  return packed(elf.bytes());
}

// What a stripped program's function is found with: its place, or the reason.
std::string search(const std::string& debugdata, const char* function) {
  const TemporaryDirectory directory;
  tracing::BuiltElf elf;
  elf.more = {{.name = ".gnu_debugdata", .bytes = debugdata}};
  std::ofstream(directory / "program", std::ios::binary) << elf.bytes();
  const auto files = open_program(directory / "program", {});
  if (!files) return files.error().reason;
  const auto read = read_program(files.value());
  if (!read) return read.error().reason;
  const auto place = tracing::parse_place_name(std::string("/x:") + function,
                                               tracing::ProbeKind::kEntry);
  const auto found =
      tracing::find_function(read.value().program, read.value().more(), place.value());
  const std::string fault = read.value().packed_fault;
  return found ? print(found.value())
               : found.error().reason + (fault.empty() ? "" : "; " + fault);
}

TEST(PackedSymbolsTest, AStrippedProgramHasTheNamesThatItHasPacked) {
  EXPECT_EQ(search(names(), "hidden"), "x86_64\n4128 0\n");
  EXPECT_EQ(search(names(), "hiddem"), "no function hiddem; did you mean hidden?");
}

TEST(PackedSymbolsTest, SaysWhatIsWrongWithThem) {
  const std::string none = "no function hidden (the file is stripped); ";
  EXPECT_EQ(search(names().substr(0, names().size() / 2), "hidden"),
            none + "it is not what xz packs");
  EXPECT_EQ(search(packed("no ELF file"), "hidden"), none + "no program: the file is not ELF");
}

TEST(PackedSymbolsTest, AreBounded) {
  constexpr std::size_t kMax = 6'000'000;
  const std::string fits = packed(std::string(kMax - 1, 'x'));
  EXPECT_EQ(unpack(fits, kMax).value().size(), kMax - 1);
  EXPECT_EQ(unpack(packed(std::string(kMax + 1, 'x')), kMax).error().reason,
            "it unpacks to too much");
}
#else
TEST(PackedSymbolsTest, AreRefusedWithoutTheLibrary) {
  EXPECT_EQ(unpack("x").error().reason, "tallyfs is built without liblzma");
}
#endif

}  // namespace
}  // namespace tallyfs
