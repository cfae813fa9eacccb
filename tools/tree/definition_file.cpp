#include "tools/tree/definition_file.h"

#include <sstream>
#include <utility>

#include "core/base/text.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr std::string_view kCommand = "  Command: ";
// A person has written the line: a word that nothing reads refuses it. error_log leaves this out.
constexpr std::string_view kStrict = "strict=1";
constexpr std::string_view kStrictKey = "strict=";
const std::string kSocketLocation = "socket pid ";

// Time and reason of "[24786.216928] statistics/web: error: REASON"; empty if the line has another
// location or kind.
LogEntry first_line(const std::string& line, LogKind kind, const std::string& location) {
  const std::string mark = kind == LogKind::kError ? ": error: " : ": warning: ";
  const std::size_t at = line.find(std::string("] ").append(location));
  if (!line.starts_with('[') || at == std::string::npos) return {};
  const std::size_t end = at + 2 + location.size();
  // A socket's location goes on with the sender, whose pid may be another one to the daemon.
  const std::size_t text = location == kSocketLocation ? line.find(mark, end) : end;
  if (text == std::string::npos || line.compare(text, mark.size(), mark) != 0) return {};
  return {line.substr(1, at - 1), line.substr(text + mark.size())};
}

// The line as error_log has it.
Result<std::string> without_strict_key(std::string line) {
  Tokens tokens(line);
  while (const auto token = tokens.next()) {
    if (!token->text.starts_with(kStrictKey)) continue;
    if (token->text != kStrict) return invalid("refused, nothing changed: strict must be 1");
    return without_strict_key(line.erase(token->at, kStrict.size()));
  }
  return line;
}

std::string read_log(const std::string& mount) {
  auto log = read_in_time(mount + "/tracing/error_log");
  return log ? std::move(log.value()) : std::string();
}

}  // namespace

LogEntry find_entry(const std::string& log, LogKind kind, const std::string& location,
                    const std::string& command) {
  // The log has what a terminal would obey, and backslashes, as \xNN.
  std::string shown;
  append_escaped(shown, command, std::string::npos, 0);
  std::istringstream lines(log);
  std::string line;
  LogEntry entry;
  LogEntry found;
  while (std::getline(lines, line)) {
    if (line.starts_with('[')) entry = first_line(line, kind, location);
    if (entry.text.empty() || line != std::string(kCommand) + shown) continue;
    found = entry;
    found.text.append("\n  ").append(shown);
    if (!std::getline(lines, line)) break;
    const std::size_t caret = line.find('^');
    // The caret stands as far from the line's start as it did behind "Command: ".
    if (caret == std::string::npos || caret < kCommand.size()) continue;
    found.text.append("\n  ").append(std::string(caret - kCommand.size(), ' ')).append("^");
  }
  return found;
}

std::string reason_of_sent(const std::string& mount, const std::string& line) {
  return find_entry(read_log(mount), LogKind::kError, kSocketLocation, line).text;
}

Result<std::string> write_definition(const std::string& mount, const std::string& interface,
                                     const std::string& typed, Reading reading) {
  const auto own = without_strict_key(typed);
  if (!own) return own.error();
  const std::string& line = own.value();
  const std::string mark = reading == Reading::kStrict ? std::string(kStrict) + " " : std::string();
  const std::string location = "statistics/" + interface;
  const auto find = [&](LogKind kind) { return find_entry(read_log(mount), kind, location, line); };
  const LogEntry before = find(LogKind::kWarning);
  const auto written =
      write_in_time(mount + "/" + location + "/definition", mark + line + "\n");
  if (written) {
    LogEntry warning = find(LogKind::kWarning);
    return warning.time == before.time ? std::string() : std::move(warning.text);
  }
  const ErrorCode code = written.error().code;
  if (code != ErrorCode::kInvalid && code != ErrorCode::kNotFound) return written.error();
  const std::string reason = find(LogKind::kError).text;
  if (reason.empty() && code == ErrorCode::kNotFound) return written.error();
  std::string text("refused, nothing changed: ");
  text.append(reason.empty() ? written.error().reason : reason);
  return Error{code, std::move(text)};
}

}  // namespace tallyfs
