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

bool is_numbered(std::string_view path, std::string_view log) {
  if (!path.starts_with(log) || path.size() < log.size() + 2) return false;
  const std::string_view suffix = path.substr(log.size());
  return (suffix[0] == '.' || suffix[0] == '-') &&
         suffix.substr(1).find_first_not_of("0123456789-_") == suffix.npos;
}

bool is_compressed(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEnds{".gz", ".xz", ".bz2", ".zst", ".lz4", ".Z"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

bool names(const std::string& path_or_pattern, const std::string& path) {
  if (path_or_pattern == path) return true;
  return is_pattern(path_or_pattern) && is_match(path_or_pattern, path);
}

bool names_rotated(const std::string& path_or_pattern, const std::string& path) {
  const bool is_one = is_pattern(path_or_pattern);
  return is_match((is_one ? path_or_pattern : escaped(path_or_pattern)) + "[.-]*", path);
}

std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
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
