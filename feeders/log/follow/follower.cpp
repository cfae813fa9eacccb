// Longer than most: what a rotation does to names, and what to files, is read in one place.
#include "feeders/log/follow/follower.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/clock.h"
#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

using namespace std::chrono_literals;

// Between the last byte of a copy and the cut of its log.
constexpr std::chrono::seconds kCopyTimeMax{10};
// Since a copy was made, until the look that finds it.
constexpr std::chrono::seconds kUnseenTimeMax{2 * Follower::kLookPeriod};

}  // namespace

Follower::Follower(Settings settings, Positions& positions, LineSink& sink, FollowCounts& counts,
                   Report report)
    : paths_(std::move(settings.paths)),
      positions_(positions),
      counts_(counts),
      report_(std::move(report)),
      watch_([this](const std::string& path) { return is_followed(path); },
             [this](const std::string& path) { return may_be_copy(path); }),
      places_(settings.from, positions, counts, report_),
      files_(positions, watch_, sink, counts, report_),
      sink_(sink) {
  const bool has_inotify = files_fd() >= 0 && names_fd() >= 0;
  if (!has_inotify) report_(Told::kNews, "no inotify: files are looked at once a second");
}

bool Follower::is_followed(const std::string& path) const {
  return std::ranges::any_of(paths_, [&](const std::string& each) { return names(each, path); });
}

bool Follower::may_be_copy(const std::string& path) const {
  return std::ranges::any_of(paths_,
                             [&](const std::string& each) { return names_rotated(each, path); });
}

// Files that came meanwhile may be copies of others: these are found first. A feeder that is killed
// before all have records looks for them again.
void Follower::start(std::chrono::nanoseconds now) {
  const auto before = positions_.scanned();
  const auto begun = SystemClock::realtime();
  started_ = birth_clock();
  for (const std::string& path : paths_) {
    std::ranges::copy_if(written_since(path, started_), std::back_inserter(there_at_start_),
                         [&](const Rotated& each) { return each.birth >= started_; });
  }
  if (positions_.was_booted()) places_.find_moved_devices(paths_);
  scan(now);
  find_renamed(now);
  add_newcomers(now);
  is_started_ = true;
  if (before.count() != 0) {
    find_unreported(before, now);
    places_.report_missed(paths_, before);
  }
  positions_.set_scanned(begun);
  positions_.accept_boot();
  scan_begun_ = begun;
}

void Follower::look(std::chrono::nanoseconds now) {
  look_at_names(now, Lines::kAreRead);
  const bool is_due = now - looked_ >= kLookPeriod;
  files_.look(is_due ? FollowedFiles::Which::kAll : FollowedFiles::Which::kWritten);
  // A copy that was written over since is a copy anew.
  files_.drop_retired(now);
  continue_in_copies(now);
  if (is_due) {
    looked_ = now;
    find_unseen_copies(now);
    copies_.drop();
  }
  files_.count();
}

bool Follower::read(std::chrono::nanoseconds now) {
  const bool has_more = files_.read(now);
  continue_in_copies(now);
  return has_more;
}

// A file may go for another one during a look, and its lines may wait for the daemon.
void Follower::look_at_names(std::chrono::nanoseconds now, Lines lines) {
  if (!is_started_ || is_scanning_) return;
  const ChangeWatch::Changes changes = watch_.read();
  have_names_changed_ = have_names_changed_ || changes.has_names || changes.is_incomplete;
  for (const int watch : changes.files) files_.mark_written(watch);
  if (changes.is_incomplete) files_.mark_all_written();
  must_find_unreported_ = must_find_unreported_ || changes.is_incomplete;
  const bool is_due = now - scanned_ >= kLookPeriod;
  if (!is_due && !changes.has_names && !changes.is_incomplete) return;
  is_scanning_ = true;
  scan_again(now);
  for (const auto& file : files_.all()) {
    // They may be compressed at once.
    const bool waits = lines == Lines::kWait;
    if (waits || changes.has_copies) copies_.hold(file->path(), file->intact());
    if (waits) file->look_at_begin();
  }
  is_scanning_ = false;
  scanned_ = now;
}

void Follower::finish(std::chrono::nanoseconds now) {
  scanned_ = now - kLookPeriod;
  look_at_names(now, Lines::kAreRead);
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
  scan_begun_ = begun;
  // Copies that came are looked for once a second. After a kill before that the next feeder finds
  // them, as they came after the last look.
  if (!have_names_changed_) positions_.set_scanned(begun);
}

