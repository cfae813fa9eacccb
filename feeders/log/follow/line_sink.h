// Where lines of files go, and what is counted of files. Confined to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tallyfs::logs {

class PositionRecord;
struct Checkpoint;
struct CountedPart;

// Where a line comes from, and where its file continues.
struct LineOrigin {
  const std::string& path;
  PositionRecord* record;  // nullptr: its position is not kept
  std::uint64_t end;       // the offset after the line
};

// Reports on files, for a person.
enum class Told {
  kNews,
  kLoss,  // lines are not counted, or may count twice
};

class LineSink {
 public:
  virtual ~LineSink() = default;
  // line: without its end. It lives during the call.
  virtual void take(std::string_view line, const LineOrigin& origin) = 0;
  // The position of a file moves without a line: a long line ended.
  virtual void move(PositionRecord& record, std::uint64_t offset) = 0;
  // The file was cut, and begins again. before: what was counted before the cut.
  virtual void begin_again(PositionRecord& record, const CountedPart& before) = 0;
  // The checkpoint by which the file is known again lies at the end of the last line or before it.
  // head: the file's first bytes.
  virtual void keep(PositionRecord& record, const Checkpoint& checkpoint,
                    std::string_view head) = 0;
  // Before a record ends: confirms what was taken. False: it is in vain, and offsets that were
  // reached are not stored.
  virtual bool confirm_all() = 0;
};

// Totals since the feeder's start, but for those that say what there is.
struct FollowCounts {
  std::uint64_t bytes = 0;
  std::uint64_t rotations = 0;  // files that were renamed or removed
  std::uint64_t truncations = 0;
  std::uint64_t unread = 0;  // bytes that were cut off before they were read
  std::uint64_t missed = 0;  // rotated logs that were compressed or gone before they were read
  std::uint64_t read_errors = 0;
  std::uint64_t tails_lost = 0;  // files that a crash of the machine made shorter
  std::uint64_t cut = 0;     // lines of more than 64 KiB
  std::uint64_t files = 0;   // there are now
  std::uint64_t behind = 0;  // bytes not read yet, now
  bool operator==(const FollowCounts&) const = default;
};

}  // namespace tallyfs::logs
