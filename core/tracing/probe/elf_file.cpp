#include "core/tracing/probe/elf_file.h"

#include <algorithm>
#include <utility>

#include "core/base/bytes.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kNoteBytesMax = std::uint64_t{64} << 10;
constexpr std::uint64_t kLinkBytesMax = 4'096;
constexpr std::uint64_t kSectionNameBytesMax = std::uint64_t{1} << 20;
constexpr std::size_t kChunkSymbols = 4'096;
constexpr std::uint32_t kLoaded = 1;      // PT_LOAD
constexpr std::uint32_t kExecutable = 1;  // PF_X
constexpr std::uint32_t kBuildId = 3;     // NT_GNU_BUILD_ID
constexpr std::size_t kBuildIdBytesMax = 64;

Error broken(const char* what) {
  return invalid(std::string("the program file is broken: ") + what);
}
Error too_big(const char* what) {
  return {ErrorCode::kTooBig, std::string("the program file is too big: ") + what};
}

// A number that is as wide as an address of the file.
std::uint64_t word(ByteReader& reader, bool is_64) {
  return is_64 ? reader.get<std::uint64_t>() : reader.get<std::uint32_t>();
}

// The text at this byte of a table, up to its zero. Nothing: it has none.
std::string_view string_at(std::string_view table, std::uint64_t at) {
  if (at >= table.size()) return {};
  const std::string_view rest = table.substr(at);
  const std::size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

}  // namespace

Result<ElfFile> ElfFile::open(ReadAt read, std::uint64_t file_bytes) {
  if (file_bytes > kFileBytesMax) return too_big("1 GiB at most");
  ElfFile file(std::move(read), file_bytes);
  const auto header = file.read_header();
  if (!header) return header.error();
  if (auto done = file.read_segments(header.value().segments); !done) return done.error();
  if (auto done = file.read_sections(header.value()); !done) return done.error();
  return file;
}

std::string ElfFile::bytes_at(std::uint64_t offset, std::size_t bytes) const {
  if (offset >= file_bytes_) return {};
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, file_bytes_ - offset)),
                   '\0');
  text.resize(std::min(read_(offset, text), text.size()));
  return text;
}

Result<std::string> ElfFile::take(std::uint64_t offset, std::uint64_t bytes,
                                  const char* what) const {
  if (offset > file_bytes_ || bytes > file_bytes_ - offset) return broken(what);
  std::string text = bytes_at(offset, static_cast<std::size_t>(bytes));
  if (text.size() != bytes) return broken(what);
  return text;
}

Result<ElfFile::Header> ElfFile::read_header() {
  const std::string bytes = bytes_at(0, kHeaderBytes);
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return invalid("no program: the file is not ELF");
  ByteReader reader(bytes);
  (void)reader.take(4);
  const auto file_class = reader.get<std::uint8_t>();
  const auto order = reader.get<std::uint8_t>();
  (void)reader.take(10);
  const auto type = reader.get<std::uint16_t>();
  const auto machine = reader.get<std::uint16_t>();
  is_64_ = file_class == 2;
  if (!reader.ok() || file_class < 1 || file_class > 2) return broken("its header");
  if (order == 1 && machine == 3 && !is_64_) {
    machine_ = ElfMachine::kI386;
  } else if (order == 1 && (machine == 62 || machine == 183) && is_64_) {
    machine_ = machine == 62 ? ElfMachine::kX86_64 : ElfMachine::kAarch64;
  } else {
    return invalid("a program for x86-64, i386 or aarch64 is needed");
  }
  if (type != 2 && type != 3) return invalid("the file is neither a program nor a library");
  (void)reader.get<std::uint32_t>();
  (void)word(reader, is_64_);
  Header header;
  header.segments.offset = word(reader, is_64_);
  header.sections.offset = word(reader, is_64_);
  (void)reader.take(6);
  for (Table* const table : {&header.segments, &header.sections}) {
    table->entry_bytes = reader.get<std::uint16_t>();
    table->count = reader.get<std::uint16_t>();
  }
  header.names = reader.get<std::uint16_t>();
  if (!reader.ok()) return broken("its header");
  return header;
}

