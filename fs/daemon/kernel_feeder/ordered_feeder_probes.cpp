// Probes: made and removed as files of the mount order it, and made anew by a feeder that replaces
// another one.
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "fs/daemon/kernel_feeder/ordered_feeder.h"

namespace tallyfs {
namespace {

FeederDialogue::Time deadline_of_probes() {
  return std::chrono::steady_clock::now() + OrderedFeeder::kWantMax;
}

wire::ProbeOrder order_of(const tracing::ProbePlace& place) {
  return {.serial = place.serial,
          .kind = letter_of(place.target, place.kind),
          .instances = place.instances,
          .event = place.event,
          .text = place.text};
}

std::string file_in(const std::string& word) { return word == "-" ? std::string() : word; }

std::optional<std::string> file_now(const std::string& word) {
  if (word == "?") return std::nullopt;
  return file_in(word);
}

tracing::MadeProbe made_of(wire::Probed reply) {
  return {.source_id = reply.id,
          .text = std::move(reply.text),
          .file = file_in(reply.file),
          .format = std::move(reply.format)};
}

// A place that is found now may have been made by a predecessor that did not say so any more.
wire::Order told_order_of(const tracing::ProbePlace& place) {
  if (place.text.empty()) {
    return wire::FindOrder{.kind = static_cast<char>(place.kind), .place = place.name};
  }
  wire::ProbeOrder order = order_of(place);
  order.is_known = true;
  return order;
}

void add_place(wire::PlaceHits reply, tracing::ProbeHits& all) {
  if (reply.leaving.empty()) {
    all.places[{reply.serial, std::move(reply.place)}].push_back(
        {reply.hits, file_now(reply.file), reply.missed});
  } else {
    all.leaving.push_back(
        {reply.serial, std::move(reply.leaving), std::move(reply.place), reply.hits});
  }
}

bool is_found(const tracing::ProbePlace& place) {
  return !place.line.empty() && !place.text.empty();
}

}  // namespace

// The kernel may give the id of a probe that went: its last records are taken in before the new
// event is there.
Result<tracing::MadeProbe> OrderedFeeder::define(const tracing::ProbePlace& place,
                                                 const CancellationToken& cancel) {
  const auto deadline = deadline_of_probes();
  const auto number = send_in_turn(deadline, cancel, [&] { return order_of(place); });
  if (!number) return number.error();
  remember_ordered(number.value(), place);
  auto response = dialogue_.wait(number.value(), deadline, cancel);
  if (!response) return response.error();
  (void)take_ordered(number.value(), place.serial);
  drain_socket_();
  auto* const probed = std::get_if<wire::Probed>(&response.value());
  if (!probed) return Error{ErrorCode::kNoDevice, "the feeder gives no answer about a probe"};
  return made_of(std::move(*probed));
}

Result<std::string> OrderedFeeder::find(tracing::ProbeKind kind, const std::string& place,
                                        const CancellationToken& cancel) {
  const auto deadline = deadline_of_probes();
  const auto number = send_in_turn(deadline, cancel, [&] {
    return wire::FindOrder{.kind = static_cast<char>(kind), .place = place};
  });
  if (!number) return number.error();
  auto response = dialogue_.wait(number.value(), deadline, cancel);
  if (!response) return response.error();
  auto* const found = std::get_if<wire::Found>(&response.value());
  if (!found) return Error{ErrorCode::kNoDevice, "the feeder gives no answer about a place"};
  return std::move(found->text);
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

// A reply has as many places as fit. The one without any is the last.
Result<tracing::ProbeHits> OrderedFeeder::hits(const CancellationToken& cancel) {
  tracing::ProbeHits all;
  const auto deadline = deadline_of_probes();
  wire::ProfileOrder from;
  for (int replies = 0; replies < kProfiledMax; ++replies) {
    const auto number = send_in_turn(deadline, cancel, [&] { return from; });
    if (!number) return number.error();
    auto response = dialogue_.wait(number.value(), deadline, cancel);
    if (!response) return response.error();
    auto* const some = std::get_if<wire::Profiled>(&response.value());
    if (!some) return Error{ErrorCode::kNoDevice, "the feeder gives no answer about hits"};
    if (some->places.empty()) return all;
    for (wire::PlaceHits& each : some->places) {
      from.place = each.serial == from.serial ? from.place + 1 : 1;
      from.serial = each.serial;
      add_place(std::move(each), all);
    }
  }
  return Error{ErrorCode::kNoDevice, "the feeder gives no end of hits"};
}

// A new feeder is told of all probes, some at a time. Then it removes the others, and records what
// is wanted of the rest: until then what its predecessor had switched on stays on.
void OrderedFeeder::tell_probes() {
  if (!tells_probes_) return;
  while (!untold_probes_.empty() && told_probes_.size() < kUnansweredPlacesMax) {
    const auto number = dialogue_.tell(told_order_of(untold_probes_.front()));
    if (!number) return;
    told_probes_[*number] = std::move(untold_probes_.front());
    untold_probes_.pop_front();
  }
  if (!told_probes_.empty() || !untold_probes_.empty()) return;
  if (!dialogue_.tell(wire::ProbesOrder{.serials = listeners_.probe_serials()})) return;
  tells_probes_ = owes_probes_ = false;
  send_end_of_orders();
}

std::optional<tracing::ProbePlace> OrderedFeeder::take_told_probe(Number number) {
  auto found = told_probes_.extract(number);
  return found ? std::optional(std::move(found.mapped())) : std::nullopt;
}

// The oldest ones are those of refusals, which nothing comes after.
void OrderedFeeder::remember_ordered(Number number, const tracing::ProbePlace& place) {
  const MutexLock lock(mutex_);
  if (ordered_.size() >= FeederDialogue::kUnansweredMax) ordered_.erase(ordered_.begin());
  ordered_[number] = place;
}

tracing::ProbePlace OrderedFeeder::take_ordered(Number number, std::uint64_t serial) {
  const MutexLock lock(mutex_);
  auto found = ordered_.extract(number);
  if (found) return std::move(found.mapped());
  return {.serial = serial, .event = {}, .text = {}};
}

void OrderedFeeder::hear(const wire::Probed& reply) {
  const auto heard = dialogue_.answered(reply.number, reply);
  const tracing::MadeProbe made = made_of(reply);
  if (const auto place = take_told_probe(reply.number)) {
    drain_socket_();
    listeners_.probe_made(*place, made);
  }
  // The write that ordered it has given up. A probe that got another place stays, with the place.
  const bool is_late = heard == FeederDialogue::Heard::kLate;
  if (is_late && !listeners_.place_made_late(take_ordered(reply.number, reply.serial), made)) {
    (void)dialogue_.tell(wire::UnprobeOrder{.serials = {reply.serial}});
  }
  send_outstanding(heard);
}

void OrderedFeeder::hear(const wire::Refused& reply) {
  const auto heard = dialogue_.answered(reply.number, reply.error);
  if (const auto place = take_told_probe(reply.number)) {
    listeners_.probe_refused(place->serial, reply.error);
  }
  send_outstanding(heard);
}

void OrderedFeeder::hear(const wire::Profiled& reply) {
  send_outstanding(dialogue_.answered(reply.number, reply));
}

// The places of one name are told before what else is untold. The program may have more than it had
// when its line was written. What is found, and is not made yet, counts with what is there.
Result<void> OrderedFeeder::add_found(std::vector<tracing::ProbePlace> places) {
  std::size_t count = places.size(), bytes = 0;
  const auto add = [&](const tracing::ProbePlace& place) { bytes += place.text.size(); };
  for (const tracing::ProbePlace& each : places) add(each);
  for (const auto& [number, each] : told_probes_) {
    if (!is_found(each)) continue;
    count += 1;
    add(each);
  }
  for (const tracing::ProbePlace& each : untold_probes_) {
    if (!is_found(each)) break;
    count += 1;
    add(each);
  }
  if (auto may = listeners_.may_add_places(count, bytes); !may) return may;
  untold_probes_.insert(untold_probes_.begin(), std::make_move_iterator(places.begin()),
                        std::make_move_iterator(places.end()));
  return {};
}

void OrderedFeeder::hear(const wire::Found& reply) {
  const auto heard = dialogue_.answered(reply.number, reply);
  if (const auto named = take_told_probe(reply.number)) {
    auto places = tracing::found_places_of(*named, reply.text);
    const auto added = places ? add_found(std::move(places.value())) : places.error();
    if (!added) listeners_.probe_refused(named->serial, added.error());
  }
  send_outstanding(heard);
}

}  // namespace tallyfs
