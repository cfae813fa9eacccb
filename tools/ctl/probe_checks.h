// The check of doctor on the probes of a mount. Pure function.
#pragma once

#include <string>
#include <vector>

#include "tools/ctl/finding.h"
#include "tools/ctl/known_probes.h"
#include "tools/display/statistic.h"

namespace tallyfs {

// A finding for each kind of fault, with its first probes.
// orphans: the groups that killed mounts have left.
Findings check_probes(const view::Tree& tree, const std::vector<KnownProbe>& probes,
                      const std::vector<std::string>& orphans);

}  // namespace tallyfs
