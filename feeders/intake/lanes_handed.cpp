// Lanes as the next server of the mount goes on with them: the same files, how far their rings were
// read, and the pages that tell feeders so.
#include <string>
#include <utility>
#include <vector>

#include "core/base/reservation.h"
#include "feeders/intake/lanes.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kLanesFormat = 1;
constexpr std::uint16_t kRingsFormat = 1;

Error no_handed_lanes() { return {ErrorCode::kInvalid, "not lanes as they are handed on"}; }

}  // namespace

void Lanes::hand_on(ObjectSink& sink, HandedDescriptors& descriptors) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    out.put(last_number_);
    for (const auto& [number, lane] : lanes_) {
      out.put(number);
      out.put(std::int32_t{lane.process});
      out.put(std::uint32_t{lane.uid});
      out.put(static_cast<std::uint32_t>(lane.file->bytes()));
      out.put(descriptors.add(lane.file->fd()));
      out.put(std::uint32_t{lane.file->bad()});
      out.put(std::uint32_t{lane.bad_reported});
      out.put(static_cast<std::uint32_t>(lane.bound.size()));
      for (const Bound& each : lane.bound) {
        out.put(each.number);
        out.put(each.id);
      }
    }
  }
  if (!sink.put(saved_object(SavedKind::kLanes, kLanesFormat, "lanes", bytes))) return;
  hand_on_rings(sink, descriptors);
}

void Lanes::hand_on_rings(ObjectSink& sink, HandedDescriptors& descriptors) {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    for (const std::uint64_t number : with_rings_) {
      out.put(number);
      lanes_.find(number)->second.rings.save(out, descriptors);
    }
  }
  sink.put(saved_object(SavedKind::kLaneRings, kRingsFormat, "rings", bytes));
}

Result<void> Lanes::load(const SavedObject& object, const Loading& loading,
                         HandedDescriptors& descriptors) {
  if (is_of(object, SavedKind::kLaneRings)) return load_rings(object, loading, descriptors);
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

// A feeder goes on counting in its lane, so it is kept where its uid has no more room for it. A
// statistic that is gone, or that the uid may not feed any more, is not bound.
Result<void> Lanes::load_lane(ByteReader& in, const Loading& loading,
                              HandedDescriptors& descriptors) {
  const auto number = in.get<std::uint64_t>();
  const pid_t process = in.get<std::int32_t>();
  const uid_t uid = in.get<std::uint32_t>();
  const auto bytes = in.get<std::uint32_t>();
  const auto place = in.get<std::uint32_t>();
  const auto bad = in.get<std::uint32_t>();
  const auto bad_reported = in.get<std::uint32_t>();
  std::vector<Bound> bound;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    const auto of = in.get<std::uint64_t>();
    bound.push_back({of, in.get<std::uint32_t>()});
  }
  if (!in.ok()) return no_handed_lanes();
  auto reservation = Reservation::create(ports_.ledger, uid, {});
  if (!reservation) return reservation.error();
  (void)reservation.value().grow({.bytes = charged(bytes)});
  auto file = LaneFile::adopt(descriptors.take(place), bytes,
                              {.ledger = ports_.ledger,
                               .reservation = std::move(reservation.value()),
                               .credit = credit_of(uid)},
                              whose(uid), counts_, bad);
  if (!file) return file.error();
  Lane lane(process, uid, file.value());
  lane.bad_reported = bad_reported;
  Result<void> done;
  for (const Bound& each : bound) {
    const auto is_bound = ports_.statistics.bind_cells(each.number, lane.file, each.id);
    if (!is_bound && is_bound.error().code == ErrorCode::kNoSpace) done = is_bound;
    lane.note_bound(each, ports_.statistics.subject_of(each.number));
  }
  const MutexLock lock(mutex_);
  lanes_.emplace(number, std::move(lane));
  note_size(loading.now);
  return done;
}

// Of a lane that could not be loaded, the others' are taken all the same.
Result<void> Lanes::load_rings(const SavedObject& object, const Loading& loading,
                               HandedDescriptors& descriptors) {
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
