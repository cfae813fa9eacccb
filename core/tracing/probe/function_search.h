// Finds the places of a function in a program file, by the names of its symbols and of those of a
// file with its debug information. Pure: both are read through their callbacks.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"
#include "core/tracing/probe/found_places.h"
#include "core/tracing/probe/place_name.h"

namespace tallyfs::tracing {

// All functions of that name, each once: of `ns::f` those of all parameters. An entry that begins
// with endbr64 is placed 4 bytes later: arguments and return address are the same there, and the
// kernel emulates what comes next more often.
//
// debug: nullptr, or a file with the same build id. kInvalid: the name is unknown, in another file,
// of data, chosen at run time, without code, shorter than the offset, a return of a program in Go,
// or has more than kPlacesMax places; the file is broken. kTooBig.
Result<FoundPlaces> find_function(const ElfFile& file, const ElfFile* debug,
                                  const PlaceName& place);

// Where in the file a function is probed.
struct ProbedEntry {
  std::uint64_t offset = 0;
  bool is_after_endbr64 = false;

  auto operator<=>(const ProbedEntry&) const = default;
};
// That of a function that begins at this address and has so many bytes, or 0 where its size is not
// known. Nothing: it is in no segment with code.
std::optional<ProbedEntry> entry_of(const ElfFile& file, std::uint64_t address, std::uint64_t size);
// Whether it is a program in Go, whose stacks move: a return probe makes it crash.
bool is_go_program(const ElfFile& file);

}  // namespace tallyfs::tracing
