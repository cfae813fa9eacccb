// The words of a strict line, which a person has typed. A word that nothing reads refuses
// the line, so that a slip of the hand never looks accepted (GRAMMAR.md, "Strict lines").
//
// Confined to its owner; views last as long as the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/text.h"

namespace tallyfs::statistics {

enum class Strictness { kTolerant, kStrict };

class StrictWords {
 public:
  // keys: those that the line may have, to be set.
  explicit StrictWords(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  // Looks at the next word. kInvalid, with the word: it is no key=value, its key is unknown or
  // is given twice, or it is read-only and not as the definition file prints it.
  Result<void> take(const Token& word);

 private:
  Error unknown(std::string_view key, std::size_t at) const;

  const std::vector<std::string> keys_;
  std::vector<std::string_view> seen_;
};

// `strict=1` makes a line strict wherever it stands; a line without it is not.
bool is_strict_mark(std::string_view word);
bool has_strict_mark(std::string_view line);
// The line without it.
std::string without_strict_mark(std::string_view line);
// An error in a line, as it shows in the line without the mark.
Error without_strict_mark(Error error, std::string_view line);

// Whether a key is printed in a definition and cannot be set.
bool is_read_only_key(std::string_view key);

}  // namespace tallyfs::statistics
