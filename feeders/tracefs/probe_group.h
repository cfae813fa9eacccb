// Real probes of this machine's kernel that are ours. Each mount has a group of its own,
// `tallyfs_PID_NUMBER`: the process id is for people, the number says whether the mount lives. Its
// supervisor holds a read lock on the byte of that number in the directory `instances` of tracefs,
// which feeders inherit, and which the kernel drops with the last of them. So a group with a byte
// that is free is left over, in whichever PID namespace its processes were.
//
// Probes of programs and of the kernel are written to dynamic_events, which has both. It is opened
// with O_APPEND, and never with O_TRUNC, which removes the probes of all programs of the machine.
// What is written names our group, or a group that is left over.
// System-call wrappers: errno ends here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

struct ProbeGroup {
  pid_t owner = 0;
  std::uint32_t number = 0;  // below 2^31

  std::string name() const;
  // nullopt: it is no group of ours.
  static std::optional<ProbeGroup> parse(std::string_view name);
};

// The lock of a group.
struct ProbeLock {
  Fd fd;
  std::uint32_t number = 0;

  // Takes the lock of a random number that is free. kNoDevice: of check_probes(). kInvalid,
  // kNotPermitted.
  static Result<ProbeLock> take(const Fd& tracefs);
};

// True if no living process has that number. False if that is unknown.
bool is_free_group(const Fd& tracefs, std::uint32_t number);

// kNoDevice: this kernel has no probes of either kind, or no dynamic_events. The reason says which.
Result<void> check_probes(const Fd& tracefs);

// A line of dynamic_events.
struct RealProbe {
  char kind = 'p';
  std::string group, event;
  std::string text;  // behind the name

  // Whether the kernel counts its hits.
  bool has_profile() const { return kind == 'p' || kind == 'r'; }
  // The kernel repeats a path as it was written, and its own functions without any.
  bool is_of_program() const {
    if (!has_profile()) return false;
    const std::string_view place = std::string_view(text).substr(0, text.find(' '));
    return place.find('/') != place.npos;
  }
};

// All probes, and all events that anybody has defined in the kernel; none if the file cannot be
// read.
std::vector<RealProbe> read_real_probes(const Fd& tracefs);
std::vector<RealProbe> read_dynamic_events(const Fd& tracefs);
// How often the kernel has met a probe, and missed one of its own functions.
struct RealHits {
  std::uint64_t hits = 0, missed = 0;
};
// Those of each of the probes that read_real_probes() gave; 0 of those without a profile. kBusy:
// probes came or went in between. kNoDevice: a file cannot be read.
Result<std::vector<RealHits>> read_probe_hits(const Fd& tracefs,
                                              const std::vector<RealProbe>& probes);
// Carries out lines of probes in one write, up to the first that is refused. kBusy: the probe is
// on. kNotFound, kExists, kNoSpace, kNoAccess, kInvalid: the kernel's refusal.
Result<void> append_probe_lines(const Fd& tracefs, const std::string& lines);
// All of the group. kBusy: some are on in an instance, and are left; the others go.
Result<void> remove_probe_group(const Fd& tracefs, const std::string& group);

// The groups that are left over.
std::vector<std::string> orphaned_probe_groups(const Fd& tracefs);

struct RemovedOrphans {
  std::size_t groups = 0;
  std::vector<std::string> left;  // the reasons
};
// Removes all of these, their instances first.
RemovedOrphans remove_orphaned_probes(const Fd& tracefs);

// The kernel's reason for refusing a line, from its error_log. nullopt: there is no entry.
// token_at: the wrong byte of the line.
std::optional<Error> find_refusal(std::string_view error_log, std::string_view line);

}  // namespace tallyfs
