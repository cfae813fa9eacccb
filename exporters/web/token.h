// The token that requests must have: 32 random bytes as 64 hexadecimal digits, in a file that only
// its owner can read. It stays as it is when tally-web is started anew, so that bookmarks and
// scrapers go on.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs::web {

// The token of the file, or a new one if there is no such file. kInvalid: the file is not this
// user's, others may read it, it is no token, or the system's reason.
Result<std::string> read_or_make_token(const std::string& path);

}  // namespace tallyfs::web
