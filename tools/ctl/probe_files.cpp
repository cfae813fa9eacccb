#include "tools/ctl/probe_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "tools/tree/definition_file.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// A place costs 0.1 ms to define and as much to turn on; a search for a name ends after 3 s.
constexpr auto kWriteMax = 30s;
constexpr auto kReadMax = 10s;
constexpr std::size_t kWriteBytesMax = 16 * 1024;
constexpr std::size_t kLineBytesMax = 4'093;  // docs/probes.md, "Lines"

// Others than root may not look into a tracefs. What they may not see is taken as there.
bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 || errno == EACCES;
}

Error cannot(std::string reason) { return {ErrorCode::kNoDevice, std::move(reason)}; }

// A file of the kernel's tracefs, at either of its places.
bool is_in_tracefs(const std::string& file) {
  return is_there("/sys/kernel/tracing/" + file) || is_there("/sys/kernel/debug/tracing/" + file);
}

// Why a mount has no uprobe_events. A kernel before Linux 4.17 does not name uprobes in /sys.
Error why_no_probes(const std::string& mount) {
  if (is_in_tracefs("uprobe_events") && !is_in_tracefs("dynamic_events")) {
    return cannot("this kernel has no dynamic_events: probes need Linux 5.0 or later");
  }
  if (!is_there("/sys/bus/event_source/devices/uprobe")) {
    return cannot("this kernel has no uprobes (CONFIG_UPROBE_EVENTS): no program can be probed");
  }
  if (!is_in_tracefs("uprobe_events")) {
    return cannot(
        "no tracefs is mounted here: mount -t tracefs nodev /sys/kernel/tracing, then start "
        "tallyfs again with -o tracefs");
  }
  return cannot(mount + " has no probes: start it as root with tallyfs -o tracefs MOUNTPOINT");
}

}  // namespace

// The entries' times are seconds.
std::string newest_refusal(const std::string& log, std::string_view lines) {
  std::string found;
  double newest = -1;
  while (!lines.empty()) {
    const std::string line(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    for (const char* const location : {"probe", "trace_uprobe", "hist:"}) {
      LogEntry entry = find_entry(log, LogKind::kError, location, line);
      const double time = std::strtod(entry.time.c_str(), nullptr);
      if (entry.text.empty() || time <= newest) continue;
      newest = time;
      found = std::move(entry.text);
    }
  }
  return found;
}

Result<ProbeFiles> ProbeFiles::open(const std::string& mount, For purpose) {
  ProbeFiles files(mount + "/tracing");
  const auto read = read_in_time(files.tracing_ + "/uprobe_events");
  if (!read && read.error().code == ErrorCode::kNotFound) return why_no_probes(mount);
  if (purpose == For::kWriting && ::geteuid() != 0) {
    return Error{ErrorCode::kNotPermitted, "only root probes programs: sudo tallyctl probe ..."};
  }
  if (!read) return read.error();
  return files;
}

Error ProbeFiles::refused(const Error& error, std::string_view lines) const {
  const auto log = read_in_time(tracing_ + "/error_log");
  const std::string found = log ? newest_refusal(log.value(), lines) : std::string();
  return found.empty() ? error : Error{error.code, found};
}

Result<void> ProbeFiles::define(const std::string& lines) const {
  for (std::string_view rest = lines; !rest.empty();) {
    std::size_t size = 0;
    while (size < rest.size()) {
      const std::size_t end = std::min(rest.find('\n', size), rest.size() - 1) + 1;
      if (end - size > kLineBytesMax + 1) {
        return invalid("a line of a probe has at most 4093 bytes");
      }
      if (end > kWriteBytesMax) break;
      size = end;
    }
    const std::string_view part = rest.substr(0, size);
    const auto done = write_in_time(tracing_ + "/uprobe_events", part, kWriteMax);
    if (!done) return refused(done.error(), part);
    rest.remove_prefix(size);
  }
  return {};
}

Result<void> ProbeFiles::renew(const std::string& name, const std::string& lines) const {
  const std::string line = "=:" + name + "\n";
  const auto done = write_in_time(tracing_ + "/uprobe_events", line, kWriteMax);
  return done ? done : Result<void>(refused(done.error(), line + lines));
}

Result<Json> ProbeFiles::probes() const {
  const auto text = read_in_time(tracing_ + "/probes.json", kReadMax);
  return text ? parse_json(text.value()) : text.error();
}

Result<void> ProbeFiles::write(const std::string& file, const std::string& line) const {
  const auto done = write_in_time(tracing_ + "/" + file, line + "\n", kWriteMax);
  return done ? done : Result<void>(refused(done.error(), line));
}

Result<Json> ProbeFiles::histogram(const std::string& event) const {
  auto text = read_in_time(tracing_ + "/" + event + "/hist.json", kReadMax);
  if (!text) return text.error();
  auto json = parse_json(text.value());
  if (!json) return json.error();
  if (json.value().items.empty()) return invalid(event + " has no histogram any more");
  return std::move(json.value().items.front());
}

}  // namespace tallyfs
