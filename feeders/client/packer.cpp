#include "feeders/client/packer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/wire/binary.h"

namespace tally {
namespace {

constexpr std::size_t kRunBytes = wire::kMessageHeaderBytes + 8;
constexpr std::size_t kRecordBytes = 16;  // X and time
constexpr std::size_t kYBytes = 8;
static_assert(kDatagramSamplesMax ==
              (Lane::kDatagramBytes - wire::kHeaderBytes - kRunBytes) / kRecordBytes);
constexpr std::size_t kRunsMax =
    (Lane::kDatagramBytes - wire::kHeaderBytes) / (kRunBytes + kRecordBytes);

struct Run {
  FedStatistic* statistic = nullptr;
  std::uint64_t number = 0;
  std::size_t samples = 0;
  bool with_y = false;
  char* at = nullptr;  // where the next record goes

  std::size_t record_bytes() const { return kRecordBytes + (with_y ? kYBytes : 0); }
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
  std::uint16_t index_of(const Run& run) const {
    return static_cast<std::uint16_t>(&run - runs_.data());
  }
  Run& operator[](std::uint16_t index) { return runs_[index]; }
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

// One datagram in the making: first it is found out what goes in, then it is written.
class Sheet {
 public:
  // Of the statistic of the last one; it mostly is.
  bool is_another(const Entry& entry) const {
    return last_ && last_->statistic == entry.statistic() && last_->with_y == (entry.y() != 1);
  }
  // False: it does not fit any more.
  bool take_another() {
    const std::size_t more = last_->record_bytes();
    if (bytes_ + more > Lane::kDatagramBytes || size_ == run_of_.size()) return false;
    last_->samples += 1;
    bytes_ += more;
    run_of_[size_++] = runs_.index_of(*last_);
    return true;
  }
  bool take(const Entry& entry, std::uint64_t number) {
    Run* run = runs_.find(entry.statistic());
    std::size_t more = kRecordBytes + (run ? 0 : kRunBytes);
    const bool with_y = entry.y() != 1;
    // A Y gives one to all samples of its run.
    if (run && run->with_y) {
      more += kYBytes;
    } else if (with_y) {
      more += kYBytes * (run ? run->samples + 1 : 1);
    }
    if (bytes_ + more > Lane::kDatagramBytes || size_ == run_of_.size() || (!run && runs_.full())) {
      return false;
    }
    if (!run) run = &runs_.add(entry.statistic(), number);
    run->with_y |= with_y;
    run->samples += 1;
    bytes_ += more;
    run_of_[size_++] = runs_.index_of(*run);
    last_ = run;
    return true;
  }
  std::size_t size() const { return size_; }

  std::string_view write(Lane& lane, const SampleClock& clock, const SampleClock::Anchor& now,
                         std::uint64_t epoch) REQUIRES(lane.mutex()) {
    char* const start = lane.datagram().data();
    write_headers(start, epoch);
    const std::uint64_t tail = lane.tail();
    // Ticks do not go back in one thread; from one datagram to the next a better rate might.
    const std::int64_t not_before = std::min(lane.last_ns(), now.ns);
    std::int64_t last = not_before;
    for (std::size_t i = 0; i < size_; ++i) {
      const Entry& entry = lane.entry(tail + i);
      Run& run = runs_[run_of_[i]];
      auto ns = static_cast<std::int64_t>(entry.time());
      if (!entry.is_ns()) {
        ns = last = std::clamp(clock.to_ns(entry.time(), now), not_before, now.ns);
      }
      run.at = put(run.at, entry.x());
      if (run.with_y) run.at = put(run.at, entry.y());
      run.at = put(run.at, ns);
    }
    lane.set_last_ns(last);
    return {start, bytes_};
  }

 private:
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
  Run* last_ = nullptr;
  std::array<std::uint16_t, kDatagramSamplesMax> run_of_;
  std::size_t size_ = 0;
  std::size_t bytes_ = wire::kHeaderBytes;
};

bool is_refused(const FedStatistic* statistic) {
  return !statistic || statistic->standing.load(std::memory_order_relaxed) == Standing::kRefused;
}

}  // namespace

Packed pack(Lane& lane, const SampleClock& clock, const SampleClock::Anchor& now,
            std::uint64_t epoch) {
  Packed packed;
  Sheet sheet;
  const std::uint64_t tail = lane.tail();
  const std::uint64_t held = lane.head() - tail;
  for (; packed.entries < held; ++packed.entries) {
    const Entry& entry = lane.entry(tail + packed.entries);
    if (sheet.is_another(entry)) {
      if (!sheet.take_another()) break;
      continue;
    }
    FedStatistic* const statistic = entry.statistic();
    const std::uint64_t number = statistic ? statistic->number.load(std::memory_order_acquire) : 0;
    if (number != 0) {
      if (packed.refused != 0 || !sheet.take(entry, number)) break;
    } else if (is_refused(statistic)) {
      if (sheet.size() != 0) break;
      packed.refused += 1;
      if (statistic) statistic->dropped.fetch_add(1, std::memory_order_relaxed);
    } else {
      packed.unknown = statistic;
      break;
    }
  }
  packed.samples = sheet.size();
  if (packed.samples != 0) packed.datagram = sheet.write(lane, clock, now, epoch);
  return packed;
}

}  // namespace tally
