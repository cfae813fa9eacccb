#include "feeders/log/follow/followed_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tallyfs::logs {

class FollowedFiles::Reading {
 public:
  explicit Reading(FollowedFiles& files) : files_(files) { files_.is_reading_ = true; }
  ~Reading() { files_.is_reading_ = false; }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // The numbers hold while files are added meanwhile.
  template <typename Visit>
  void each(Visit visit) {
    for (std::size_t i = 0; i < files_.files_.size(); ++i) visit(*files_.files_[i]);
  }

 private:
  FollowedFiles& files_;
};

FollowedFiles::FollowedFiles(Positions& positions, ChangeWatch& watch, LineSink& sink,
                             FollowCounts& counts, const Report& report)
    : positions_(positions),
      watch_(watch),
      sink_(sink),
      counts_(counts),
      report_(report),
      chunk_(LogFile::kChunkBytes) {}

LogFile* FollowedFiles::find(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return nullptr;
  return find(FileIdentity{status.st_dev, status.st_ino});
}

LogFile* FollowedFiles::find(const FileIdentity& identity) const {
  const auto known =
      std::ranges::find_if(files_, [&](const auto& file) { return file->identity() == identity; });
  return known == files_.end() ? nullptr : known->get();
}

LogFile& FollowedFiles::add(OpenedLog opened, const std::string& path, const std::string& followed,
                            LogFile::Start start, std::chrono::nanoseconds now) {
  auto file = std::make_unique<LogFile>(std::move(opened), path, start, counts_);
  file->grew = now;
  keep_position(*file, followed);
  file->watch = watch_.watch_file(file->fd());
  seen_.push_back(file->identity());
  return *files_.emplace_back(std::move(file));
}

void FollowedFiles::keep_position(LogFile& file, const std::string& followed) {
  PositionRecord* record = positions_.find(file.identity());
  if (!record) record = positions_.add(file.identity(), followed, file.checkpoint());
  if (!record) return report_(Told::kLoss, file.path() + ": there is no room for its position");
  record->follow();
  file.keep_position(record);
}

void FollowedFiles::see(LogFile& file, const std::string& path) {
  if (std::ranges::find(seen_, file.identity()) != seen_.end()) return;
  seen_.push_back(file.identity());
  file.retired.reset();
  if (file.path() == path) return;
  counts_.rotations += 1;
  file.rename(path);
}

void FollowedFiles::retire_unseen(std::chrono::nanoseconds now) {
  for (const auto& file : files_) {
    if (file->retired || std::ranges::find(seen_, file->identity()) != seen_.end()) continue;
    file->retired = now;
    file->is_dirty = true;
    counts_.rotations += 1;
  }
}

void FollowedFiles::mark_written(int watch) {
  for (const auto& file : files_) {
    if (file->watch == watch) file->is_dirty = true;
  }
}

void FollowedFiles::mark_all_written() {
  for (const auto& file : files_) file->is_dirty = true;
}

void FollowedFiles::look(Which which) {
  Reading(*this).each([&](LogFile& file) {
    const int before = file.error;
    if (which == Which::kAll || file.is_dirty) file.look(sink_);
    report_failure(file, before);
  });
}

bool FollowedFiles::read(std::chrono::nanoseconds now) {
  bool has_more = false;
  Reading(*this).each([&](LogFile& file) {
    if (!file.is_dirty) return;
    const std::uint64_t offset = file.offset();
    const int before = file.error;
    has_more = file.read(chunk_, sink_) || has_more;
    if (file.offset() != offset) file.grew = now;
    report_failure(file, before);
  });
  count();
  return has_more;
}

void FollowedFiles::report_failure(const LogFile& file, int before) const {
  if (file.error == 0 || file.error == before) return;
  report_(Told::kLoss, file.path() + ": cannot be read: " + std::strerror(file.error));
}

void FollowedFiles::read_rest(Rest rest) {
  Reading(*this).each([&](LogFile& file) {
    const int before = file.error;
    if (rest == Rest::kIsALine) {
      file.read_rest(chunk_, sink_);
    } else {
      while (file.read(chunk_, sink_)) {
      }
    }
    report_failure(file, before);
  });
  count();
}

void FollowedFiles::drop_retired(std::chrono::nanoseconds now) {
  for (std::size_t i = 0; i < files_.size();) {
    if (watch_.has_writer(files_[i]->watch)) files_[i]->grew = now;
    if (has_gone(*files_[i], now)) {
      finish(*files_[i]);
      files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

bool FollowedFiles::has_gone(const LogFile& file, std::chrono::nanoseconds now) const {
  if (file.has_other_log()) return true;
  return file.retired && !file.is_dirty &&
         now - std::max(*file.retired, file.grew) >= kRetiredTime;
}

// Its position stays as it is if what was counted could not be confirmed: then the next feeder
// continues there.
void FollowedFiles::finish(LogFile& file) {
  const Reading reading(*this);
  file.read_rest(chunk_, sink_);
  if (file.record() && sink_.confirm_all()) {
    // Its position is of bytes that it does not have any more.
    if (file.has_other_log())
      file.record()->end();
    else
      positions_.let_go(*file.record());
  }
  watch_.forget_file(file.watch);
}

bool FollowedFiles::has_room() const {
  if (files_.size() < kFilesMax) return true;
  return !is_reading_ &&
         std::ranges::any_of(files_, [](const auto& file) { return file->retired.has_value(); });
}

bool FollowedFiles::make_room() {
  if (!has_room()) return false;
  if (files_.size() < kFilesMax) return true;
  const auto oldest = std::ranges::min_element(files_, {}, [](const auto& file) {
    return file->retired ? std::max(*file->retired, file->grew) : std::chrono::nanoseconds::max();
  });
  const auto place = oldest - files_.begin();
  finish(**oldest);
  files_.erase(files_.begin() + place);
  return true;
}

void FollowedFiles::count() {
  counts_.files = files_.size();
  counts_.behind = 0;
  for (const auto& file : files_) counts_.behind += file->behind();
}

}  // namespace tallyfs::logs
