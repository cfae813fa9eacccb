#include "feeders/statsd/listen/stream_framing.h"

#include <algorithm>

#include "feeders/statsd/listen/datagram_receiver.h"

namespace tallyfs::statsd {
namespace {

constexpr std::size_t kHeaderBytes = 4;

std::size_t length_at(std::string_view header) {
  std::size_t length = 0;
  for (std::size_t i = kHeaderBytes; i > 0; --i) {
    length = length << 8 | static_cast<unsigned char>(header[i - 1]);
  }
  return length;
}

bool has_long_line(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > kPacketBytesMax) return true;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return false;
}

}  // namespace

StreamFraming::State StreamFraming::take(std::string_view bytes, const OnPacket& on_packet) {
  held_.append(bytes);
  if (framing_ == Framing::kUnknown && !detect()) return State::kOpen;
  const State state = framing_ == Framing::kLines ? take_lines(on_packet) : take_frames(on_packet);
  // Idle connections cost little memory.
  if (held_.empty()) held_ = {};
  return state;
}

bool StreamFraming::detect() {
  if (held_.size() < kHeaderBytes) return false;
  const bool is_frames = held_.find('\0') < kHeaderBytes;
  framing_ = is_frames ? Framing::kFrames : Framing::kLines;
  return true;
}

StreamFraming::State StreamFraming::take_lines(const OnPacket& on_packet) {
  if (has_long_line(held_)) return State::kTooLong;
  const std::size_t end = held_.rfind('\n');
  if (end == held_.npos) return State::kOpen;
  on_packet(std::string_view(held_).substr(0, end));
  held_.erase(0, end + 1);
  return State::kOpen;
}

StreamFraming::State StreamFraming::take_frames(const OnPacket& on_packet) {
  std::string_view rest = held_;
  State state = State::kOpen;
  while (rest.size() >= kHeaderBytes) {
    const std::size_t length = length_at(rest);
    if (length > kPacketBytesMax) {
      state = State::kTooLong;
      break;
    }
    if (rest.size() - kHeaderBytes < length) break;
    on_packet(rest.substr(kHeaderBytes, length));
    rest.remove_prefix(kHeaderBytes + length);
  }
  held_.erase(0, held_.size() - rest.size());
  return state;
}

StreamFraming::State StreamFraming::finish(const OnPacket& on_packet) {
  if (framing_ == Framing::kFrames) return held_.empty() ? State::kOpen : State::kTooLong;
  if (!held_.empty()) on_packet(held_);
  held_.clear();
  return State::kOpen;
}

}  // namespace tallyfs::statsd
