// Carries out what is written to open files: by lines, by commands, or as a whole, as the file says
// (File::WriteUnit). Tells of refused texts in error_log.
// Thread-safe; the text that a handle has begun is guarded by the lock of its writers.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "core/base/call_context.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/daemon_counters.h"
#include "core/tree/error_log.h"
#include "core/tree/file.h"
#include "core/tree/tree.h"
#include "fs/caller_rights.h"
#include "fs/handles.h"
#include "fs/write_transaction.h"

namespace tallyfs {

class FileWrites {
 public:
  // All outlive this.
  struct Dependencies {
    const Tree& tree;
    ErrorLog& errors;
    DaemonCounters& counters;
    const CallerRights& rights;
    const Clock& clock;
  };

  explicit FileWrites(const Dependencies& dependencies) : dependencies_(dependencies) {}

  // writer: the process that writes. kTooBig: more than can be written at once.
  Result<void> write(OpenFile& open, File& file, pid_t writer, std::string_view text,
                     Placement placement, const CancellationToken& cancel)
      REQUIRES(open.writing);
  // No more text follows: a line without an end, or a command that was continued, is complete.
  Result<void> finish(OpenFile& open, File& file, pid_t writer) REQUIRES(open.writing);
  // Tells of a text that was refused.
  void report(const OpenFile& open, std::string_view text, const Error& error);

 private:
  Result<void> write_whole(OpenFile& open, File& file, pid_t writer, std::string_view text,
                           const CancellationToken& cancel) REQUIRES(open.writing);
  LineSink sink(const OpenFile& open, File& file, const CancellationToken& cancel);

  const Dependencies dependencies_;
};

}  // namespace tallyfs
