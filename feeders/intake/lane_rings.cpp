#include "feeders/intake/lane_rings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/near_time.h"
#include "core/base/saturating.h"

namespace tallyfs {
namespace {

// A feeder may report so many drops between two looks; a larger number is a lie.
constexpr std::uint64_t kDroppedMax = std::uint64_t{1} << 40;

}  // namespace

// Records of one ring on their way: samples, together as far as they follow each other.
class LaneRings::Batch {
 public:
  // False: the id is none that the feeder has bound.
  bool add(const RingRecord& record, const Sample& sample,
           const boost::unordered_flat_map<std::uint32_t, std::uint64_t>& numbers) {
    if (size_ == 0 || record.id != id_) {
      const auto number = numbers.find(record.id);
      if (number == numbers.end()) return false;
      id_ = record.id;
      runs_[used_++] = {.number = number->second, .samples = {&samples_[size_], 0}};
    }
    samples_[size_++] = sample;
    auto& run = runs_[used_ - 1];
    run.samples = {run.samples.data(), run.samples.size() + 1};
    return true;
  }
  std::size_t size() const { return size_; }
  std::span<const statistics::NumberedRun> runs() const { return std::span(runs_).first(used_); }

 private:
  std::array<Sample, kRecordsAtOnce> samples_;
  std::array<statistics::NumberedRun, kRecordsAtOnce> runs_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::uint32_t id_ = 0;
};

Result<const SealedPage*> LaneRings::tails() {
  if (!tails_) {
    auto made = SealedPage::create("tallyfs-tails", sizeof(LaneTails));
    if (!made) return made.error();
    tails_.emplace(std::move(made.value()));
    changes_ = UINT64_MAX;
  }
  return &*tails_;
}

// ---- how far the feeder is

// The feeder of a closed file goes on, until its rings are full.
void LaneRings::note_heads(Finds finds) {
  if (!tails_ || has_ended_) return;
  if (!file_->is_closed() && file_->changes() != changes_) find_rings(finds);
  for (Ring& ring : rings_) {
    note_dropped(ring);
    if (!file_->is_closed()) note_head(ring);
  }
}

void LaneRings::end() {
  note_heads(Finds::kAll);
  has_ended_ = true;
}

// A feeder may say all the time that there are new rings. Its uid pays for the looks.
void LaneRings::find_rings(Finds finds) {
  const auto credit = finds == Finds::kAll ? nullptr : file_->credit();
  const auto now = credit ? credit->now() : std::chrono::nanoseconds(0);
  if (credit && credit->left(now) == 0) return file_->note_not_read();
  changes_ = file_->changes();
  std::size_t entries = 0;
  for (const LaneFile::RingPlace& each : file_->find_rings(entries)) enter(each);
  is_of_before_ = false;
  if (credit) credit->spend(entries, now);
}

// A thread's ring stays where it is. What is beyond the file's own length would only be read twice.
void LaneRings::enter(const LaneFile::RingPlace& each) {
  const auto known = std::ranges::find(rings_, each.entry, &Ring::entry);
  if (known != rings_.end()) {
    if (known->reader.ring() != each.ring) {
      file_->note_bad({.what = LaneFault::kRingMoved,
                       .at = file_->place_of_entry(each.entry),
                       .read = each.ring,
                       .allowed = known->reader.ring()});
    }
    return;
  }
  const LaneTail& tail = page().tails[each.entry];
  const auto reader = RingReader::open(file_->memory(), each.ring, tail.position.load());
  if (!reader || ring_bytes_ + (each.ring >> 32) > file_->bytes()) {
    file_->note_bad({.what = reader ? LaneFault::kRingsLong : LaneFault::kRingPlace,
                     .at = file_->place_of_entry(each.entry),
                     .read = reader ? ring_bytes_ + (each.ring >> 32) : each.ring,
                     .allowed = file_->bytes()});
    return;
  }
  ring_bytes_ += each.ring >> 32;
  rings_.push_back({.entry = each.entry,
                    .reader = *reader,
                    .head = tail.position.load(),
                    .samples = tail.samples.load(),
                    .dropped = is_of_before_ ? file_->entry(each.entry).dropped.load() : 0});
}

void LaneRings::note_dropped(Ring& ring) {
  const std::uint64_t dropped = file_->entry(ring.entry).dropped.load(std::memory_order_relaxed);
  const std::uint64_t before = std::exchange(ring.dropped, dropped);
  const bool has_fallen = dropped < before;
  if (!has_fallen && dropped - before <= kDroppedMax) {
    add_saturating(dropped_, dropped - before);
  } else if (!file_->is_closed()) {
    file_->note_bad({.what = has_fallen ? LaneFault::kDroppedFell : LaneFault::kDroppedLeapt,
                     .at = file_->place_of_entry(ring.entry),
                     .read = dropped,
                     .allowed = has_fallen ? before : before + kDroppedMax});
  }
}

void LaneRings::note_head(Ring& ring) {
  const LaneEntry& entry = file_->entry(ring.entry);
  const std::uint64_t head = entry.head.load(std::memory_order_acquire);
  if (head == ring.head) return;
  const std::uint64_t position = ring.reader.position();
  const bool is_behind = head < position;
  if (!ring.reader.accept(head)) {
    const std::uint64_t words = (ring.reader.ring() >> 32) / sizeof(std::uint64_t);
    file_->note_bad({.what = is_behind ? LaneFault::kHeadBehind : LaneFault::kHeadAhead,
                     .at = file_->place_of_entry(ring.entry),
                     .read = head,
                     .allowed = is_behind ? position : position + words});
    tell(ring);
  }
  ring.head = head;
}

// ---- taking

LaneRings::Done LaneRings::take(const Into& into, std::chrono::nanoseconds deadline) {
  Done done;
  if (!tails_ || rings_.empty()) return done;
  const CounterLine line = into.counter ? into.counter->line() : CounterLine{};
  for (std::size_t looked = 0; looked < rings_.size(); ++looked) {
    Ring& ring = rings_[next_ % rings_.size()];
    const std::uint64_t before = ring.samples;
    while (ring.reader.position() != ring.head && !file_->is_closed()) {
      if (!take_some(ring, into, line)) break;
      if (!into.is_past(deadline)) continue;
      done.records += ring.samples - before;
      next_ = (next_ + 1) % rings_.size();
      done.all = are_taken();
      return done;
    }
    done.records += ring.samples - before;
    next_ = (next_ + 1) % rings_.size();
  }
  return done;
}

void LaneRings::note_read(const statistics::RingSlice& slice, std::uint64_t samples) {
  if (!tails_ || slice.entry >= kLaneEntries) return;
  LaneTail& tail = page().tails[slice.entry];
  if (tail.position.load() >= slice.until) return;
  tail.samples.store(tail.samples.load() + samples, std::memory_order_relaxed);
  tail.position.store(slice.until, std::memory_order_release);
  const auto known = std::ranges::find(rings_, slice.entry, &Ring::entry);
  if (known == rings_.end()) return;
  const auto reader = RingReader::open(file_->memory(), known->reader.ring(), slice.until);
  if (reader) known->reader = *reader;
  known->head = slice.until;
  known->samples = tail.samples.load();
}

std::uint64_t LaneRings::words_left() const {
  std::uint64_t words = 0;
  if (file_->is_closed()) return words;
  for (const Ring& each : rings_) words += each.head - each.reader.position();
  return words;
}

// False: what stands there is none of a feeder's, and all of it was skipped.
bool LaneRings::take_some(Ring& ring, const Into& into, const CounterLine& line) {
  std::array<RingRecord, kRecordsAtOnce> records;
  const RingReader::Taken taken = ring.reader.take(ring.head, records);
  const Timestamp now = into.clock.now();
  Batch batch;
  std::optional<std::uint32_t> unbound;
  for (const RingRecord& record : std::span(records).first(taken.records)) {
    Sample sample{.x = record.x, .y = record.y, .time = now.monotonic};
    if ((record.follows & kRecordNs) != 0) {
      const std::chrono::nanoseconds said(static_cast<std::int64_t>(record.time));
      sample.time = clamped_past(said, now.monotonic);
    } else if ((record.follows & kRecordCycles) != 0 && line.rate != 0) {
      const std::chrono::nanoseconds said(std::max(line.at(record.time), ring.last_ns));
      sample.time = clamped_past(said, now.monotonic);
      ring.last_ns = sample.time.count();
    }
    if (!batch.add(record, sample, numbers_)) unbound = record.id;
  }
  auto added = into.statistics.add(
      batch.runs(), file_->uid(), now,
      {.lane = file_->lane(), .entry = ring.entry, .until = ring.reader.position()});
  for (std::string& each : added.saturated) into.saturated.push_back(std::move(each));
  LaneCounts& counts = file_->counts();
  counts.taken.fetch_add(added.samples, std::memory_order_relaxed);
  counts.lost.fetch_add(added.lost, std::memory_order_relaxed);
  ring.samples += taken.records;
  if (taken.is_bad) {
    file_->note_bad({.what = LaneFault::kRecordForm,
                     .at = taken.bad_at,
                     .read = taken.bad_word,
                     .allowed = taken.words_left});
  } else if (unbound) {
    file_->note_bad({.what = LaneFault::kRecordId,
                     .at = file_->place_of_entry(ring.entry),
                     .read = *unbound,
                     .allowed = numbers_.size()});
  }
  tell(ring);
  return !taken.is_bad;
}

// Behind what was taken, so that a reader of the feeder's accounts finds it in the data.
void LaneRings::tell(const Ring& ring) const {
  LaneTail& tail = page().tails[ring.entry];
  tail.samples.store(ring.samples, std::memory_order_relaxed);
  tail.position.store(ring.reader.position(), std::memory_order_release);
}

// ---- another server

void LaneRings::save(ByteWriter& out, TransferredFds& descriptors, Saved saved) const {
  out.put(tails_->bytes());
  out.put(descriptors.add(tails_->fd()));
  if (saved == Saved::kPage) return out.put(std::uint32_t{0});
  out.put(static_cast<std::uint32_t>(rings_.size()));
  for (const Ring& ring : rings_) {
    out.put(ring.entry);
    out.put(ring.reader.ring());
    out.put(ring.dropped);
    out.put(ring.last_ns);
  }
}

struct LaneRings::SavedRing {
  explicit SavedRing(ByteReader& in)
      : entry(in.get<std::uint32_t>()),
        place(in.get<std::uint64_t>()),
        dropped(in.get<std::uint64_t>()),
        last_ns(in.get<std::int64_t>()) {}

