// The files of a mount through which probes are made: lines of uprobe_events, triggers, histograms.
// Confined to one thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tools/tree/json.h"

namespace tallyfs {

// The newest refusal of one of the lines that an error_log has, with the line and a caret under it;
// empty: there is none. A line may have been refused before, for another reason.
std::string newest_refusal(const std::string& log, std::string_view lines);

class ProbeFiles {
 public:
  // kNoDevice, kNotPermitted: the reason says what is missing (root, -o tracefs, uprobes of the
  // kernel, a tracefs), and what to do. Else as timed_file.h.
  enum class For { kReading, kWriting };
  static Result<ProbeFiles> open(const std::string& mount, For purpose);

  // Writes lines of uprobe_events in few writes. The reason of a refusal is the mount's, with the
  // line and a caret under it. kInvalid, too: a line of more than 4,093 bytes.
  Result<void> define(const std::string& lines) const;
  // Finds the places of the probes of that name again. lines: theirs, by which a refusal is found.
  Result<void> renew(const std::string& name, const std::string& lines) const;
  // What probes.json has.
  Result<Json> probes() const;
  // Writes a line into a file below tracing/, as `dynamic_events`; likewise.
  Result<void> write(const std::string& file, const std::string& line) const;
  // The newest histogram of a directory of events below tracing/.
  Result<Json> histogram(const std::string& event) const;

  const std::string& directory() const { return tracing_; }

 private:
  explicit ProbeFiles(std::string tracing) : tracing_(std::move(tracing)) {}

  Error refused(const Error& error, std::string_view lines) const;

  std::string tracing_;
};

}  // namespace tallyfs
