#include "feeders/send/refused_line.h"

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

std::string describe(std::uint64_t line, const Error& error) {
  const bool has_place = error.token_at != Error::kNoToken;
  const std::string_view text = error.text;
  const std::size_t at = has_place ? std::min(error.token_at, text.size()) : 0;
  const std::size_t from = shown_from(text, at);
  std::string said = "tally-send: line ";
  append_number(said, line);
  said.append(": ").append(error.reason).append("\n").append(kIndent);
  // Escapes take four bytes for one.
  const std::size_t column =
      append_escaped(said, text.substr(from, kShownBytesMax), 4 * kShownBytesMax + 4, at - from);
  said += '\n';
  if (has_place) said.append(kIndent).append(column, ' ').append("^\n");
  return said;
}

std::string describe_warning(std::uint64_t line, const Error& warning) {
  Error said = warning;
  said.reason.insert(0, "warning: ");
  return describe(line, said);
}

}  // namespace tallyfs
