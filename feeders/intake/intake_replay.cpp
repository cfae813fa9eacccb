// After a kill: what the server before had taken in since the last save is taken in again.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "feeders/intake/intake.h"

namespace tallyfs {
namespace {

// With the first one it was new, and with the second one it came again.
constexpr int kCrashesMax = 2;

Timestamp time_of(const DatagramRecord& record) {
  return {std::chrono::nanoseconds(record.monotonic), std::chrono::nanoseconds(record.realtime)};
}

// Binary messages are 8-byte aligned, records are not.
Datagram copied(DatagramRecord& record, std::vector<char>& bytes) {
  Datagram datagram = InputJournal::datagram_of(record);
  const std::size_t end = std::min<std::size_t>(record.end, record.length);
  bytes.assign(datagram.bytes.begin(), datagram.bytes.begin() + static_cast<std::ptrdiff_t>(end));
  datagram.bytes = bytes;
  return datagram;
}

}  // namespace

void Intake::note_in(InputJournal& journal) {
  const MutexLock lock(turn_);
  journal_ = &journal;
  statistics_.log_input(journal, journal.position());
  queue_.receive_into(journal);
  dispatcher_.note_in(journal);
  // What the server before has put off and handed over.
  backlog_.each([&](Datagram& datagram) {
    if (datagram.record) return;
    journal.append({&datagram, 1}, journal.last_batch());
    journal.defer(datagram);
  });
}

// Each stream in its order, and the two by their times: where order shows, as in lists and
// histories, it is that of the times.
Intake::Replayed Intake::replay(InputJournal& journal, InputJournal::Left left, int crashes) {
  Replayed replayed;
  const MutexLock lock(turn_);
  statistics_.log_input(journal, left.saved);
  statistics_.begin_replay(left.removals, left.saved);
  auto slice = left.rings.begin();
  const auto take_slices = [&](std::chrono::nanoseconds until) {
    for (; slice != left.rings.end() && slice->at.monotonic <= until; ++slice) {
      std::uint64_t samples = 0;
      for (const auto& run : slice->runs) samples += run.samples.size();
      if (lanes_) lanes_->note_read(slice->from, samples);
      statistics_.replay(slice->runs, slice->uid, slice->at, slice->span);
    }
  };
  for (DatagramRecord* const each : left.begun) {
    take_slices(std::chrono::nanoseconds(each->monotonic));
    replay_begun(*each, crashes, replayed);
  }
  take_slices(std::chrono::nanoseconds::max());
  // Up to here nothing was changed that the next server would find, should a kill come.
  statistics_.log_input(journal, journal.position());
  dispatcher_.end_replay();
  for (DatagramRecord* const each : left.begun) {
    if (each->state != DatagramRecord::State::kDropped) InputJournal::finish(each);
  }
  journal_ = &journal;
  dispatcher_.note_in(journal);
  for (DatagramRecord* const each : left.not_begun) {
    std::vector<char> bytes;
    replay_new(copied(*each, bytes), replayed);
  }
  const std::span<Datagram> in_slots(left.in_slots);
  journal.append(in_slots, std::max(Receiver::batch_in(journal.slots()), journal.last_batch()));
  for (const Datagram& each : in_slots) replay_new(each, replayed);
  return replayed;
}

// Text is divided where a statistic was saved in the middle of it.
void Intake::replay_begun(DatagramRecord& record, int crashes, Replayed& replayed) {
  if (record.tries != 0 && crashes >= kCrashesMax) {
    replayed.poisoned.push_back(InputJournal::datagram_of(record));
    record.state = DatagramRecord::State::kDropped;
    return;
  }
  record.tries = 1;
  std::vector<char> bytes;
  Datagram datagram = copied(record, bytes);
  const std::uint64_t place = InputJournal::place_of(record.sequence);
  const bool is_text = !wire::is_binary({bytes.data(), bytes.size()});
  auto cuts = is_text ? statistics_.replay_cuts({place, place + bytes.size()})
                      : std::vector<std::uint64_t>();
  cuts.push_back(place + bytes.size());
  const bool is_done = record.state == DatagramRecord::State::kDone;
  std::uint64_t from = place;
  for (const std::uint64_t cut : cuts) {
    datagram.bytes = std::span(bytes).subspan(from - place, cut - from);
    dispatcher_.replay(datagram, time_of(record), from,
                       is_done ? Dispatcher::Again::kSamples : Dispatcher::Again::kAll);
    from = cut;
  }
  record.tries = 0;
  ++replayed.datagrams;
}

void Intake::replay_new(const Datagram& datagram, Replayed& replayed) {
  constexpr Until kNever{std::chrono::nanoseconds::max()};
  dispatcher_.begin(datagram, clock_.now());
  while (!dispatcher_.resume(kNever)) {
  }
  ++replayed.datagrams;
}

}  // namespace tallyfs