Result<void> ElfFile::read_segments(const Table& table) {
  if (table.count == 0) return {};
  if (table.count > kSegmentsMax) return too_big("256 segments at most");
  if (table.entry_bytes < (is_64_ ? 56 : 32)) return broken("its segments");
  const auto bytes =
      take(table.offset, std::uint64_t{table.entry_bytes} * table.count, "its segments");
  if (!bytes) return bytes.error();
  for (std::size_t i = 0; i < table.count; ++i) {
    ByteReader reader(std::string_view(bytes.value()).substr(i * table.entry_bytes));
    const auto type = reader.get<std::uint32_t>();
    auto flags = is_64_ ? reader.get<std::uint32_t>() : 0;
    Segment segment{.offset = word(reader, is_64_)};
    segment.address = word(reader, is_64_);
    (void)word(reader, is_64_);
    segment.bytes = word(reader, is_64_);
    (void)word(reader, is_64_);
    if (!is_64_) flags = reader.get<std::uint32_t>();
    segment.is_code = (flags & kExecutable) != 0;
    if (type == kLoaded) segments_.push_back(segment);
  }
  return {};
}

Result<void> ElfFile::read_sections(const Header& header) {
  const Table& table = header.sections;
  if (table.count == 0 || table.offset == 0) return {};
  if (table.count > kSectionsMax) return too_big("4096 sections at most");
  if (table.entry_bytes < (is_64_ ? 64 : 40)) return broken("its sections");
  const auto bytes =
      take(table.offset, std::uint64_t{table.entry_bytes} * table.count, "its sections");
  if (!bytes) return bytes.error();
  std::vector<std::uint32_t> names;
  for (std::size_t i = 0; i < table.count; ++i) {
    ByteReader reader(std::string_view(bytes.value()).substr(i * table.entry_bytes));
    names.push_back(reader.get<std::uint32_t>());
    Section section{.name = {}, .type = reader.get<std::uint32_t>()};
    (void)word(reader, is_64_);
    section.address = word(reader, is_64_);
    section.offset = word(reader, is_64_);
    section.bytes = word(reader, is_64_);
    section.link = reader.get<std::uint32_t>();
    sections_.push_back(std::move(section));
  }
  if (header.names >= sections_.size()) return {};
  const auto texts = contents(sections_[header.names], kSectionNameBytesMax);
  if (!texts) return texts.error();
  for (std::size_t i = 0; i < names.size(); ++i) {
    sections_[i].name = string_at(texts.value(), names[i]).substr(0, kSymbolNameBytesMax);
  }
  return {};
}

const ElfFile::Section* ElfFile::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

