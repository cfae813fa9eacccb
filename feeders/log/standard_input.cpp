#include "feeders/log/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "feeders/log/follow/log_file.h"
#include "program/log.h"

namespace tallyfs::logs {

StandardInput::StandardInput(bool is_read, FollowCounts& counts, Take take)
    : counts_(counts),
      take_(std::move(take)),
      lines_(LogFile::kLineMax),
      bytes_(is_read ? LogFile::kChunkBytes : 0),
      is_open_(is_read) {}

bool StandardInput::is_ready() const {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return is_open_ && ::poll(&input, 1, 0) > 0;
}

void StandardInput::take(const NumberedLine& line) {
  counts_.cut += line.too_long ? 1 : 0;
  std::string_view text = line.text;
  if (text.ends_with('\r')) text.remove_suffix(1);
  take_(text);
}

bool StandardInput::read() {
  const ssize_t bytes = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
  if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (bytes < 0) {
    log_error(std::string("standard input: ").append(std::strerror(errno)));
    counts_.read_errors += 1;
  }
  if (bytes <= 0) {
    if (const auto last = lines_.last()) take(*last);
    return is_open_ = false;
  }
  counts_.bytes += static_cast<std::uint64_t>(bytes);
  lines_.feed({bytes_.data(), static_cast<std::size_t>(bytes)});
  while (const auto line = lines_.next()) take(*line);
  return true;
}

}  // namespace tallyfs::logs
