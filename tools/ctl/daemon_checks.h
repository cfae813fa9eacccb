// The checks of doctor on a daemon that answers: its socket, its version, its process, its feeders.
// Any thread may call these.
#pragma once

#include <optional>
#include <string>

#include "tools/ctl/finding.h"
#include "tools/display/statistic.h"

namespace tallyfs {

// library: that of libtally, if it is installed.
Finding check_versions(const view::Tree& tree, const std::string& own,
                       const std::optional<std::string>& library);
Finding check_program(const view::Tree& tree);
Finding check_socket(const view::Tree& tree);
// Whether $TALLY_SOCKET leads to this daemon. It does, or is not set: no finding.
Findings check_named_socket(const view::Tree& tree);
Finding check_queue(const view::Tree& tree);
Finding check_tracefs(const view::Tree& tree);
// Resident memory of its process, and what each uid has.
Finding check_memory(const view::Tree& tree);
Findings check_quotas(const view::Tree& tree);
// Which interfaces had samples between two snapshots.
Finding check_feeders(const view::Tree& before, const view::Tree& now);
// Statistics of the interface `timer` that an earlier tally-feed-timer has left: lateness_cpuN and
// overruns_cpuN, which are lateness{cpu:N} and overruns{cpu:N} today. None: no finding.
Findings check_timer_names(const view::Interface& timer, const std::string& mount);
// Parts of the package below this prefix (/usr, say) that are not used: units that are neither
// enabled nor running below `root`, feeders without data in the tree, and the kernel's events. Each
// finding has the line that enables it; none is a fault.
Findings check_units(const view::Tree& tree, const std::string& prefix, const std::string& root);
// Says whether this user may read the mount, and change it.
Finding check_rights(const std::string& mount);

}  // namespace tallyfs
