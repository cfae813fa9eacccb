#include "feeders/client/ordered_changes.h"

#include <utility>

namespace tallyfs {

void OrderedChanges::send(FedStatistic& statistic) {
  // No cell says whether a sample came before or after a change: from now on none is counted there.
  if (!FedStatistic::is_socket(statistic.route())) statistic.set_switch(&FedStatistic::kOn);
  send_next_by_socket(statistic);
  its_.registrar.note_change(statistic);
  const bool is_known = statistic.registration == Registration::kRegistered;
  if (is_known && !has_barriers_ && its_.delivery.drain_all() == Delivery::Drained::kAll) {
    its_.registrar.define(statistic, Time(monotonic_ns()));
  }
  if (statistic.has_pending_changes() || (is_known && statistic.has_pending())) raise_barriers();
}

void OrderedChanges::send_view(FedStatistic& source, const FedStatistic& view) {
  its_.registrar.await_view(source, view);
  // The view wants samples, also of a source that is off. Later the daemon's switch says so.
  source.set_switch(&FedStatistic::kOn);
  send_next_by_socket(source);
  raise_barriers();
}

// A thread sends what it holds before it continues in its ring.
void OrderedChanges::send_next_by_socket(FedStatistic& statistic) {
  if (statistic.ring_era == FedStatistic::kNoRing) return;
  statistic.ring_era.store(its_.cell_files.next_ring_era(), std::memory_order_relaxed);
}

void OrderedChanges::raise_barriers() {
  has_barriers_ = true;
  its_.buffers.raise_barriers();
}

void OrderedChanges::lower_barriers() {
  if (std::exchange(has_barriers_, false)) its_.buffers.lower_barriers();
}

void OrderedChanges::request(Time now) {
  const bool waits = has_barriers_ && its_.delivery.drain_all() != Delivery::Drained::kAll;
  its_.registrar.set_changes(waits ? Registrar::Changes::kLater : Registrar::Changes::kToo);
  its_.conversation.request(now);
  if (has_barriers_ && !its_.registrar.has_pending()) lower_barriers();
}

void OrderedChanges::remove(FedStatistic& statistic, ServerSide side) {
  its_.registrar.end_wait_for_view(statistic);
  if (side == ServerSide::kDelete) Registrar::forget(statistic);
  removal_.add(statistic);
}

// Records that are to be sent to the next daemon name statistics, too.
void OrderedChanges::destroy_removed() {
  if (removal_.empty()) return;
  using Rings = DeferredRemoval::Rings;
  removal_.destroy_sent(its_.buffers.all(),
                        its_.cell_files.has_unread_records() ? Rings::kToBeRead : Rings::kRead);
}

void OrderedChanges::reset_in_child() {
  has_barriers_ = false;
  removal_.forget_positions();
}

}  // namespace tallyfs
