// The writes of one handle: checks the position of each write(2), makes lines of the writes, and
// reports every error to the writer (docs/files.md, "Writing"). Confined to its handle's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "fs/line_assembler.h"

namespace tallyfs {

// The position of a write, as the kernel gives it. O_APPEND offsets come from a cached size and
// mean nothing.
struct Placement {
  std::uint64_t offset = 0;
  bool append = false;
};

class WriteTransaction {
 public:
  // Applies the lines that text completes. kInvalid for an offset that is neither 0, for a new
  // beginning, nor the end of the last write; else as LineAssembler::write(). After an error
  // nothing is left over: the writer does not go on where this text ended.
  Result<void> write(std::string_view text, Placement placement, const LineSink& sink);
  // A flush: no more text follows, so the rest is complete.
  Result<void> finish(const LineSink& sink) { return lines_.finish(sink); }
  // Save and load for a successor. load() fails the reader on bytes that save() does not write.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  // A truncation: the text that this handle has written so far is dropped; its effects stay.
  void restart();

 private:
  // A write(2) longer than protocol::kMaxWriteBytes comes in pieces. When a later piece is refused
  // the writer only learns that its write was short, and sends the rest once more. It must get the
  // error then, also for lines that have been tried already, and each time that it tries.
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
