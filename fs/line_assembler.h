// Makes lines out of writes that cut them anywhere (reference/files.md, "Writing"): a line is
// handed on when its newline has come, or when the handle is flushed. Confined to its handle's
// lock.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tally {

class LineAssembler {
 public:
  // What a line may have without its newline.
  static constexpr std::size_t kPendingBytesMax = 64 * 1024;

  using Apply = std::function<Result<void>(std::string_view line)>;

  // Applies every line that text completes and keeps what is left. All are tried; the first error
  // is returned. kTooBig: a line outgrew the bound; all of it, to its newline, is dropped.
  Result<void> write(std::string_view text, const Apply& apply);
  // Applies what is left as a line of its own. Nothing pending: nothing happens.
  Result<void> finish(const Apply& apply);
  // Forgets what is left.
  void restart();

 private:
  Result<void> keep(std::string_view text);

  std::string pending_;
  bool dropping_ = false;  // inside a line that was too long
};

}  // namespace tally
