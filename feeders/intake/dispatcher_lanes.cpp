// These things go by descriptor: pages that feeders read, lanes that they count in, and their
// channels.
#include <utility>

#include "core/wire/errno.h"
#include "feeders/intake/backlog.h"
#include "feeders/intake/dispatcher.h"

namespace tallyfs {

void Dispatcher::respond_with(const wire::DescriptorLine& line, const wire::Request& request) {
  const auto refuse = [&](const Error& error) { respond(request.sequence, request.text, error); };
  const auto attach = [&](std::uint64_t number, int fd) {
    counts_.add("commands");
    add_response_alone({.sequence = request.sequence, .number = number}, fd);
  };
  const auto attach_page = [&](const SharedPage& page, const char* of) {
    if (page.fd >= 0) return attach(page.bytes, page.fd);
    refuse({ErrorCode::kNotFound, std::string("this daemon has no page of ").append(of), 0});
  };
  const auto no_lanes = [] { return Error{ErrorCode::kNotFound, "this daemon has no lanes", 0}; };
  switch (line.of) {
    case wire::Descriptor::kSwitches:
      return attach_page(switches_, "switches");
    case wire::Descriptor::kShapes:
      return attach_page(shapes_, "shapes");
    case wire::Descriptor::kLane: {
      const auto lane = lanes_ ? lanes_->make(call_.sender, line.number, call_.now)
                               : Result<Lanes::Made>(no_lanes());
      if (!lane) return refuse(lane.error());
      return attach(lane.value().number, lane.value().file->fd());
    }
    case wire::Descriptor::kTails: {
      const auto tails =
          lanes_ ? lanes_->tails(call_.sender, line.number) : Result<Lanes::Tails>(no_lanes());
      if (!tails) return refuse(tails.error());
      return attach(tails.value().bytes, tails.value().fd);
    }
  }
}

void Dispatcher::note_beside_lanes() {
  const std::uint64_t samples = std::exchange(beside_lanes_, 0);
  if (samples == 0) return;
  statistics_.counters().record("beside_lanes", shown_pid(origin_->pid), samples, call_.now);
}

// Samples that a thread has put into its ring before its process sends something count before that.
// In a replay, what comes out of them is behind all that comes again.
void Dispatcher::take_rings_of_sender() {
  if (!has_rings() || is_replaying_) return;
  costs_.begin();
  const auto begun = clock_.now().monotonic;
  note_rings_taken(lanes_->take_of(call_.sender, begun + kRingsMax), begun);
}

// Such commands discard data or begin new ones: samples of all processes count before.
void Dispatcher::take_rings_before(const wire::Line& line) {
  const auto* const command = std::get_if<wire::CommandLine>(&line);
  const bool ends_data =
      command && (command->verb == wire::Verb::kDefine || command->verb == wire::Verb::kRemove);
  if (!ends_data || !has_rings() || is_replaying_) return;
  costs_.begin();
  const auto begun = clock_.now().monotonic;
  lanes_->note_heads();
  note_rings_taken(lanes_->take(begun + kRingsMax), begun);
}

void Dispatcher::note_rings_taken(const LaneRings::Done& done, std::chrono::nanoseconds begun) {
  if (!done.all) {
    counts_.add("drains_cut");
    note_rings_cut();
  }
  costs_.add(clock_.now().monotonic - begun);
}

void Dispatcher::take_doorbell(const wire::Doorbell& doorbell) {
  if (!has_our_epoch()) {
    return refuse_numbered({ErrorCode::kStale, "a lane numbered by another daemon"}, 0, 0);
  }
  if (lanes_ && lanes_->note_bell(call_.sender, doorbell.lane)) {
    has_rung_ = true;
  } else {
    reject(kMessage, {ErrorCode::kNotFound, "this process has no such lane"});
  }
}

std::vector<std::string> Dispatcher::take_saturated() {
  auto all = std::exchange(saturated_, {});
  if (!has_rings()) return all;
  for (std::string& each : lanes_->take_saturated()) all.push_back(std::move(each));
  return all;
}

void Dispatcher::take_binding(const wire::Binding& binding) {
  take_rings_of_sender();
  const auto bind = [&]() -> Result<void> {
    if (!lanes_) return Error{ErrorCode::kNotFound, "this daemon has no lanes"};
    if (!has_our_epoch()) return Error{ErrorCode::kStale, "a binding numbered by another daemon"};
    return lanes_->bind(call_.sender, binding);
  };
  const auto bound = bind();
  if (bound) counts_.add("commands");
  // A bound that the feeder reaches with all further statistics: their samples go by the socket.
  const bool is_full = !bound && bound.error().code == ErrorCode::kNoSpace;
  if (is_full && (!has_room_to_report() || lanes_->was_told_full(binding))) {
    return respond_refused(binding.sequence, bound.error());
  }
  respond(binding.sequence, "(cells of a statistic)",
          bound ? Result<Done>(Done{}) : Result<Done>(bound.error()));
}

void Dispatcher::publish_channels(Timestamp now) {
  const std::size_t count = channels_->count();
  if (count == std::exchange(channels_shown_, count)) return;
  statistics_.counters().record("channels", static_cast<std::int64_t>(count), 1, now);
}

}  // namespace tallyfs
