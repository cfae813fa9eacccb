#include "feeders/log/follow/log_paths.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <array>

namespace tallyfs::logs {
namespace {

bool is_match(const std::string& pattern, const std::string& path) {
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

// The path as a pattern that it alone matches.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string in_folder(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  return folder == "/" ? folder + name : folder + "/" + name;
}

bool is_pattern(const std::string& path) { return path.find_first_of("*?[") != path.npos; }

bool is_compressed(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEnds{".gz", ".xz", ".bz2", ".zst", ".lz4", ".Z"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

bool names(const std::string& path_or_pattern, const std::string& path) {
  if (path_or_pattern == path) return true;
  return is_pattern(path_or_pattern) && is_match(path_or_pattern, path);
}

// A number may have a date's - and _ in it.
bool is_numbered(const std::string& path, const std::string& path_or_pattern) {
  const std::size_t last = path.find_last_not_of("0123456789-_");
  const std::size_t begin = last == path.npos ? 0 : path[last] == '.' ? last : last + 1;
  for (std::size_t at = begin; at + 1 < path.size(); ++at) {
    const bool separates = path[at] == '.' || path[at] == '-';
    if (separates && names(path_or_pattern, path.substr(0, at))) return true;
  }
  return false;
}

bool names_rotated(const std::string& path_or_pattern, const std::string& path) {
  return is_match(pattern_of_rotated(path_or_pattern), path);
}

std::string pattern_of_rotated(const std::string& path_or_pattern) {
  const bool is_one = is_pattern(path_or_pattern);
  return (is_one ? path_or_pattern : escaped(path_or_pattern)) + "[.-]*";
}

std::vector<std::string> matches_of(const std::string& pattern) {
  ::glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

}  // namespace tallyfs::logs
