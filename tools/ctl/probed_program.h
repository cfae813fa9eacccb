// The program that a command of probes names, as the mount takes it, and what is in its file.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tracing/probe/program_list.h"

namespace tallyfs {

struct ProbedProgram {
  std::string path;  // absolute; a running program's in its own file system: /proc/PID/root/...
  pid_t pid = 0;     // 0: the word was no PID
};

// word: a path, a name of $PATH, a PID, or a library's name: of the process pid, if it is not 0,
// else of this process or of the usual directories. kNotFound; kInvalid: lines of uprobe_events
// cannot have the path.
Result<ProbedProgram> find_program(const std::string& word, pid_t pid);

// Whether exceptions may pass functions that the process calls, also those of C libraries: it has
// the library of C++, or its own program has exceptions. False if it cannot be known.
bool process_may_throw(pid_t pid);

// Reads the file, which may be a stranger's, in a process that has given up its rights: 1 GiB of
// memory, 10 s of CPU and 60 s at most. Names with control characters are left out. kInvalid: it
// cannot be read; the reason says why.
Result<tracing::ProgramList> list_of(const std::string& path);

// The functions that one of the patterns names: of a symbol, a function's name with or without its
// parameters, or a glob over both. Each place once. kNotFound: a pattern has none, with the
// nearest name; kTooBig: more than kProbedMax.
inline constexpr std::size_t kProbedMax = 4'096;
Result<std::vector<tracing::ListedFunction>> select_functions(
    const tracing::ProgramList& list, const std::vector<std::string>& patterns);

}  // namespace tallyfs
