#include "feeders/client/sample_path.h"

#include <algorithm>

#include "feeders/client/errno_guard.h"

namespace tallyfs {
namespace {

Stamp stamp_of(std::int64_t time_ns, Stamp now) {
  if (time_ns == 0) return now;
  return {Stamp::Scale::kNs, static_cast<std::uint64_t>(time_ns)};
}

}  // namespace

// ---- one sample

void SamplePath::drop(FedStatistic& statistic) {
  if (!statistic.is_wanted()) return;
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  without_buffer_.fetch_add(1, std::memory_order_relaxed);
}

void SamplePath::put(ThreadBuffer& buffer, FedStatistic& statistic, std::uint32_t route,
                     std::int64_t x, std::uint64_t y) {
  buffer.enter();
  if (!buffer.ring().takes(statistic, cell_files_) || !buffer.ring().has_room()) [[unlikely]] {
    buffer.leave();
    return add_slow_path(&buffer, statistic, x, y);
  }
  const bool has_y = (route & kRouteNeedsY) != 0 && y != 1;
  buffer.ring().put(statistic, has_y ? kRecordY : 0, x, y, 0);
  buffer.count_in_ring();
  leave(buffer);
}

// The queue of a thread comes last, and is fast too where the counter needs no call.
void SamplePath::add_slow_path(ThreadBuffer* buffer, FedStatistic& statistic, std::int64_t x,
                               std::uint64_t y) {
  if (!buffer) [[unlikely]]
    return drop(statistic);
  const std::uint32_t route = statistic.route();
  if (FedStatistic::is_cell(route) && count(*buffer, statistic, x, y)) return;
  if (FedStatistic::is_ring(route)) {
    const auto take_stamp = [this] {
      return Stamp{Stamp::Scale::kCycles, time_.is_counter() ? read_counter() : time_.cycles()};
    };
    if (put(*buffer, statistic, {route, x, y}, take_stamp)) return;
  }
  if (buffer->is_inside() || !buffer->below_stop() || !time_.is_counter()) [[unlikely]] {
    return add_slow_path(*buffer, statistic, x, y, [this] { return now(); });
  }
  buffer->enter();
  buffer->append(UnsentSample(statistic, x, y, {Stamp::Scale::kCycles, read_counter()}));
  buffer->ring().end(statistic);
  leave(*buffer);
}

// ---- many samples

// The side table of a signal handler's samples is small: between two pieces the owner takes them.
void SamplePath::add(ThreadBuffer* buffer, FedStatistic& statistic,
                     std::span<const statistic_sample> samples) {
  constexpr std::size_t kPiece = 64;
  const Stamp now = this->now();
  while (!samples.empty()) {
    if (buffer) {
      const std::size_t some = std::min(samples.size(), kPiece);
      const std::size_t done = add_fast_prefix(*buffer, statistic, samples.first(some), now);
      samples = samples.subspan(done);
      if (done == some) continue;
    }
    const statistic_sample& sample = samples.front();
    if (buffer) {
      add_slow_path(*buffer, statistic, sample.x, sample.y,
                    [&] { return stamp_of(sample.time_ns, now); });
    } else {
      drop(statistic);
    }
    samples = samples.subspan(1);
  }
}

std::size_t SamplePath::add_fast_prefix(ThreadBuffer& buffer, FedStatistic& statistic,
                                        std::span<const statistic_sample> samples, Stamp now) {
  const std::uint32_t route = statistic.route();
  if (FedStatistic::is_ring(route) || buffer.is_inside() || its_.settings.sends_each()) return 0;
  std::size_t done = 0;
  buffer.enter();
  LaneCell* const cell = FedStatistic::is_cell(route) ? cell_of(buffer, statistic) : nullptr;
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
void SamplePath::add(ThreadBuffer* buffer, std::span<const statistic_entry> entries) {
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
        drop(statistic);
        continue;
      }
      add_slow_path(*buffer, statistic, each.x, each.y,
                    [&] { return stamp_of(each.time_ns, now); });
    }
  }
}

void SamplePath::prefetch_cells(ThreadBuffer& buffer, std::span<const statistic_entry> entries) {
  buffer.enter();
  for (const statistic_entry& each : entries) {
    if (!statistic_is_on(each.statistic)) continue;
    const auto& statistic = *static_cast<const FedStatistic*>(each.statistic);
    if (FedStatistic::is_cell(statistic.route())) buffer.cells().prefetch(statistic, cell_files_);
  }
  leave(buffer);
}