// In a file of debug information alone, the dynamic symbols are a section without bytes.
const ElfFile::Section* ElfFile::of_type(std::uint32_t type) const {
  const auto found = std::ranges::find(sections_, type, &Section::type);
  return found == sections_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> ElfFile::offset_in(std::uint64_t address, bool needs_code) const {
  for (const Segment& each : segments_) {
    if (needs_code && !each.is_code) continue;
    if (address < each.address || address - each.address >= each.bytes) continue;
    const std::uint64_t within = address - each.address;
    if (each.offset >= file_bytes_ || within >= file_bytes_ - each.offset) continue;
    return each.offset + within;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::offset_of(std::uint64_t address) const {
  return offset_in(address, false);
}

std::optional<std::uint64_t> ElfFile::offset_of_code(std::uint64_t address) const {
  return offset_in(address, true);
}

Result<std::string> ElfFile::contents(const Section& section, std::uint64_t bytes_max) const {
  if (section.type == kNoBits) return std::string();
  if (section.bytes > bytes_max) return too_big("one of its sections");
  return take(section.offset, section.bytes, "one of its sections");
}

ElfSymbol ElfFile::parse_symbol(std::string_view bytes, std::string_view names) const {
  ByteReader reader(bytes);
  ElfSymbol symbol;
  const auto name = reader.get<std::uint32_t>();
  if (!is_64_) {
    symbol.value = reader.get<std::uint32_t>();
    symbol.size = reader.get<std::uint32_t>();
  }
  symbol.type = SymbolType{static_cast<std::uint8_t>(reader.get<std::uint8_t>() & 0xf)};
  (void)reader.get<std::uint8_t>();
  symbol.is_undefined = reader.get<std::uint16_t>() == 0;
  if (is_64_) {
    symbol.value = reader.get<std::uint64_t>();
    symbol.size = reader.get<std::uint64_t>();
  }
  symbol.name = string_at(names, name);
  return symbol;
}

Result<void> ElfFile::each_symbol(const Section& table,
                                  const std::function<void(const ElfSymbol&)>& use) const {
  const std::size_t entry = is_64_ ? 24 : 16;
  const std::uint64_t count = table.bytes / entry;
  if (count > kSymbolsMax) return too_big("4194304 symbols at most");
  if (table.link >= sections_.size()) return broken("its symbols have no names");
  const auto names = contents(sections_[table.link], kStringBytesMax);
  if (!names) return names.error();
  for (std::uint64_t at = 0; at < count; at += kChunkSymbols) {
    const std::uint64_t chunk = std::min<std::uint64_t>(kChunkSymbols, count - at);
    const auto bytes = take(table.offset + at * entry, chunk * entry, "its symbols");
    if (!bytes) return bytes.error();
    for (std::uint64_t i = 0; i < chunk; ++i) {
      ElfSymbol symbol = parse_symbol(
          std::string_view(bytes.value()).substr(static_cast<std::size_t>(i) * entry, entry),
          names.value());
      if (symbol.name.empty() || symbol.name.size() > kSymbolNameBytesMax) continue;
      symbol.index = at + i;
      use(symbol);
    }
  }
  return {};
}

void ElfFile::each_note(std::string_view bytes, const std::function<void(const Note&)>& use) {
  ByteReader reader(bytes);
  for (;;) {
    const auto name_bytes = reader.get<std::uint32_t>();
    const auto description_bytes = reader.get<std::uint32_t>();
    Note note{.name = {}, .description = {}, .type = reader.get<std::uint32_t>()};
    note.name = reader.take(padded(name_bytes)).substr(0, name_bytes);
    note.description = reader.take(description_bytes);
    if (!reader.ok()) return;
    if (!note.name.empty() && note.name.back() == '\0') note.name.remove_suffix(1);
    use(note);
    // The last one need not be padded.
    (void)reader.take(padded(description_bytes) - description_bytes);
  }
}

std::string ElfFile::build_id() const {
  std::string id;
  for (const Section& section : sections_) {
    if (section.type != kNoteSection || section.bytes > kNoteBytesMax) continue;
    const auto bytes = contents(section, kNoteBytesMax);
    if (!bytes) continue;
    each_note(bytes.value(), [&id](const Note& note) {
      if (!id.empty() || note.type != kBuildId || note.name != "GNU") return;
      constexpr std::string_view kDigits = "0123456789abcdef";
      for (const char c : note.description.substr(0, kBuildIdBytesMax)) {
        const auto byte = static_cast<unsigned char>(c);
        id.push_back(kDigits[byte >> 4]);
        id.push_back(kDigits[byte & 0xf]);
      }
    });
  }
  return id;
}

std::string ElfFile::debug_link() const {
  const Section* const link = section(".gnu_debuglink");
  if (!link) return {};
  const auto bytes = contents(*link, kLinkBytesMax);
  if (!bytes) return {};
  const std::string_view name = string_at(bytes.value(), 0);
  const bool is_name = name != "." && name != ".." && std::ranges::none_of(name, [](char c) {
                         return c == '/' || static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
                       });
  return is_name ? std::string(name) : std::string();
}

}  // namespace tallyfs::tracing
