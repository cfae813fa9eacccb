#include "core/tracing/probe/program_list.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/tracing/probe/demangled.h"
#include "core/tracing/probe/function_search.h"
#include "core/tracing/probe/marker_search.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kCodeBytes = 3;
// Symbols that a program refers to if exceptions may pass through it.
constexpr std::array<std::string_view, 4> kOfExceptions = {
    "__gxx_personality_v0", "__cxa_throw", "__cxa_begin_catch", "rust_eh_personality"};

bool is_between(char code, int first, int last) {
  const int byte = static_cast<unsigned char>(code);
  return byte >= first && byte <= last;
}

bool is_emulated(std::string_view code) {
  if (code.empty()) return false;
  const char second = code.size() > 1 ? code[1] : '\0';
  const bool is_push =
      is_between(code[0], 0x50, 0x57) || (code[0] == '\x41' && is_between(second, 0x50, 0x57));
  const bool is_nop = code[0] == '\x90' || (code[0] == '\x66' && second == '\x90') ||
                      (code[0] == '\x0f' && second == '\x1f');
  const bool is_jump = code[0] == '\xe8' || code[0] == '\xe9' || code[0] == '\xeb' ||
                       is_between(code[0], 0x70, 0x7f) ||
                       (code[0] == '\x0f' && is_between(second, 0x80, 0x8f));
  return is_push || is_nop || is_jump;
}

class Listing {
 public:
  Listing(const ElfFile& file, const ElfFile* debug) : file_(file), debug_(debug) {}

  Result<ProgramList> run();

 private:
  Result<void> add_all(const ElfFile& file, const ElfFile::Section* table);
  void add(const ElfSymbol& symbol);

  const ElfFile& file_;
  const ElfFile* const debug_;
  ProgramList list_;
  std::size_t of_table_ = 0;
  bool is_full_ = false;
};

void Listing::add(const ElfSymbol& symbol) {
  const std::string_view name = symbol.name.substr(0, symbol.name.find('@'));
  if (std::ranges::count(kOfExceptions, name) != 0) list_.may_throw = true;
  const bool is_indirect = symbol.type == SymbolType::kIndirect;
  if (symbol.is_undefined || (symbol.type != SymbolType::kFunction && !is_indirect)) return;
  if (name.find(".cold") != name.npos) return;
  const auto entry = entry_of(file_, symbol.value, symbol.size);
  if (!entry) return;
  is_full_ = is_full_ || of_table_ == ProgramList::kFunctionsMax;
  if (is_full_) return;
  of_table_ += 1;
  list_.functions.push_back(
      {.offset = entry->offset,
       .cost = cost_of(file_.machine(), file_.bytes_at(entry->offset, kCodeBytes)),
       .is_indirect = is_indirect,
       .symbol = std::string(name),
       .demangled = demangled(name)});
}

// The tables of a file, and its debug file's, list most functions once each: they count once.
Result<void> Listing::add_all(const ElfFile& file, const ElfFile::Section* table) {
  if (!table) return {};
  of_table_ = 0;
  auto done = file.each_symbol(*table, [this](const ElfSymbol& symbol) { add(symbol); });
  if (!done) return done;
  auto& all = list_.functions;
  const auto key = [](const ListedFunction& each) { return std::tie(each.offset, each.symbol); };
  std::ranges::sort(all, {}, key);
  const auto is_same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  is_full_ = is_full_ || all.size() > ProgramList::kFunctionsMax;
  if (is_full_) return Error{ErrorCode::kTooBig, "the file has more than 262144 functions"};
  return {};
}

Result<ProgramList> Listing::run() {
  list_.is_go = is_go_program(file_);
  list_.has_symbols = file_.symbols() || debug_;
  if (auto done = add_all(file_, file_.symbols()); !done) return done.error();
  if (auto done = add_all(file_, file_.dynamic_symbols()); !done) return done.error();
  if (debug_) {
    if (auto done = add_all(*debug_, debug_->symbols()); !done) return done.error();
  }
  auto markers = list_markers(file_);
  if (!markers) return markers.error();
  list_.markers = std::move(markers.value());
  return std::move(list_);
}

}  // namespace

Result<ProgramList> list_program(const ElfFile& file, const ElfFile* debug) {
  return Listing(file, debug).run();
}

HitCost cost_of(ElfMachine machine, std::string_view code) {
  if (machine == ElfMachine::kAarch64) return HitCost::kUnknown;
  return is_emulated(code) ? HitCost::kEmulated : HitCost::kStepped;
}

bool is_return_unsafe(std::string_view symbol) {
  static constexpr std::array<std::string_view, 8> kParts = {
      "setjmp",     "longjmp",    "_start",      "vfork",
      "getcontext", "setcontext", "swapcontext", "fcontext"};
  const bool has_part = std::ranges::any_of(kParts, [&](std::string_view part) {
    // _start must be the whole name: thread_start and the like are ordinary functions.
    return part == "_start" ? symbol == part : symbol.find(part) != symbol.npos;
  });
  return has_part || symbol == "__restore_rt" || symbol.starts_with("_dl_runtime_");
}

}  // namespace tallyfs::tracing
