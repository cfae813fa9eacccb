// Why the kernel refuses a probe of a program where its answer is a number alone.
// Reads what the kernel has cached of files, and asks no file system. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "feeders/tracefs/probe_group.h"

namespace tallyfs {

// Which file a place, `PATH:OFFSET...`, is in, and when that was written last, in ns since 1970:
// MAJOR:MINOR:INODE:TIME; `-`: there is none. The kernel's probe stays with the file when the path
// gets another. Nothing: it is not cached, or the place is one of the kernel.
std::optional<std::string> file_of(std::string_view place);

// The reason why an event cannot be turned on, with its place. places: the texts of the event's
// own, as the kernel has them.
std::string why_not_on(const std::vector<std::string>& places, const Error& error);

// A program's counter of a marker belongs to its place: all probes of the place have the same, or
// none has any. Nothing: the probes have no other counter than the place that is refused.
std::optional<std::string> counter_fault(std::string_view place,
                                         const std::vector<RealProbe>& probes);

}  // namespace tallyfs
