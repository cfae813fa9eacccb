#include "feeders/log/follow/log_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tallyfs::logs {

LogFile::LogFile(OpenedLog opened, std::string path, Start start, FollowCounts& counts)
    : fd_(std::move(opened.fd)),
      identity_(opened.identity),
      path_(std::move(path)),
      offset_(start.offset),
      read_to_(start.offset),
      size_(opened.size),
      is_within_line_(start.is_within_line),
      counts_(counts) {
  note_checkpoint();
}

void LogFile::note_checkpoint() {
  if (const auto checkpoint = read_checkpoint(fd_.get(), offset_)) {
    checkpoint_ = *checkpoint;
    // A position behind it may not be stored yet; one before it would not be known again.
    if (record_ && record_->offset() >= checkpoint_.offset) record_->store(checkpoint_);
  }
}

// A file that was cut and has grown beyond the offset since has other bytes before it.
void LogFile::look(LineSink& sink) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return;
  size_ = static_cast<std::uint64_t>(status.st_size);
  const bool was_cut =
      size_ < read_to_ || read_checkpoint(fd_.get(), checkpoint_.offset) != checkpoint_;
  if (was_cut) begin_again(sink);
  is_dirty = size_ > read_to_;
}

void LogFile::begin_again(LineSink& sink) {
  counts_.truncations += 1;
  offset_ = read_to_ = 0;
  is_within_line_ = false;
  // An offset of 0 fits to every file: first it, then the checkpoint.
  if (record_) sink.move(*record_, 0);
  checkpoint_ = *read_checkpoint(fd_.get(), 0);
  if (record_) record_->store(checkpoint_);
}

bool LogFile::read(std::span<char> chunk, LineSink& sink) {
  const ssize_t bytes = ::pread(fd_.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  if (bytes <= 0) {
    is_dirty = false;
    return false;
  }
  const auto read = static_cast<std::size_t>(bytes);
  const std::uint64_t begin = offset_;
  counts_.bytes += std::max(begin + read, read_to_) - read_to_;
  const std::size_t taken = take_lines({chunk.data(), read}, sink);
  const bool is_full = read == chunk.size();
  if (taken == 0 && is_full) {
    // A line longer than a chunk: its begin is the line.
    if (!is_within_line_) {
      counts_.cut += 1;
      sink.take({chunk.data(), kLineMax}, {path_, nullptr, 0});
    }
    is_within_line_ = true;
    offset_ = begin + read;
  }
  read_to_ = std::max(read_to_, begin + read);
  size_ = std::max(size_, read_to_);
  note_checkpoint();
  is_dirty = is_full;
  return is_full;
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
    at = next;
  }
}

void LogFile::take(std::string_view line, std::uint64_t end, LineSink& sink) {
  if (line.size() > kLineMax) {
    counts_.cut += 1;
    line = line.substr(0, kLineMax);
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  sink.take(line, {path_, record_, end});
}

void LogFile::read_rest(std::span<char> chunk, LineSink& sink) {
  while (read(chunk, sink)) {
  }
  const ssize_t bytes = ::pread(fd_.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  if (bytes <= 0) return;
  offset_ += static_cast<std::uint64_t>(bytes);
  if (!is_within_line_) take({chunk.data(), static_cast<std::size_t>(bytes)}, offset_, sink);
}

}  // namespace tallyfs::logs
