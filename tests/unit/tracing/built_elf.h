// An ELF file, made byte by byte: code at 0x401000, which is at 0x1000 of the file, and data at
// 0x804000, which is at 0x2000.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/tracing/probe/elf_file.h"

namespace tallyfs::tracing {

struct BuiltSymbol {
  std::string name;
  std::uint64_t value = 0, size = 0;
  SymbolType type = SymbolType::kFunction;
  bool is_undefined = false;
  std::uint16_t version = 1;  // of a dynamic one: 1 is none, 0x8000 hides it
};

struct BuiltSection {
  std::string name, bytes;
  std::uint32_t type = 1;
  std::uint64_t address = 0;
  std::uint32_t link = 0;
};

class BuiltElf {
 public:
  static constexpr std::uint64_t kCode = 0x401000, kCodeOffset = 0x1000;
  static constexpr std::uint64_t kData = 0x804000, kDataOffset = 0x2000;
  static constexpr std::size_t kSegmentBytes = 0x1000;

  ElfMachine machine = ElfMachine::kX86_64;
  std::vector<BuiltSymbol> symbols, dynamic;
  std::map<std::uint16_t, std::string> versions;
  std::vector<BuiltSection> more;
  std::string code = std::string(kSegmentBytes, '\x90');  // nop

  bool is_64() const { return machine != ElfMachine::kI386; }
  std::string bytes() const;

 private:
  class Strings {
   public:
    std::uint32_t add(const std::string& text) {
      const auto at = static_cast<std::uint32_t>(bytes_.size());
      bytes_.append(text).push_back('\0');
      return at;
    }
    const std::string& bytes() const { return bytes_; }

   private:
    std::string bytes_ = std::string(1, '\0');
  };

