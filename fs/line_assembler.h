// Makes lines of writes that are cut anywhere (docs/files.md, "Writing"): a line is applied when
// its newline has come, or when the handle is flushed. Confined to its handle's lock.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/line_splitter.h"
#include "core/base/result.h"

namespace tallyfs {

// The sink of the lines: apply() carries one out, report() gets each that is refused.
struct LineSink {
  std::function<Result<void>(std::string_view line)> apply;
  std::function<void(std::string_view text, const Error& error)> report;
};

class LineAssembler {
 public:
  // The most bytes of a line, without its newline.
  static constexpr std::size_t kPendingBytesMax = 64 * 1024;

  // Applies every line that text completes, empty ones too, and keeps the rest. All lines are
  // tried; the first error is returned. kTooBig: a line is longer than the bound. All of it is
  // dropped, up to its newline, and each write that brings more of it fails the same way.
  Result<void> write(std::string_view text, const LineSink& sink);
  // Applies the rest as a line of its own. Without a rest nothing happens; later bytes of a line
  // that was too long still belong to it.
  Result<void> finish(const LineSink& sink);
  // Save and load the begin of an unfinished line for a successor. load() fails the reader on bytes
  // that save() does not write.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  // Forgets the rest.
  void restart();
  // Inside a line that was too long.
  bool is_dropping() const { return lines_.begun_is_too_long(); }

 private:
  Result<void> apply(std::string_view line, const LineSink& sink);
  Result<void> refuse(std::string_view begun, const LineSink& sink);

  LineSplitter lines_{kPendingBytesMax};
  bool is_refused_ = false;  // the line that has begun, as too long
};

}  // namespace tallyfs
