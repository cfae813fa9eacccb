// A program's file, and files with its symbols, any of which a stranger may have made: opened with
// the rights of the process, then read without them (renounced_rights.h).
// System-call wrappers: errno ends here. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/tracing/probe/elf_file.h"

namespace tallyfs {

struct OpenedFile {
  Fd fd;
  std::uint64_t bytes = 0;
};

struct ProgramFiles {
  OpenedFile program;
  std::vector<OpenedFile> debug = {};  // they may have its symbols

  std::vector<int> descriptors() const;
};

// Debug files that cannot be opened are left out. kNotFound, kNoAccess, kInvalid: the program
// cannot be opened, is no file, or is a file of tallyfs.
Result<ProgramFiles> open_program(const std::string& path,
                                  const std::vector<std::string>& debug_files);

struct ReadProgram {
  tracing::ElfFile program;
  // The first debug file of the same build.
  std::optional<tracing::ElfFile> debug = {};
  // What the program has packed into itself (packed_symbols.h), if it has no other symbols, or
  // why that cannot be read.
  std::optional<tracing::ElfFile> packed = {};
  std::string packed_fault = {};

  // nullptr: the program's own symbols are all.
  const tracing::ElfFile* more() const { return debug ? &*debug : packed ? &*packed : nullptr; }
};
// files: outlives it. kInvalid; kTooBig.
Result<ReadProgram> read_program(const ProgramFiles& files);

// A line `debug BUILD_ID NAME` if symbols of another file might help (`-` for no name), else empty.
std::string debug_hint(const ReadProgram& program);
// Takes that line off the text, if it begins with one: where debug files may be.
std::vector<std::string> take_debug_hint(std::string_view& text, const std::string& program_path);

// Writes all, as far as somebody reads it, and ends the process. The compiler does not know that it
// ends: before a call of a function that is said not to return AddressSanitizer makes system calls,
// which are forbidden by then.
void write_and_end(const std::string& text, int file);

}  // namespace tallyfs
