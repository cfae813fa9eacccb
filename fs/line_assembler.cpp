#include "fs/line_assembler.h"

#include <utility>

namespace tallyfs {

Result<void> LineAssembler::write(std::string_view text, const LineSink& sink) {
  Result<void> first_error;
  const auto note = [&first_error](Result<void> done) {
    if (!done && first_error) first_error = std::move(done);
  };
  // More bytes of the line that had begun before.
  bool brings_more = !text.empty() && text.front() != '\n';
  lines_.feed(text);
  while (const auto line = lines_.next()) {
    if (!line->too_long) {
      note(apply(line->text, sink));
    } else if (brings_more) {
      note(refuse(line->text, sink));
    }
    is_refused_ = false;
    brings_more = true;
  }
  if (lines_.begun_is_too_long() && brings_more) note(refuse(lines_.begun(), sink));
  return first_error;
}

Result<void> LineAssembler::apply(std::string_view line, const LineSink& sink) {
  auto done = sink.apply(line);
  if (!done) sink.report(line, done.error());
  return done;
}

// Reported once, however many writes bring more of the line.
Result<void> LineAssembler::refuse(std::string_view begun, const LineSink& sink) {
  const Error error{ErrorCode::kTooBig,
                    "line longer than " + std::to_string(kPendingBytesMax) + " bytes"};
  if (!std::exchange(is_refused_, true)) sink.report(begun, error);
  return error;
}

Result<void> LineAssembler::finish(const LineSink& sink) {
  if (is_dropping()) return {};
  const auto line = lines_.last();
  return line ? apply(line->text, sink) : Result<void>();
}

void LineAssembler::save(ByteWriter& out) const {
  out.put_text(lines_.begun());
  out.put(static_cast<std::uint8_t>(is_dropping()));
  out.put(static_cast<std::uint8_t>(is_refused_));
}

void LineAssembler::load(ByteReader& in) {
  restart();
  std::string begun(in.get_text());
  const bool is_too_long = in.get_flag();
  is_refused_ = in.get_flag();
  const bool is_full = begun.size() == kPendingBytesMax;
  if (begun.size() > kPendingBytesMax || begun.find('\n') != begun.npos) in.fail();
  if (is_too_long && !is_full) in.fail();
  if (!in.ok()) return restart();
  if (is_too_long) begun.push_back(' ');  // one byte more, whichever it was
  lines_.feed(begun);
  (void)lines_.next();
}

void LineAssembler::restart() {
  lines_.restart();
  is_refused_ = false;
}

}  // namespace tallyfs
