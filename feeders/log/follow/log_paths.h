// Paths and patterns of logs, as their users write them. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::logs {

// "." for a name alone.
std::string folder_of(std::string_view path);
// A name in that folder; folder "": the name alone.
std::string in_folder(const std::string& folder, const std::string& name);

// The patterns are those of glob(7).
bool is_pattern(const std::string& path);
std::vector<std::string> matches_of(const std::string& pattern);
// Whether it is the path, or, of a pattern, one that it finds.
bool names(const std::string& path_or_pattern, const std::string& path);
// Whether a rotation may have made it of such a file: its name with . or - and more after it.
bool names_rotated(const std::string& path_or_pattern, const std::string& path);
// The pattern of such names.
std::string pattern_of_rotated(const std::string& path_or_pattern);

// Whether it is the name of such a log with . or - and a number after it: app.log.1,
// app.log-20261126.
bool is_numbered(const std::string& path, const std::string& path_or_pattern);

bool is_compressed(std::string_view path);

}  // namespace tallyfs::logs
