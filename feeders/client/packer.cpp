#include "feeders/client/packer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/wire/binary.h"
#include "feeders/client/switches.h"

namespace tallyfs {
namespace {

constexpr std::size_t kRunBytes = wire::kMessageHeaderBytes + 8;
constexpr std::size_t kRecordBytes = 16;  // X and time
constexpr std::size_t kYBytes = 8;
static_assert(kDatagramSamplesMax ==
              (ThreadBuffer::kDatagramBytes - wire::kHeaderBytes - kRunBytes) / kRecordBytes);
constexpr std::size_t kRunsMax =
    (ThreadBuffer::kDatagramBytes - wire::kHeaderBytes) / (kRunBytes + kRecordBytes);

struct Run {
  FedStatistic* statistic = nullptr;
  std::uint64_t number = 0;
  std::size_t samples = 0;
  bool with_y = false;
  char* at = nullptr;  // where the next record goes

  std::size_t record_bytes() const { return kRecordBytes + (with_y ? kYBytes : 0); }
};

// Entries that follow each other and are alike: they are looked at together.
struct Segment {
  Run* run = nullptr;
  std::size_t entries = 0;
};

template <typename T>
char* put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

// The runs of one datagram, found by their statistic: a hash table of twice their number, since a
// feeder's statistics often take turns.
class Runs {
 public:
  Runs() { slots_.fill(kFree); }

  // The run of a statistic; nullptr if it has none yet.
  Run* find(FedStatistic* statistic) {
    std::size_t slot = hash(statistic);
    while (slots_[slot] != kFree && runs_[slots_[slot]].statistic != statistic) {
      slot = (slot + 1) % kSlots;
    }
    slot_ = slot;
    return slots_[slot] == kFree ? nullptr : &runs_[slots_[slot]];
  }
  // After a find() in vain, with room for it.
  Run& add(FedStatistic* statistic, std::uint64_t number) {
    slots_[slot_] = static_cast<std::uint16_t>(used_);
    runs_[used_] = {.statistic = statistic, .number = number};
    return runs_[used_++];
  }
  bool full() const { return used_ == runs_.size(); }
  Run* begin() { return runs_.data(); }
  Run* end() { return runs_.data() + used_; }

 private:
  static constexpr std::size_t kSlots = 512;
  static_assert(kSlots >= 2 * kRunsMax);
  static constexpr std::uint16_t kFree = 0xFFFF;

  // Statistics are allocated apart by more than a cache line; Fibonacci hashing spreads the rest.
  static std::size_t hash(const FedStatistic* statistic) {
    return (reinterpret_cast<std::uintptr_t>(statistic) >> 6) * 0x9E3779B97F4A7C15u >> (64 - 9);
  }

  std::array<Run, kRunsMax> runs_;
  std::array<std::uint16_t, kSlots> slots_;
  std::size_t used_ = 0;
  std::size_t slot_ = 0;
};

// The daemon would drop its samples.
bool is_gone(const FedStatistic& statistic, std::uint64_t number) {
  const std::uint32_t* const on = statistic.page_switch();
  return on && Switches::is_void(*on, number);
}

// One datagram in the making: first it is found out what goes in, then it is written.
class Sheet {
 public:
  // Takes as many of `alike` entries that begin with this one as fit.
  std::size_t take(const UnsentSample& entry, std::size_t alike, std::uint64_t number) {
    Run* run = runs_.find(entry.statistic());
    if (!run && is_gone(*entry.statistic(), number)) {
      gone_ = entry.statistic();
      return 0;
    }
    if (size_ == segments_.size() || (!run && runs_.full())) return 0;
    const bool with_y = entry.y() != 1 || (run && run->with_y);
    // A Y gives one to all samples of its run.
    const std::size_t grown = with_y && run && !run->with_y ? kYBytes * run->samples : 0;
    const std::size_t used = bytes_ + grown + (run ? 0 : kRunBytes);
    const std::size_t record = kRecordBytes + (with_y ? kYBytes : 0);
    std::size_t taken = alike;
    if (used + taken * record > ThreadBuffer::kDatagramBytes) {
      if (used + record > ThreadBuffer::kDatagramBytes) return 0;
      taken = (ThreadBuffer::kDatagramBytes - used) / record;
    }
    if (!run) run = &runs_.add(entry.statistic(), number);
    run->with_y = with_y;
    run->samples += taken;
    bytes_ = used + taken * record;
    segments_[size_++] = {run, taken};
    return taken;
  }
  bool empty() const { return size_ == 0; }
  // The one that could not be taken since it is gone from the tree.
  FedStatistic* gone() const { return gone_; }

