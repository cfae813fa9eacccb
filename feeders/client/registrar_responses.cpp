// Processes the daemon's responses to a Registrar, and its page of switches.
#include <cerrno>
#include <utility>

#include "feeders/client/registrar.h"

namespace tallyfs {

void Registrar::take_page(const Response& response) {
  page_ = Registration::kRefused;
  if (response.error != 0) return;  // then everything is sent, and the daemon sees what is on
  if (const auto done = switches_.map(*response.attached, response.number); !done) {
    return ask_later(page_, response, done.error().reason);
  }
  page_ = Registration::kRegistered;
  note_cells();
  registry_.for_each_statistic([this](FedStatistic& each) { point_at_switch(each); });
}

// A descriptor does not arrive where the process has as many open as it may. Reported once.
void Registrar::ask_later(Registration& memory, const Response& response, std::string reason) {
  if (!response.attached->valid()) reason += ": no descriptor came, are too many files open?";
  if (!std::exchange(reported_unmapped_, true)) conversation_.report(std::move(reason));
  memory = Registration::kRefused;
  unmapped_.push_back(&memory);
  back_off();
}

// A daemon that knows no shapes has no cells; then everything is sent.
void Registrar::take_shapes(const Response& response) {
  shapes_page_ = Registration::kRefused;
  if (response.error != 0) return;
  if (const auto done = shapes_.map(*response.attached, response.number); !done) {
    return ask_later(shapes_page_, response, done.error().reason);
  }
  shapes_page_ = Registration::kRegistered;
  note_cells();
}

void Registrar::take_lane(const Response& response) {
  lane_file_ = Registration::kRefused;
  if (response.error == ENOSPC && lane_bytes_ > kLaneBytesMin) {
    lane_bytes_max_ = lane_bytes_ > kLaneBytesWithRings ? kLaneBytesWithRings : kLaneBytesMin;
    lane_file_ = Registration::kUnregistered;
    return note_cells();
  }
  if (response.error != 0) {
    return conversation_.report("samples go by the socket: " + refusal_text(response));
  }
  const CellFile::Name name{.number = response.number, .epoch = conversation_.epoch()};
  if (const auto done = cells_.adopt(*response.attached, name); !done) {
    if (++lanes_unmapped_ == kLanesUnmappedMax) return conversation_.report(done.error().reason);
    return ask_later(lane_file_, response, done.error().reason);
  }
  lane_file_ = Registration::kRegistered;
  note_cells();
}

// Without the page, there are cells, and no rings.
void Registrar::take_tails(const Response& response) {
  tails_ = Registration::kRefused;
  if (response.error != 0) return;
  if (const auto done = cells_.map_tails(*response.attached, response.number); !done) {
    return ask_later(tails_, response, done.error().reason);
  }
  tails_ = Registration::kRegistered;
}

void Registrar::take_binding(FedStatistic& statistic, std::uint64_t number,
                             const Response& response) {
  if (statistic.number != number || statistic.binding != Registration::kRequested) return;
  statistic.binding = Registration::kRefused;
  const Shape* const shape = shapes_.find(number);
  if (response.error != 0 || !shape) return;
  statistic.binding = Registration::kRegistered;
  statistic.ring_era.store(cells_.next_ring_era(), std::memory_order_relaxed);
  statistic.shape.store(shape, std::memory_order_release);
}

void Registrar::take_removal(const Response& response) {
  // ENOENT is a success: the thing does not exist any more.
  if (response.error == 0 || response.error == ENOENT) return;
  conversation_.report("the daemon refused a removal: " + refusal_text(response));
}

void Registrar::take_interface(FedInterface& interface, const Response& response) {
  if (interface.removed) return;
  interface.refusal = response.refusal();
  for (const FedStatistic* const each : interface.statistics) {
    if (each->registration != Registration::kUnregistered) continue;
    registry_.due().statistics.insert(each->id);
    note_change();
  }
  if (response.error != 0) {
    interface.registration = Registration::kRefused;
    return report_refusal(interface.name, response);
  }
  interface.registration = Registration::kRegistered;
}

void Registrar::take_statistic(FedStatistic& statistic, const Response& response, bool repeats) {
  if (statistic.removed) return;
  end_wait_for_view(statistic);
  // The response to the first request, which did not come, may have been that it was new.
  const bool may_be_ours = std::exchange(statistic.awaits_creation, false) && repeats;
  statistic.refusal = response.refusal();
  if (response.error != 0) {
    statistic.registration = Registration::kRefused;
    return report_refusal(path_of(statistic), response);
  }
  report_warning(statistic, response);
  const bool is_new = response.made == wire::Made::kNew;
  if (is_new || may_be_ours) statistic.made_in_epoch = conversation_.epoch();
  statistic.was_there = statistic.made_in_epoch != conversation_.epoch();
  if (statistic.was_there) statistic.forget_defaults();
  if (is_new) statistic.pending_reset = false;  // there was nothing yet
  statistic.registration = Registration::kRegistered;
  if (statistic.source.empty()) statistic.said_decimals = response.decimals;
  // Before the number is known, and samples follow. So it is not left to the next datagram.
  if (statistic.has_pending_defaults()) {
    define(statistic, conversation_.now(), Pending::kDefaults, Alone::kAlways);
  }
  if (statistic.has_pending()) note_change(statistic);
  if (statistic.number != response.number) statistic.unbind();
  if (statistic.wants_cells) note_cells();
  statistic.number.store(response.number, std::memory_order_release);
  point_at_switch(statistic);
}

// It exists otherwise than the program asks, or a word of its definition says nothing.
void Registrar::report_warning(const FedStatistic& statistic, const Response& response) {
  if (!response.text || response.text->empty()) return;
  conversation_.report(path_of(statistic).append(": ").append(*response.text));
}

void Registrar::take_change(FedStatistic& statistic, const Response& response) {
  statistic.refusal = response.refusal();
  if (response.error == 0) report_warning(statistic, response);
  if (response.error != 0) {
    conversation_.report_refusal("the daemon refused to change " + path_of(statistic) + ": " +
                                 refusal_text(response));
  }
  if (statistic.changes_sent != 0) statistic.changes_sent -= 1;
  point_at_switch(statistic);
}

int Registrar::refusal() const {
  int first = 0;
  const auto look = [&first](const auto& each) {
    if (first == 0 && !each.lingers) first = each.refusal;
  };
  registry_.for_each_interface(look);
  registry_.for_each_statistic(look);
  return first;
}

// ---- what the daemon no longer knows

void Registrar::take_stale(std::uint64_t number) {
  if (number != 0) return;
  if (switches_.has_page()) return look_for_void();
  request_anew();
}

// The daemon does not say which statistic is gone. All are numbered as they were until it responds.
// Views that are gone went with their source, and stay gone.
void Registrar::request_anew() {
  const auto forget = [](auto& each) {
    if (each.registration == Registration::kRegistered) {
      each.registration = Registration::kUnregistered;
    }
  };
  registry_.for_each_interface(forget);
  registry_.for_each_statistic([&](FedStatistic& each) {
    if (each.source.empty()) forget(each);
  });
  note_change_anywhere();
}

// A statistic with a void number is gone, and its interface may be.
void Registrar::look_for_void() {
  registry_.for_each_statistic([this](FedStatistic& statistic) {
    const auto number = statistic.number.load(std::memory_order_relaxed);
    if (statistic.registration != Registration::kRegistered || !switches_.is_void(number)) return;
    if (!statistic.source.empty()) return;  // a view has no number
    statistic.set_switch(&FedStatistic::kOn);
    statistic.unbind();
    statistic.registration = Registration::kRemoved;
    statistic.number.store(0, std::memory_order_release);
    statistic.interface->registration = Registration::kUnregistered;
    registry_.due().interfaces.insert(statistic.interface->id);
  });
}

void Registrar::point_at_switch(FedStatistic& statistic) {
  if (statistic.registration != Registration::kRegistered) return;
  if (statistic.has_pending() || statistic.changes_sent != 0) return;
  if (!statistic.awaited_views.empty()) return;
  const auto number = statistic.number.load(std::memory_order_relaxed);
  const std::uint32_t* const found = switches_.find(number);
  statistic.set_switch(found ? found : &FedStatistic::kOn);
}

}  // namespace tallyfs
