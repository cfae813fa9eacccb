// How centroids of a t-digest grow: by samples and by each other.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "core/blob/digest.h"
#include "core/blob/digest_scale.h"

namespace tallyfs::blob {
namespace {

// How much farther than their samples reach two centroids are, if there is a gap between them, and
// how many times as much it costs to merge across it.
constexpr double kGap = 1.5, kGapCost = 16;
// Pairs of this cost are hardly ever merged, with a gap or without.
constexpr double kDear = 4;
// How many times as much a centroid may count by single samples: what is put into the nearest one
// blurs its ends less than merging does.
constexpr double kAbsorbed = 2;
// How much farther than its own samples reach a sample may be that is put into a centroid.
constexpr double kReach = 3;

// Costs in classes, 16 for each power of two from 1/16 on, and one for what must not be merged: to
// sort costs takes as long as all else. A class is a byte, so that all of them have room on the
// stack: an update allocates nothing.
constexpr std::size_t kClasses = 256;
std::uint8_t class_of(double cost) {
  constexpr std::uint64_t kFirst = std::bit_cast<std::uint64_t>(1.0 / 16) >> 48;
  if (cost == std::numeric_limits<double>::infinity()) return kClasses - 1;
  const std::uint64_t at = std::bit_cast<std::uint64_t>(std::max(cost, 1.0 / 16)) >> 48;
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(at - kFirst, kClasses - 2));
}

// The class in which, counted from the cheapest, one of `wanted` costs is the last.
std::uint8_t dearest_of_cheapest(std::span<const std::uint8_t> classes, int wanted) {
  std::array<std::uint16_t, kClasses> counts{};
  for (const std::uint8_t each : classes) ++counts[each];
  std::size_t at = 0;
  for (int left = wanted; at + 2 < kClasses && (left -= counts[at]) > 0;) ++at;
  return static_cast<std::uint8_t>(at);
}

}  // namespace

template <typename Width>
double Digest<Width>::distance(const Node& a, const Node& b) const {
  return std::abs(static_cast<double>(mean_of(b.umu)) - static_cast<double>(mean_of(a.umu)));
}

// Is a sample no farther from a centroid than those of its own may be? How far those reach is told
// by the neighbour on the other side: as far as the centroid's share of the distance to that.
template <typename Width>
bool Digest<Width>::is_near(double off, const Node& node, const Node& neighbour) const {
  return std::abs(off) * (weight(node) + weight(neighbour)) <=
         kReach * distance(node, neighbour) * weight(node);
}

// The middle rank of centroid `at`, summed from the nearer end.
template <typename Width>
double Digest<Width>::middle_of(int at) const {
  const Node* const node = nodes();
  Count outside = 0;
  if (at * 2 < size()) {
    for (int i = 0; i < at; ++i) outside += node[i].cnt;
    return static_cast<double>(outside) + static_cast<double>(node[at].cnt) / 2;
  }
  for (int i = size() - 1; i > at; --i) outside += node[i].cnt;
  return static_cast<double>(data_.smplcnt) - static_cast<double>(outside) -
         static_cast<double>(node[at].cnt) / 2;
}

// Counts a sample, which belongs before centroid `at`, in the nearer of its neighbours, if that may
// grow and the sample is near enough; not in the first or last one.
template <typename Width>
bool Digest<Width>::absorb(int at, std::int64_t sample) {
  const int last = size() - 1;
  if (at == 0 || at > last || last < 2) return false;
  const std::int64_t above = mean_of(nodes()[at].umu) - sample,
                     below = sample - mean_of(nodes()[at - 1].umu);
  const int nearest = std::clamp(above < below ? at : at - 1, 1, last - 1);
  Node& node = nodes()[nearest];
  const std::int64_t mean = mean_of(node.umu);
  const double off = static_cast<double>(sample) - static_cast<double>(mean);
  if (!is_near(off, node, nodes()[off > 0 ? nearest - 1 : nearest + 1])) return false;
  const double weight = static_cast<double>(node.cnt) + 1;
  const DigestScale scale(static_cast<double>(data_.smplcnt), target());
  if (weight > kAbsorbed * scale.most(middle_of(nearest))) return false;
  // Rounded at random, by how many samples there were: a heavy centroid's mean moves by less than
  // its last bit at a time, and would not move at all otherwise.
  const double dice = static_cast<double>(data_.smplcnt * 0x9E3779B97F4A7C15u >> 11) * 0x1p-53;
  const double shift = off / weight + dice;
  node.umu = raw_of(mean + static_cast<std::int64_t>(shift) - (shift < 0));
  node.cnt = saturating_add<Count>(node.cnt, 1);
  return true;
}