// ---- names

void Follower::scan(std::chrono::nanoseconds now) {
  files_.begin_scan();
  missing_.clear();
  left_out_ = 0;
  for (const std::string& path : paths_) scan_one(path, now);
  for (const auto& [path, before] : watch_.take_renamed()) {
    add_renamed(path, before, Arrival::kNew, now);
  }
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
  if (!is_absent && !is_started_) places_.note_unopened(path);
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
  if (!is_started_) places_.note_unopened(path);
  if (std::exchange(is_bound_said_, true)) return;
  report_(Told::kLoss,
          path + ": there are 256 files already; it is not read, and others that come later");
}

void Follower::add(OpenedLog opened, const std::string& path, Arrival arrival,
                   std::chrono::nanoseconds now) {
  const LogFile::Start start = places_.start_of(opened, path, arrival, files_.all());
  files_.add(std::move(opened), path, path, start, now);
}

// ---- what nothing has reported

// Files that are open have been seen with another name.
void Follower::add_renamed(const std::string& path, const std::string& followed, Arrival arrival,
                           std::chrono::nanoseconds now) {
  if (files_.find(path) || !files_.make_room()) return;
  auto opened = open_log(path, Found::kByPattern);
  if (!opened) return;
  counts_.rotations += 1;
  const auto start = places_.start_of(opened.value(), path, arrival, files_.all());
  files_.add(std::move(opened.value()), path, followed, start, now).retired = now;
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
    // One that has its name, and could not be opened, continues when it can be.
    const bool is_there = path == was || said_.contains(was);
    return is_there ? positions_.let_go(record) : places_.lose(record);
  }
  const auto start = places_.start_of(opened.value(), *path, Arrival::kThere, files_.all());
  LogFile& file = files_.add(std::move(opened.value()), *path, was, start, now);
  // It has been still since its last byte or its rename, not since this start.
  file.grew = now - still_time(file.fd());
  file.retired = file.grew;
}

// Such files have the name of a followed file and something after it, and are younger than the last
// look at names. File systems that do not know when a file was born have none.
void Follower::find_unreported(std::chrono::nanoseconds since, std::chrono::nanoseconds now) {
  must_find_unreported_ = false;
  for (const std::string& path : paths_) {
    for (const Rotated& each : written_since(path, since - kCopyTimeMax)) {
      if (is_followed(each.path)) continue;
      if (is_unreported(each, path, since)) add_renamed(each.path, path, Arrival::kUnreported, now);
    }
  }
}

// The rest of a log may be cut before it was read: then its copy is searched for. The copy may
// still be growing: its size is read again after this. A file whose name has no number may be a log
// of its own, and a file next to a log that was not written since may be an old one, unless it has
// the bytes that a followed log had.
bool Follower::is_unreported(const Rotated& rotated, const std::string& log,
                             std::chrono::nanoseconds since) const {
  const auto opened = open_log(rotated.path, Found::kByPattern);
  if (!opened) return false;
  bool is_rotation = rotated.is_written && is_numbered(rotated.path, log) &&
                     is_born_after(rotated.birth, since);
  for (const auto& file : files_.all()) {
    if (file->retired) continue;
    if (has_all_of(*file, opened.value())) return false;
    const bool is_its = is_numbered(rotated.path, file->path());
    is_rotation = is_rotation && !(is_its && changed_at(file->fd()) < rotated.birth);
  }
  return is_rotation || places_.is_cut_part(opened.value(), rotated.path, files_.all());
}

// ---- files that were cut

void Follower::continue_in_copies(std::chrono::nanoseconds now) {
  for (std::size_t i = 0; i < files_.all().size(); ++i) {
    LogFile& file = *files_.all()[i];
    const auto cut = file.take_cut();
    if (cut && !file.retired) continue_after(*cut, file, now);
  }
}

void Follower::find_unseen_copies(std::chrono::nanoseconds now) {
  if (!std::exchange(have_names_changed_, false)) return;
  for (std::size_t i = 0; i < files_.all().size(); ++i) {
    const LogFile& file = *files_.all()[i];
    if (!file.retired) add_copies(unseen_copies(file), file.path(), 0, now);
  }
  positions_.set_scanned(scan_begun_);
}

