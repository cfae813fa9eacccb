// Lanes as the next server of the mount goes on with them: the same files, how far their rings were
// read, and the pages that tell feeders so.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/reservation.h"
#include "feeders/intake/lanes.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kLanesFormat = transfer_format(SavedKind::kLanes);
constexpr std::uint16_t kRingsFormat = transfer_format(SavedKind::kLaneRings);

Error no_handed_lanes() { return {ErrorCode::kInvalid, "not lanes as they are handed on"}; }

}  // namespace

void Lanes::save_for_successor(ObjectSink& sink, TransferredFds& descriptors) {
  if (!put_lanes(sink, descriptors, Ended::kAll)) return;
  hand_on_rings(sink, descriptors);
  if (sink.reader() != ObjectSink::Reader::kSuccessor) hand_on_bindings(sink);
}

bool Lanes::put_lanes(ObjectSink& sink, TransferredFds& descriptors, Ended which) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    out.put(last_number_);
    for (const auto& [number, lane] : lanes_) put_lane(out, number, lane, descriptors);
    const bool is_kept = sink.reader() == ObjectSink::Reader::kSuccessor;
    const std::size_t left_out = which == Ended::kNotSaved ? saved_ends_ : 0;
    for (std::size_t i = left_out; is_kept && i < ended_.size(); ++i) {
      put_lane(out, ended_[i].first, ended_[i].second, descriptors);
    }
  }
  return sink.put(saved_object(SavedKind::kLanes, kLanesFormat, "lanes", bytes));
}

void Lanes::put_lane(ByteWriter& out, std::uint64_t number, const Lane& lane,
                     TransferredFds& descriptors) const {
  out.put(number);
  out.put(std::int32_t{lane.process});
  out.put(std::uint32_t{lane.uid});
  out.put(static_cast<std::uint32_t>(lane.file->bytes()));
  out.put(descriptors.add(lane.file->fd()));
  out.put(std::uint32_t{lane.file->bad()});
  out.put(std::uint32_t{lane.bad_reported});
}

std::string Lanes::label_of_bindings(std::uint64_t lane, std::size_t part) {
  return std::to_string(lane).append("/").append(std::to_string(part));
}

std::vector<std::string> Lanes::labels_of_bindings(const Numbered& lane) {
  std::vector<std::string> labels;
  for (std::size_t part = 0; part * kBindingsAtOnce < lane.second.bound.size(); ++part) {
    labels.push_back(label_of_bindings(lane.first, part));
  }
  return labels;
}

std::string Lanes::bytes_of_bindings(std::uint64_t number, const Lane& lane, std::size_t part) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(number);
  const std::size_t begin = part * kBindingsAtOnce;
  const std::size_t end = std::min(begin + kBindingsAtOnce, lane.bound.size());
  for (std::size_t i = begin; i < end; ++i) {
    out.put(lane.bound[i].number);
    out.put(lane.bound[i].id);
  }
  return bytes;
}

void Lanes::hand_on_bindings(ObjectSink& sink) {
  const MutexLock lock(mutex_);
  for (const auto& [number, lane] : lanes_) {
    for (std::size_t part = 0; part * kBindingsAtOnce < lane.bound.size(); ++part) {
      const std::string bytes = bytes_of_bindings(number, lane, part);
      const std::string label = label_of_bindings(number, part);
      if (!sink.put(saved_object(SavedKind::kLaneBindings, kBindingsFormat, label, bytes))) return;
    }
  }
}

// This holds for a lane that has ended, too.
bool Lanes::has(const SavedObject& bindings) const {
  ByteReader in(bindings.bytes);
  const auto number = in.get<std::uint64_t>();
  return is_of(bindings, SavedKind::kLaneBindings) && in.ok() && has(number);
}

bool Lanes::has(std::uint64_t number) const {
  const MutexLock lock(mutex_);
  const auto is_it = [number](const auto& each) { return each.first == number; };
  return lanes_.contains(number) || std::ranges::any_of(ended_, is_it);
}

void Lanes::begin_save() {
  const MutexLock lock(mutex_);
  saved_ends_ = ended_.size();
}

// The bindings first, as long as the lanes of which they are can be loaded.
void Lanes::end_save(ObjectSink& sink, TransferredFds& descriptors) {
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < saved_ends_; ++i) {
      for (const std::string& label : labels_of_bindings(ended_[i])) {
        sink.gone(SavedKind::kLaneBindings, label);
      }
    }
  }
  if (!put_lanes(sink, descriptors, Ended::kNotSaved)) return;
  {
    const MutexLock lock(mutex_);
    for (; saved_ends_ != 0; --saved_ends_) {
      const Lane& lane = ended_.front().second;
      ended_bytes_ -= lane.file->bytes();
      remove_descriptors(lane, descriptors);
      ended_.pop_front();
    }
  }
  hand_on_rings(sink, descriptors);
}

