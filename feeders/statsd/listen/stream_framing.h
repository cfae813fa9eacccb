// Takes packets out of a stream of bytes, whose pieces have any size.
//
// Lines: each read's lines that are complete are a packet; at the end the rest is a line.
// Detected, for Unix sockets: if one of the first 4 bytes is NUL, the stream is frames of 4 bytes
// length, LITTLE-endian, and so many bytes; else it is lines. No length of 65,536 or less has 4
// bytes without a NUL.
//
// Holds at most 65,540 bytes between two calls. Confined to one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tallyfs::statsd {

class StreamFraming {
 public:
  enum class Kind { kLines, kDetected };
  enum class State { kOpen, kTooLong };
  using OnPacket = std::function<void(std::string_view)>;

  explicit StreamFraming(Kind kind)
      : framing_(kind == Kind::kLines ? Framing::kLines : Framing::kUnknown) {}

  // kTooLong: a frame or a line has more than 65,536 bytes, and the stream is of no use any more.
  State take(std::string_view bytes, const OnPacket& on_packet);
  // At the end of the stream. kTooLong: its last frame is not complete.
  State finish(const OnPacket& on_packet);

  // The stream is frames. False while it is not known yet.
  bool has_lengths() const { return framing_ == Framing::kFrames; }
  std::size_t held_bytes() const { return held_.capacity(); }

 private:
  enum class Framing { kUnknown, kLines, kFrames };

  bool detect();
  State take_lines(const OnPacket& on_packet);
  State take_frames(const OnPacket& on_packet);

  Framing framing_;
  std::string held_;
};

}  // namespace tallyfs::statsd
