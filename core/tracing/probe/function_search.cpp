#include "core/tracing/probe/function_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/nearest.h"
#include "core/tracing/probe/demangled.h"
#include "core/tracing/probe/symbol_versions.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kBranchTargetBytes = 4;
constexpr std::string_view kBranchTarget64 = "\xf3\x0f\x1e\xfa";
constexpr std::string_view kBranchTarget32 = "\xf3\x0f\x1e\xfb";
constexpr std::size_t kNearMax = 65'536;
constexpr std::size_t kNamedMax = 3;

// A name in a table, and which version of it.
struct Versioned {
  std::string_view name, version;
  bool is_default = true;
};

// In .symtab the version is a part of the name.
Versioned split(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == name.npos) return {name, {}, true};
  const bool is_default = name.substr(at).starts_with("@@");
  return {name.substr(0, at), name.substr(at + (is_default ? 2 : 1)), is_default};
}

class FunctionSearch {
 public:
  FunctionSearch(const ElfFile& file, const ElfFile* debug, const PlaceName& place)
      : file_(file), debug_(debug), place_(place) {}

  Result<FoundPlaces> run();

 private:
  using Use = std::function<void(const ElfSymbol&, const Versioned&)>;

  Result<void> each_of(const ElfFile& file, const ElfFile::Section* table, const Use& use) const;
  // The symbols of all tables.
  Result<void> each(const Use& use) const;
  Result<void> find_by_symbol();
  Result<void> find_by_demangled();
  void match(const ElfSymbol& symbol);
  bool is_found() const { return !found_.empty() || is_data_ || is_undefined_ || is_indirect_; }
  Error no_symbol() const;
  Error indirect() const;
  Result<FoundPlaces> places() const;
  Result<ProbedEntry> place_of(std::uint64_t address, std::uint64_t size) const;

  const ElfFile& file_;
  const ElfFile* const debug_;
  const PlaceName& place_;
  std::map<std::uint64_t, std::uint64_t> found_;  // sizes by addresses
  std::set<std::string> other_versions_;
  bool is_data_ = false, is_undefined_ = false, is_indirect_ = false;
};

Result<void> FunctionSearch::each_of(const ElfFile& file, const ElfFile::Section* table,
                                     const Use& use) const {
  if (!table) return {};
  const bool is_dynamic = table == file.dynamic_symbols();
  const auto versions = is_dynamic ? SymbolVersions::read(file) : SymbolVersions();
  if (!versions) return versions.error();
  return file.each_symbol(*table, [&](const ElfSymbol& symbol) {
    Versioned name = split(symbol.name);
    if (const auto version = versions.value().of(symbol.index)) {
      name.version = version->name;
      name.is_default = !version->is_hidden;
    }
    use(symbol, name);
  });
}

Result<void> FunctionSearch::each(const Use& use) const {
  if (auto done = each_of(file_, file_.symbols(), use); !done) return done;
  if (auto done = each_of(file_, file_.dynamic_symbols(), use); !done) return done;
  return debug_ ? each_of(*debug_, debug_->symbols(), use) : Result<void>();
}

void FunctionSearch::match(const ElfSymbol& symbol) {
  const bool is_code = symbol.type == SymbolType::kFunction || symbol.type == SymbolType::kNone;
  if (symbol.is_undefined) {
    is_undefined_ = true;
  } else if (symbol.type == SymbolType::kIndirect) {
    is_indirect_ = true;
  } else if (is_code &&
             (symbol.type == SymbolType::kFunction || file_.offset_of_code(symbol.value))) {
    std::uint64_t& size = found_[symbol.value];
    size = std::max(size, symbol.size);
  } else {
    is_data_ = true;
  }
}

Result<void> FunctionSearch::find_by_symbol() {
  return each([this](const ElfSymbol& symbol, const Versioned& name) {
    if (name.name != place_.name) return;
    const bool is_meant = place_.version.empty() ? name.is_default || symbol.is_undefined
                                                 : name.version == place_.version;
    if (is_meant) {
      match(symbol);
    } else if (!symbol.is_undefined && other_versions_.size() < kNamedMax) {
      other_versions_.emplace(std::string(name.version));
    }
  });
}

Result<void> FunctionSearch::find_by_demangled() {
  return each([&](const ElfSymbol& symbol, const Versioned& name) {
    if (symbol.type != SymbolType::kFunction || symbol.is_undefined) return;
    if (!may_be_named(name.name, place_.name)) return;
    if (is_function_named(demangled(name.name), place_.name)) match(symbol);
  });
}

