#include "fs/line_assembler.h"

namespace tally {

Result<void> LineAssembler::write(std::string_view text, const Apply& apply) {
  Result<void> first_error;
  const auto note = [&first_error](Result<void> done) {
    if (!done && first_error) first_error = std::move(done);
  };
  for (;;) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    note(keep(text.substr(0, end)));
    note(finish(apply));
    text.remove_prefix(end + 1);
  }
  note(keep(text));
  return first_error;
}

Result<void> LineAssembler::keep(std::string_view text) {
  if (dropping_ || text.empty()) return {};
  if (pending_.size() + text.size() <= kPendingBytesMax) {
    pending_.append(text);
    return {};
  }
  restart();
  dropping_ = true;
  return Error{ErrorCode::kTooBig,
               "line longer than " + std::to_string(kPendingBytesMax) + " bytes"};
}

Result<void> LineAssembler::finish(const Apply& apply) {
  const std::string line = std::move(pending_);
  restart();
  return line.empty() ? Result<void>() : apply(line);
}

void LineAssembler::restart() {
  pending_.clear();
  dropping_ = false;
}

}  // namespace tally