// How many centroids may be left after a compression: the more, the finer; the fewer, the longer
// until the next.
template <typename Width>
int Digest<Width>::target() const {
  return std::max(1, room() - std::max(1, room() / 10));
}

// What it costs to merge centroid `at` with the next: how many times as much as it may, the two
// would count; more if there is room between the samples of the two. Samples that come towards each
// other from two sides leave such a gap, and a centroid across it would count samples of both sides
// in its middle. The first and the last are not merged unless there are no others.
// before: the samples of the centroids before it.
template <typename Width>
double Digest<Width>::cost_at(const Node* nodes, int size, int at, double before,
                              const DigestScale& scale) const {
  const int kept = size >= 4 ? 1 : 0;
  if (at < kept || at + 1 + kept >= size) return std::numeric_limits<double>::infinity();
  const Node* const node = nodes + at;
  const double a = weight(node[0]), b = weight(node[1]);
  const double cost = (a + b) / scale.most(before + (a + b) / 2);
  if (!kept || cost > kDear) return cost;
  const double left = weight(node[-1]) + a, right = b + weight(node[2]);
  const double reach = distance(node[-1], node[0]) * a * right +
                       distance(node[1], node[2]) * b * left;
  return distance(node[0], node[1]) * left * right > kGap * reach ? cost * kGapCost : cost;
}

template <typename Width>
typename Digest<Width>::Node Digest<Width>::merged(Node a, const Node& b) const {
  const std::int64_t low = mean_of(a.umu), high = mean_of(b.umu);
  const auto of_b = static_cast<double>(b.cnt);
  const double shift = static_cast<double>(high - low) * of_b / (of_b + static_cast<double>(a.cnt));
  a.umu = raw_of(std::min(high, low + static_cast<std::int64_t>(shift + 0.5)));
  a.cnt = saturating_add<Count>(a.cnt, b.cnt);
  return a;
}

// Merges at least one of the `wanted` cheapest pairs, and few others. Of two that share a centroid,
// the cheaper one.
template <typename Width>
int Digest<Width>::merge_cheapest(Node* nodes, int size, int wanted,
                                  std::span<std::uint8_t> classes) const {
  double total = 0;
  for (int i = 0; i < size; ++i) total += weight(nodes[i]);
  const DigestScale scale(total, target());
  classes = classes.first(static_cast<std::size_t>(size));
  double before = 0;
  for (int i = 0; i < size; before += weight(nodes[i++])) {
    classes[static_cast<std::size_t>(i)] = class_of(cost_at(nodes, size, i, before, scale));
  }
  const std::uint8_t dearest = dearest_of_cheapest(classes, wanted);
  // Their costs are needed only where two are of one class.
  const auto is_cheaper_than_next = [&](int at) {
    const std::uint8_t* const its = &classes[static_cast<std::size_t>(at)];
    if (its[0] != its[1]) return its[0] < its[1];
    return cost_at(nodes, size, at, before, scale) <=
           cost_at(nodes, size, at + 1, before + weight(nodes[at]), scale);
  };
  before = 0;
  int out = 0;
  for (int in = 0; in < size; ++in, ++out) {
    const bool merges = in + 1 < size && classes[static_cast<std::size_t>(in)] <= dearest &&
                        is_cheaper_than_next(in);
    before += weight(nodes[in]) + (merges ? weight(nodes[in + 1]) : 0);
    const Node node = merges ? merged(nodes[in], nodes[in + 1]) : nodes[in];
    nodes[out].umu = node.umu;  // links belong to places
    nodes[out].cnt = node.cnt;
    in += merges;
  }
  return out;
}

template <typename Width>
int Digest<Width>::compress(Node* nodes, int size, std::span<std::uint8_t> scratch) {
  data_.compcnt = saturating_add<Count>(data_.compcnt, 1);
  while (size > target()) size = merge_cheapest(nodes, size, size - target(), scratch);
  return size;
}

template bool Digest<Narrow>::absorb(int, std::int64_t);
template bool Digest<Wide>::absorb(int, std::int64_t);
template int Digest<Narrow>::target() const;
template int Digest<Wide>::target() const;
template int Digest<Narrow>::compress(Node*, int, std::span<std::uint8_t>);
template int Digest<Wide>::compress(Node*, int, std::span<std::uint8_t>);

}  // namespace tallyfs::blob
