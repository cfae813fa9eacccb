#include "tools/ctl/definition_file.h"

#include <sstream>

#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr std::string_view kCommand = "  Command: ";

// "[24786.216928] statistics/web: error: REASON"; empty if it is of another location.
std::string reason_in(const std::string& line, const std::string& location) {
  const std::string mark = "] " + location + ": error: ";
  const std::size_t at = line.find(mark);
  return line.starts_with('[') && at != std::string::npos ? line.substr(at + mark.size())
                                                          : std::string();
}

}  // namespace

std::string find_reason(const std::string& log, const std::string& location,
                        const std::string& command) {
  std::istringstream lines(log);
  std::string line;
  std::string reason;
  std::string found;
  while (std::getline(lines, line)) {
    if (line.starts_with('[')) reason = reason_in(line, location);
    if (reason.empty() || line != std::string(kCommand) + command) continue;
    found = reason + "\n  " + command;
    if (!std::getline(lines, line)) break;
    const std::size_t caret = line.find('^');
    // The caret stands as far from the line's start as it did behind "Command: ".
    if (caret == std::string::npos || caret < kCommand.size()) continue;
    found.append("\n  ").append(std::string(caret - kCommand.size(), ' ')).append("^");
  }
  return found;
}

Result<void> write_definition(const std::string& mount, const std::string& interface,
                              const std::string& line) {
  const std::string location = "statistics/" + interface;
  const auto written = write_in_time(mount + "/" + location + "/definition", line + "\n");
  if (written || written.error().code != ErrorCode::kInvalid) return written;
  const auto log = read_in_time(mount + "/tracing/error_log");
  const std::string reason = log ? find_reason(log.value(), location, line) : std::string();
  return invalid("refused, nothing changed: " + (reason.empty() ? written.error().reason : reason));
}

}  // namespace tallyfs
