// The files that are open. One that was renamed or removed is read on until its writer has closed
// it, and then until it has been still for 10 s: other writers may have it open.
// Bounds: 256 files; at the bound a file that gave way goes without that wait. While lines are
// taken files may be added, but none goes. Confined to one thread; what it is made of must outlive
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "feeders/log/follow/change_watch.h"
#include "feeders/log/follow/line_sink.h"
#include "feeders/log/follow/log_file.h"
#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

class FollowedFiles {
 public:
  using Report = std::function<void(Told told, const std::string& text)>;

  // Also of a file whose writer was not seen.
  static constexpr std::chrono::seconds kRetiredTime{10};

  FollowedFiles(Positions& positions, ChangeWatch& watch, LineSink& sink, FollowCounts& counts,
                const Report& report);

  const std::vector<std::unique_ptr<LogFile>>& all() const { return files_; }
  // The file that has the path, if it is open. Nothing is opened to find that out.
  LogFile* find(const std::string& path) const;
  LogFile* find(const FileIdentity& identity) const;
  // Lines are being taken.
  bool is_reading() const { return is_reading_; }
  // False: there are 256, all of which have their names.
  bool has_room() const;
  // The file that gave way longest ago goes at the bound, without a wait for its writers.
  bool make_room();
  // followed: the path or pattern by which it is followed, which finds its position again; of a
  // file that was renamed, or copied and cut, not its path.
  LogFile& add(OpenedLog opened, const std::string& path, const std::string& followed,
               LogFile::Start start, std::chrono::nanoseconds now);

  // Names are looked for again: which files have theirs is seen() before retire_unseen().
  void begin_scan() { seen_.clear(); }
  void see(LogFile& file, const std::string& path);
  void retire_unseen(std::chrono::nanoseconds now);

  void mark_written(int watch);
  void mark_all_written();
  // Whether files were cut: of all, or of those that were written.
  enum class Which { kAll, kWritten };
  void look(Which which);
  // Reads a chunk of each file that has more. False: none has.
  bool read(std::chrono::nanoseconds now);
  // Reads all that there is; rest: last lines without an end, too.
  enum class Rest { kWaits, kIsALine };
  void read_rest(Rest rest);
  void drop_retired(std::chrono::nanoseconds now);
  void count();

 private:
  class Reading;
  void keep_position(LogFile& file, const std::string& followed);
  bool has_gone(const LogFile& file, std::chrono::nanoseconds now) const;
  void report_failure(const LogFile& file, int before) const;
  void finish(LogFile& file);

  Positions& positions_;
  ChangeWatch& watch_;
  LineSink& sink_;
  FollowCounts& counts_;
  const Report& report_;
  std::vector<std::unique_ptr<LogFile>> files_;
  std::vector<FileIdentity> seen_;  // by the scan under way
  std::vector<char> chunk_;
  bool is_reading_ = false;
};

}  // namespace tallyfs::logs
