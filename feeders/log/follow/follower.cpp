#include "feeders/log/follow/follower.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/clock.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

constexpr std::uint32_t kFileEvents = IN_MODIFY | IN_CLOSE_WRITE;
// The clock of births is coarse. Files that gave way are known for a second at least.
constexpr std::chrono::milliseconds kBirthMargin{100};
constexpr std::uint32_t kFolderEvents =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;

// Since its last byte.
std::chrono::nanoseconds still_time(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::chrono::nanoseconds(0);
  const auto written = std::chrono::seconds(status.st_mtim.tv_sec) +
                       std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return std::max(SystemClock::realtime() - written, std::chrono::nanoseconds(0));
}

bool ends_a_line(int fd, std::uint64_t offset) {
  char last = '\n';
  return offset == 0 || ::pread(fd, &last, 1, static_cast<off_t>(offset - 1)) != 1 || last == '\n';
}

}  // namespace

Follower::Follower(Settings settings, LineSink& sink, FollowCounts& counts, Report report)
    : settings_(std::move(settings)),
      sink_(sink),
      counts_(counts),
      report_(std::move(report)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      chunk_(LogFile::kChunkBytes) {
  if (!inotify_.valid()) report_("no inotify: files are looked at once a second");
}

Follower::~Follower() = default;

// ---- what there is

void Follower::start(std::chrono::nanoseconds now) {
  if (settings_.positions) {
    settings_.positions->each(
        [&](const PositionRecord& record) { known_folders_.insert(folder_of(record.path())); });
  }
  const auto scanned =
      settings_.positions ? settings_.positions->scanned() : std::chrono::nanoseconds(0);
  scan(now);
  if (settings_.positions) find_renamed(now);
  is_started_ = true;
  if (scanned.count() != 0) find_born(scanned, now);
}

void Follower::look(std::chrono::nanoseconds now) {
  read_events();
  const bool is_due = now - looked_ >= kLookPeriod;
  if (must_scan_ || is_due) scan(now);
  for (const auto& file : files_) {
    if (is_due || file->is_dirty) file->look(sink_);
  }
  if (is_due) looked_ = now;
  drop_retired(now);
  count_behind();
}

void Follower::read_events() {
  alignas(inotify_event) std::array<char, 16 << 10> buffer;
  for (;;) {
    const ssize_t bytes = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      read_event(event, event.len == 0 ? "" : name);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

void Follower::read_event(const inotify_event& event, const std::string& name) {
  const bool is_overflow = (event.mask & IN_Q_OVERFLOW) != 0;
  for (const auto& file : files_) {
    if (!is_overflow && file->watch != event.wd) continue;
    file->is_dirty = true;
    if ((event.mask & IN_MODIFY) != 0) file->was_closed = false;
    if ((event.mask & IN_CLOSE_WRITE) != 0) file->was_closed = true;
  }
  const auto folder = folders_.find(event.wd);
  if (is_overflow || folder != folders_.end()) must_scan_ = true;
  if (folder != folders_.end() && (event.mask & IN_IGNORED) != 0) {
    folders_.erase(folder);
  } else if (folder != folders_.end()) {
    note_rename(event, in_folder(folder->second, name));
  }
}

// A file may get another name before it was ever opened.
void Follower::note_rename(const inotify_event& event, const std::string& path) {
  constexpr std::size_t kRenamesMax = 1'024;
  if ((event.mask & IN_MOVED_FROM) != 0 && (strays_.erase(path) != 0 || is_followed(path))) {
    if (renames_.size() == kRenamesMax) renames_.clear();
    renames_.insert(event.cookie);
  }
  if ((event.mask & IN_MOVED_TO) == 0 || renames_.erase(event.cookie) == 0) return;
  if (!is_followed(path) && strays_.size() < kRenamesMax) strays_.insert(path);
}

bool Follower::is_followed(const std::string& path) const {
  return std::ranges::any_of(settings_.paths, [&](const std::string& each) {
    return each == path || (is_pattern(each) && ::fnmatch(each.c_str(), path.c_str(), 0) == 0);
  });
}

// Those whose files are not known were never opened.
void Follower::read_strays(std::chrono::nanoseconds now) {
  for (const std::string& path : std::exchange(strays_, {})) {
    if (opened_before(path) || !make_room()) continue;
    auto opened = open_log(path, Found::kByPattern);
    if (!opened) continue;
    counts_.rotations += 1;
    add(std::move(opened.value()), path, now);
    files_.back()->retired = now;
    files_.back()->was_closed = true;
  }
}

void Follower::scan(std::chrono::nanoseconds now) {
  const auto begun = SystemClock::realtime();
  must_scan_ = false;
  seen_.clear();
  missing_.clear();
  for (const std::string& path : settings_.paths) {
    watch_folder(path);
    if (!is_pattern(path)) {
      find(path, Found::kByName, now);
      continue;
    }
    for (const std::string& each : matches_of(path)) {
      if (!is_compressed(each)) find(each, Found::kByPattern, now);
    }
  }
  read_strays(now);
  retire_unseen(now);
  if (settings_.positions) settings_.positions->set_scanned(begun);
}

// inotify knows a folder that is watched already. One that is not there yet is found by the looks.
void Follower::watch_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  if (is_pattern(folder)) return;
  const int watch = ::inotify_add_watch(inotify_.get(), folder.c_str(), kFolderEvents);
  if (watch >= 0) folders_[watch] = folder == "." && path.find('/') == path.npos ? "" : folder;
}

// Most are open already: nothing is opened to find that out.
LogFile* Follower::opened_before(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return nullptr;
  const FileIdentity identity{status.st_dev, status.st_ino};
  const auto known =
      std::ranges::find_if(files_, [&](const auto& file) { return file->identity() == identity; });
  return known == files_.end() ? nullptr : known->get();
}

void Follower::see(LogFile& file, const std::string& path) {
  if (std::ranges::find(seen_, file.identity()) != seen_.end()) return;
  seen_.push_back(file.identity());
  file.retired.reset();
  if (file.path() == path) return;
  counts_.rotations += 1;
  file.rename(path);
}

void Follower::find(const std::string& path, Found found, std::chrono::nanoseconds now) {
  if (LogFile* const known = opened_before(path)) return see(*known, path);
  auto opened = open_log(path, found);
  if (!opened) {
    const bool is_missing = opened.error().code == ErrorCode::kNotFound;
    if (is_missing && found == Found::kByPattern) return;
    missing_.insert(path);
    // Between a rename and the file that comes, a name is missing for a moment.
    if (!is_missing) return say_once(path, opened.error().reason);
    if (!is_started_) report_("waits for " + path);
    return;
  }
  said_.erase(path);
  if (!make_room()) return say_once(path, path + ": there are 256 files already");
  seen_.push_back(opened.value().identity);
  add(std::move(opened.value()), path, now);
}

void Follower::say_once(const std::string& path, const std::string& text) {
  constexpr std::size_t kSaidMax = 1'024;
  if (said_.size() == kSaidMax) said_.clear();
  if (std::exchange(said_[path], text) != text) report_(text);
}

void Follower::add(OpenedLog opened, const std::string& path, std::chrono::nanoseconds now) {
  const LogFile::Start start = start_of(opened, path);
  auto file = std::make_unique<LogFile>(std::move(opened), path, start, counts_);
  file->grew = now;
  keep_position(*file);
  // The file that is open, whatever has the name by now.
  const std::string opened_path = "/proc/self/fd/" + std::to_string(file->fd());
  file->watch = ::inotify_add_watch(inotify_.get(), opened_path.c_str(), kFileEvents);
  files_.push_back(std::move(file));
}

// A file of a folder whose positions are kept came while the feeder did not run.
LogFile::Start Follower::start_of(const OpenedLog& opened, const std::string& path) {
  if (settings_.positions) {
    PositionRecord* const record = settings_.positions->find(opened.identity);
    if (record && record->is_of(opened.fd.get())) {
      report_(path + ": continues at byte " + std::to_string(record->offset()));
      return {record->offset()};
    }
    if (record) {
      report_(path + ": is not what it was, and is read from its start");
      record->end();
      return {};
    }
  }
  const bool is_new = is_started_ || known_folders_.contains(folder_of(path));
  if (is_new || settings_.from == From::kStart) return {};
  return {opened.size, !ends_a_line(opened.fd.get(), opened.size)};
}

void Follower::keep_position(LogFile& file) {
  Positions* const positions = settings_.positions;
  if (!positions) return;
  PositionRecord* record = positions->find(file.identity());
  if (!record) {
    const auto checkpoint = read_checkpoint(file.fd(), file.offset());
    record = checkpoint ? positions->add(file.identity(), file.path(), *checkpoint) : nullptr;
  }
  if (!record) report_(file.path() + ": there is no room for its position");
  file.keep_position(record);
}

// Files that got another name while the feeder did not run.
void Follower::find_renamed(std::chrono::nanoseconds now) {
  settings_.positions->each([&](PositionRecord& record) {
    const auto is_open = [&](const auto& file) { return file->record() == &record; };
    if (std::ranges::any_of(files_, is_open)) return;
    const std::string was(record.path());
    const std::string folder = folder_of(was);
    bool is_found = false;
    DIR* const entries = ::opendir(folder.c_str());
    while (const dirent* const entry = entries ? ::readdir(entries) : nullptr) {
      if (entry->d_ino != record.identity().inode) continue;
      auto opened = open_log(folder + "/" + entry->d_name, Found::kByPattern);
      if (!opened || !record.is_of(opened.value().fd.get()) || !make_room()) continue;
      add(std::move(opened.value()), folder + "/" + entry->d_name, now);
      // It has been still since its last byte, not since this start.
      files_.back()->grew = now - still_time(files_.back()->fd());
      files_.back()->retired = files_.back()->grew;
      is_found = true;
      break;
    }
    if (entries) ::closedir(entries);
    if (is_found) return;
    report_(was + ": what it had from byte " + std::to_string(record.offset()) + " on is gone");
    record.end();
  });
}

// Files that were made and renamed while the feeder did not run have no position. They have the
// name of a followed file and something behind it, and are younger than the last look at names.
// File systems that do not know when a file was born have none.
void Follower::find_born(std::chrono::nanoseconds scanned, std::chrono::nanoseconds now) {
  for (const std::string& path : settings_.paths) {
    for (const std::string& each :
         matches_of((is_pattern(path) ? path : escaped(path)) + "[.-]*")) {
      struct statx status {};
      const bool is_unborn = ::statx(AT_FDCWD, each.c_str(), 0, STATX_BTIME, &status) != 0 ||
                             (status.stx_mask & STATX_BTIME) == 0;
      const auto born = std::chrono::seconds(status.stx_btime.tv_sec) +
                        std::chrono::nanoseconds(status.stx_btime.tv_nsec);
      if (!is_unborn && born + kBirthMargin >= scanned && !is_compressed(each))
        strays_.insert(each);
    }
  }
  read_strays(now);
}

void Follower::retire_unseen(std::chrono::nanoseconds now) {
  for (const auto& file : files_) {
    if (file->retired || std::ranges::find(seen_, file->identity()) != seen_.end()) continue;
    file->retired = now;
    file->is_dirty = true;
    counts_.rotations += 1;
  }
}

void Follower::drop_retired(std::chrono::nanoseconds now) {
  std::erase_if(files_, [&](const std::unique_ptr<LogFile>& file) {
    if (!file->retired || file->is_dirty) return false;
    const auto still = now - std::max(*file->retired, file->grew);
    if (still < (file->was_closed ? kClosedTime : kRetiredTime)) return false;
    finish(*file);
    return true;
  });
}

void Follower::finish(LogFile& file) {
  file.read_rest(chunk_, sink_);
  if (file.record()) {
    sink_.settle();
    file.record()->end();
  }
  if (file.watch >= 0) ::inotify_rm_watch(inotify_.get(), file.watch);
}

// At the bound the file goes that gave way longest ago, without a wait for its writer.
bool Follower::make_room() {
  if (files_.size() < kFilesMax) return true;
  const auto oldest = std::ranges::min_element(files_, {}, [](const auto& file) {
    return file->retired ? std::max(*file->retired, file->grew) : std::chrono::nanoseconds::max();
  });
  if (!(*oldest)->retired) return false;
  finish(**oldest);
  files_.erase(oldest);
  return true;
}

// ---- reading

bool Follower::read(std::chrono::nanoseconds now) {
  bool has_more = false;
  for (const auto& file : files_) {
    if (!file->is_dirty) continue;
    const std::uint64_t before = file->offset();
    has_more = file->read(chunk_, sink_) || has_more;
    if (file->offset() != before) file->grew = now;
  }
  count_behind();
  return has_more;
}

void Follower::read_rest(Rest rest) {
  for (const auto& file : files_) {
    if (rest == Rest::kIsALine) {
      file->read_rest(chunk_, sink_);
    } else {
      while (file->read(chunk_, sink_)) {
      }
    }
  }
  count_behind();
}

void Follower::count_behind() {
  counts_.files = files_.size();
  counts_.behind = 0;
  for (const auto& file : files_) counts_.behind += file->behind();
}

}  // namespace tallyfs::logs
