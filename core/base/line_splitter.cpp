#include "core/base/line_splitter.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {

bool NumberedLine::is_empty_or_comment() const {
  const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
  return first == text.end() ? !too_long : *first == '#';
}

std::optional<NumberedLine> LineSplitter::next() {
  if (std::exchange(has_ended_, false)) begun_.clear();
  const auto end = fed_.find('\n');
  const std::string_view piece = fed_.substr(0, end);
  fed_.remove_prefix(end == std::string_view::npos ? fed_.size() : end + 1);
  if (end != std::string_view::npos && begun_.empty()) return line(piece);
  keep(piece);
  if (end == std::string_view::npos) return std::nullopt;
  has_ended_ = true;
  return line(begun_);
}

std::optional<NumberedLine> LineSplitter::last() {
  if (begun_.empty() || has_ended_) return std::nullopt;
  has_ended_ = true;
  return line(begun_);
}

void LineSplitter::restart() {
  begun_.clear();
  has_ended_ = false;
}

void LineSplitter::keep(std::string_view piece) {
  begun_ += piece.substr(0, bytes_max_ + 1 - begun_.size());
}

NumberedLine LineSplitter::line(std::string_view text) {
  return {++number_, text_of(text), text.size() > bytes_max_};
}

}  // namespace tallyfs
