// Probes: made and removed as files of the mount order it, and made anew by a feeder that replaces
// another one.
#include <utility>
#include <variant>

#include "fs/daemon/kernel_feeder/ordered_feeder.h"

namespace tallyfs {
namespace {

FeederDialogue::Time deadline_of_probes() {
  return std::chrono::steady_clock::now() + OrderedFeeder::kWantMax;
}

wire::ProbeOrder order_of(const ProbePlace& place) {
  return {.serial = place.serial,
          .kind = static_cast<char>(place.kind),
          .event = place.event,
          .text = place.text};
}

}  // namespace

// The kernel may give the id of a probe that went: its last records are taken in before the new
// event is there.
Result<MadeProbe> OrderedFeeder::define(const ProbePlace& place, const CancellationToken& cancel) {
  const auto deadline = deadline_of_probes();
  const auto number = send_in_turn(deadline, cancel, [&] { return order_of(place); });
  if (!number) return number.error();
  auto response = dialogue_.wait(number.value(), deadline, cancel);
  if (!response) return response.error();
  taken_in_();
  auto* const probed = std::get_if<wire::Probed>(&response.value());
  if (!probed) return Error{ErrorCode::kNoDevice, "the feeder gives no answer about a probe"};
  return MadeProbe{.source_id = probed->id,
                   .text = std::move(probed->text),
                   .format = std::move(probed->format)};
}

Result<void> OrderedFeeder::remove(const std::vector<std::uint64_t>& serials,
                                   const CancellationToken& cancel) {
  const auto deadline = deadline_of_probes();
  const auto number =
      send_in_turn(deadline, cancel, [&] { return wire::UnprobeOrder{.serials = serials}; });
  if (!number) return number.error();
  const auto response = dialogue_.wait(number.value(), deadline, cancel);
  return response ? Result<void>() : Result<void>(response.error());
}

// A new feeder is told of all probes, some at a time. Then it removes the others, and records what
// is wanted of the rest: until then what its predecessor had switched on stays on.
void OrderedFeeder::tell_probes() {
  if (!tells_probes_) return;
  while (!untold_probes_.empty() && told_probes_.size() < kUnansweredPlacesMax) {
    wire::ProbeOrder order = order_of(untold_probes_.front());
    order.is_known = true;
    const std::uint64_t serial = order.serial;
    const auto number = dialogue_.tell(std::move(order));
    if (!number) return;
    told_probes_[*number] = serial;
    untold_probes_.pop_front();
  }
  if (!told_probes_.empty() || !untold_probes_.empty()) return;
  if (!dialogue_.tell(wire::ProbesOrder{.serials = listeners_.probe_serials()})) return;
  tells_probes_ = false;
  tell_that_is_all();
}

std::optional<std::uint64_t> OrderedFeeder::take_told_probe(Number number) {
  const auto found = told_probes_.find(number);
  if (found == told_probes_.end()) return std::nullopt;
  const std::uint64_t serial = found->second;
  told_probes_.erase(found);
  return serial;
}

void OrderedFeeder::hear(const wire::Probed& reply) {
  const auto heard = dialogue_.answered(reply.number, reply);
  const MadeProbe made{.source_id = reply.id, .text = reply.text, .format = reply.format};
  if (take_told_probe(reply.number)) {
    taken_in_();
    listeners_.probe_made(reply.serial, made);
  }
  // The write that ordered it has given up. A probe that got another place stays, with the place.
  const bool is_late = heard == FeederDialogue::Heard::kLate;
  if (is_late && !listeners_.place_made_late(reply.serial, made)) {
    (void)dialogue_.tell(wire::UnprobeOrder{.serials = {reply.serial}});
  }
  note_heard(heard);
}

void OrderedFeeder::hear(const wire::Refused& reply) {
  const auto heard = dialogue_.answered(reply.number, reply.error);
  if (const auto serial = take_told_probe(reply.number)) {
    listeners_.probe_refused(*serial, reply.error);
  }
  note_heard(heard);
}

}  // namespace tallyfs
