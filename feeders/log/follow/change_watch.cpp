#include "feeders/log/follow/change_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

constexpr std::uint32_t kFolderEvents =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
constexpr std::size_t kRenamesMax = 1'024;

}  // namespace

ChangeWatch::ChangeWatch(IsFollowed is_followed, IsFollowed may_be_copy)
    : is_followed_(std::move(is_followed)),
      may_be_copy_(std::move(may_be_copy)),
      files_inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      folders_inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

// The file that is open, whatever has its name by now.
int ChangeWatch::watch_file(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return ::inotify_add_watch(files_inotify_.get(), path.c_str(), IN_MODIFY | IN_CLOSE_WRITE);
}

void ChangeWatch::forget_file(int watch) {
  if (watch >= 0) ::inotify_rm_watch(files_inotify_.get(), watch);
  written_.erase(watch);
}

// inotify knows a folder that is watched already. One that is not there yet is found by the looks.
bool ChangeWatch::watch_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (is_pattern(folder)) return false;
  const int watch = ::inotify_add_watch(folders_inotify_.get(), folder.c_str(), kFolderEvents);
  if (watch < 0) return false;
  folders_[watch] = folder == "." && path.find('/') == path.npos ? "" : folder;
  return true;
}

ChangeWatch::Changes ChangeWatch::read() {
  Changes changes;
  read(Of::kFolders, changes);
  read(Of::kFiles, changes);
  return changes;
}

void ChangeWatch::read(Of of, Changes& changes) {
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  const int fd = of == Of::kFolders ? names_fd() : files_fd();
  for (;;) {
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      read_event(of, event, event.len == 0 ? "" : name, changes);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

// The numbers of watches are those of one descriptor.
void ChangeWatch::read_event(Of of, const inotify_event& event, const std::string& name,
                             Changes& changes) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    changes.is_incomplete = true;
    if (of == Of::kFiles) written_.clear();
  } else if (of == Of::kFolders) {
    read_folder_event(event, name, changes);
  } else {
    read_file_event(event, changes);
  }
}

void ChangeWatch::read_folder_event(const inotify_event& event, const std::string& name,
                                    Changes& changes) {
  const auto folder = folders_.find(event.wd);
  if (folder == folders_.end()) return;
  changes.has_names = true;
  const std::string path = in_folder(folder->second, name);
  const bool is_new = (event.mask & IN_CREATE) != 0;
  changes.has_copies = changes.has_copies || (is_new && may_be_copy_(path));
  if ((event.mask & IN_IGNORED) != 0) {
    folders_.erase(folder);
  } else {
    note_rename(event, path);
  }
}

void ChangeWatch::read_file_event(const inotify_event& event, Changes& changes) {
  if ((event.mask & IN_MODIFY) == 0) {
    written_.erase(event.wd);
    return;
  }
  written_.insert(event.wd);
  if (changes.files.empty() || changes.files.back() != event.wd) changes.files.push_back(event.wd);
}

void ChangeWatch::note_rename(const inotify_event& event, const std::string& path) {
  if ((event.mask & IN_MOVED_FROM) != 0) return begin_rename(event, path);
  if ((event.mask & IN_MOVED_TO) == 0) return;
  const auto rename = renames_.extract(event.cookie);
  if (rename.empty() || is_followed_(path) || renamed_.size() == kRenamesMax) return;
  renamed_.emplace(path, rename.mapped());
}

void ChangeWatch::begin_rename(const inotify_event& event, const std::string& path) {
  const auto renamed = renamed_.extract(path);
  if (renamed.empty() && !is_followed_(path)) return;
  if (renames_.size() == kRenamesMax) renames_.clear();
  renames_.emplace(event.cookie, renamed.empty() ? path : renamed.mapped());
}

std::map<std::string, std::string> ChangeWatch::take_renamed() {
  return std::exchange(renamed_, {});
}

}  // namespace tallyfs::logs