// The variants of an indirect function have names like __memcpy_avx_unaligned.
Error FunctionSearch::indirect() const {
  std::set<std::string> variants;
  const std::string begin = "__" + place_.name + "_";
  (void)each([&](const ElfSymbol& symbol, const Versioned& name) {
    // Variants with _chk_ are of another function.
    const bool is_variant = symbol.type == SymbolType::kFunction && name.name.starts_with(begin) &&
                            !name.name.ends_with("_ifunc") &&
                            !name.name.substr(begin.size()).starts_with("chk_");
    if (is_variant && variants.size() < kNamedMax) variants.emplace(name.name);
  });
  std::string reason = place_.name + " is chosen at run time";
  if (variants.empty()) return invalid(reason);
  return invalid(reason + ": name one of " + listed({variants.begin(), variants.end()}));
}

Error FunctionSearch::no_symbol() const {
  const bool has_symbols = file_.symbols() || debug_;
  if (!other_versions_.empty()) {
    const std::string wanted = place_.version.empty() ? "no default version" : "no such version";
    return invalid(place_.name + " has " + wanted + ": name " + place_.name + "@" +
                   *other_versions_.begin());
  }
  std::vector<std::string> near;
  (void)each([&](const ElfSymbol& symbol, const Versioned& name) {
    const std::size_t longer = std::max(name.name.size(), place_.name.size());
    const std::size_t apart = longer - std::min(name.name.size(), place_.name.size());
    const bool is_near = symbol.type == SymbolType::kFunction && !symbol.is_undefined &&
                         apart <= 1 + place_.name.size() / 3;
    if (is_near && near.size() < kNearMax) near.emplace_back(name.name);
  });
  const char* const stripped = has_symbols ? "" : " (the file is stripped)";
  return invalid("no function " + place_.name + stripped + did_you_mean(place_.name, near));
}

Result<ProbedEntry> FunctionSearch::place_of(std::uint64_t address, std::uint64_t size) const {
  const auto begin = file_.offset_of_code(address);
  if (!begin) return invalid(place_.name + " is in no segment with code");
  if (place_.offset) {
    if (*place_.offset > 0 && *place_.offset >= size) {
      return invalid(place_.name + " has " + std::to_string(size) + " bytes");
    }
    const auto within = file_.offset_of_code(address + *place_.offset);
    return within ? Result<ProbedEntry>({.offset = *within})
                  : invalid(place_.name + " is in no segment with code");
  }
  return entry_of(file_, address, size).value_or(ProbedEntry{.offset = *begin});
}

Result<FoundPlaces> FunctionSearch::places() const {
  if (found_.size() > FoundPlaces::kPlacesMax) {
    return invalid(place_.name + " has more than 1024 places");
  }
  if (place_.offset.value_or(0) > 0 && found_.size() > 1) {
    return invalid(place_.name + " is " + std::to_string(found_.size()) +
                   " functions: an offset is one's alone");
  }
  FoundPlaces found{.machine = file_.machine(), .is_go = is_go_program(file_)};
  if (place_.kind == ProbeKind::kReturn && found.is_go)
    return invalid("a return probe makes Go programs crash");
  std::set<ProbedEntry> entries;
  for (const auto& [address, size] : found_) {
    const auto entry = place_of(address, size);
    if (!entry) return entry.error();
    entries.insert(entry.value());
  }
  for (const ProbedEntry& each : entries) {
    found.places.push_back({.offset = each.offset, .is_after_endbr64 = each.is_after_endbr64});
  }
  return found;
}

Result<FoundPlaces> FunctionSearch::run() {
  if (auto done = find_by_symbol(); !done) return done.error();
  if (!is_found() && place_.version.empty()) {
    if (auto done = find_by_demangled(); !done) return done.error();
  }
  if (!found_.empty()) return places();
  if (is_indirect_) return indirect();
  if (is_undefined_) return invalid(place_.name + " is in another file");
  if (is_data_) return invalid(place_.name + " is data, and no function");
  return no_symbol();
}

}  // namespace

Result<FoundPlaces> find_function(const ElfFile& file, const ElfFile* debug,
                                  const PlaceName& place) {
  return FunctionSearch(file, debug, place).run();
}

std::optional<ProbedEntry> entry_of(const ElfFile& file, std::uint64_t address,
                                    std::uint64_t size) {
  const auto begin = file.offset_of_code(address);
  if (!begin) return std::nullopt;
  const std::string first = file.bytes_at(*begin, kBranchTargetBytes);
  const bool is_target = file.machine() == ElfMachine::kX86_64 ? first == kBranchTarget64
                         : file.machine() == ElfMachine::kI386 ? first == kBranchTarget32
                                                               : false;
  const bool has_more = size == 0 || size > kBranchTargetBytes;
  const auto behind = file.offset_of_code(address + kBranchTargetBytes);
  if (!is_target || !has_more || !behind) return ProbedEntry{.offset = *begin};
  return ProbedEntry{.offset = *behind, .is_after_endbr64 = true};
}

bool is_go_program(const ElfFile& file) { return file.section(".go.buildinfo") != nullptr; }

}  // namespace tallyfs::tracing
