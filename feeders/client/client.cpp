// The program's side: interfaces and statistics. Samples and counts are in client_samples.cpp, the
// keeper's side in client_keeper.cpp.
#include "feeders/client/client.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "feeders/client/last_error.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// How long a new interface or statistic waits for its definition before the daemon hears of it.
constexpr Client::Time kRegisterAfter = 10ms;

}  // namespace

Client::Client(Settings settings)
    : settings_(std::move(settings)),
      link_(settings_.socket.path, settings_.socket.fallback),
      conversation_(
          link_,
          {.other_epoch = [this](std::uint64_t epoch) REQUIRES(mutex_) { change_epoch(epoch); },
           .confirmed = [this](std::uint64_t sent, Conversation::Taken taken)
                            REQUIRES(mutex_) { confirm(sent, taken); },
           .report = [this](std::string text) REQUIRES(mutex_) { note_report(std::move(text)); }}),
      registrar_(registry_, conversation_, {switches_, shapes_, cell_files_},
                 settings_.has_lane ? Registrar::Lane::kWanted : Registrar::Lane::kNone),
      publisher_(conversation_, switches_),
      events_(conversation_, switches_),
      connect_pause_(kConnectPauseMin) {}

// ---- interfaces and statistics

int Client::create_interface(FedInterface** interface, std::string_view name, unsigned flags) {
  if ((flags & ~STATISTIC_LIFETIME_FEEDER) != 0) {
    return fail_with(EINVAL, "a flag that is not known");
  }
  if (const int error = start_keeper(); error != 0) {
    return fail_with(-error, "no thread could be started");
  }
  const MutexLock lock(mutex_);
  const auto made = registry_.create_interface(name, flags);
  if (!made) return fail_with(made.error());
  *interface = made.value();
  register_soon();
  return 0;
}

int Client::create_statistic(FedStatistic** statistic, FedInterface& interface,
                             std::string_view name, std::string_view units) {
  const MutexLock lock(mutex_);
  const auto made = registry_.create_statistic(interface, name, units);
  if (!made) return fail_with(made.error());
  *statistic = made.value();
  made.value()->units = units;
  made.value()->has_begun = made.value()->started = false;
  register_soon();
  return 0;
}

int Client::create_view(FedStatistic** view, FedStatistic& source, std::string_view name) {
  const MutexLock lock(mutex_);
  const auto made = registry_.create_statistic(*source.interface, name, "");
  if (!made) return fail_with(made.error());
  *view = made.value();
  made.value()->source = source.name;
  made.value()->started = true;
  source.has_views = true;
  registrar_.await_view(source, *made.value());
  // The view wants samples, also of a source that is off. Later the daemon's switch says so.
  source.set_switch(&FedStatistic::kOn);
  send_next_by_socket(source);
  raise_barriers();
  register_soon();
  return 0;
}

void Client::register_soon() {
  const Time now = now_ns();
  registrar_.note_change();
  if (register_at_ <= now) register_at_ = now + kRegisterAfter;
  sleep_.wake();
}

void Client::drop(FedStatistic& statistic, InTree in_tree) {
  const MutexLock lock(mutex_);
  drain_all();
  drop_locked(statistic, in_tree);
  if (in_tree == InTree::kRemove) {
    pass_through_buffers();
    registrar_.remove(path_of(statistic));
  }
  let_go_of_removed();
  sleep_.wake();
}

void Client::drop(FedInterface& interface, InTree in_tree) {
  const MutexLock lock(mutex_);
  drain_all();
  registry_.detach(interface);
  if (in_tree == InTree::kRemove) {
    registrar_.forget(interface);
    registrar_.remove(interface.name);
  }
  if (interface.statistics.empty()) {
    registry_.erase(interface);
  } else {
    const std::vector<FedStatistic*> all(interface.statistics.begin(), interface.statistics.end());
    for (FedStatistic* const each : all) drop_locked(*each, in_tree);
    if (in_tree == InTree::kRemove) pass_through_buffers();
    let_go_of_removed();
  }
  sleep_.wake();
}

