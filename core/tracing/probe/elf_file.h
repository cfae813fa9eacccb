// An ELF file that a stranger has made, read piece by piece: which code is where in the file, and
// the names of functions. Nothing in it is trusted: each offset, count and length is bounded, and
// what points out of the file is a fault of the file.
// Confined to one thread. Reads through a callback, and keeps section and program headers only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tallyfs::tracing {

enum class ElfMachine { kI386, kX86_64, kAarch64 };

// The values that the format gives them.
enum class SymbolType : std::uint8_t { kNone = 0, kObject = 1, kFunction = 2, kIndirect = 10 };

struct ElfSymbol {
  std::string_view name;  // valid during the call that is given the symbol
  std::uint64_t value = 0, size = 0;
  SymbolType type = SymbolType::kNone;
  bool is_undefined = false;  // it is in another file
  std::uint64_t index = 0;
};

class ElfFile {
 public:
  static constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30;
  static constexpr std::uint64_t kSymbolsMax = std::uint64_t{1} << 22;
  static constexpr std::uint64_t kSectionsMax = 4'096;
  static constexpr std::uint64_t kSegmentsMax = 256;
  // Of a table of names, and of one name. Longer names are passed over.
  static constexpr std::uint64_t kStringBytesMax = std::uint64_t{128} << 20;
  static constexpr std::size_t kSymbolNameBytesMax = 4'096;

  // Fills the bytes from that offset of the file on; returns how many there were.
  using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> into)>;

  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint64_t address = 0, offset = 0, bytes = 0;
    std::uint32_t link = 0;
  };

  // kInvalid: no ELF file of an architecture that we know, or a broken one. kTooBig.
  static Result<ElfFile> open(ReadAt read, std::uint64_t file_bytes);

  ElfMachine machine() const { return machine_; }
  bool is_64() const { return is_64_; }
  // nullptr: there is none of that name.
  const Section* section(std::string_view name) const;
  // nullptr: there is none, as in a stripped file.
  const Section* symbols() const { return of_type(kSymbolTable); }
  const Section* dynamic_symbols() const { return of_type(kDynamicSymbols); }
  // Nothing: it is not in the file, or, for code, not in a segment that may be executed.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  std::optional<std::uint64_t> offset_of_code(std::uint64_t address) const;

  // Each symbol of the table with a name. kInvalid: the table is broken; kTooBig.
  Result<void> each_symbol(const Section& table,
                           const std::function<void(const ElfSymbol&)>& use) const;
  // All bytes of a section. kInvalid: it is cut off; kTooBig: it has more than bytes_max.
  Result<std::string> contents(const Section& section, std::uint64_t bytes_max) const;
  // Fewer if the file ends before.
  std::string bytes_at(std::uint64_t offset, std::size_t bytes) const;
  // As lower-case hexadecimal digits; empty: there is none.
  std::string build_id() const;
  // The file name in .gnu_debuglink; empty: there is none, or it is no name.
  std::string debug_link() const;

  struct Note {
    std::string_view name, description;
    std::uint32_t type = 0;
  };
  // The notes of a section's bytes, up to the first that is broken.
  static void each_note(std::string_view bytes, const std::function<void(const Note&)>& use);

 private:
  static constexpr std::uint32_t kSymbolTable = 2, kNoteSection = 7, kNoBits = 8,
                                 kDynamicSymbols = 11;
  struct Segment {
    std::uint64_t address = 0, offset = 0, bytes = 0;
    bool is_code = false;
  };
  // Of a header table.
  struct Table {
    std::uint64_t offset = 0;
    std::uint16_t entry_bytes = 0, count = 0;
  };
  struct Header {
    Table segments, sections;
    std::uint16_t names = 0;
  };

  ElfFile(ReadAt read, std::uint64_t file_bytes)
      : read_(std::move(read)), file_bytes_(file_bytes) {}

  const Section* of_type(std::uint32_t type) const;
  Result<std::string> take(std::uint64_t offset, std::uint64_t bytes, const char* what) const;
  Result<Header> read_header();
  Result<void> read_segments(const Table& table);
  Result<void> read_sections(const Header& header);
  ElfSymbol parse_symbol(std::string_view bytes, std::string_view names) const;
  std::optional<std::uint64_t> offset_in(std::uint64_t address, bool needs_code) const;

  ReadAt read_;
  std::uint64_t file_bytes_;
  ElfMachine machine_ = ElfMachine::kX86_64;
  bool is_64_ = true;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
};

}  // namespace tallyfs::tracing
