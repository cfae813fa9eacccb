// All files that are followed: those that were named, and those that patterns find. inotify(7) says
// when one changes; each second all are looked at, for file systems that say nothing.
//
// A file is what its device and inode say. One that was renamed or removed is read on until a
// writer has closed it and it has been still for a second, or for 10 s.
// Bounds: 256 files; at the bound a file that gave way goes without that wait. Confined to one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/log/follow/line_sink.h"
#include "feeders/log/follow/log_file.h"
#include "feeders/log/follow/positions.h"

struct inotify_event;

namespace tallyfs::logs {

// Where a file begins that was there at the start, and whose position is not known.
enum class From { kStart, kEnd };

class Follower {
 public:
  struct Settings {
    std::vector<std::string> paths;  // or patterns of glob(7)
    From from = From::kEnd;
    Positions* positions = nullptr;
  };
  using Report = std::function<void(const std::string& text)>;

  static constexpr std::chrono::seconds kRetiredTime{10};
  static constexpr std::chrono::seconds kClosedTime{1};
  static constexpr std::chrono::seconds kLookPeriod{1};

  // sink and counts must outlive it. report: what a person should know of files.
  Follower(Settings settings, LineSink& sink, FollowCounts& counts, Report report);
  ~Follower();

  // Becomes readable when something has changed; -1: there is none.
  int fd() const { return inotify_.get(); }

  // Finds the files that are there at the start.
  void start(std::chrono::nanoseconds now);
  // What has changed, if fd() says so or a period has gone.
  void look(std::chrono::nanoseconds now);
  // Reads a chunk of each file that has more. False: none has.
  bool read(std::chrono::nanoseconds now);
  // Reads all that there is; rest: last lines without an end, too.
  enum class Rest { kWaits, kIsALine };
  void read_rest(Rest rest);
  // Files that were named and are not there.
  std::size_t missing() const { return missing_.size(); }

 private:
  void read_events();
  void read_event(const inotify_event& event, const std::string& name);
  void note_rename(const inotify_event& event, const std::string& path);
  bool is_followed(const std::string& path) const;
  void read_strays(std::chrono::nanoseconds now);
  void scan(std::chrono::nanoseconds now);
  void find(const std::string& path, Found found, std::chrono::nanoseconds now);
  LogFile* opened_before(const std::string& path);
  void see(LogFile& file, const std::string& path);
  void add(OpenedLog opened, const std::string& path, std::chrono::nanoseconds now);
  LogFile::Start start_of(const OpenedLog& opened, const std::string& path);
  void keep_position(LogFile& file);
  void find_renamed(std::chrono::nanoseconds now);
  void find_born(std::chrono::nanoseconds scanned, std::chrono::nanoseconds now);
  void retire_unseen(std::chrono::nanoseconds now);
  void drop_retired(std::chrono::nanoseconds now);
  void finish(LogFile& file);
  bool make_room();
  void watch_folder(const std::string& path);
  void say_once(const std::string& path, const std::string& text);
  void count_behind();

  const Settings settings_;
  LineSink& sink_;
  FollowCounts& counts_;
  const Report report_;
  Fd inotify_;
  std::vector<std::unique_ptr<LogFile>> files_;
  std::vector<FileIdentity> seen_;           // by the scan under way
  std::map<std::string, std::string> said_;  // of paths, until they are read
  std::set<std::string> missing_;
  std::map<int, std::string> folders_;   // by their watches
  std::set<std::uint32_t> renames_;      // of followed names, under way
  std::set<std::string> strays_;         // names to which files went that may not be open
  std::set<std::string> known_folders_;  // of positions, at the start
  bool is_started_ = false;
  bool must_scan_ = true;
  std::chrono::nanoseconds looked_{0};
  std::vector<char> chunk_;
};

}  // namespace tallyfs::logs
