#include "tools/display/grid.h"

#include <algorithm>
#include <array>
#include <cwchar>

#include "core/base/text.h"

namespace tallyfs::view {
namespace {

struct Piece {
  std::string shown;
  int width = 1;
  std::size_t bytes = 1;  // of the text
};

Piece escaped(char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto number = static_cast<unsigned char>(byte);
  return {.shown = {'\\', 'x', kDigits[number >> 4], kDigits[number & 15]}, .width = 4, .bytes = 1};
}

// The first character of a text that is not empty.
Piece next_piece(std::string_view text, Charset charset) {
  const char byte = text.front();
  if (byte >= ' ' && byte < 0x7F) return {.shown = {byte}};
  char32_t point = 0;
  const std::size_t length = utf8_length(text, point);
  if (length < 2 || charset == Charset::kAscii) return escaped(byte);
  const int width = ::wcwidth(static_cast<wchar_t>(point));
  if (width < 0) return escaped(byte);
  return {.shown = std::string(text.substr(0, length)), .width = width, .bytes = length};
}

std::string repeat_to(std::string_view text, int width, Charset charset, int& used) {
  std::string made;
  while (!text.empty()) {
    const Piece piece = next_piece(text, charset);
    if (used + piece.width > width) break;
    made.append(piece.shown);
    used += piece.width;
    text.remove_prefix(piece.bytes);
  }
  return made;
}

}  // namespace

std::vector<Cell>& Grid::at(int row) {
  const auto wanted = static_cast<std::size_t>(row) + 1;
  if (rows_.size() < wanted) rows_.resize(wanted);
  return rows_[wanted - 1];
}

int Grid::put(int row, int column, std::string_view text, Style style) {
  std::vector<Cell>& cells = at(row);
  while (!text.empty()) {
    const Piece piece = next_piece(text, charset_);
    text.remove_prefix(piece.bytes);
    // \xNN is four cells of their own.
    const bool is_escape = piece.width == 4;
    const int cells_each = is_escape ? 1 : piece.width;
    for (const char byte : is_escape ? piece.shown : std::string(1, ' ')) {
      const std::string shown = is_escape ? std::string(1, byte) : piece.shown;
      if (column + cells_each > width_) return column;
      if (cells_each == 0) {  // combines with the character before it
        if (column > 0) cells[static_cast<std::size_t>(column - 1)].text.append(shown);
        continue;
      }
      const auto end = static_cast<std::size_t>(column + cells_each);
      if (cells.size() < end) cells.resize(end);
      cells[static_cast<std::size_t>(column)] = {shown, style};
      if (cells_each == 2) cells[end - 1] = {"", style};
      column += cells_each;
    }
  }
  return column;
}

std::string Grid::text() const {
  std::string made;
  for (const auto& row : rows_) {
    std::string line;
    for (const Cell& cell : row) line.append(cell.text);
    while (line.ends_with(' ')) line.pop_back();
    made.append(line).append("\n");
  }
  return made;
}

int width_of(std::string_view text, Charset charset) {
  int width = 0;
  while (!text.empty()) {
    const Piece piece = next_piece(text, charset);
    width += piece.width;
    text.remove_prefix(piece.bytes);
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, int width, Charset charset) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', blanks), text.size());
    const std::string_view word = text.substr(0, end);  // with the blanks before it
    std::string& line = lines.back();
    if (!line.empty() && width_of(line, charset) + width_of(word, charset) > width) {
      lines.emplace_back(word.substr(blanks));
    } else {
      line.append(word);
    }
    text.remove_prefix(end);
  }
  return lines;
}

std::string cut_middle(std::string_view text, int width, Charset charset) {
  if (width_of(text, charset) <= width) return std::string(text);
  const std::string_view mark = charset == Charset::kUtf8 ? "…" : "~";
  const int left = std::max(0, (width - 1 + 1) / 2);
  int used = 0;
  std::string made = repeat_to(text, std::max(0, std::min(left, width - 1)), charset, used);
  const int right = width - 1 - used;
  while (width_of(text, charset) > right && !text.empty()) {
    text.remove_prefix(next_piece(text, charset).bytes);
  }
  return made.append(mark).append(text);
}

}  // namespace tallyfs::view