// What is removed takes its samples along; what is left in the tree is to be complete there. Once
// all buffers have been passed through no datagram that is being made holds a number of what is
// void.
void Client::drop_locked(FedStatistic& statistic, InTree in_tree) {
  registrar_.end_wait_for_view(statistic);
  if (in_tree == InTree::kRemove) registrar_.forget(statistic);
  deferred_removal_.add(statistic);
}

void Client::make_void(const FedStatistic& statistic) {
  for_each_buffer([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.make_void(&statistic);
  });
}

DeferredRemoval::Buffers Client::buffers() const {
  DeferredRemoval::Buffers all;
  for_each_buffer([&](ThreadBuffer& buffer) { all.push_back(&buffer); });
  return all;
}

int Client::define(FedStatistic& statistic, std::string type) {
  const MutexLock lock(mutex_);
  statistic.type = std::move(type);
  if (statistic.is_to_be_created() || statistic.was_there) return 0;
  statistic.pending_type = true;
  pass_on(statistic);
  return 0;
}

int Client::switch_on(FedStatistic& statistic) { return set_started(statistic, true); }

int Client::switch_off(FedStatistic& statistic) { return set_started(statistic, false); }

int Client::set_started(FedStatistic& statistic, bool on) {
  const MutexLock lock(mutex_);
  const bool begins = !std::exchange(statistic.has_begun, true);
  const bool before = std::exchange(statistic.started, on);
  if (!begins) {
    if (!statistic.pending_on) statistic.started_before_pending = before;
    statistic.pending_on = on;
  } else if (statistic.is_to_be_created()) {
    // Is in the line that creates it.
  } else if (statistic.was_there) {
    return 0;
  } else {
    statistic.pending_begin = on;
  }
  pass_on(statistic);
  // Samples that follow count, or do not, before the daemon has heard of it. Views may want them.
  if (on) statistic.set_switch(&FedStatistic::kOn);
  if (!on && !statistic.has_views) statistic.set_switch(&FedStatistic::kOff);
  return 0;
}

int Client::reset(FedStatistic& statistic) {
  const MutexLock lock(mutex_);
  if (statistic.number.load(std::memory_order_relaxed) == 0) make_void(statistic);
  statistic.pending_reset = true;
  pass_on(statistic);
  return 0;
}

// In its order with the samples.
void Client::pass_on(FedStatistic& statistic) {
  // What is added from now on comes behind the change, as no cell says.
  if ((statistic.way() & kWayMask) != kWaySocket) statistic.set_switch(&FedStatistic::kOn);
  send_next_by_socket(statistic);
  registrar_.note_change(statistic);
  const bool is_known = statistic.registration == Registration::kRegistered;
  if (is_known && !has_barriers_ && drain_all() == Drained::kAll) {
    registrar_.define(statistic, now_ns());
  }
  if (statistic.has_pending_changes() || (is_known && statistic.has_pending())) raise_barriers();
  sleep_.wake();
}

// A thread sends what it holds before it continues in its ring.
void Client::send_next_by_socket(FedStatistic& statistic) {
  if (statistic.ring_era == FedStatistic::kNoRing) return;
  statistic.ring_era.store(cell_files_.next_ring_era(), std::memory_order_relaxed);
}

// What is added from now on is sent after the changes and the new views that could not be sent.
void Client::raise_barriers() {
  has_barriers_ = true;
  for_each_buffer([](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.raise_barrier();
  });
}

void Client::lower_barriers() {
  if (!std::exchange(has_barriers_, false)) return;
  for_each_buffer([](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.lower_barrier();
  });
}

void Client::register_and_change(Time now) {
  const bool waits = has_barriers_ && drain_all() != Drained::kAll;
  registrar_.set_changes(waits ? Registrar::Changes::kLater : Registrar::Changes::kToo);
  conversation_.request(now);
  if (has_barriers_ && !registrar_.has_pending()) lower_barriers();
}

// ---- sending

