#include "fs/write_transaction.h"

#include <utility>

#include "fs/protocol.h"

namespace tally {

Result<void> WriteTransaction::begin(Placement placement, const LineAssembler::Apply& apply) {
  if (placement.append || placement.offset == written_) return {};
  if (placement.offset != 0) {
    return Error{ErrorCode::kInvalid, "written at an offset that does not follow"};
  }
  written_ = 0;
  return finish(apply);
}

Result<void> WriteTransaction::write(std::string_view text, Placement placement,
                                     const LineAssembler::Apply& apply) {
  if (refused_ && refused_->text == text) return std::exchange(refused_, std::nullopt)->error;
  refused_.reset();
  auto done = begin(placement, apply);
  if (!done && placement.offset != 0) return done;
  if (const auto applied = lines_.write(text, apply); done) done = applied;
  if (done) {
    written_ += text.size();  // the writer's offset stays where it is when a write fails
  } else if (in_pieces_) {
    refused_ = {std::string(text), done.error()};
  }
  // The kernel cuts at pages of the writer's buffer, so a piece may lack nearly one page of the
  // most.
  in_pieces_ = done && text.size() > protocol::kMaxWriteBytes / 2;
  return done;
}

void WriteTransaction::restart() {
  lines_.restart();
  written_ = 0;
  in_pieces_ = false;
  refused_.reset();
}

}  // namespace tally
