// Functions of this program that do nothing, to be probed: their hits show what a hit costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace tallyfs {

using ProbedCode = void (*)();

struct ProbedKind {
  const char* name;  // "emulated"
  const char* text;  // "entry that begins with push, which the kernel emulates"
  ProbedCode code;
};
// The first one is the cheapest that any kernel emulates, the last one is single-stepped. None on
// other CPUs than x86-64 and aarch64.
const std::vector<ProbedKind>& probed_kinds();

struct CodePlace {
  std::string path;
  std::uint64_t offset = 0;
};
// A lock of this program's file (flock(2)), shared by those that time its functions, which belongs
// alone to what measures them. Invalid: another process has it.
Fd lock_probed_code(int operation);

// Where the code is in its file. Nothing: lines of uprobe_events cannot have the path.
std::optional<CodePlace> place_of(ProbedCode code);

}  // namespace tallyfs
