// The result of a search in a program file: the places of a function or of a marker, and how the
// arguments of a marker are fetched. The process that read the file sends it as a text to the one
// that makes lines of it:
//
//   x86_64 go
//   4096 0
//   4104+4 0
//   8192 77 di:u64 - -4(%sp):s32
//
// The machine, `go` for a program in Go; then a line for each place: its offset in the file, that
// of its reference counter or 0, and its arguments, `-` for one that cannot be fetched. `+4`: the
// function begins 4 bytes before, with endbr64.
// Values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/probe/elf_file.h"

namespace tallyfs::tracing {

// An argument as the kernel fetches it. An empty one cannot be fetched.
struct Fetch {
  std::string text;  // `%di`
  std::string type;  // `u64`
};

struct FoundPlace {
  std::uint64_t offset = 0;
  std::uint64_t reference = 0;
  std::vector<Fetch> arguments = {};
  bool is_after_endbr64 = false;
};

struct FoundPlaces {
  static constexpr std::size_t kPlacesMax = 1'024;
  static constexpr std::size_t kArgumentsMax = 128;

  ElfMachine machine = ElfMachine::kX86_64;
  bool is_go = false;
  std::vector<FoundPlace> places = {};
};

std::string print(const FoundPlaces& found);
// nullopt: it is no such text. It has at least one place, and at most kPlacesMax; texts and types
// have printable characters without blanks.
std::optional<FoundPlaces> parse_found_places(std::string_view text);

}  // namespace tallyfs::tracing