Client::Drained Client::drain(ThreadBuffer& buffer, std::uint64_t at_least) {
  if (buffer.end() - buffer.tail() < at_least) return Drained::kAll;
  if (!link_.connected()) return Drained::kGone;
  if (rest_first_.load(std::memory_order_relaxed) && &buffer != rest_buffer_)
    return Drained::kUnknown;
  const std::uint64_t epoch = epoch_.load();
  const SampleTimes times = time_.times();
  while (buffer.end() - buffer.tail() >= at_least) {
    const Packed packed = pack(buffer, times, epoch);
    if (packed.samples != 0) {
      const Link::Sent sent = link_.send(packed.datagram);
      if (sent == Link::Sent::kFull) return Drained::kFull;
      if (sent == Link::Sent::kGone) return Drained::kGone;
      sent_.fetch_add(packed.samples, std::memory_order_relaxed);
      waited_in_vain_.store(false, std::memory_order_relaxed);
    }
    refused_.fetch_add(packed.refused, std::memory_order_relaxed);
    buffer.consume(packed.entries);
    if (packed.entries != 0 || !packed.unknown) continue;
    Registration gone = Registration::kRemoved;
    if (packed.unknown->registration.compare_exchange_strong(gone, Registration::kUnregistered))
      wanted_ = true;
    return Drained::kUnknown;
  }
  return Drained::kAll;
}

Client::Drained Client::drain_all() {
  Drained worst = Drained::kAll;
  for_each_buffer([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    const Drained drained = drain(buffer, 1);
    if (drained != Drained::kAll) worst = drained;
  });
  return worst;
}

int Client::wait_until(Time deadline, const std::function<int()>& check) {
  for (bool first = true;; first = false) {
    {
      const MutexLock lock(mutex_);
      const Time now = now_ns();
      if (first) connect_at_ = Time(0);
      pass_locked(now, Urgency::kNow);
      if (const int result = check(); result != -EINPROGRESS) return result;
      if (now >= deadline) {
        if (!link_.connected()) return fail_with(ENOTCONN, "there is no daemon");
        return fail_with(ETIMEDOUT, "the daemon has not taken everything in in time");
      }
    }
    wait_for_responses(std::min<Time>(deadline - now_ns(), 5ms));
  }
}

int Client::flush() {
  const Time deadline = now_ns() + settings_.wait_max;
  const int result = wait_until(deadline, [this]() REQUIRES(mutex_) {
    const bool is_sent = publisher_.send_kept() && !events_.has_records();
    return is_sent && held() == 0 && !cell_files_.has_rest() ? 0 : -EINPROGRESS;
  });
  if (result != -ETIMEDOUT) return result;
  return fail_with(EAGAIN, "the daemon's queue is full, or it has not answered a registration yet");
}

int Client::sync(std::chrono::milliseconds time_max) {
  // What was added before this call, buffer by buffer; what other threads add meanwhile does not
  // keep us here.
  std::vector<std::pair<const ThreadBuffer*, std::uint64_t>> added;
  for_each_buffer([&](ThreadBuffer& buffer) { added.emplace_back(&buffer, buffer.head()); });
  const auto is_sent = [](const auto& each) {
    return each.first->head() - each.first->held() >= each.second;
  };
  std::optional<std::uint64_t> sent;
  std::optional<RingHeads> rings;
  return wait_until(now_ns() + time_max, [&]() REQUIRES(mutex_) -> int {
    if (!rings) rings = ring_heads();
    if (!link_.connected() || !conversation_.is_settled()) return -EINPROGRESS;
    if (!are_taken(*rings)) {
      conversation_.ping(now_ns(), sent_.load());
      return -EINPROGRESS;
    }
    if (!publisher_.send_kept()) return -EINPROGRESS;
    if (!sent && events_.has_records()) return -EINPROGRESS;
    if (!sent) {
      if (!std::ranges::all_of(added, is_sent)) return -EINPROGRESS;
      sent = sent_.load();
    }
    if (confirmed_.load() + lost_.load() < *sent) return -EINPROGRESS;
    for (const int refusal : {registrar_.refusal(), publisher_.refusal(), events_.refusal()}) {
      if (refusal != 0) return fail_with(refusal, conversation_.last_refusal());
    }
    return 0;
  });
}

}  // namespace tallyfs
