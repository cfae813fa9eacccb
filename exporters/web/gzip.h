// gzip at the fastest level. A pure function.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs::web {

inline constexpr std::size_t kGzipBytesMin = 1024;  // of less, it saves nothing

// Empty if zlib has no memory.
std::string gzip(std::string_view text);

}  // namespace tallyfs::web
