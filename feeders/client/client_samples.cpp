// The program's side of samples: the lane they go into, what happens when it is full, and counts.
#include <algorithm>

#include "feeders/client/client.h"
#include "feeders/client/errno_guard.h"

namespace tallyfs {

Lane* Client::own_lane(LaneSearch& search) {
  // Before the search, so that none which is given back during it is missed.
  const std::uint64_t given_back = lanes_given_back_.load(std::memory_order_acquire);
  if (search.in_vain == given_back + 1) return nullptr;
  for (auto& place : lanes_) {
    Lane* lane = place.load(std::memory_order_acquire);
    if (!lane) {
      Lane* const made = Lane::create(settings_.held_max);
      if (!made) return nullptr;
      if (place.compare_exchange_strong(lane, made)) {
        lane = made;
      } else {
        Lane::destroy(made);  // another thread was first, and lane is its
      }
    }
    if (lane->try_own()) return lane;
  }
  search.in_vain = given_back + 1;
  return nullptr;
}

void Client::disown_lane(Lane& lane) {
  const ErrnoGuard guard;
  // A handler that interrupted it has ended the thread.
  if (lane.is_in_file()) lane.cells().finish_adds(cell_files_);
  lane.enter();
  {
    const MutexLock lock(lane.mutex());
    drain(lane, 1);
    if (lane.held() == 0) lane.rewind();
  }
  leave(lane);
  if (lane.held() != 0) sleep_.wake_from_deep_sleep();
  lane.watch(0);
  lane.disown();
  lanes_given_back_.fetch_add(1, std::memory_order_release);
}

void Client::watch_lane(Lane& lane) { lane.watch(::gettid()); }

void Client::drop_sample(FedStatistic& statistic) {
  if (!statistic.is_wanted()) return;
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  laneless_.fetch_add(1, std::memory_order_relaxed);
}

// A sample without a time, into a ring that has room.
void Client::add_to_ring(Lane& lane, FedStatistic& statistic, std::uint32_t way, std::int64_t x,
                         std::uint64_t y) {
  lane.enter();
  if (!lane.ring().takes(statistic, cell_files_) || !lane.ring().has_room()) [[unlikely]] {
    lane.leave();
    return add_now_otherwise(&lane, statistic, x, y);
  }
  const bool has_y = (way & kWayNeedsY) != 0 && y != 1;
  lane.ring().put(statistic, has_y ? kRecordY : 0, x, y, 0);
  lane.count_in_ring();
  leave(lane);
}

void Client::add_now_otherwise(Lane* lane, FedStatistic& statistic, std::int64_t x,
                               std::uint64_t y) {
  const std::uint32_t way = statistic.way();
  if (FedStatistic::is_cell(way) && lane && count_in_cell(*lane, statistic, x, y)) return;
  if (FedStatistic::is_ring(way) && lane) {
    const auto stamp = [this] {
      return Stamp{Stamp::Scale::kCycles, time_.is_counter() ? read_counter() : time_.cycles()};
    };
    if (put_in_ring(*lane, statistic, {way, x, y}, stamp)) return;
  }
  if (!lane || lane->is_inside() || !lane->below_stop() || !time_.is_counter()) [[unlikely]] {
    return add_now_slowly(lane, statistic, x, y);
  }
  lane->enter();
  lane->append(Entry(statistic, x, y, {Stamp::Scale::kCycles, read_counter()}));
  lane->ring().end(statistic);
  lane->leave();
  if (lane->has_nested()) [[unlikely]]
    return take_nested(*lane);
}

void Client::add_now_slowly(Lane* lane, FedStatistic& statistic, std::int64_t x, std::uint64_t y) {
  if (!lane) return drop_sample(statistic);
  add(*lane, statistic, x, y, [this] { return now(); });
}

namespace {
Stamp stamp_of(std::int64_t time_ns, Stamp now) {
  if (time_ns == 0) return now;
  return {Stamp::Scale::kNs, static_cast<std::uint64_t>(time_ns)};
}
}  // namespace

// The side table of a signal handler's samples is small: between two pieces they are taken in.
void Client::add_batch(Lane* lane, FedStatistic& statistic,
                       std::span<const statistic_sample> samples) {
  constexpr std::size_t kPiece = 64;
  const Stamp now = this->now();
  while (!samples.empty()) {
    if (lane) {
      const std::size_t some = std::min(samples.size(), kPiece);
      const std::size_t done = add_easily(*lane, statistic, samples.first(some), now);
      samples = samples.subspan(done);
      if (done == some) continue;
    }
    const statistic_sample& sample = samples.front();
    if (lane) {
      add(*lane, statistic, sample.x, sample.y, [&] { return stamp_of(sample.time_ns, now); });
    } else {
      drop_sample(statistic);
    }
    samples = samples.subspan(1);
  }
}

std::size_t Client::add_easily(Lane& lane, FedStatistic& statistic,
                               std::span<const statistic_sample> samples, Stamp now) {
  const std::uint32_t way = statistic.way();
  if (FedStatistic::is_ring(way) || lane.is_inside() || sends_each()) return 0;
  std::size_t done = 0;
  lane.enter();
  LaneCell* const cell = FedStatistic::is_cell(way) ? cell_of(lane, statistic) : nullptr;
  if (cell) {
    CellWriter(*cell).add_all(samples);
    lane.count_cell(samples.size());
    done = samples.size();
  } else {
    for (; done < samples.size() && lane.below_stop(); ++done) {
      const statistic_sample& sample = samples[done];
      lane.append(Entry(statistic, sample.x, sample.y, stamp_of(sample.time_ns, now)));
    }
    lane.ring().end(statistic);
  }
  leave(lane);
  return done;
}

// The statistics first, then the memory that they lead to, then the samples: so many statistics are
// in no near cache, and their reads overlap.
void Client::add_each(Lane* lane, std::span<const statistic_entry> entries) {
  constexpr std::size_t kTogether = 64;
  const Stamp now = this->now();
  for (; !entries.empty(); entries = entries.subspan(std::min(entries.size(), kTogether))) {
    const auto some = entries.first(std::min(entries.size(), kTogether));
    for (const statistic_entry& each : some) __builtin_prefetch(each.statistic);
    if (lane && !lane->is_inside()) prefetch_cells(*lane, some);
    for (const statistic_entry& each : some) {
      if (!statistic_is_on(each.statistic)) continue;
      auto& statistic = *static_cast<FedStatistic*>(each.statistic);
      if (!lane) {
        drop_sample(statistic);
        continue;
      }
      add(*lane, statistic, each.x, each.y, [&] { return stamp_of(each.time_ns, now); });
    }
  }
}

void Client::prefetch_cells(Lane& lane, std::span<const statistic_entry> entries) {
  lane.enter();
  for (const statistic_entry& each : entries) {
    if (!statistic_is_on(each.statistic)) continue;
    const auto& statistic = *static_cast<const FedStatistic*>(each.statistic);
    if (FedStatistic::is_cell(statistic.way())) lane.cells().prefetch(statistic, cell_files_);
  }
  leave(lane);
}

LaneCell* Client::prepare_cell(Lane& lane, FedStatistic& statistic) {
  if (LaneCell* const cell = lane.cells().prepare(statistic, cell_files_)) return cell;
  if (!settings_.has_lane || statistic.wants_cells.load(std::memory_order_relaxed)) return nullptr;
  if (!statistic.wants_cells.exchange(true)) wanted_ = true;
  return nullptr;
}

void Client::add_nested(Lane& lane, const Entry& entry) {
  if (!entry.statistic()->is_wanted()) return;
  if (!lane.push_nested(entry)) {
    entry.statistic()->dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

void Client::forget_parents_call(Lane& lane) {
  const ErrnoGuard guard;
  const MutexLock lock(lane.mutex());
  lane.forget_parents_call();
}

void Client::take_nested(Lane& lane) {
  while (lane.has_nested()) {
    lane.enter();
    lane.take_nested([&](const Entry& entry) {
      if (!entry.statistic()) return forget_parents_call(lane);
      FedStatistic& statistic = *entry.statistic();
      const bool is_cell = FedStatistic::is_cell(statistic.way());
      LaneCell* const cell = is_cell ? lane.cells().find(statistic, cell_files_) : nullptr;
      if (cell) {
        CellWriter(*cell).add(entry.x(), entry.y());
        return lane.count_cell();
      }
      if (put_nested_in_ring(lane, entry)) return;
      if (!lane.below_stop() && !make_room(lane, statistic)) return;
      lane.append(entry);
      lane.ring().end(statistic);
    });
    if (sends_each()) send_each(lane);
    lane.leave();
  }
}

// In a child the first sample of a statistic that is off comes here too. It is not wanted, but the
// keeper is, to hear when it will be.
bool Client::look_around(Lane& lane, FedStatistic& statistic) {
  if (!keeper_runs_.load(std::memory_order_relaxed)) {
    const ErrnoGuard guard;
    start_keeper();
  }
  return statistic.is_wanted() && make_room(lane, statistic);
}

bool Client::make_room(Lane& lane, FedStatistic& statistic) {
  const ErrnoGuard guard;
  sleep_.wake_from_deep_sleep();
  if (lane.held() < lane.capacity() || can_send()) {
    const MutexLock lock(lane.mutex());
    if (!link_.full()) drain(lane, kDatagramSamplesMax);
    if (lane.held() == 0) lane.rewind();
    set_stop(lane);
    if (lane.held() < lane.capacity()) return true;
  }
  if (wait_for_room(lane)) return true;
  lane.drop();
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void Client::send_each(Lane& lane) {
  const ErrnoGuard guard;
  const MutexLock lock(lane.mutex());
  if (!link_.full()) drain(lane, 1);
}

void Client::set_stop(Lane& lane) {
  // Before the switches are back each sample has to be looked at. Once they are, this thread sees
  // them too.
  if (sends_each() || asleep_.load(std::memory_order_acquire)) return lane.set_stop(0);
  // While nothing can be sent, the keeper sees when it can be again.
  const bool sends = can_send() && lane.held() < kDatagramSamplesMax;
  lane.set_stop(lane.tail() + (sends ? kDatagramSamplesMax : lane.capacity()));
}

// Only for a queue that is full: the response to a registration may take long.
bool Client::wait_for_room(Lane& lane) {
  if (settings_.wait_max.count() == 0) return false;
  const Time deadline = now_ns() + settings_.wait_max;
  while (!waited_in_vain_.load(std::memory_order_relaxed)) {
    {
      const MutexLock lock(lane.mutex());
      // Not link_.full() alone: another thread's send may just have cleared it.
      const Drained drained = drain(lane, kDatagramSamplesMax);
      set_stop(lane);
      if (lane.held() < lane.capacity()) return true;
      if (drained != Drained::kFull) return false;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now_ns());
    if (left.count() <= 0) {
      waited_in_vain_.store(true, std::memory_order_relaxed);
      return false;
    }
    link_.wait_for_room(left);
  }
  return false;
}

// ---- counts

std::uint64_t Client::held() const {
  std::uint64_t held = 0;
  for_each_lane([&](const Lane& lane) { held += lane.held(); });
  return held;
}

std::uint64_t Client::dropped() const {
  std::uint64_t dropped = refused_.load() + laneless_.load() + records_dropped_.load();
  for_each_lane([&](const Lane& lane) { dropped += lane.dropped(); });
  return dropped;
}

std::uint64_t Client::counted_in_cells() const {
  std::uint64_t counted = 0;
  for_each_lane([&](const Lane& lane) { counted += lane.counted(); });
  return counted;
}

void Client::count(statistic_counts& counts) const {
  // Before the samples that it is part of.
  const std::uint64_t lost_in_cells = lost_in_cells_.load();
  const std::uint64_t counted = counted_in_cells();
  const InRings rings = in_rings();
  counts.confirmed = confirmed_.load() + counted - lost_in_cells + rings.confirmed;
  counts.lost = lost_.load() + lost_in_cells;
  counts.sent = sent_.load() + counted + rings.sent;
  counts.held = held() + records_held_.load();
  counts.dropped = dropped();
  counts.added = laneless_.load() + records_added_.load() + counted + rings.sent;
  for_each_lane([&](const Lane& lane) { counts.added += lane.head() + lane.dropped(); });
}

}  // namespace tallyfs
