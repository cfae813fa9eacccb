// One file that is followed: what is read of it, line by line. A last line without its end waits,
// until the file gives way to another. Zero bytes at the start of a line are left out: a program
// that does not append leaves them where its log was cut to 0, and so does a crash of the machine.
// Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/fd.h"
#include "feeders/log/follow/line_sink.h"
#include "feeders/log/follow/open_log.h"
#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

class LogFile {
 public:
  static constexpr std::size_t kLineMax = 64 << 10;
  // A chunk holds more than the longest line.
  static constexpr std::size_t kChunkBytes = 256 << 10;

  // Continues at that offset, in the midst of a line that is passed over if `is_within_line`.
  struct Start {
    std::uint64_t offset = 0;
    bool is_within_line = false;
  };
  LogFile(OpenedLog opened, std::string path, Start start, FollowCounts& counts);

  const FileIdentity& identity() const { return identity_; }
  const std::string& path() const { return path_; }
  void rename(std::string path) { path_ = std::move(path); }
  int fd() const { return fd_.get(); }
  std::uint64_t offset() const { return offset_; }
  void keep_position(PositionRecord* record);
  PositionRecord* record() const { return record_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  // The part that was counted before the file was last cut; nullopt: it never was.
  const std::optional<CountedPart>& before_cut() const { return before_cut_; }
  // Detects a cut before any line of the file was taken, also while lines of other files are taken.
  void look_at_begin();
  // The last time, by CLOCK_REALTIME, at which the file was unchanged since it was read.
  std::chrono::nanoseconds intact() const { return intact_; }
  // When nothing of it was taken, or it was seen that it was cut, last, by CLOCK_REALTIME.
  std::chrono::nanoseconds restarted() const { return restarted_; }

  struct Cut {
    CountedPart counted;
    std::chrono::nanoseconds intact{0};
    std::uint64_t unread = 0;  // bytes that it is known to have had beyond those that were counted
  };
  // The cut that was seen since the last call.
  std::optional<Cut> take_cut() { return std::exchange(cut_, std::nullopt); }

  // Before reading, when it may have changed: sees whether it was cut, and begins it again then.
  void look(LineSink& sink);
  // Reads at most a chunk. False: there is no more for now.
  bool read(std::span<char> chunk, LineSink& sink);
  // It gave way, and was written over since: nothing more of it is read.
  bool has_other_log() const { return has_other_log_; }
  // The last line, which has no end, is one.
  void read_rest(std::span<char> chunk, LineSink& sink);
  std::uint64_t behind() const { return size_ > offset_ ? size_ - offset_ : 0; }

  // When it was renamed or removed, and when it had new bytes, or a writer, last.
  std::optional<std::chrono::nanoseconds> retired{};
  std::chrono::nanoseconds grew{0};
  bool is_dirty = true;     // it may have more to read
  int watch = -1;
  int error = 0;  // errno of the last read, 0 after one that succeeded

 private:
  void note(int failure);
  bool was_cut();
  void learn_begin();
  bool has_other_bytes();
  bool pass_zeros(std::string_view text, LineSink& sink);
  void pass_begin(std::string_view text, LineSink& sink);
  std::size_t take_lines(std::string_view text, LineSink& sink);
  void take(std::string_view line, std::uint64_t end, LineSink& sink);
  void begin_again(LineSink& sink);
  void note_cut(std::uint64_t known_bytes);
  void remember(std::string_view bytes);
  CountedPart counted() const;
  void let_go();
  void keep_begin(std::string_view begin, LineSink& sink);
  void keep_checkpoint(LineSink& sink);

  Fd fd_;
  FileIdentity identity_;
  std::string path_;
  std::uint64_t offset_;       // of the first byte that is of no line that was taken
  std::uint64_t read_to_ = 0;  // what was seen of it
  std::uint64_t size_ = 0;
  bool has_other_log_ = false;
  bool is_within_line_;  // whose begin was taken already, or which is passed over
  Checkpoint checkpoint_{};
  Checkpoint begin_{};  // of its first bytes, while none of them was taken
  std::string tail_;    // the last bytes before offset_, as they were read
  std::string head_;    // the first ones that were counted, kHeadBytes at most
  std::chrono::nanoseconds intact_{0};
  std::chrono::nanoseconds restarted_{0};
  std::optional<CountedPart> before_cut_;
  std::optional<Cut> cut_;
  PositionRecord* record_ = nullptr;
  FollowCounts& counts_;
};

}  // namespace tallyfs::logs
