// Where files with the symbols of a stripped program may be. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::tracing {

// path, build_id, name: of the program, its build id and its .gnu_debuglink (`-` or empty: there is
// none). The first file counts that can be read and has the same build id. None if the words are
// not as they should be.
std::vector<std::string> debug_files_of(const std::string& path, std::string_view build_id,
                                        std::string_view name);

}  // namespace tallyfs::tracing
