// The checks of doctor outside of the mount: the device, the programs, mounts of daemons that died,
// the clock. Any thread may call these.
#pragma once

#include <optional>
#include <string>

#include "tools/ctl/finding.h"

namespace tallyfs {

Finding check_fuse_device(const std::string& device = "/dev/fuse");
// fusermount3 in $PATH; root needs none.
Finding check_fusermount();
// One for each mount that answers no more, or does not belong to this user. If one is `named`, the
// others are not looked at.
Findings check_mounts(const std::string& named);
// `source`: the kernel's file with the name of the clock in use.
Finding check_clock(
    const std::string& source = "/sys/devices/system/clocksource/clocksource0/current_clocksource");
// The version of the libtally that programs would load now; nothing if the loader finds none.
std::optional<std::string> installed_libtally();
// How far the wall clock has moved against CLOCK_MONOTONIC between two snapshots.
Finding check_jump(std::int64_t moved_us);

}  // namespace tallyfs
