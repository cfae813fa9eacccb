#include "fs/line_assembler.h"

#include <utility>

namespace tallyfs {

Result<void> LineAssembler::write(std::string_view text, const LineSink& sink) {
  Result<void> first_error;
  const auto note = [&first_error](Result<void> done) {
    if (!done && first_error) first_error = std::move(done);
  };
  for (;;) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    note(keep(text.substr(0, end), sink));
    note(end_line(sink));
    text.remove_prefix(end + 1);
  }
  note(keep(text, sink));
  return first_error;
}

Result<void> LineAssembler::keep(std::string_view text, const LineSink& sink) {
  const Error error{ErrorCode::kTooBig,
                    "line longer than " + std::to_string(kPendingBytesMax) + " bytes"};
  if (dropping_ && !text.empty()) return error;
  if (pending_.size() + text.size() <= kPendingBytesMax) {
    pending_.append(text);
    return {};
  }
  sink.report(pending_.empty() ? text : pending_, error);
  restart();
  dropping_ = true;
  return error;
}

Result<void> LineAssembler::end_line(const LineSink& sink) {
  if (std::exchange(dropping_, false)) return {};
  const std::string line = std::exchange(pending_, {});
  auto done = sink.apply(line);
  if (!done) sink.report(line, done.error());
  return done;
}

Result<void> LineAssembler::finish(const LineSink& sink) {
  return pending_.empty() ? Result<void>() : end_line(sink);
}

void LineAssembler::restart() {
  pending_.clear();
  dropping_ = false;
}

}  // namespace tallyfs
