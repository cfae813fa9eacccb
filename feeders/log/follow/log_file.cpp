#include "feeders/log/follow/log_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/clock.h"

namespace tallyfs::logs {
namespace {

// Reads at most as many as are hashed, and none if that fails.
std::string read_bytes(int fd, std::uint64_t end, std::size_t most = kHashedBytes) {
  std::string bytes(std::min<std::uint64_t>(end, most), '\0');
  const ssize_t read =
      ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(end - bytes.size()));
  bytes.resize(read < 0 ? 0 : static_cast<std::size_t>(read));
  return bytes;
}

}  // namespace

LogFile::LogFile(OpenedLog opened, std::string path, Start start, FollowCounts& counts)
    : fd_(std::move(opened.fd)),
      identity_(opened.identity),
      path_(std::move(path)),
      offset_(start.offset),
      read_to_(start.offset),
      size_(opened.size),
      is_within_line_(start.is_within_line),
      begin_(first_checkpoint()),
      tail_(read_bytes(fd_.get(), offset_)),
      intact_(SystemClock::realtime()),
      counts_(counts) {
  checkpoint_ = read_checkpoint(fd_.get(), offset_).value_or(first_checkpoint());
  head_ = read_bytes(fd_.get(), std::min<std::uint64_t>(offset_, kHeadBytes));
  // It may be cut before the first look.
  if (offset_ == 0) {
    learn_begin();
    restarted_ = intact_;
  }
}

void LogFile::keep_position(PositionRecord* record) {
  record_ = record;
  CountedPart before = record->before_cut();
  if (before.offset != 0) before_cut_ = std::move(before);
}

CountedPart LogFile::counted() const {
  return {offset_ == 0 ? begin_ : checkpoint_, offset_, head_};
}

// Zero bytes are left out: lines may replace them.
void LogFile::learn_begin() {
  std::string begin = read_bytes(fd_.get(), std::min<std::uint64_t>(size_, kHashedBytes));
  begin.resize(std::min(begin.find('\0'), begin.size()));
  begin_ = checkpoint_of(begin, begin.size());
}

// The file may have been cut, and written again, since the bytes were read.
void LogFile::keep_checkpoint(LineSink& sink) {
  if (tail_.size() < std::min<std::uint64_t>(offset_, kHashedBytes)) return;
  checkpoint_ = checkpoint_of(tail_, offset_);
  if (record_) sink.keep(*record_, checkpoint_, head_);
}

void LogFile::remember(std::string_view bytes) {
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kHashedBytes)));
  tail_.erase(0, tail_.size() - std::min(tail_.size(), kHashedBytes));
}

void LogFile::note(int failure) {
  error = failure;
  counts_.read_errors += failure == 0 ? 0 : 1;
}

// A file that was cut and has grown beyond the offset since has other bytes before it; of a file of
// which nothing was taken the first bytes are others. What cannot be read says nothing.
bool LogFile::has_other_bytes() {
  const Checkpoint& known = offset_ == 0 ? begin_ : checkpoint_;
  if (size_ < std::max(offset_, known.offset)) return true;
  const auto found = read_checkpoint(fd_.get(), known.offset);
  if (found && *found != known) return true;
  if (offset_ == 0 && begin_.offset < kHashedBytes) learn_begin();
  return false;
}

bool LogFile::was_cut() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) {
    note(errno);
    return false;
  }
  const std::uint64_t known_bytes = std::max({size_, read_to_, offset_});
  size_ = static_cast<std::uint64_t>(status.st_size);
  const bool has_others = has_other_bytes();
  const auto now = SystemClock::realtime();
  if (has_others || offset_ == 0) restarted_ = now;
  if (has_others) {
    note_cut(known_bytes);
    return true;
  }
  intact_ = now;
  // A line without its end became shorter.
  read_to_ = std::min(read_to_, size_);
  return false;
}

// Two cuts before one call of take_cut() add up: no line was taken between them.
void LogFile::note_cut(std::uint64_t known_bytes) {
  if (!cut_) cut_ = {counted(), intact_, 0};
  cut_->unread += known_bytes - offset_;
}

void LogFile::look(LineSink& sink) {
  if (was_cut()) {
    if (retired) return let_go();
    begin_again(sink);
  }
  is_dirty = size_ > read_to_;
}

// The file was overwritten by a rotation: its bytes are another log's now.
void LogFile::let_go() {
  has_other_log_ = true;
  is_dirty = false;
}

void LogFile::look_at_begin() {
  if (offset_ != 0 || !was_cut()) return;
  counts_.truncations += 1;
  begin_ = first_checkpoint();
}

void LogFile::begin_again(LineSink& sink) {
  counts_.truncations += 1;
  const CountedPart before{checkpoint_, offset_, std::exchange(head_, {})};
  if (checkpoint_.offset != 0) before_cut_ = before;
  offset_ = read_to_ = 0;
  is_within_line_ = false;
  checkpoint_ = begin_ = first_checkpoint();
  tail_.clear();
  if (record_) sink.begin_again(*record_, before);
}

