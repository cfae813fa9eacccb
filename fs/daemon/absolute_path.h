// A path as it is seen from the working directory of now; the daemon leaves that one later. Any
// thread.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace tallyfs {

// Without a slash at its end, behind which a symbolic link would be followed. Symbolic links are
// not resolved. error: the working directory is gone.
std::filesystem::path absolute_path(const std::string& path, std::error_code& error);

}  // namespace tallyfs
