// Which mounts of tallyfs there are, as /proc/self/mountinfo has them, and which one is meant.
// Any thread may call these.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tallyfs {

// Where the service of the package mounts.
inline constexpr const char* kServiceMount = "/run/tallyfs/mnt";

struct TallyMount {
  std::string path;
  unsigned owner = 0;      // the uid that mounted it
  bool is_closed = false;  // without allow_other: to all but the owner
};

std::vector<TallyMount> tally_mounts();

// `given` if it is not empty, else $TALLY_MOUNT; empty: none is named.
std::string named_mount(const std::string& given);

// The one that is named, else the only mount that can be read, else the caller's own, else
// kServiceMount. kNotFound: there is none, or there are several, which the reason lists.
Result<std::string> find_mount(const std::string& given);

}  // namespace tallyfs
