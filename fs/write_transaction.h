// What one handle is writing: checks where each write(2) lands, makes lines of them, and sees to
// it that the writer hears of every error (docs/files.md, "Writing"). Confined to its
// handle's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "fs/line_assembler.h"

namespace tallyfs {

// Where the kernel says a write goes. O_APPEND offsets come from a cached size and mean nothing.
struct Placement {
  std::uint64_t offset = 0;
  bool append = false;
};

class WriteTransaction {
 public:
  // Applies the lines that text completes. kInvalid for an offset that is neither 0, which begins
  // anew, nor where the last write ended; else as LineAssembler::write(). After an error nothing
  // is left over: the writer does not go on where this text ended.
  Result<void> write(std::string_view text, Placement placement, const LineSink& sink);
  // A flush: what is left is as complete as it will be.
  Result<void> finish(const LineSink& sink) { return lines_.finish(sink); }
  // A truncation: what this handle has written so far is forgotten, not what has taken effect.
  void restart();

 private:
  // A write(2) longer than protocol::kMaxWriteBytes comes in pieces. When a later one is refused
  // the writer hears no more than that its write was short; it sends the rest once more and must
  // hear the error then, of lines that have been tried already, and each time that it tries.
  struct Refused {
    std::string text;
    Error error;
  };

  Result<void> begin(std::string_view text, Placement placement, const LineSink& sink);

  LineAssembler lines_;
  std::uint64_t written_ = 0;  // bytes since the open or the last truncation
  bool in_pieces_ = false;
  std::optional<Refused> refused_;
};

}  // namespace tallyfs