bool LogFile::read(std::span<char> chunk, LineSink& sink) {
  const ssize_t bytes = ::pread(fd_.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  note(bytes < 0 ? errno : 0);
  is_dirty = bytes > 0;
  if (!is_dirty) return false;
  // It may have been cut since the last look: then these bytes are others.
  if (was_cut()) {
    if (retired) {
      let_go();
      return false;
    }
    begin_again(sink);
    return true;
  }
  const std::string_view text(chunk.data(), static_cast<std::size_t>(bytes));
  if (!is_within_line_ && text.front() == '\0') return pass_zeros(text, sink);
  const std::uint64_t begin = offset_;
  const std::uint64_t end = begin + text.size();
  counts_.bytes += std::max(end, read_to_) - read_to_;
  const std::size_t taken = take_lines(text, sink);
  remember(text.substr(0, taken));
  if (begin < kHeadBytes && head_.size() >= begin) {
    head_.resize(begin);
    head_ += text.substr(0, std::min<std::size_t>(taken, kHeadBytes - begin));
  }
  is_dirty = text.size() == chunk.size();
  if (taken == 0 && is_dirty) pass_begin(text, sink);
  read_to_ = std::max(read_to_, end);
  size_ = std::max(size_, read_to_);
  keep_checkpoint(sink);
  return is_dirty;
}

// Skips a hole without reading it: the file system knows its end. Zero bytes up to the end of the
// file are not passed, since lines may replace them.
bool LogFile::pass_zeros(std::string_view text, LineSink& sink) {
  const std::size_t zeros = std::min(text.find_first_not_of('\0'), text.size());
  read_to_ = std::max(read_to_, offset_ + text.size());
  std::uint64_t next = offset_ + zeros;
  if (zeros == text.size()) {
    const off_t data = ::lseek(fd_.get(), static_cast<off_t>(offset_), SEEK_DATA);
    if (data < 0 || next >= size_) return is_dirty = false;
    next = std::max(next, static_cast<std::uint64_t>(data));
  }
  offset_ = next;
  read_to_ = std::max(read_to_, offset_);
  if (record_) sink.move(*record_, offset_);
  tail_ = read_bytes(fd_.get(), offset_);
  keep_checkpoint(sink);
  return true;
}

// The begin of a line that is longer than a chunk is the line.
void LogFile::pass_begin(std::string_view text, LineSink& sink) {
  if (!is_within_line_) {
    counts_.cut += 1;
    sink.take(text.substr(0, kLineMax), {path_, nullptr, 0});
  }
  is_within_line_ = true;
  offset_ += text.size();
  remember(text);
}

// Returns the bytes of whole lines.
std::size_t LogFile::take_lines(std::string_view text, LineSink& sink) {
  const std::uint64_t begin = offset_;
  std::size_t at = 0;
  for (;;) {
    const auto* const end =
        static_cast<const char*>(std::memchr(text.data() + at, '\n', text.size() - at));
    if (!end) return at;
    const auto next = static_cast<std::size_t>(end - text.data()) + 1;
    offset_ = begin + next;
    if (std::exchange(is_within_line_, false)) {
      if (record_) sink.move(*record_, offset_);
    } else {
      take(text.substr(at, next - 1 - at), offset_, sink);
    }
    if (begin == 0 && checkpoint_.offset < kHashedBytes) keep_begin(text.substr(0, next), sink);
    at = next;
  }
}

// A chunk may be long under way, and the file be cut meanwhile.
void LogFile::keep_begin(std::string_view begin, LineSink& sink) {
  checkpoint_ = checkpoint_of(begin, begin.size());
  head_ = begin.substr(0, kHeadBytes);
  if (record_) sink.keep(*record_, checkpoint_, head_);
}

void LogFile::take(std::string_view line, std::uint64_t end, LineSink& sink) {
  line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
  if (line.size() > kLineMax) {
    counts_.cut += 1;
    line = line.substr(0, kLineMax);
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  sink.take(line, {path_, record_, end});
}

void LogFile::read_rest(std::span<char> chunk, LineSink& sink) {
  if (has_other_log_) return;
  while (read(chunk, sink)) {
  }
  if (has_other_log_) return;
  const ssize_t bytes = ::pread(fd_.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  if (bytes <= 0) return;
  // Lines may have come since the last read.
  const std::string_view text(chunk.data(), static_cast<std::size_t>(bytes));
  const std::string_view line = text.substr(take_lines(text, sink));
  offset_ += line.size();
  if (!is_within_line_ && line.find_first_not_of('\0') != line.npos) take(line, offset_, sink);
}

}  // namespace tallyfs::logs
