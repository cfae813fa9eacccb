// Reading a t-digest by its links, as one must who did not make it.
#include <limits>

#include "core/blob/digest.h"

namespace tally::blob {
namespace {

template <typename Width>
DigestContent read(const std::uint8_t* bytes, std::size_t room, Sign sign) {
  const auto& data = *reinterpret_cast<const typename Width::Data*>(bytes);
  const auto& tree = data.ctdtree;
  DigestContent content{
      .samples = data.smplcnt, .compressions = data.compcnt, .room = static_cast<int>(room)};
  std::vector<bool> seen(room);
  const auto centroid = [&](std::size_t i) {
    const auto& node = tree.arb_nodes[i];
    return Centroid{static_cast<int>(i),
                    tally_q_of(node.umu, sizeof node.umu * 8, sign == Sign::kSigned), node.cnt};
  };
  const auto inside = [&](int i) { return i >= 0 && static_cast<std::size_t>(i) < room; };
  // In order, without trusting the links: each node is entered once.
  std::vector<int> way;
  for (int at = tree.arb_root_idx; at != ARB_NULLIDX || !way.empty();) {
    if (at != ARB_NULLIDX) {
      if (!inside(at) || seen[static_cast<std::size_t>(at)]) {
        content.sound = false;
        break;
      }
      seen[static_cast<std::size_t>(at)] = true;
      way.push_back(at);
      at = tree.arb_nodes[at].ctdlnk.arbe_left;
      continue;
    }
    content.centroids.push_back(centroid(static_cast<std::size_t>(way.back())));
    at = tree.arb_nodes[way.back()].ctdlnk.arbe_right;
    way.pop_back();
  }
  UInt128 count = 0;
  for (std::size_t i = 0; i < room; ++i) {
    if (!seen[i]) content.free.push_back(centroid(i));
    content.sound = content.sound && (tree.arb_nodes[i].umu & 7) == (tree.arb_nodes[0].umu & 7);
  }
  for (std::size_t i = 0; i < content.centroids.size(); ++i) {
    const Centroid& each = content.centroids[i];
    count += each.count;
    content.sound = content.sound && each.count > 0 &&
                    (i == 0 || tally_q_compare(content.centroids[i - 1].mean, each.mean) <= 0);
  }
  const auto size = static_cast<int>(content.centroids.size());
  const bool empty = size == 0;
  content.sound =
      content.sound && tree.arb_maxnodes == content.room && tree.arb_curnodes == size &&
      tree.arb_min_idx == (empty ? ARB_NULLIDX : content.centroids.front().index) &&
      tree.arb_max_idx == (empty ? ARB_NULLIDX : content.centroids.back().index) &&
      (tree.arb_free_idx == ARB_NULLIDX || inside(tree.arb_free_idx)) &&
      (count == data.smplcnt || data.smplcnt == std::numeric_limits<decltype(data.smplcnt)>::max());
  return content;
}

}  // namespace

DigestContent read_digest(const std::uint8_t* data, unsigned dtype, std::size_t room, Sign sign) {
  return dtype == VSD_DTYPE_TDGSTCLUST32 ? read<Narrow>(data, room, sign)
                                         : read<Wide>(data, room, sign);
}

}  // namespace tally::blob
