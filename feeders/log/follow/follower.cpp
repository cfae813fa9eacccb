#include "feeders/log/follow/follower.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

// Since its last byte.
std::chrono::nanoseconds still_time(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::chrono::nanoseconds(0);
  const auto written = std::chrono::seconds(status.st_mtim.tv_sec) +
                       std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return std::max(SystemClock::realtime() - written, std::chrono::nanoseconds(0));
}

}  // namespace

Follower::Follower(Settings settings, Positions& positions, LineSink& sink, FollowCounts& counts,
                   Report report)
    : paths_(std::move(settings.paths)),
      positions_(positions),
      counts_(counts),
      report_(std::move(report)),
      watch_([this](const std::string& path) { return is_followed(path); }),
      places_(settings.from, positions, counts, report_),
      files_(positions, watch_, sink, counts, report_) {
  if (watch_.fd() < 0) report_(Told::kNews, "no inotify: files are looked at once a second");
}

bool Follower::is_followed(const std::string& path) const {
  return std::ranges::any_of(paths_, [&](const std::string& each) {
    return each == path || (is_pattern(each) && ::fnmatch(each.c_str(), path.c_str(), 0) == 0);
  });
}

// Files that came meanwhile may be copies of others: these are found first. A feeder that is killed
// before all have records looks for them again.
void Follower::start(std::chrono::nanoseconds now) {
  const auto before = positions_.scanned();
  const auto begun = SystemClock::realtime();
  if (positions_.was_booted()) find_moved_devices();
  scan(now);
  find_renamed(now);
  add_newcomers(now);
  is_started_ = true;
  if (before.count() != 0) find_unreported(before, now);
  positions_.set_scanned(begun);
  positions_.accept_boot();
}

void Follower::look(std::chrono::nanoseconds now) {
  look_at_names(now);
  const bool is_due = now - looked_ >= kLookPeriod;
  files_.look(is_due ? FollowedFiles::Which::kAll : FollowedFiles::Which::kWritten);
  if (is_due) looked_ = now;
  files_.drop_retired(now);
  files_.count();
}

// Within a look a file may go for another one, and its lines may wait for the daemon.
void Follower::look_at_names(std::chrono::nanoseconds now) {
  if (!is_started_ || is_scanning_) return;
  const ChangeWatch::Changes changes = watch_.read();
  for (const int watch : changes.files) files_.mark_written(watch);
  if (changes.is_incomplete) files_.mark_all_written();
  must_find_unreported_ = must_find_unreported_ || changes.is_incomplete;
  const bool is_due = now - scanned_ >= kLookPeriod;
  if (!is_due && !changes.has_names && !changes.is_incomplete) return;
  is_scanning_ = true;
  scan_again(now);
  is_scanning_ = false;
  scanned_ = now;
}

void Follower::finish(std::chrono::nanoseconds now) {
  scanned_ = now - kLookPeriod;
  look_at_names(now);
}

void Follower::scan_again(std::chrono::nanoseconds now) {
  const auto begun = SystemClock::realtime();
  scan(now);
  if (must_find_unreported_) {
    // A copy of a file that was cut is known by what that had before; the next look finds it if
    // files are being read.
    if (files_.is_reading()) return;
    files_.look(FollowedFiles::Which::kAll);
    find_unreported(positions_.scanned(), now);
  }
  positions_.set_scanned(begun);
}

// ---- names

void Follower::scan(std::chrono::nanoseconds now) {
  files_.begin_scan();
  missing_.clear();
  left_out_ = 0;
  for (const std::string& path : paths_) scan_one(path, now);
  for (const std::string& path : watch_.take_renamed()) add_renamed(path, Arrival::kNew, now);
  files_.retire_unseen(now);
  if (left_out_ == 0) is_bound_said_ = false;
}

void Follower::scan_one(const std::string& path, std::chrono::nanoseconds now) {
  if (!watch_.watch_folder(path)) must_find_unreported_ = true;
  if (!is_pattern(path)) return find(path, Found::kByName, now);
  std::vector<std::string> found = matches_of(path);
  std::erase_if(found, [](const std::string& each) { return is_compressed(each); });
  if (found.empty()) {
    missing_.insert(path);
    if (!is_started_) report_(Told::kNews, "waits for " + path);
  }
  for (const std::string& each : found) find(each, Found::kByPattern, now);
}

void Follower::find(const std::string& path, Found found, std::chrono::nanoseconds now) {
  if (LogFile* const known = files_.find(path)) return files_.see(*known, path);
  // Thousands of files may be left out, and are not opened each second.
  if (found == Found::kByPattern && !files_.has_room()) return leave_out(path);
  auto opened = open_log(path, found);
  if (!opened) return note_missing(path, found, opened.error(), now);
  said_.erase(path);
  if (!is_started_ && places_.came_meanwhile(opened.value(), path)) {
    newcomers_.push_back({path, found});
    return;
  }
  if (!files_.make_room()) return leave_out(path);
  add(std::move(opened.value()), path, is_started_ ? Arrival::kNew : Arrival::kThere, now);
}

