#include "feeders/log/follow/born_later.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "core/base/clock.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

// Files that gave way are known for longer than this. Since Linux 6.13 a birth may be ahead of the
// clock of births, too.
constexpr std::chrono::milliseconds kBirthMargin{100};

std::chrono::nanoseconds time_of(const statx_timestamp& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

struct FileTimes {
  std::optional<std::chrono::nanoseconds> birth;
  std::chrono::nanoseconds written{0};
  std::chrono::nanoseconds changed{0};
};

std::optional<FileTimes> times_at(int directory, const char* path, int flags) {
  struct statx status {};
  constexpr unsigned kWanted = STATX_BTIME | STATX_MTIME | STATX_CTIME;
  if (::statx(directory, path, flags, kWanted, &status) != 0) return std::nullopt;
  FileTimes times{.written = time_of(status.stx_mtime), .changed = time_of(status.stx_ctime)};
  if ((status.stx_mask & STATX_BTIME) != 0) times.birth = time_of(status.stx_btime);
  return times;
}

}  // namespace

std::optional<std::chrono::nanoseconds> birth_of(int fd) {
  const auto times = times_at(fd, "", AT_EMPTY_PATH);
  return times ? times->birth : std::nullopt;
}

std::chrono::nanoseconds birth_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

bool is_born_after(std::chrono::nanoseconds birth, std::chrono::nanoseconds time) {
  return birth + kBirthMargin >= time;
}

bool is_born_before(std::chrono::nanoseconds birth, std::chrono::nanoseconds time) {
  return birth <= time + kBirthMargin;
}

std::chrono::nanoseconds changed_at(int fd) {
  const auto times = times_at(fd, "", AT_EMPTY_PATH);
  return times ? times->changed : std::chrono::nanoseconds(0);
}

std::optional<std::chrono::nanoseconds> written_at(const std::string& path) {
  const auto times = times_at(AT_FDCWD, path.c_str(), 0);
  return times ? std::optional(times->written) : std::nullopt;
}

std::chrono::nanoseconds still_time(int fd) {
  const auto changed = changed_at(fd);
  if (changed.count() == 0) return changed;
  return std::max(SystemClock::realtime() - changed, std::chrono::nanoseconds(0));
}

std::optional<std::string> find_by_inode(const std::string& folder, const FileIdentity& identity) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  while (const dirent* const entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (entry->d_ino == identity.inode) return in_folder(folder, entry->d_name);
  }
  return std::nullopt;
}

// The copy of a large log was born long before it was whole, when the log was cut.
std::vector<Rotated> written_since(const std::string& followed, std::chrono::nanoseconds time) {
  std::vector<Rotated> found;
  for (const std::string& path : matches_of(pattern_of_rotated(followed))) {
    const auto times = is_compressed(path) ? std::nullopt : times_at(AT_FDCWD, path.c_str(), 0);
    if (!times) continue;
    const auto birth = times->birth.value_or(std::chrono::nanoseconds(0));
    const bool is_written = is_born_after(times->written, time);
    if (is_written || is_born_after(birth, time)) found.push_back({path, birth, is_written});
  }
  return found;
}

}  // namespace tallyfs::logs
