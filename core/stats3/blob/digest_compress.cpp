// How centroids of a t-digest grow: by samples and by each other.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/digest_scale.h"

namespace tallyfs::stats3::blob {
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

// A pair that costs no more is merged for a sample beyond all others, however cheap pairs are that
// are farther away. Compressions merge dearer ones, too.
constexpr double kCheap = 1.25;

// Costs in classes, 16 for each power of two from 1/16 on, and one for what must not be merged: to
// sort costs takes as long as all else. A class is a byte, so that all of them have room on the
// stack: an update allocates nothing.
constexpr std::size_t kClasses = 256;
constexpr std::uint8_t kNever = kClasses - 1;
constexpr std::uint64_t kFirstClass = std::bit_cast<std::uint64_t>(1.0 / 16) >> 48;
constexpr double kCheapest = 1.0 / 16,
                 kDearest = std::bit_cast<double>((kFirstClass + kClasses - 2) << 48);
template <typename Number>
BitsOf<Number> class_of(Number cost) {
  const Number least = Number{} + kCheapest, most = Number{} + kDearest;
  const Number bounded = cost < least ? least : cost > most ? most : cost;
  return (std::bit_cast<BitsOf<Number>>(bounded) >> 48) - kFirstClass;
}

// Centroids that are looked at together, as numbers: the pairs of each from the second one on with
// the next, and the neighbours of those.
struct Stretch {
  static constexpr int kPairs = 32;

  std::array<double, kPairs + 4> weights, means;
  std::array<double, kPairs + 2> before;  // samples before the first of each pair

  // Behind an odd number of pairs stands any other.
  void fill_up(std::size_t pairs) {
    weights[pairs + 3] = means[pairs + 3] = 1;
    before[pairs] = 0;
  }
  static TwoNumbers two(const double* at) {
    TwoNumbers both;
    std::memcpy(&both, at, sizeof both);
    return both;
  }
  static TwoNumbers distance(const double* at) {
    const TwoNumbers step = two(at + 1) - two(at);
    return step < 0 ? -step : step;
  }
  // cost_at() of the pairs `at` and the next.
  TwoNumbers costs(std::size_t at, const DigestScale& scale) const {
    const double *const w = &weights[at], *const m = &means[at];
    const TwoNumbers a = two(w + 1), b = two(w + 2), left = two(w) + a, right = b + two(w + 3);
    const TwoNumbers cost = (a + b) / scale.most(two(&before[at]) + (a + b) / 2);
    const TwoNumbers reach = distance(m) * a * right + distance(m + 2) * b * left;
    const TwoNumbers across = distance(m + 1) * left * right;
    const auto has_gap = (across > kGap * reach) & (cost <= kDear);
    return has_gap ? cost * kGapCost : cost;
  }
};

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

// The cost of merging centroid `at` with the next: their common count, divided by the count that is
// allowed there. A gap between the samples of the two adds to the cost. Samples that approach each
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
  return !kept || cost > kDear || !has_gap(node) ? cost : cost * kGapCost;
}

