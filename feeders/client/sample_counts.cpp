#include "feeders/client/sample_counts.h"

namespace tallyfs {

void SampleCounts::read(statistic_counts& counts) const {
  // Read before the count of samples that it is part of.
  const std::uint64_t lost_in_cells = progress_.lost_in_cells();
  const std::uint64_t counted = buffers_.counted_in_cells();
  const LaneProgress::InRings rings = progress_.in_rings();
  counts.confirmed = delivery_.confirmed() + counted - lost_in_cells + rings.confirmed;
  counts.lost = delivery_.lost() + lost_in_cells;
  counts.sent = delivery_.sent() + counted + rings.sent;
  counts.held = held();
  counts.dropped = dropped();
  counts.added = samples_.without_buffer() + records_.added.load() + counted + rings.sent;
  counts.added += buffers_.queued();
}

std::uint64_t SampleCounts::dropped() const {
  return delivery_.refused() + samples_.without_buffer() + records_.dropped.load() +
         buffers_.dropped();
}

}  // namespace tallyfs
