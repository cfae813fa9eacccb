#include "tools/ctl/line_editor.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/text.h"
#include "tools/display/grid.h"

namespace tallyfs {
namespace {

void append_utf8(std::string& out, char32_t letter) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  const auto rest = [&](int shift) { byte(0x80 | ((letter >> shift) & 0x3F)); };
  if (letter < 0x80) return byte(letter);
  if (letter < 0x800) {
    byte(0xC0 | (letter >> 6));
  } else if (letter < 0x10000) {
    byte(0xE0 | (letter >> 12));
    rest(6);
  } else {
    byte(0xF0 | (letter >> 18));
    rest(12);
    rest(6);
  }
  rest(0);
}

std::string to_utf8(std::u32string_view letters) {
  std::string made;
  for (const char32_t letter : letters) append_utf8(made, letter);
  return made;
}

}  // namespace

LineEditor::LineEditor(std::string prompt, std::string_view text, view::Charset charset)
    : prompt_(std::move(prompt)), charset_(charset) {
  while (!text.empty()) {
    char32_t letter = 0;
    const std::size_t length = utf8_length(text, letter);
    letters_.push_back(length == 0 ? U'?' : letter);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  cursor_ = letters_.size();
}

void LineEditor::take(const Input& input) {
  switch (input.key) {
    case Input::Key::kLeft:
      cursor_ -= cursor_ > 0 ? 1 : 0;
      return;
    case Input::Key::kRight:
      cursor_ += cursor_ < letters_.size() ? 1 : 0;
      return;
    case Input::Key::kHome:
      cursor_ = 0;
      return;
    case Input::Key::kEnd:
      cursor_ = letters_.size();
      return;
    case Input::Key::kBackspace:
      if (cursor_ > 0) letters_.erase(--cursor_, 1);
      return;
    case Input::Key::kLetter:
      if (input.letter < ' ' || letters_.size() >= kLettersMax) return;
      letters_.insert(cursor_++, 1, input.letter);
      return;
    default:
      return;
  }
}

std::string LineEditor::text() const { return to_utf8(letters_); }

std::string LineEditor::shown(int width) const {
  const char* const cursor = charset_ == view::Charset::kUtf8 ? "▏" : "|";
  const int room = std::max(1, width - view::width_of(prompt_, charset_) - 1);
  const std::u32string_view all = letters_;
  std::string before = to_utf8(all.substr(0, cursor_));
  std::size_t from = 0;
  while (view::width_of(before, charset_) > room) {
    ++from;
    before = to_utf8(all.substr(from, cursor_ - from));
  }
  return prompt_ + before + cursor + to_utf8(all.substr(cursor_));
}

std::string caret_below_change(std::string_view before, std::string_view after,
                               view::Charset charset) {
  std::istringstream old{std::string(before)};
  std::set<std::string> known;
  for (std::string word; old >> word;) known.insert(word);
  std::istringstream edited{std::string(after)};
  for (std::string word; edited >> word;) {
    if (known.contains(word)) continue;
    const auto end = edited.tellg() < 0 ? after.size() : static_cast<std::size_t>(edited.tellg());
    const std::string_view in_front = after.substr(0, end - word.size());
    const int columns = view::width_of(in_front, charset);
    return "\n" + std::string(static_cast<std::size_t>(columns), ' ') + "^";
  }
  return "";
}

}  // namespace tallyfs