// Between the centroids of a pair, neither of which is the first or the last.
template <typename Width>
bool Digest<Width>::has_gap(const Node* pair) const {
  const double a = weight(pair[0]), b = weight(pair[1]);
  const double left = weight(pair[-1]) + a, right = b + weight(pair[2]);
  const double reach =
      distance(pair[-1], pair[0]) * a * right + distance(pair[1], pair[2]) * b * left;
  return distance(pair[0], pair[1]) * left * right > kGap * reach;
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

// The class of each pair by cost_at(), two at a time.
template <typename Width>
void Digest<Width>::classify(const Node* nodes, int size, const DigestScale& scale,
                             std::span<std::uint8_t> classes) const {
  if (size < 4) {
    double before = 0;
    for (int i = 0; i < size; before += weight(nodes[i++])) {
      const double cost = cost_at(nodes, size, i, before, scale);
      classes[static_cast<std::size_t>(i)] =
          i + 1 == size ? kNever : static_cast<std::uint8_t>(class_of(cost));
    }
    return;
  }
  Stretch stretch;
  double before = weight(nodes[0]);
  const int end = size - 2;
  for (int begin = 1; begin < end; begin += Stretch::kPairs) {
    const int pairs = std::min(Stretch::kPairs, end - begin);
    const Node* const node = nodes + begin - 1;
    for (int i = 0; i < pairs + 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      stretch.weights[at] = weight(node[i]);
      stretch.means[at] = static_cast<double>(mean_of(node[i].umu));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
      stretch.before[i] = before;
      before += stretch.weights[i + 1];
    }
    stretch.fill_up(static_cast<std::size_t>(pairs));
    for (int i = 0; i < pairs; i += 2) {
      const auto both = class_of(stretch.costs(static_cast<std::size_t>(i), scale));
      std::uint8_t* const its = &classes[static_cast<std::size_t>(begin + i)];
      its[0] = static_cast<std::uint8_t>(both[0]);
      its[1] = static_cast<std::uint8_t>(both[1]);
    }
  }
  for (const int i : {0, size - 2, size - 1}) classes[static_cast<std::size_t>(i)] = kNever;
}

// Merges at least one of the `wanted` cheapest pairs, and few others. Of two that share a centroid,
// the cheaper one. Classes become those of the pairs that are left.
template <typename Width>
int Digest<Width>::merge_cheapest(Node* nodes, int size, int wanted, const DigestScale& scale,
                                  std::span<std::uint8_t> classes) const {
  const std::uint8_t dearest =
      dearest_of_cheapest(classes.first(static_cast<std::size_t>(size)), wanted);
  double before = 0;
  // Their costs are needed only where two are of one class.
  const auto is_cheaper_than_next = [&](int at) {
    const std::uint8_t* const its = &classes[static_cast<std::size_t>(at)];
    if (its[0] != its[1]) return its[0] < its[1];
    return cost_at(nodes, size, at, before, scale) <=
           cost_at(nodes, size, at + 1, before + weight(nodes[at]), scale);
  };
  std::array<double, 4> befores{};  // the samples before the last four that are left
  int out = 0, stale_end = 0;       // pairs before it may have another cost
  for (int in = 0; in < size; ++in, ++out) {
    const bool merges = in + 1 < size && classes[static_cast<std::size_t>(in)] <= dearest &&
                        is_cheaper_than_next(in);
    const Node node = merges ? merged(nodes[in], nodes[in + 1]) : nodes[in];
    befores[static_cast<std::size_t>(out % 4)] = before;
    before += weight(nodes[in]) + (merges ? weight(nodes[in + 1]) : 0);
    nodes[out].umu = node.umu;  // links belong to places
    nodes[out].cnt = node.cnt;
    classes[static_cast<std::size_t>(out)] = classes[static_cast<std::size_t>(in)];
    if (merges) stale_end = out + 2;
    in += merges;
    // All neighbours of this pair are there now. The first pair is never merged.
    if (const int pair = out - 2; pair > 0 && pair < stale_end) {
      const double its = befores[static_cast<std::size_t>(pair % 4)];
      classes[static_cast<std::size_t>(pair)] =
          static_cast<std::uint8_t>(class_of(cost_at(nodes, out + 1, pair, its, scale)));
    }
  }
  if (out < 4) {
    classify(nodes, out, scale, classes);
  } else {
    classes[static_cast<std::size_t>(out - 2)] = classes[static_cast<std::size_t>(out - 1)] =
        kNever;
  }
  return out;
}

template <typename Width>
int Digest<Width>::compress(Node* nodes, int size, std::span<std::uint8_t> scratch) {
  data_.compcnt = saturating_add<Count>(data_.compcnt, 1);
  if (size <= target()) return size;
  double total = 0;
  for (int i = 0; i < size; ++i) total += weight(nodes[i]);
  const DigestScale scale(total, target());
  classify(nodes, size, scale, scratch);
  while (size > target()) size = merge_cheapest(nodes, size, size - target(), scale, scratch);
  return size;
}

// Makes a sample beyond all others the first or the last centroid of a digest that has no room for
// one more: the nearest cheap pair is merged for it. Sorted samples would need a compression for
// each few of them, and falling ones would shift all others. False: no pair is cheap.
template <typename Width>
bool Digest<Width>::put_at_end(int at, Raw raw) {
  const DigestScale scale(static_cast<double>(data_.smplcnt), target());
  const int last = size() - 1, step = at == 0 ? 1 : -1;
  Node* const end = at == 0 ? nodes() : nodes() + last;
  Node* near = end + step;
  double outside = 1 + weight(*end);
  // The centroid at the other end is not merged, and a pair has two neighbours.
  for (int pairs = last - 2;; near += step) {
    if (pairs-- <= 0) return false;
    const double both = weight(near[0]) + weight(near[step]), off = outside + both / 2;
    const double rank = at == 0 ? off : static_cast<double>(data_.smplcnt) - off;
    if (both <= kCheap * scale.most(rank) && !has_gap(std::min(near, near + step))) break;
    outside += weight(*near);
  }
  const auto put = [](Node& to, const Node& node) {
    to.umu = node.umu;  // links belong to places
    to.cnt = node.cnt;
  };
  put(near[step], merged(*std::min(near, near + step), *std::max(near, near + step)));
  for (; near != end; near -= step) put(*near, near[-step]);
  end->umu = raw;
  end->cnt = 1;
  return true;
}

template bool Digest<Narrow>::put_at_end(int, Raw);
template bool Digest<Wide>::put_at_end(int, Raw);
template bool Digest<Narrow>::absorb(int, std::int64_t);
template bool Digest<Wide>::absorb(int, std::int64_t);
template int Digest<Narrow>::target() const;
template int Digest<Wide>::target() const;
template int Digest<Narrow>::compress(Node*, int, std::span<std::uint8_t>);
template int Digest<Wide>::compress(Node*, int, std::span<std::uint8_t>);

}  // namespace tallyfs::stats3::blob