  std::string_view write(ThreadBuffer& buffer, const SampleTimes& times, std::uint64_t epoch)
      REQUIRES(buffer.mutex()) {
    char* const start = buffer.datagram().data();
    write_headers(start, epoch);
    std::uint64_t position = buffer.tail();
    for (std::size_t i = 0; i < size_; ++i) {
      write_segment(buffer, segments_[i], position, times);
      position += segments_[i].entries;
    }
    return {start, bytes_};
  }

 private:
  void write_segment(ThreadBuffer& buffer, const Segment& segment, std::uint64_t position,
                     const SampleTimes& times) REQUIRES(buffer.mutex()) {
    Run& run = *segment.run;
    const bool is_ns = buffer.entry(position).is_ns();
    // Times of a thread do not go back: neither for a better rate, nor for a signal handler whose
    // sample is taken in behind the one that it interrupted.
    std::int64_t last = std::min(buffer.last_ns(), times.now_ns);
    char* at = run.at;
    for (std::size_t i = 0; i < segment.entries; ++i) {
      const UnsentSample& entry = buffer.entry(position + i);
      auto ns = static_cast<std::int64_t>(entry.time());
      if (!is_ns) ns = last = std::clamp(times.to_ns(entry.time()), last, times.now_ns);
      at = put(at, entry.x());
      if (run.with_y) at = put(at, entry.y());
      at = put(at, ns);
    }
    run.at = at;
    buffer.set_last_ns(last);
  }

  void write_headers(char* at, std::uint64_t epoch) {
    at = put(at, std::array<char, 4>{wire::kMagic[0], wire::kMagic[1], wire::kMagic[2],
                                     wire::kMagic[3]});
    at = put(at, wire::kVersion);
    at = put(at, std::uint16_t{0});
    at = put(at, epoch);
    for (Run& run : runs_) {
      const std::size_t records = run.samples * run.record_bytes();
      const auto fields = run.with_y ? wire::kFull : wire::kWithTime;
      at = put(at, wire::kSamplesKind);
      at = put(at, static_cast<std::uint16_t>(fields));
      at = put(at, static_cast<std::uint32_t>(8 + records));
      at = put(at, run.number);
      run.at = at;
      at += records;
    }
  }

  Runs runs_;
  std::array<Segment, kDatagramSamplesMax> segments_;
  std::size_t size_ = 0;
  std::size_t bytes_ = wire::kHeaderBytes;
  FedStatistic* gone_ = nullptr;
};

// How many entries from `from` on, `end` at most, are alike.
std::size_t count_alike(const ThreadBuffer& buffer, std::uint64_t from, std::uint64_t end) {
  const UnsentSample& first = buffer.entry(from);
  std::uint64_t i = from + 1;
  while (i != end && buffer.entry(i).is_like(first)) ++i;
  return static_cast<std::size_t>(i - from);
}

bool is_refused(const FedStatistic* statistic) {
  return !statistic ||
         statistic->registration.load(std::memory_order_relaxed) == Registration::kRefused;
}

}  // namespace

Packed pack(ThreadBuffer& buffer, const SampleTimes& times, std::uint64_t epoch) {
  Packed packed;
  Sheet sheet;
  const std::uint64_t tail = buffer.tail();
  const std::uint64_t end = tail + std::min(buffer.end() - tail, kDatagramSamplesMax);
  for (std::uint64_t at = tail; at != end; at = tail + packed.entries) {
    const UnsentSample& entry = buffer.entry(at);
    FedStatistic* const statistic = entry.statistic();
    const std::size_t alike = count_alike(buffer, at, end);
    const std::uint64_t number = statistic ? statistic->number.load(std::memory_order_acquire) : 0;
    if (number != 0) {
      const std::size_t taken = packed.refused == 0 ? sheet.take(entry, alike, number) : 0;
      packed.entries += taken;
      packed.unknown = sheet.gone();
      if (taken < alike) break;
    } else if (is_refused(statistic)) {
      if (!sheet.empty()) break;
      packed.entries += alike;
      packed.refused += alike;
      if (statistic) statistic->dropped.fetch_add(alike, std::memory_order_relaxed);
    } else {
      packed.unknown = statistic;
      break;
    }
  }
  if (sheet.empty()) return packed;
  packed.samples = packed.entries;
  packed.datagram = sheet.write(buffer, times, epoch);
  return packed;
}

}  // namespace tallyfs
