// Where a file begins when it is opened: where it was, at its start, or at its end. Confined to one
// thread; what it is made of must outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "feeders/log/follow/line_sink.h"
#include "feeders/log/follow/log_file.h"
#include "feeders/log/follow/missed_logs.h"
#include "feeders/log/follow/open_log.h"
#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

// Where a file begins that was there before, and whose position is not known.
enum class From { kStart, kEnd };

class StartPlaces {
 public:
  using Report = std::function<void(Told told, const std::string& text)>;

  StartPlaces(From from, Positions& positions, FollowCounts& counts, const Report& report);

  // kThere: at the feeder's start; kNew: it came afterwards; kUnreported: it came while nothing
  // reported it.
  enum class Arrival { kThere, kNew, kUnreported };
  // files: that are open. May end the file's record, if that is of another file.
  LogFile::Start start_of(const OpenedLog& opened, const std::string& path, Arrival arrival,
                          const std::vector<std::unique_ptr<LogFile>>& files);
  // At the start, of a file that is there and is not opened yet: it begins where its end is now, if
  // files begin at their ends.
  void note_unopened(const std::string& path);
  // All of them before a file looks for its record by its device: two may have changed places.
  void find_moved_devices(const std::vector<std::string>& named);
  // Whether the file at the start came while the feeder did not run: it has no position.
  bool came_meanwhile(const OpenedLog& opened, const std::string& path) const;
  // After the machine was booted a device may have another number: then the inode and the
  // checkpoint say whether it is the file, whose record gets that number.
  bool is_of(PositionRecord& record, const OpenedLog& opened) const;
  // Marks the content of the record's file as lost, unless a copy of it is found.
  void lose(PositionRecord& record);
  // Counts and reports lost files without a copy, and rotated logs that were written after `since`
  // and are compressed by now.
  void report_missed(const std::vector<std::string>& followed, std::chrono::nanoseconds since);
  // Counts and reports the copy of a cut log that was compressed before it was seen, if it has more
  // than was counted.
  void report_missed_copy(const std::string& log, const LogFile::Cut& cut);
  // Whether the file has what such a file had, or what a followed one had before it was cut.
  bool is_cut_part(const OpenedLog& opened, const std::string& path,
                   const std::vector<std::unique_ptr<LogFile>>& files) const;
  // Whether the position of the file is known: it was read. May end the record of another file.
  bool is_counted(const OpenedLog& opened) const;
  static LogFile::Start continue_at(const OpenedLog& opened, std::uint64_t offset);

 private:
  std::optional<LogFile::Start> start_of_copy(const OpenedLog& opened, const std::string& path,
                                              const CountedPart& counted) const;
  std::optional<std::uint64_t> end_at_start(const OpenedLog& opened, const std::string& path);
  static std::optional<Checkpoint> common_part(const OpenedLog& opened, const std::string& path,
                                               const LogFile& file);
  std::optional<LogFile::Start> start_by_record(const OpenedLog& opened, const std::string& path);
  std::optional<LogFile::Start> start_after_crash(const OpenedLog& opened, const std::string& path,
                                                  PositionRecord& record);
  std::optional<LogFile::Start> start_of_copy(
      const OpenedLog& opened, const std::string& path,
      const std::vector<std::unique_ptr<LogFile>>& files);

  static constexpr std::size_t kUnopenedMax = 65'536;
  struct Unopened {
    std::string path;
    std::optional<FileIdentity> identity{};  // nothing: its folder cannot be searched
    std::uint64_t size = 0;
  };
  struct Lost {
    std::string path;
    CountedPart counted;
    bool is_found = false;  // a copy of it
  };
  const From from_;
  Positions& positions_;
  const std::chrono::nanoseconds begun_;  // by the clock of births
  const std::chrono::nanoseconds scanned_;  // the last look at names of the feeder before
  FollowCounts& counts_;
  const Report& report_;
  std::vector<Unopened> unopened_;
  std::vector<Lost> lost_;
};

}  // namespace tallyfs::logs
