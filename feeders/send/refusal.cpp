#include "feeders/send/refusal.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kIndent = "  ";

// Where to begin, so that the place is seen: not inside a character.
std::size_t shown_from(std::string_view text, std::size_t at) {
  if (text.size() <= kShownBytesMax) return 0;
  std::size_t from = std::min(at - std::min(at, kShownBytesMax / 2), text.size() - kShownBytesMax);
  while (from > 0 && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) --from;
  return from;
}

}  // namespace

std::string describe(const Refusal& refusal) {
  const std::size_t at = std::min(refusal.at.value_or(0), refusal.text.size());
  const std::size_t from = shown_from(refusal.text, at);
  std::string said = "tally-send: line ";
  append_number(said, refusal.line);
  said.append(": ").append(refusal.reason).append("\n").append(kIndent);
  // Escapes take four bytes for one.
  const std::size_t column = append_escaped(said, refusal.text.substr(from, kShownBytesMax),
                                            4 * kShownBytesMax + 4, at - from);
  said += '\n';
  if (refusal.at) said.append(kIndent).append(column, ' ').append("^\n");
  return said;
}

}  // namespace tallyfs
