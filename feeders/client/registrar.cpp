// Makes the requests of a Registrar; registrar_responses.cpp processes the responses.
#include "feeders/client/registrar.h"

#include <utility>

namespace tallyfs {
namespace {

using After = DueRequests::After;

// Visits the parts that are to be sent, in their order.
template <typename Visit>
void each_pending(FedStatistic& statistic, Visit visit) {
  if (statistic.pending_on) statistic.pending_begin.reset();  // the later one stands
  const bool changes = statistic.has_pending_changes();
  if (statistic.has_pending_defaults()) visit(Pending::kDefaults);
  if (changes) visit(Pending::kChanges);
}

}  // namespace

Registrar::Registrar(Registry& registry, Conversation& conversation, const Shared& shared,
                     Lane lane)
    : Requester(conversation),
      registry_(registry),
      switches_(shared.switches),
      shapes_(shared.shapes),
      cells_(shared.cells),
      lane_(lane) {}

// The daemon after the first is another, and what is in it may be others'.
void Registrar::forget_removals() {
  if (std::exchange(was_connected_, true)) removals_.clear();
}

void Registrar::begin() {
  page_ = shapes_page_ = lane_file_ = tails_ = Registration::kUnregistered;
  reported_unmapped_ = false;
  lane_bytes_max_ = kLaneBytesMax;
  unmapped_.clear();
  lanes_unmapped_ = 0;
  looks_at_all_ = cells_due_ = true;
  if (has_cells()) cells_.mark_unread();
  switches_.forget();
  shapes_.forget();
  cells_.retire();
  registry_.for_each_interface([](FedInterface& each) {
    if (!each.removed) each.registration = Registration::kUnregistered;
  });
  registry_.for_each_statistic([this](FedStatistic& each) {
    if (each.removed) return;
    // A statistic that was on at the last daemon may be on at the next one: the response says.
    each.set_switch(each.is_on() || each.started ? &FedStatistic::kOn : &FedStatistic::kOff);
    each.unbind();
    each.number.store(0, std::memory_order_release);
    each.registration = Registration::kUnregistered;
    each.awaits_creation = false;
    each.changes_sent = 0;
    FedStatistic* const source = each.lingers ? nullptr : registry_.find_source(each);
    if (source) await_view(*source, each);
  });
}

// A daemon that ends in order sends threads to the socket before it reads their cells.
bool Registrar::has_cells() const {
  bool has = false;
  registry_.for_each_statistic([&has](const FedStatistic& each) {
    has = has || (each.shape.load() && !FedStatistic::is_socket(each.route()));
  });
  return has;
}

void Registrar::retry_refused() {
  looks_at_all_ = true;
  const auto retry = [](auto& each) {
    if (each.registration == Registration::kRefused && !each.removed) {
      each.registration = Registration::kUnregistered;
    }
  };
  registry_.for_each_interface(retry);
  registry_.for_each_statistic(retry);
  if (unmapped_.empty()) return;
  for (Registration* const each : std::exchange(unmapped_, {})) {
    if (*each == Registration::kRefused) *each = Registration::kUnregistered;
  }
  note_cells();
}

// ---- requests

void Registrar::note_change(const FedStatistic& statistic) {
  registry_.due().changes.insert(statistic.id);
  registry_.due().pending.insert(statistic.id);
  note_change();
}

void Registrar::note_change_anywhere() {
  looks_at_all_ = cells_due_ = true;
  note_change();
}

void Registrar::find_due() {
  if (std::exchange(looks_at_all_, false)) registry_.find_due();
}

void Registrar::add_requests(RequestDatagram& requests) {
  find_due();
  add_page(requests);
  if (lane_.is_wanted) add_cells(requests);
  if (changes_ == Changes::kToo) add_changes(requests);
  // A name that is still to be removed is created again only after its removal.
  if (!add_removals(requests)) return;
  add_interfaces(requests);
  add_statistics(requests);
}

void Registrar::add_page(RequestDatagram& requests) {
  if (page_ != Registration::kUnregistered) return;
  requests.add("switches", {.sent = [this] { page_ = Registration::kRequested; },
                            .responded = [this](const Response& response) { take_page(response); },
                            .timed_out =
                                [this] {
                                  if (page_ == Registration::kRequested)
                                    page_ = Registration::kUnregistered;
                                }});
}

// ---- cells

// Asked for when a thread would count in one, each after the one before.
void Registrar::add_cells(RequestDatagram& requests) {
  if (!switches_.has_page() || !std::exchange(cells_due_, false)) return;
  bool is_wanted = false;
  registry_.for_each_statistic([&](FedStatistic& each) {
    const bool is_due = each.wants_cells && each.registration == Registration::kRegistered &&
                        each.number != 0 && each.binding == Registration::kUnregistered;
    if (is_due && lane_file_ == Registration::kRegistered) add_binding(requests, each);
    is_wanted = is_wanted || is_due;
  });
  const bool has_lane = lane_file_ == Registration::kRegistered && cells_.current();
  if (has_lane && cells_.wants_rings() && tails_ == Registration::kUnregistered) {
    requests.add("tails " + std::to_string(cells_.current()->number()),
                 memory_handlers(tails_, &Registrar::take_tails));
  }
  if (!is_wanted) return;
  if (requests.is_full()) cells_due_ = true;
  if (shapes_page_ == Registration::kUnregistered) {
    requests.add("shapes", memory_handlers(shapes_page_, &Registrar::take_shapes));
    return;
  }
  if (shapes_page_ != Registration::kRegistered) return;
  if (lane_file_ != Registration::kUnregistered) return;
  if (cells_.has_retired()) {
    cells_due_ = true;  // and noted when its memory is free
    return;
  }
  request_lane(requests);
}

std::uint32_t Registrar::lane_bytes_wanted() const {
  constexpr std::uint32_t kPage = 4096;
  const std::uint32_t least = cells_.wants_rings() ? kLaneBytesWithRings : kLaneBytesMin;
  if (lane_.statistics_max == 0) return least;
  const std::uint64_t of_statistics =
      std::uint64_t{std::min(lane_.statistics_max, kLaneIdsMax)} * kLaneBytesOfStatistic;
  return static_cast<std::uint32_t>((kLaneBytesWithRings + of_statistics) / kPage * kPage);
}

void Registrar::request_lane(RequestDatagram& requests) {
  const std::uint32_t bytes = std::min(lane_bytes_wanted(), lane_bytes_max_);
  RequestHandlers handlers = memory_handlers(lane_file_, &Registrar::take_lane);
  handlers.sent = [this, bytes] {
    lane_file_ = Registration::kRequested;
    lane_bytes_ = bytes;
  };
  requests.add("lane " + std::to_string(bytes), std::move(handlers));
}

RequestHandlers Registrar::memory_handlers(Registration& state,
                                           void (Registrar::*take)(const Response&)) {
  return {.sent = [&state] { state = Registration::kRequested; },
          .responded =
              [this, take, &state](const Response& response) {
                if (state == Registration::kRequested) (this->*take)(response);
              },
          .timed_out =
              [this, &state] {
                if (state != Registration::kRequested) return;
                state = Registration::kUnregistered;
                note_cells();
              }};
}

void Registrar::add_binding(RequestDatagram& requests, FedStatistic& statistic) {
  const std::uint32_t id = statistic.id;
  const std::uint64_t number = statistic.number;
  const wire::Binding binding{.id = id, .lane = cells_.current()->number(), .number = number};
  requests.add_binding(binding,
                       {.sent = [&statistic] { statistic.binding = Registration::kRequested; },
                        .responded =
                            [this, id, number](const Response& response) {
                              auto* const found = registry_.find_statistic(id);
                              if (found) take_binding(*found, number, response);
                            },
                        .timed_out =
                            [this, id] {
                              auto* const found = registry_.find_statistic(id);
                              if (found && found->binding == Registration::kRequested) {
                                found->binding = Registration::kUnregistered;
                                note_cells();
                              }
                            }});
}

void Registrar::add_interfaces(RequestDatagram& requests) {
  registry_.due().visit(registry_.due().interfaces, [&](std::uint32_t id) {
    auto* const interface = registry_.find_interface(id);
    if (!interface || interface->registration != Registration::kUnregistered) return After::kDrop;
    add_interface(requests, *interface);
    return requests.is_full() ? After::kStop : After::kKeep;
  });
}

void Registrar::add_interface(RequestDatagram& requests, FedInterface& interface) {
  const std::uint32_t id = interface.id;
  requests.add(create_line(interface),
               {.sent =
                    [this, &interface] {
                      interface.registration = Registration::kRequested;
                      registry_.due().interfaces.erase(interface.id);
                    },
                .responded =
                    [this, id](const Response& response) {
                      if (auto* const found = registry_.find_interface(id)) {
                        take_interface(*found, response);
                      }
                    },
                .timed_out =
                    [this, id] {
                      auto* const found = registry_.find_interface(id);
                      if (found && found->registration == Registration::kRequested) {
                        found->registration = Registration::kUnregistered;
                        registry_.due().interfaces.insert(id);
                      }
                    }});
}

// Statistics of an interface that is not registered yet are due again when it is.
void Registrar::add_statistics(RequestDatagram& requests) {
  registry_.due().visit(registry_.due().statistics, [&](std::uint32_t id) {
    auto* const statistic = registry_.find_statistic(id);
    if (!statistic || statistic->registration != Registration::kUnregistered) return After::kDrop;
    const Registration of_interface = statistic->interface->registration;
    if (of_interface == Registration::kRefused) statistic->registration = Registration::kRefused;
    if (of_interface != Registration::kRegistered) return After::kDrop;
    if (statistic->is_view_to_be_created() && changes_ == Changes::kLater) return After::kKeep;
    if (!requests.is_full()) add_statistic(requests, *statistic);
    return requests.is_full() ? After::kStop : After::kKeep;
  });
}

void Registrar::add_statistic(RequestDatagram& requests, FedStatistic& statistic) {
  const std::uint32_t id = statistic.id;
  const bool repeats = statistic.awaits_creation;
  requests.add(create_line(statistic),
               {.sent =
                    [this, &statistic] {
                      statistic.registration = Registration::kRequested;
                      statistic.awaits_creation = true;
                      registry_.due().statistics.erase(statistic.id);
                    },
                .responded =
                    [this, id, repeats](const Response& response) {
                      if (auto* const found = registry_.find_statistic(id)) {
                        take_statistic(*found, response, repeats);
                      }
                    },
                .timed_out =
                    [this, id] {
                      auto* const found = registry_.find_statistic(id);
                      if (found && found->registration == Registration::kRequested) {
                        found->registration = Registration::kUnregistered;
                        registry_.due().statistics.insert(id);
                      }
                    }});
}

void Registrar::await_view(FedStatistic& source, const FedStatistic& view) {
  source.awaited_views.insert(view.id);
  registry_.due().pending.insert(view.id);
}

void Registrar::end_wait_for_view(const FedStatistic& view) {
  FedStatistic* const source = registry_.find_source(view);
  if (source && source->awaited_views.erase(view.id) != 0) point_at_switch(*source);
}

// ---- changes

bool Registrar::has_pending() {
  find_due();
  bool found = false;
  registry_.due().visit(registry_.due().pending, [&](std::uint32_t id) {
    const auto* const statistic = registry_.find_statistic(id);
    if (!statistic) return After::kDrop;
    if (!statistic->has_pending() && !statistic->is_view_to_be_created()) return After::kDrop;
    const Registration registration = statistic->registration;
    if (registration == Registration::kRefused || registration == Registration::kRemoved) {
      return After::kDrop;  // due again when it is asked for again
    }
    found = true;
    return After::kStop;
  });
  return found;
}

// Changes to a statistic that is not registered yet are due again when it is.
void Registrar::add_changes(RequestDatagram& requests) {
  registry_.due().visit(registry_.due().changes, [&](std::uint32_t id) {
    auto* const statistic = registry_.find_statistic(id);
    if (!statistic || !statistic->has_pending()) return After::kDrop;
    if (statistic->registration != Registration::kRegistered) return After::kDrop;
    each_pending(*statistic, [&](Pending part) {
      if (requests.is_full()) return;
      requests.add(define_line(*statistic, part), change_handlers(*statistic, part));
    });
    return requests.is_full() ? After::kStop : After::kKeep;
  });
}

RequestHandlers Registrar::change_handlers(FedStatistic& statistic, Pending part) {
  const std::uint32_t id = statistic.id;
  return {.sent = [this, &statistic, part] { note_change_sent(statistic, part); },
          .responded =
              [this, id](const Response& response) {
                if (auto* const found = registry_.find_statistic(id)) take_change(*found, response);
              },
          .timed_out =
              [this, id] {
                auto* const found = registry_.find_statistic(id);
                if (!found) return;
                found->changes_sent = 0;
                point_at_switch(*found);
              }};
}

void Registrar::note_change_sent(FedStatistic& statistic, Pending part) {
  if (part == Pending::kDefaults) {
    statistic.forget_defaults();
  } else {
    statistic.forget_changes();
  }
  statistic.changes_sent += 1;
  if (!statistic.has_pending()) registry_.due().changes.erase(statistic.id);
}

void Registrar::define(FedStatistic& statistic, Time now) {
  each_pending(statistic, [&](Pending part) { define(statistic, now, part, Alone::kBounded); });
}

void Registrar::define(FedStatistic& statistic, Time now, Pending part, Alone alone) {
  note_change(statistic);
  if (conversation_.link().full()) return;
  send_now(define_line(statistic, part), change_handlers(statistic, part), now, alone);
}

// ---- removals

// False: some found no room.
bool Registrar::add_removals(RequestDatagram& requests) {
  for (const std::string& line : removals_) {
    const bool added = requests.add(
        line, {.sent = [this] { removals_.pop_front(); },
               .responded = [this](const Response& response) { take_removal(response); }});
    if (!added) return false;
  }
  return true;
}

void Registrar::remove(const std::string& target) {
  if (!conversation_.link().connected() && was_connected_) return;
  removals_.push_back("remove " + target);
  if (removals_.size() > kRemovalsMax) removals_.pop_front();
  note_change();
}

void Registrar::inherit() {
  registry_.for_each_statistic([](FedStatistic& each) { each.forget_changes(); });
  removals_.clear();
}

void Registrar::forget(FedStatistic& statistic) {
  statistic.removed = true;
  statistic.forget_pending();
  statistic.registration = Registration::kRefused;
  statistic.unbind();
  statistic.number = 0;
}

void Registrar::forget(FedInterface& interface) {
  interface.removed = true;
  interface.registration = Registration::kRefused;
}

}  // namespace tallyfs
