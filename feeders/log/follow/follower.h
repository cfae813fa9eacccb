// All files that are followed: those that were named, and those that patterns find. inotify(7) says
// when one changes; each second all are looked at, for file systems that say nothing.
//
// A file is what its device and inode say. Confined to one thread; what it is made of must outlive
// it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/change_watch.h"
#include "feeders/log/follow/cut_copies.h"
#include "feeders/log/follow/followed_files.h"
#include "feeders/log/follow/line_sink.h"
#include "feeders/log/follow/open_log.h"
#include "feeders/log/follow/positions.h"
#include "feeders/log/follow/start_places.h"
#include "feeders/text/refusal_log.h"

namespace tallyfs::logs {

class Follower {
 public:
  using Report = StartPlaces::Report;
  using Rest = FollowedFiles::Rest;

  static constexpr std::chrono::seconds kLookPeriod{1};

  struct Settings {
    std::vector<std::string> paths;  // or patterns of glob(7)
    From from = From::kEnd;
  };
  // report: what a person should know of files.
  Follower(Settings settings, Positions& positions, LineSink& sink, FollowCounts& counts,
           Report report);

  // Become readable when a file was written, and when a name has changed; -1: there is no inotify.
  int files_fd() const { return watch_.files_fd(); }
  int names_fd() const { return watch_.names_fd(); }

  // Finds the files that are there at the start.
  void start(std::chrono::nanoseconds now);
  // Looks for changes, if a descriptor is readable or a period has passed.
  void look(std::chrono::nanoseconds now);
  // Looks at the names alone, while lines wait for the daemon. So new files are opened before they
  // can be removed, and are read later.
  void look_at_names(std::chrono::nanoseconds now) { look_at_names(now, Lines::kWait); }
  // The last look at names before the feeder ends: what is younger came while it did not run.
  void finish(std::chrono::nanoseconds now);
  // Reads a chunk of each file that has more. False: none has.
  bool read(std::chrono::nanoseconds now);
  void read_rest(Rest rest) { files_.read_rest(rest); }
  // Files that were named and cannot be read, and patterns that find nothing.
  const std::set<std::string>& missing() const { return missing_; }

 private:
  using Arrival = StartPlaces::Arrival;
  enum class Lines { kAreRead, kWait };

  void look_at_names(std::chrono::nanoseconds now, Lines lines);
  bool is_followed(const std::string& path) const;
  bool may_be_copy(const std::string& path) const;
  void scan_again(std::chrono::nanoseconds now);
  void scan(std::chrono::nanoseconds now);
  void scan_one(const std::string& path, std::chrono::nanoseconds now);
  void find(const std::string& path, Found found, std::chrono::nanoseconds now);
  void note_missing(const std::string& path, Found found, const Error& error,
                    std::chrono::nanoseconds now);
  void leave_out(const std::string& path);
  void add(OpenedLog opened, const std::string& path, Arrival arrival,
           std::chrono::nanoseconds now);
  // The file is read to its end: it had the name `followed`, which has gone.
  void add_renamed(const std::string& path, const std::string& followed, Arrival arrival,
                   std::chrono::nanoseconds now);
  // Reads what a file had before it was cut on in its copies, or reports the loss.
  void continue_in_copies(std::chrono::nanoseconds now);
  void find_unseen_copies(std::chrono::nanoseconds now);
  bool was_there_at_start(const LogCopy& copy) const;
  void continue_after(const LogFile::Cut& cut, const LogFile& file, std::chrono::nanoseconds now);
  // The copies that are not followed, and of which nothing was counted.
  std::vector<LogCopy> new_copies(const LogFile& file, std::chrono::nanoseconds since);
  bool is_read_in_copy(const LogFile::Cut& cut) const;
  std::vector<LogCopy> copies_of(const LogFile& file, const LogFile::Cut& cut);
  std::vector<LogCopy> unseen_copies(const LogFile& file);
  void add_copies(std::vector<LogCopy> copies, const std::string& log, std::uint64_t offset,
                  std::chrono::nanoseconds now);
  void report_loss(const std::string& path, std::uint64_t bytes);
  void find_renamed(std::chrono::nanoseconds now);
  void find_record(PositionRecord& record, std::chrono::nanoseconds now);
  void add_newcomers(std::chrono::nanoseconds now);
  void find_unreported(std::chrono::nanoseconds since, std::chrono::nanoseconds now);
  bool is_unreported(const Rotated& rotated, const std::string& log,
                     std::chrono::nanoseconds since) const;

  struct Newcomer {
    std::string path;
    Found found;
  };
  const std::vector<std::string> paths_;
  Positions& positions_;
  FollowCounts& counts_;
  const Report report_;
  ChangeWatch watch_;
  StartPlaces places_;
  FollowedFiles files_;
  CutCopies copies_;
  LineSink& sink_;
  RefusalLog refusal_log_;
  std::map<std::string, std::string> said_;  // why paths are not read
  std::set<std::string> missing_;
  std::vector<Newcomer> newcomers_;  // at the start, until records have found their files
  std::size_t left_out_ = 0;         // files beyond the bound, by the scan under way
  bool is_bound_said_ = false;
  bool is_started_ = false;
  bool must_find_unreported_ = false;
  bool is_scanning_ = false;
  bool have_names_changed_ = false;  // since copies were looked for
  std::chrono::nanoseconds started_{0};     // by the clock of births
  std::vector<Rotated> there_at_start_;     // with births of then, or later
  std::chrono::nanoseconds scan_begun_{0};  // the last one, by CLOCK_REALTIME
  std::chrono::nanoseconds looked_{0};
  std::chrono::nanoseconds scanned_{0};
};

}  // namespace tallyfs::logs