// The position of a copy says that all before it was counted.
void Follower::continue_after(const LogFile::Cut& cut, const LogFile& file,
                              std::chrono::nanoseconds now) {
  const std::string log = file.path();
  auto copies = copies_of(file, cut);
  if (copies.empty() || !sink_.confirm_all()) {
    if (is_read_in_copy(cut)) return;
    report_loss(log, cut.unread);
    if (cut.unread == 0) places_.report_missed_copy(log, cut);
  } else {
    if (copies.front().opened.size < cut.counted.offset) report_loss(log, cut.unread);
    add_copies(std::move(copies), log, cut.counted.offset, now);
  }
}

// A look at names may have found the copy first.
bool Follower::is_read_in_copy(const LogFile::Cut& cut) const {
  return std::ranges::any_of(files_.all(), [&](const auto& file) {
    return file->retired && cut.counted.checkpoint.offset != 0 &&
           read_checkpoint(file->fd(), cut.counted.checkpoint.offset) == cut.counted.checkpoint;
  });
}

std::vector<LogCopy> Follower::new_copies(const LogFile& file, std::chrono::nanoseconds since) {
  auto copies = copies_.take(file.path(), since);
  std::erase_if(copies, [&](const LogCopy& copy) {
    return copy.opened.size == 0 || is_followed(copy.path) ||
           files_.find(copy.opened.identity) || places_.is_counted(copy.opened);
  });
  return copies;
}

// The copy that has what was counted, and those of later cuts: what they have was never seen. Of a
// log that was empty any copy is one; else the last one that has its bytes, since users make
// copies, too.
std::vector<LogCopy> Follower::copies_of(const LogFile& file, const LogFile::Cut& cut) {
  const bool was_empty = cut.counted.checkpoint.offset == 0;
  auto copies = new_copies(file, cut.intact - (was_empty ? 0s : kCopyTimeMax));
  if (!was_empty) copies.erase(copies.begin(), last_copy_of(copies, cut.counted));
  if (copies.empty()) return {};
  const auto later = std::remove_if(
      copies.begin() + (was_empty ? 0 : 1), copies.end(),
      [&, first = copies.front().birth](const LogCopy& copy) {
        const bool has_birth = was_empty || copy.birth.count() != 0;
        return !has_birth || !copy.is_written || copy.birth < first || is_of_now(file, copy.opened);
      });
  copies.erase(later, copies.end());
  return copies;
}

// A birth may be ahead of the clock of births, so that files of before may look as young as later
// ones.
bool Follower::was_there_at_start(const LogCopy& copy) const {
  return copy.birth < started_ || std::ranges::any_of(there_at_start_, [&](const Rotated& each) {
           return each.path == copy.path && each.birth == copy.birth;
         });
}

// A log that was empty when it was looked at may have been written, copied and cut since: its copy
// alone says so. Only names as rotations make them count, since people make files, too: they unpack
// old logs. A log that has only grown meanwhile, or that was not touched, has no such copy.
std::vector<LogCopy> Follower::unseen_copies(const LogFile& file) {
  const auto now = SystemClock::realtime();
  if (now - file.restarted() > 2 * kUnseenTimeMax) return {};
  auto copies = new_copies(file, now - kUnseenTimeMax);
  std::erase_if(copies, [&](const LogCopy& copy) {
    return !copy.is_written || was_there_at_start(copy) || changed_at(file.fd()) < copy.birth ||
           !is_numbered(copy.path, file.path()) || is_of_now(file, copy.opened) ||
           (file.before_cut() && continuation(copy.opened, *file.before_cut()));
  });
  return copies;
}

void Follower::add_copies(std::vector<LogCopy> copies, const std::string& log,
                          std::uint64_t offset, std::chrono::nanoseconds now) {
  for (LogCopy& copy : copies) {
    const std::uint64_t begin = std::min(std::exchange(offset, 0), copy.opened.size);
    copies_.note_read(copy);
    if (!files_.make_room()) {
      report_loss(log, copy.opened.size - begin);
      continue;
    }
    if (copy.opened.size > begin) {
      report_(Told::kNews, copy.path + ": is read from byte " + std::to_string(begin) +
                               " on, as a copy of a log that was cut");
    }
    const LogFile::Start start = StartPlaces::continue_at(copy.opened, begin);
    files_.add(std::move(copy.opened), copy.path, log, start, now).retired = now;
  }
}

void Follower::report_loss(const std::string& path, std::uint64_t bytes) {
  counts_.unread += bytes;
  if (bytes == 0) return;
  report_(Told::kLoss, path + ": was cut before " + std::to_string(bytes) +
                           " bytes of it were read, and no copy of it has them");
}

}  // namespace tallyfs::logs