void Lanes::remove_descriptors(const Lane& lane, TransferredFds& descriptors) {
  descriptors.remove(lane.file->fd());
  if (lane.rings.has_tails()) descriptors.remove(lane.rings.tails_fd());
}

void Lanes::hand_on_rings(ObjectSink& sink, TransferredFds& descriptors) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    const bool is_kept = sink.reader() == ObjectSink::Reader::kSuccessor;
    const auto saved = is_kept ? LaneRings::Saved::kPage : LaneRings::Saved::kRings;
    for (const std::uint64_t number : with_rings_) {
      out.put(number);
      lanes_.find(number)->second.rings.save(out, descriptors, saved);
    }
  }
  sink.put(saved_object(SavedKind::kLaneRings, kRingsFormat, "rings", bytes));
}

Result<void> Lanes::load(const SavedObject& object, const Loading& loading,
                         TransferredFds& descriptors) {
  if (is_of(object, SavedKind::kLaneRings)) return load_rings(object, loading, descriptors);
  if (is_of(object, SavedKind::kLaneBindings)) return load_bindings(object, loading);
  if (object.format != kLanesFormat) return other_format(object);
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const auto last = in.get<std::uint64_t>();
  {
    const MutexLock lock(mutex_);
    last_number_ = last;
  }
  Result<void> done;
  while (in.ok() && in.left() != 0) {
    if (auto loaded = load_lane(in, loading, descriptors); !loaded) done = loaded;
  }
  return in.ok() ? done : no_handed_lanes();
}

// A feeder goes on counting in its lane, so it is kept where its uid has no more room for it.
Result<void> Lanes::load_lane(ByteReader& in, const Loading& loading, TransferredFds& descriptors) {
  const auto number = in.get<std::uint64_t>();
  const pid_t process = in.get<std::int32_t>();
  const uid_t uid = in.get<std::uint32_t>();
  const auto bytes = in.get<std::uint32_t>();
  const auto place = in.get<std::uint32_t>();
  const auto bad = in.get<std::uint32_t>();
  const auto bad_reported = in.get<std::uint32_t>();
  if (!in.ok()) return no_handed_lanes();
  auto reservation = Reservation::create(dependencies_.ledger, uid, {});
  if (!reservation) return reservation.error();
  (void)reservation.value().grow({.bytes = charged(bytes)});
  auto file = LaneFile::adopt(descriptors.take(place), bytes,
                              {.ledger = dependencies_.ledger,
                               .reservation = std::move(reservation.value()),
                               .credit = credit_of(uid)},
                              whose(uid), counts_, bad);
  if (!file) return file.error();
  file.value()->be_lane(number);
  descriptors.adopt(place, file.value()->fd());
  Lane lane(process, uid, file.value());
  lane.bad_reported = bad_reported;
  const MutexLock lock(mutex_);
  lanes_.emplace(number, std::move(lane));
  note_size(loading.now);
  return {};
}

// Behind the lanes. A statistic that is gone, or that the uid may not feed any more, is not bound;
// nor is one that has taken these cells.
Result<void> Lanes::load_bindings(const SavedObject& object, const Loading& loading) {
  if (object.format != kBindingsFormat) return other_format(object);
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  Result<void> done;
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(number);
  if (found == lanes_.end()) return no_handed_lanes();
  Lane& lane = found->second;
  while (in.ok() && in.left() != 0) {
    const auto of = in.get<std::uint64_t>();
    const Bound each{of, in.get<std::uint32_t>()};
    if (!in.ok() || each.id >= kLaneIdsMax) return no_handed_lanes();
    const auto is_bound = dependencies_.statistics.bind_cells(each.number, lane.file, each.id);
    if (!is_bound && is_bound.error().code == ErrorCode::kNoSpace) done = is_bound;
    lane.note_bound(each, dependencies_.statistics.subject_of(each.number));
  }
  return done;
}

// If a lane could not be loaded, the others are loaded all the same.
Result<void> Lanes::load_rings(const SavedObject& object, const Loading& loading,
                               TransferredFds& descriptors) {
  if (object.format != kRingsFormat) return other_format(object);
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  Result<void> done;
  const MutexLock lock(mutex_);
  while (in.ok() && in.left() != 0) {
    const auto found = lanes_.find(in.get<std::uint64_t>());
    if (found == lanes_.end()) {
      LaneRings::skip(in);
      done = no_handed_lanes();
    } else if (auto loaded = found->second.rings.load(in, descriptors); !loaded) {
      done = loaded;
    }
  }
  note_with_rings();
  return in.ok() ? done : no_handed_lanes();
}

}  // namespace tallyfs
