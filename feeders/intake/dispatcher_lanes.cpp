// What feeders get by descriptor: pages that they read, and lanes that they count in.
#include "core/wire/errno.h"
#include "feeders/intake/dispatcher.h"

namespace tallyfs {

const char* Dispatcher::refusal_as_text(const wire::Line& line) {
  if (std::holds_alternative<wire::SwitchesLine>(line)) {
    return "switches are for a binary request, which can be answered";
  }
  if (std::holds_alternative<wire::ShapesLine>(line)) {
    return "shapes are for a binary request, which can be answered";
  }
  if (std::holds_alternative<wire::LaneLine>(line)) {
    return "a lane is for a binary request, which can be answered";
  }
  return nullptr;
}

void Dispatcher::respond_with(const SharedPage& page, const char* of,
                              const wire::Request& request) {
  if (page.fd < 0) {
    return respond(
        request.sequence, request.text,
        Error{ErrorCode::kNotFound, std::string("this daemon has no page of ").append(of), 0});
  }
  counts_.add(Own::kCommands);
  responses_.add_alone({.sequence = request.sequence, .number = page.bytes}, page.fd);
}

void Dispatcher::respond_with_lane(const wire::Request& request, std::uint64_t bytes) {
  const auto lane =
      lanes_ ? lanes_->make(call_.sender, bytes, call_.now)
             : Result<Lanes::Made>(Error{ErrorCode::kNotFound, "this daemon has no lanes", 0});
  if (!lane) return respond(request.sequence, request.text, lane.error());
  counts_.add(Own::kCommands);
  responses_.add_alone({.sequence = request.sequence, .number = lane.value().number},
                       lane.value().file->fd());
}

void Dispatcher::take_binding(const wire::Binding& binding) {
  const auto bind = [&]() -> Result<void> {
    if (!lanes_) return Error{ErrorCode::kNotFound, "this daemon has no lanes"};
    if (!has_our_epoch()) return Error{ErrorCode::kStale, "a binding numbered by another daemon"};
    return lanes_->bind(call_.sender, binding);
  };
  const auto bound = bind();
  if (bound) counts_.add(Own::kCommands);
  respond(binding.sequence, kMessage, bound ? Result<Done>(Done{}) : Result<Done>(bound.error()));
}

}  // namespace tallyfs