  std::uint32_t entry;  // in the order in which they are saved
  std::uint64_t place, dropped;
  std::int64_t last_ns;
};

Result<void> LaneRings::load(ByteReader& in, TransferredFds& descriptors) {
  const auto bytes = in.get<std::uint64_t>();
  const auto place = in.get<std::uint32_t>();
  auto page = SealedPage::adopt(descriptors.take(place), bytes);
  std::vector<SavedRing> saved;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) saved.emplace_back(in);
  if (!in.ok() || tails_) return Error{ErrorCode::kInvalid, "not a lane's rings"};
  if (!page) return page.error();
  if (page.value().bytes() < sizeof(LaneTails)) {
    return Error{ErrorCode::kInvalid, "no page of tails"};
  }
  descriptors.adopt(place, page.value().fd());
  tails_.emplace(std::move(page.value()));
  is_of_before_ = true;
  for (const SavedRing& each : saved) {
    if (each.entry >= kLaneEntries) return Error{ErrorCode::kInvalid, "not a lane's rings"};
    enter({.entry = each.entry, .ring = each.place});
    if (rings_.empty() || rings_.back().entry != each.entry) continue;
    rings_.back().dropped = each.dropped;
    rings_.back().last_ns = each.last_ns;
  }
  return {};
}

void LaneRings::skip(ByteReader& in) {
  (void)in.get<std::uint64_t>();
  (void)in.get<std::uint32_t>();
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) SavedRing{in};
}

}  // namespace tallyfs