  void put_word(ByteWriter& out, std::uint64_t value) const {
    if (is_64()) {
      out.put(value);
    } else {
      out.put(static_cast<std::uint32_t>(value));
    }
  }
  std::string table(const std::vector<BuiltSymbol>& of, Strings& names) const;
  std::string header(std::uint64_t sections_at, std::size_t count) const;
  std::string segments() const;
  std::vector<BuiltSection> sections() const;
};

inline std::string BuiltElf::table(const std::vector<BuiltSymbol>& of, Strings& names) const {
  std::string text(is_64() ? 24 : 16, '\0');
  ByteWriter out(text);
  for (const BuiltSymbol& each : of) {
    const auto kind = static_cast<std::uint8_t>(0x10 | static_cast<unsigned>(each.type));
    const std::uint16_t section = each.is_undefined ? 0 : 1;
    out.put(names.add(each.name));
    if (!is_64()) {
      put_word(out, each.value);
      put_word(out, each.size);
    }
    out.put(kind);
    out.put(std::uint8_t{0});
    out.put(section);
    if (is_64()) {
      put_word(out, each.value);
      put_word(out, each.size);
    }
  }
  return text;
}

inline std::vector<BuiltSection> BuiltElf::sections() const {
  Strings names, dynamic_names;
  std::vector<BuiltSection> all = {{.name = "", .bytes = "", .type = 0},
                                   {.name = ".text", .bytes = "", .address = kCode}};
  const auto last = [&all] { return static_cast<std::uint32_t>(all.size()); };
  if (!symbols.empty()) {
    all.push_back({".symtab", table(symbols, names), 2, 0, last() + 1});
    all.push_back({".strtab", names.bytes(), 3});
  }
  if (!dynamic.empty()) {
    std::string indices(2, '\0'), definitions;
    ByteWriter of_indices(indices), of_definitions(definitions);
    for (const BuiltSymbol& each : dynamic) of_indices.put(each.version);
    const std::string rows = table(dynamic, dynamic_names);
    std::size_t left = versions.size();
    for (const auto& [index, name] : versions) {
      for (const std::uint16_t half :
           {std::uint16_t{1}, std::uint16_t{0}, index, std::uint16_t{1}}) {
        of_definitions.put(half);
      }
      left -= 1;
      for (const std::uint32_t each :
           {0U, 20U, left == 0 ? 0U : 28U, dynamic_names.add(name), 0U}) {
        of_definitions.put(each);
      }
    }
    all.push_back({".dynsym", rows, 11, 0, last() + 1});
    all.push_back({".dynstr", dynamic_names.bytes(), 3});
    all.push_back({".gnu.version", indices, 0x6fffffff});
    if (!versions.empty()) all.push_back({".gnu.version_d", definitions, 0x6ffffffd});
  }
  all.insert(all.end(), more.begin(), more.end());
  Strings of_sections;
  for (const BuiltSection& each : all) (void)of_sections.add(each.name);
  (void)of_sections.add(".shstrtab");
  all.push_back({".shstrtab", of_sections.bytes(), 3});
  return all;
}

inline std::string BuiltElf::header(std::uint64_t sections_at, std::size_t count) const {
  std::string text =
      "\x7f"
      "ELF";
  ByteWriter out(text);
  out.put(std::uint8_t(is_64() ? 2 : 1));
  out.put(std::uint8_t{1});
  text.resize(16, '\0');
  out.put(std::uint16_t{3});
  out.put(std::uint16_t(machine == ElfMachine::kI386     ? 3
                        : machine == ElfMachine::kX86_64 ? 62
                                                         : 183));
  out.put(std::uint32_t{1});
  put_word(out, kCode);
  put_word(out, 0x100);
  put_word(out, sections_at);
  text.append(6, '\0');
  for (const std::size_t each : {is_64() ? std::size_t{56} : std::size_t{32}, std::size_t{2},
                                 is_64() ? std::size_t{64} : std::size_t{40}, count, count - 1}) {
    out.put(static_cast<std::uint16_t>(each));
  }
  return text;
}

inline std::string BuiltElf::segments() const {
  std::string text;
  ByteWriter out(text);
  struct Loaded {
    std::uint32_t flags;
    std::uint64_t offset, address;
  };
  for (const Loaded& each : {Loaded{5, kCodeOffset, kCode}, Loaded{6, kDataOffset, kData}}) {
    out.put(std::uint32_t{1});
    if (is_64()) out.put(each.flags);
    for (const std::uint64_t word : {each.offset, each.address, each.address,
                                     std::uint64_t{kSegmentBytes}, std::uint64_t{kSegmentBytes}}) {
      put_word(out, word);
    }
    if (!is_64()) out.put(each.flags);
    put_word(out, 0x1000);
  }
  return text;
}

inline std::string BuiltElf::bytes() const {
  const auto all = sections();
  std::string contents, headers, names;
  ByteWriter out(headers);
  const std::uint64_t begin = kDataOffset + kSegmentBytes;
  std::uint32_t name = 1;
  for (const BuiltSection& each : all) {
    out.put(name);
    name += static_cast<std::uint32_t>(each.name.size()) + 1;
    out.put(each.type);
    for (const std::uint64_t word : {std::uint64_t{0}, each.address, begin + contents.size(),
                                     std::uint64_t{each.bytes.size()}}) {
      put_word(out, word);
    }
    out.put(each.link);
    out.put(std::uint32_t{0});
    put_word(out, 1);
    put_word(out, 0);
    contents += each.bytes;
  }
  std::string file = header(begin + contents.size(), all.size());
  file.resize(0x100, '\0');
  file += segments();
  file.resize(kCodeOffset, '\0');
  file += code;
  file.resize(begin, '\0');
  return file + contents + headers;
}

// Reads the file from memory, which outlives what is opened.
inline Result<ElfFile> open_elf(const std::string& bytes) {
  return ElfFile::open(
      [&bytes](std::uint64_t offset, std::span<char> into) {
        const std::string_view rest = std::string_view(bytes).substr(
            static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes.size())));
        const std::size_t count = std::min(rest.size(), into.size());
        std::memcpy(into.data(), rest.data(), count);
        return count;
      },
      bytes.size());
}

}  // namespace tallyfs::tracing
