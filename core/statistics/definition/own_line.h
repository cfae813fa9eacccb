// A line for one interface, in which the statistic may be named INTERFACE/STATISTIC as at all other
// doors: by name=, and in the definition file by the first word of a line without name=. Here it
// becomes the line that the interface reads, `name=STATISTIC ...`; what is wrong in that has its
// place in the line as it was typed.
//
// Immutable; it points into the typed line, which outlives it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text.h"

namespace tallyfs::statistics {

class OwnLine {
 public:
  // interface: the one that the line is for. kInvalid, with the word: it names another one.
  static Result<OwnLine> in_file(std::string_view line, std::string_view interface);
  // The words of a command behind its target, where a word without key is none.
  static Result<OwnLine> in_command(std::string_view words, std::string_view interface);

  std::string_view text() const { return is_changed_ ? std::string_view(changed_) : typed_; }
  // An error in text(), as it shows in the line as it was typed.
  Error place(Error error) const;

 private:
  explicit OwnLine(std::string_view typed) : typed_(typed) {}

  // The path that begins at the byte `at` of a word: `key` takes the place of its interface.
  static Result<OwnLine> without_interface(std::string_view line, const Token& word, std::size_t at,
                                           std::string_view key, std::string_view interface);

  std::string_view typed_;
  bool is_changed_ = false;
  std::string changed_;
  std::size_t at_ = 0;           // where the two differ
  std::size_t typed_bytes_ = 0;  // in the typed line
  std::size_t bytes_ = 0;        // in the changed one
};

}  // namespace tallyfs::statistics
