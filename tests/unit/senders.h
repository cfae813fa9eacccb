// The senders in the tests of the tree.
#pragma once

#include <sys/types.h>

namespace tallyfs {

inline constexpr uid_t kDaemon = 500;
inline constexpr uid_t kAlice = 1000;
inline constexpr uid_t kBob = 1001;

}  // namespace tallyfs