// Between a rename and the file that comes, a name is missing for a moment.
void Follower::note_missing(const std::string& path, Found found, const Error& error,
                            std::chrono::nanoseconds now) {
  constexpr std::size_t kSaidMax = 1'024;
  const bool is_absent = error.code == ErrorCode::kNotFound;
  if (is_absent && found == Found::kByPattern) return;
  missing_.insert(path);
  if (is_absent) {
    if (!is_started_) report_(Told::kNews, "waits for " + path);
    return;
  }
  if (said_.size() == kSaidMax) said_.clear();
  if (std::exchange(said_[path], error.reason) == error.reason) return;
  if (refusal_log_.may_log(now)) report_(Told::kLoss, error.reason + refusal_log_.take_left_out());
}

void Follower::leave_out(const std::string& path) {
  missing_.insert(path);
  left_out_ += 1;
  if (std::exchange(is_bound_said_, true)) return;
  report_(Told::kLoss,
          path + ": there are 256 files already; it is not read, and others that come later");
}

void Follower::add(OpenedLog opened, const std::string& path, Arrival arrival,
                   std::chrono::nanoseconds now) {
  const LogFile::Start start = places_.start_of(opened, path, arrival, files_.all());
  files_.add(std::move(opened), path, start, now);
}

// ---- what nothing has reported

// Those that are open have been seen with another name.
void Follower::add_renamed(const std::string& path, Arrival arrival, std::chrono::nanoseconds now) {
  if (files_.find(path) || !files_.make_room()) return;
  auto opened = open_log(path, Found::kByPattern);
  if (!opened) return;
  counts_.rotations += 1;
  add(std::move(opened.value()), path, arrival, now);
  files_.all().back()->retired = now;
}

void Follower::add_newcomers(std::chrono::nanoseconds now) {
  for (const auto& [path, found] : std::exchange(newcomers_, {})) {
    auto opened = open_log(path, found);
    if (!opened) {
      note_missing(path, found, opened.error(), now);
    } else if (files_.make_room()) {
      add(std::move(opened.value()), path, Arrival::kUnreported, now);
    } else {
      leave_out(path);
    }
  }
}

// All of them before a file looks for its record by its device: two may have changed places.
void Follower::find_moved_devices() {
  positions_.each([&](PositionRecord& record) {
    const std::string path(record.path());
    const bool is_named = std::ranges::find(paths_, path) != paths_.end();
    const auto opened = open_log(path, is_named ? Found::kByName : Found::kByPattern);
    if (opened) (void)places_.is_of(record, opened.value());
  });
}

// Files that got another name while the feeder did not run.
void Follower::find_renamed(std::chrono::nanoseconds now) {
  positions_.each([&](PositionRecord& record) {
    const auto is_open = [&](const auto& file) { return file->record() == &record; };
    if (record.is_followed() && std::ranges::none_of(files_.all(), is_open)) {
      find_record(record, now);
    }
  });
}

void Follower::find_record(PositionRecord& record, std::chrono::nanoseconds now) {
  const std::string was(record.path());
  if (!is_followed(was)) {
    report_(Told::kNews, was + ": is not followed any more");
    return positions_.let_go(record);
  }
  const auto path = find_by_inode(folder_of(was), record.identity());
  auto opened = path ? open_log(*path, Found::kByPattern) : Result<OpenedLog>(Error());
  const bool is_it = opened && places_.is_of(record, opened.value()) &&
                     record.fits(opened.value().fd.get(), opened.value().size);
  if (!is_it || !files_.make_room()) {
    const std::string offset = std::to_string(record.offset());
    report_(Told::kLoss, was + ": what it had from byte " + offset + " on is gone");
    return places_.lose(record);
  }
  add(std::move(opened.value()), *path, Arrival::kThere, now);
  // It has been still since its last byte, not since this start.
  LogFile& file = *files_.all().back();
  file.grew = now - still_time(file.fd());
  file.retired = file.grew;
}

// Such files have the name of a followed file and something after it, and are younger than the last
// look at names. File systems that do not know when a file was born have none.
void Follower::find_unreported(std::chrono::nanoseconds since, std::chrono::nanoseconds now) {
  must_find_unreported_ = false;
  for (const std::string& path : paths_) {
    for (const std::string& each : rotated_since(path, since)) {
      if (!is_followed(each)) add_renamed(each, Arrival::kUnreported, now);
    }
  }
}

}  // namespace tallyfs::logs
