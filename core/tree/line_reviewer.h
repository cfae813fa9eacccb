// The interface of a file that gives warnings about lines that it has accepted.
//
// Called from several threads at once, without any lock of the tree held.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

class LineReviewer {
 public:
  virtual ~LineReviewer() = default;

  // A warning about a line that was accepted, for the error log; nullopt: none.
  virtual std::optional<Error> remark(std::string_view line) const = 0;
  // Called when a line was refused by write_line(), or before it as too long or at a wrong offset.
  // The default does nothing.
  virtual void note_refused_line() {}
};

}  // namespace tallyfs
