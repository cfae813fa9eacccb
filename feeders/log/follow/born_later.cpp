#include "feeders/log/follow/born_later.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

// Files that gave way are known for longer than this.
constexpr std::chrono::milliseconds kBirthMargin{100};

std::optional<std::chrono::nanoseconds> birth_at(int directory, const char* path, int flags) {
  struct statx status {};
  if (::statx(directory, path, flags, STATX_BTIME, &status) != 0) return std::nullopt;
  if ((status.stx_mask & STATX_BTIME) == 0) return std::nullopt;
  return std::chrono::seconds(status.stx_btime.tv_sec) +
         std::chrono::nanoseconds(status.stx_btime.tv_nsec);
}

}  // namespace

std::optional<std::chrono::nanoseconds> birth_of(int fd) { return birth_at(fd, "", AT_EMPTY_PATH); }

bool is_born_after(std::chrono::nanoseconds birth, std::chrono::nanoseconds time) {
  return birth + kBirthMargin >= time;
}

std::optional<std::string> find_by_inode(const std::string& folder, const FileIdentity& identity) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (const dirent* const entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (entry->d_ino == identity.inode) return in_folder(folder, entry->d_name);
  }
  return std::nullopt;
}

std::vector<std::string> rotated_since(const std::string& followed, std::chrono::nanoseconds time) {
  std::vector<std::string> found;
  const std::string pattern = is_pattern(followed) ? followed : escaped(followed);
  for (const std::string& path : matches_of(pattern + "[.-]*")) {
    const auto birth = birth_at(AT_FDCWD, path.c_str(), 0);
    if (birth && is_born_after(*birth, time) && !is_compressed(path)) found.push_back(path);
  }
  return found;
}

}  // namespace tallyfs::logs
