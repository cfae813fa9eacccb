// The probes of a mount on programs, as its probes.json has them. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tools/ctl/probe_files.h"

namespace tallyfs {

struct KnownProbe {
  std::string event, program;  // GROUP/EVENT, and the path
  bool is_return = false;
  std::vector<std::string> lines;  // as they were written
  std::size_t places = 0;
  std::optional<std::uint64_t> hits;  // nothing: they are not known
  bool is_stale = false;              // a path of its has another file now, or none
  bool is_lost = false;               // one of those is an offset: renew does not find it
  bool is_whole = true;               // false: a line has no place yet
  bool is_left_over = false;          // its command has ended: it had --stay, or was killed
  bool is_leaving = false;            // it was removed, and the kernel still has it
};

// In the order in which they were made. Errors are those of timed_file.h; kInvalid: it is no JSON.
Result<std::vector<KnownProbe>> known_probes(const ProbeFiles& files);
// The same of what probes.json has, without is_left_over.
std::vector<KnownProbe> known_probes(const Json& json);

// known_probes(), and after them those that are leaving: an event without its group, the file of
// its first place, and no lines. Without those if the mount does not know them.
Result<std::vector<KnownProbe>> listed_probes(const ProbeFiles& files);
std::vector<KnownProbe> leaving_probes(const Json& json);

// The groups of probes that a killed tallyfs has left in the kernel. Others than root see none.
std::vector<std::string> orphaned_probes();

// What is to be done about a probe, and why; empty: nothing.
std::string note_of(const KnownProbe& probe);

// Whether the event, GROUP/EVENT, is meant by EVENT, GROUP/EVENT or GROUP/.
bool is_meant(std::string_view event, std::string_view name);

}  // namespace tallyfs
