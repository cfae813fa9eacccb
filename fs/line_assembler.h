// Makes lines out of writes that cut them anywhere (docs/files.md, "Writing"): a line is
// handed on when its newline has come, or when the handle is flushed. Confined to its handle's
// lock.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

// Where lines go: what applies them, and what hears of each that is refused.
struct LineSink {
  std::function<Result<void>(std::string_view line)> apply;
  std::function<void(std::string_view text, const Error& error)> report;
};

class LineAssembler {
 public:
  // What a line may have without its newline.
  static constexpr std::size_t kPendingBytesMax = 64 * 1024;

  // Applies every line that text completes, empty ones too, and keeps what is left. All are tried;
  // the first error is returned. kTooBig: a line outgrew the bound; all of it, to its newline, is
  // dropped, and so says each write that brings more of it.
  Result<void> write(std::string_view text, const LineSink& sink);
  // Applies what is left as a line of its own. Nothing pending: nothing happens; what follows in a
  // line that was too long still belongs to it.
  Result<void> finish(const LineSink& sink);
  // Forgets what is left.
  void restart();
  // Inside a line that was too long.
  bool is_dropping() const { return dropping_; }

 private:
  Result<void> keep(std::string_view text, const LineSink& sink);
  Result<void> end_line(const LineSink& sink);

  std::string pending_;
  bool dropping_ = false;
};

}  // namespace tallyfs