// ---- what is rare

LaneCell* SamplePath::prepare_cell(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (LaneCell* const cell = buffer.cells().prepare(statistic, cell_files_)) return cell;
  const bool may_ask = its_.settings.has_lane;
  if (!may_ask || statistic.wants_cells.load(std::memory_order_relaxed)) return nullptr;
  if (!statistic.wants_cells.exchange(true)) its_.upkeep.wants_requests = true;
  return nullptr;
}

std::uint64_t SamplePath::in_ns(const Stamp& stamp) {
  if (stamp.scale == Stamp::Scale::kNs) return stamp.value;
  return static_cast<std::uint64_t>(time_.times().to_ns(stamp.value));
}

// In a child the first sample of a statistic that is off comes here too. It is not wanted, but the
// background thread is, to hear when it will be.
bool SamplePath::make_space_or_fail(ThreadBuffer& buffer, FedStatistic& statistic) {
  if (!its_.thread.is_running()) {
    const ErrnoGuard guard;
    its_.thread.start();
  }
  return statistic.is_wanted() && make_space(buffer, statistic);
}

bool SamplePath::make_space(ThreadBuffer& buffer, FedStatistic& statistic) {
  const ErrnoGuard guard;
  if (its_.delivery.make_space(buffer)) return true;
  buffer.drop();
  statistic.dropped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void SamplePath::give_back(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  // A handler that interrupted a call has ended the thread.
  if (buffer.is_in_file()) buffer.cells().finish_adds(cell_files_);
  buffer.enter();
  {
    const MutexLock lock(buffer.mutex());
    its_.delivery.drain(buffer, 1);
    if (buffer.held() == 0) buffer.rewind();
  }
  leave(buffer);
  if (buffer.held() != 0) its_.upkeep.sleep.wake_from_deep_sleep();
  its_.buffers.give_back(buffer);
}

// ---- samples of a signal handler that found its thread inside

void SamplePath::push_nested(ThreadBuffer& buffer, const UnsentSample& sample) {
  if (!sample.statistic()->is_wanted()) return;
  if (!buffer.push_nested(sample)) {
    sample.statistic()->dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

void SamplePath::process_nested(ThreadBuffer& buffer) {
  while (buffer.has_nested()) {
    buffer.enter();
    buffer.process_nested([&](const UnsentSample& sample) { process_nested(buffer, sample); });
    if (its_.settings.sends_each()) its_.delivery.send_now(buffer);
    buffer.leave();
  }
}

void SamplePath::process_nested(ThreadBuffer& buffer, const UnsentSample& sample) {
  if (!sample.statistic()) return forget_parents_call(buffer);
  FedStatistic& statistic = *sample.statistic();
  const bool is_cell = FedStatistic::is_cell(statistic.route());
  LaneCell* const cell = is_cell ? buffer.cells().find(statistic, cell_files_) : nullptr;
  if (cell) {
    CellWriter(*cell).add(sample.x(), sample.y());
    return buffer.count_cell();
  }
  if (put(buffer, sample)) return;
  if (!buffer.below_stop() && !make_space(buffer, statistic)) return;
  buffer.append(sample);
  buffer.ring().end(statistic);
}

void SamplePath::forget_parents_call(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  const MutexLock lock(buffer.mutex());
  buffer.forget_parents_call();
}

bool SamplePath::put(ThreadBuffer& buffer, const UnsentSample& sample) {
  FedStatistic& statistic = *sample.statistic();
  const std::uint32_t route = statistic.route();
  if (!FedStatistic::is_ring(route) || !buffer.ring().takes(statistic, cell_files_)) return false;
  if (!buffer.ring().has_room()) {
    const RingRoom room = its_.rings.make_room(buffer, statistic);
    if (room != RingRoom::kThere) return room == RingRoom::kDropped;
  }
  const auto scale = sample.is_ns() ? Stamp::Scale::kNs : Stamp::Scale::kCycles;
  write_record(buffer, statistic, {route, sample.x(), sample.y()}, [&] {
    return Stamp{scale, sample.time()};
  });
  return true;
}

}  // namespace tallyfs
