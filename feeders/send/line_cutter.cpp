#include "feeders/send/line_cutter.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {

bool NumberedLine::says_nothing() const {
  const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
  return first == text.end() ? !too_long : *first == '#';
}

std::optional<NumberedLine> LineCutter::next() {
  if (ended_) begun_.clear();
  ended_ = false;
  const auto end = fed_.find('\n');
  const std::string_view piece = fed_.substr(0, end);
  fed_.remove_prefix(end == std::string_view::npos ? fed_.size() : end + 1);
  if (end != std::string_view::npos && begun_.empty()) return line(piece);
  keep(piece);
  if (end == std::string_view::npos) return std::nullopt;
  ended_ = true;
  return line(begun_);
}

std::optional<NumberedLine> LineCutter::last() {
  if (begun_.empty() || ended_) return std::nullopt;
  ended_ = true;
  return line(begun_);
}

void LineCutter::keep(std::string_view piece) {
  begun_ += piece.substr(0, kLineBytesMax + 1 - begun_.size());
}

NumberedLine LineCutter::line(std::string_view text) {
  return {++number_, text.substr(0, kLineBytesMax), text.size() > kLineBytesMax};
}

}  // namespace tallyfs
