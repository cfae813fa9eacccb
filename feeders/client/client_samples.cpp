// The program's side of samples: the buffer they go into, what happens when it is full, and counts.
#include <algorithm>

#include "feeders/client/client.h"
#include "feeders/client/errno_guard.h"

namespace tallyfs {

ThreadBuffer* Client::own_buffer(BufferSearch& search) {
  // Before the search, so that none which is given back during it is missed.
  const std::uint64_t given_back = buffers_given_back_.load(std::memory_order_acquire);
  if (search.in_vain == given_back + 1) return nullptr;
  for (auto& place : buffers_) {
    ThreadBuffer* buffer = place.load(std::memory_order_acquire);
    if (!buffer) {
      ThreadBuffer* const made = ThreadBuffer::create(settings_.held_max);
      if (!made) return nullptr;
      if (place.compare_exchange_strong(buffer, made)) {
        buffer = made;
      } else {
        ThreadBuffer::destroy(made);  // another thread was first, and buffer is its
      }
    }
    if (buffer->try_own()) return buffer;
  }
  search.in_vain = given_back + 1;
  return nullptr;
}

void Client::give_back_buffer(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  // A handler that interrupted it has ended the thread.
  if (buffer.is_in_file()) buffer.cells().finish_adds(cell_files_);
  buffer.enter();
  {
    const MutexLock lock(buffer.mutex());
    drain(buffer, 1);
    if (buffer.held() == 0) buffer.rewind();
  }
  leave(buffer);
  if (buffer.held() != 0) sleep_.wake_from_deep_sleep();
  buffer.watch(0);
  buffer.disown();
  buffers_given_back_.fetch_add(1, std::memory_order_release);
}

void Client::watch_buffer(ThreadBuffer& buffer) { buffer.watch(::gettid()); }

void Client::drop_sample(FedStatistic& statistic) {
  if (!statistic.is_wanted()) return;
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  bufferless_.fetch_add(1, std::memory_order_relaxed);
}

// A sample without a time, into a ring that has room.
void Client::add_to_ring(ThreadBuffer& buffer, FedStatistic& statistic, std::uint32_t way,
                         std::int64_t x, std::uint64_t y) {
  buffer.enter();
  if (!buffer.ring().takes(statistic, cell_files_) || !buffer.ring().has_room()) [[unlikely]] {
    buffer.leave();
    return add_now_otherwise(&buffer, statistic, x, y);
  }
  const bool has_y = (way & kWayNeedsY) != 0 && y != 1;
  buffer.ring().put(statistic, has_y ? kRecordY : 0, x, y, 0);
  buffer.count_in_ring();
  leave(buffer);
}

void Client::add_now_otherwise(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                               std::uint64_t y) {
  const std::uint32_t way = statistic.way();
  if (FedStatistic::is_cell(way) && buffer && count_in_cell(*buffer, statistic, x, y)) return;
  if (FedStatistic::is_ring(way) && buffer) {
    const auto stamp = [this] {
      return Stamp{Stamp::Scale::kCycles, time_.is_counter() ? read_counter() : time_.cycles()};
    };
    if (put_in_ring(*buffer, statistic, {way, x, y}, stamp)) return;
  }
  if (!buffer || buffer->is_inside() || !buffer->below_stop() || !time_.is_counter()) [[unlikely]] {
    return add_now_slowly(buffer, statistic, x, y);
  }
  buffer->enter();
  buffer->append(UnsentSample(statistic, x, y, {Stamp::Scale::kCycles, read_counter()}));
  buffer->ring().end(statistic);
  buffer->leave();
  if (buffer->has_nested()) [[unlikely]]
    return take_nested(*buffer);
}

void Client::add_now_slowly(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                            std::uint64_t y) {
  if (!buffer) return drop_sample(statistic);
  add(*buffer, statistic, x, y, [this] { return now(); });
}

namespace {
Stamp stamp_of(std::int64_t time_ns, Stamp now) {
  if (time_ns == 0) return now;
  return {Stamp::Scale::kNs, static_cast<std::uint64_t>(time_ns)};
}
}  // namespace

// The side table of a signal handler's samples is small: between two pieces they are taken in.
void Client::add_batch(ThreadBuffer* buffer, FedStatistic& statistic,
                       std::span<const statistic_sample> samples) {
  constexpr std::size_t kPiece = 64;
  const Stamp now = this->now();
  while (!samples.empty()) {
    if (buffer) {
      const std::size_t some = std::min(samples.size(), kPiece);
      const std::size_t done = add_easily(*buffer, statistic, samples.first(some), now);
      samples = samples.subspan(done);
      if (done == some) continue;
    }
    const statistic_sample& sample = samples.front();
    if (buffer) {
      add(*buffer, statistic, sample.x, sample.y, [&] { return stamp_of(sample.time_ns, now); });
    } else {
      drop_sample(statistic);
    }
    samples = samples.subspan(1);
  }
}

std::size_t Client::add_easily(ThreadBuffer& buffer, FedStatistic& statistic,
                               std::span<const statistic_sample> samples, Stamp now) {
  const std::uint32_t way = statistic.way();
  if (FedStatistic::is_ring(way) || buffer.is_inside() || sends_each()) return 0;
  std::size_t done = 0;
  buffer.enter();
  LaneCell* const cell = FedStatistic::is_cell(way) ? cell_of(buffer, statistic) : nullptr;
  if (cell) {
    CellWriter(*cell).add_all(samples);
    buffer.count_cell(samples.size());
    done = samples.size();
  } else {
    for (; done < samples.size() && buffer.below_stop(); ++done) {
      const statistic_sample& sample = samples[done];
      buffer.append(UnsentSample(statistic, sample.x, sample.y, stamp_of(sample.time_ns, now)));
    }
    buffer.ring().end(statistic);
  }
  leave(buffer);
  return done;
}

// The statistics first, then the memory that they lead to, then the samples: so many statistics are
// in no near cache, and their reads overlap.
void Client::add_each(ThreadBuffer* buffer, std::span<const statistic_entry> entries) {
  constexpr std::size_t kTogether = 64;
  const Stamp now = this->now();
  for (; !entries.empty(); entries = entries.subspan(std::min(entries.size(), kTogether))) {
    const auto some = entries.first(std::min(entries.size(), kTogether));
    for (const statistic_entry& each : some) __builtin_prefetch(each.statistic);
    if (buffer && !buffer->is_inside()) prefetch_cells(*buffer, some);
    for (const statistic_entry& each : some) {
      if (!statistic_is_on(each.statistic)) continue;
      auto& statistic = *static_cast<FedStatistic*>(each.statistic);
      if (!buffer) {
        drop_sample(statistic);
        continue;
      }
      add(*buffer, statistic, each.x, each.y, [&] { return stamp_of(each.time_ns, now); });
    }
  }
}

void Client::prefetch_cells(ThreadBuffer& buffer, std::span<const statistic_entry> entries) {
  buffer.enter();
  for (const statistic_entry& each : entries) {
    if (!statistic_is_on(each.statistic)) continue;
    const auto& statistic = *static_cast<const FedStatistic*>(each.statistic);
    if (FedStatistic::is_cell(statistic.way())) buffer.cells().prefetch(statistic, cell_files_);
  }
  leave(buffer);
}

LaneCell* Client::prepare_cell(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (LaneCell* const cell = buffer.cells().prepare(statistic, cell_files_)) return cell;
  if (!settings_.has_lane || statistic.wants_cells.load(std::memory_order_relaxed)) return nullptr;
  if (!statistic.wants_cells.exchange(true)) wanted_ = true;
  return nullptr;
}

void Client::add_nested(ThreadBuffer& buffer, const UnsentSample& entry) {
  if (!entry.statistic()->is_wanted()) return;
  if (!buffer.push_nested(entry)) {
    entry.statistic()->dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

void Client::forget_parents_call(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  const MutexLock lock(buffer.mutex());
  buffer.forget_parents_call();
}

void Client::take_nested(ThreadBuffer& buffer) {
  while (buffer.has_nested()) {
    buffer.enter();
    buffer.take_nested([&](const UnsentSample& entry) {
      if (!entry.statistic()) return forget_parents_call(buffer);
      FedStatistic& statistic = *entry.statistic();
      const bool is_cell = FedStatistic::is_cell(statistic.way());
      LaneCell* const cell = is_cell ? buffer.cells().find(statistic, cell_files_) : nullptr;
      if (cell) {
        CellWriter(*cell).add(entry.x(), entry.y());
        return buffer.count_cell();
      }
      if (put_nested_in_ring(buffer, entry)) return;
      if (!buffer.below_stop() && !make_room(buffer, statistic)) return;
      buffer.append(entry);
      buffer.ring().end(statistic);
    });
    if (sends_each()) send_each(buffer);
    buffer.leave();
  }
}

// In a child the first sample of a statistic that is off comes here too. It is not wanted, but the
// keeper is, to hear when it will be.
bool Client::look_around(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (!keeper_runs_.load(std::memory_order_relaxed)) {
    const ErrnoGuard guard;
    start_keeper();
  }
  return statistic.is_wanted() && make_room(buffer, statistic);
}

bool Client::make_room(ThreadBuffer& buffer, FedStatistic& statistic) {
  const ErrnoGuard guard;
  sleep_.wake_from_deep_sleep();
  if (buffer.held() < buffer.capacity() || can_send()) {
    const MutexLock lock(buffer.mutex());
    if (!link_.full()) drain(buffer, kDatagramSamplesMax);
    if (buffer.held() == 0) buffer.rewind();
    set_stop(buffer);
    if (buffer.held() < buffer.capacity()) return true;
  }
  if (wait_for_room(buffer)) return true;
  buffer.drop();
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void Client::send_each(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  const MutexLock lock(buffer.mutex());
  if (!link_.full()) drain(buffer, 1);
}

void Client::set_stop(ThreadBuffer& buffer) {
  // Before the switches are back each sample has to be looked at. Once they are, this thread sees
  // them too.
  if (sends_each() || asleep_.load(std::memory_order_acquire)) return buffer.set_stop(0);
  // While nothing can be sent, the keeper sees when it can be again.
  const bool sends = can_send() && buffer.held() < kDatagramSamplesMax;
  buffer.set_stop(buffer.tail() + (sends ? kDatagramSamplesMax : buffer.capacity()));
}

// Only for a queue that is full: the response to a registration may take long.
bool Client::wait_for_room(ThreadBuffer& buffer) {
  if (settings_.wait_max.count() == 0) return false;
  const Time deadline = now_ns() + settings_.wait_max;
  while (!waited_in_vain_.load(std::memory_order_relaxed)) {
    {
      const MutexLock lock(buffer.mutex());
      // Not link_.full() alone: another thread's send may just have cleared it.
      const Drained drained = drain(buffer, kDatagramSamplesMax);
      set_stop(buffer);
      if (buffer.held() < buffer.capacity()) return true;
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
  for_each_buffer([&](const ThreadBuffer& buffer) { held += buffer.held(); });
  return held;
}

std::uint64_t Client::dropped() const {
  std::uint64_t dropped = refused_.load() + bufferless_.load() + records_dropped_.load();
  for_each_buffer([&](const ThreadBuffer& buffer) { dropped += buffer.dropped(); });
  return dropped;
}

std::uint64_t Client::counted_in_cells() const {
  std::uint64_t counted = 0;
  for_each_buffer([&](const ThreadBuffer& buffer) { counted += buffer.counted(); });
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
  counts.added = bufferless_.load() + records_added_.load() + counted + rings.sent;
  for_each_buffer(
      [&](const ThreadBuffer& buffer) { counts.added += buffer.head() + buffer.dropped(); });
}

}  // namespace tallyfs
