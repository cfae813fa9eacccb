// Lists what a program file has that can be probed: its functions and its markers. Pure: the file
// is read through its callback. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"

namespace tallyfs::tracing {

// The cost of a hit: the kernel emulates the first instruction, or lets the CPU carry out a copy of
// it, in a single step that costs ten times as much. It is unknown for other architectures.
enum class HitCost : char { kUnknown = '?', kEmulated = 'e', kStepped = 's' };

struct ListedFunction {
  std::uint64_t offset = 0;  // where it is probed: after an endbr64
  HitCost cost = HitCost::kUnknown;
  bool is_indirect = false;  // chosen at run time: it has no place of its own
  std::string symbol;
  std::string demangled = {};  // empty: the symbol is its name

  const std::string& name() const { return demangled.empty() ? symbol : demangled; }
};

struct ListedMarker {
  std::string name;  // PROVIDER:NAME
  std::size_t places = 0;
  std::string arguments = {};  // of its first place, as its author's compiler wrote them

  bool operator==(const ListedMarker&) const = default;
};

struct ProgramList {
  static constexpr std::size_t kFunctionsMax = std::size_t{1} << 18;

  bool is_go = false;
  // C++ or Rust: an exception that passes a function whose return is probed ends the program.
  bool may_throw = false;
  bool has_symbols = false;                    // else only what other programs may call has a name
  std::vector<ListedFunction> functions = {};  // by offset, and there by name
  std::vector<ListedMarker> markers = {};      // by name
};

// debug: nullptr, or a file with the same build id. Parts that the compiler has split off
// (`f.cold`) are left out: they are entered by jumps. kInvalid: the file is broken; kTooBig: it has
// more than kFunctionsMax functions.
Result<ProgramList> list_program(const ElfFile& file, const ElfFile* debug);

// The cost of a place whose code begins with these bytes.
HitCost cost_of(ElfMachine machine, std::string_view code);

// Whether a probe of its return would harm the program: the function is entered without a return
// address on the stack, or what it saves of the stack is jumped back to.
bool is_return_unsafe(std::string_view symbol);

}  // namespace tallyfs::tracing
