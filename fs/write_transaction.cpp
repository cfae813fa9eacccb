#include "fs/write_transaction.h"

#include <utility>

#include "fs/protocol.h"

namespace tallyfs {
namespace {

// Whether the text may be a piece of a longer write. The kernel cuts a long write at pages of the
// writer's buffer, so a piece may be shorter than the most by nearly one page.
bool may_be_cut(std::string_view text) { return text.size() > protocol::kMaxWriteBytes - 4096; }

}  // namespace

Result<void> WriteTransaction::begin(std::string_view text, Placement placement,
                                     const LineSink& sink) {
  if (placement.append || placement.offset == written_) return {};
  if (placement.offset == 0) {
    const auto done = finish(sink);
    restart();
    return done;
  }
  const Error error{ErrorCode::kInvalid, "written at an offset that does not follow"};
  sink.report(text, error);
  return error;
}

Result<void> WriteTransaction::write(std::string_view text, Placement placement,
                                     const LineSink& sink) {
  if (refused_ && refused_->text == text) return refused_->error;
  refused_.reset();
  auto done = begin(text, placement, sink);
  if (!done && placement.offset != 0) return done;
  if (const auto applied = lines_.write(text, sink); done) done = applied;
  if (done) {
    written_ += text.size();  // the writer's offset stays where it is when a write fails
    in_pieces_ = may_be_cut(text);
    return done;
  }
  if (std::exchange(in_pieces_, false)) refused_ = {std::string(text), done.error()};
  // The text behind the last newline is the end of the write and a line, unless the write was cut.
  // If it is part of a line that was too long, the writer may send the rest of that line.
  if (lines_.is_dropping()) return done;
  if (may_be_cut(text)) {
    lines_.restart();
  } else {
    (void)finish(sink);  // an error comes before it already
  }
  return done;
}

void WriteTransaction::save(ByteWriter& out) const {
  lines_.save(out);
  out.put(written_);
  out.put(static_cast<std::uint8_t>(in_pieces_));
  out.put(static_cast<std::uint8_t>(refused_.has_value()));
  if (!refused_) return;
  out.put_text(refused_->text);
  out.put(static_cast<std::uint32_t>(refused_->error.code));
  out.put_text(refused_->error.reason);
}

void WriteTransaction::load(ByteReader& in) {
  lines_.load(in);
  written_ = in.get<std::uint64_t>();
  in_pieces_ = in.get_flag();
  refused_.reset();
  if (!in.get_flag()) return;
  const std::string_view text = in.get_text();
  const auto code = in.get<std::uint32_t>();
  const std::string_view reason = in.get_text();
  if (code > static_cast<std::uint32_t>(ErrorCode::kInterrupted)) in.fail();
  if (!in.ok()) return;
  refused_ = {std::string(text), {static_cast<ErrorCode>(code), std::string(reason)}};
}

void WriteTransaction::restart() {
  lines_.restart();
  written_ = 0;
  in_pieces_ = false;
  refused_.reset();
}

}  // namespace tallyfs
