// Longer than most: one class, whose parts share the constants of its scale function.
#include "core/blob/digest.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "core/blob/number.h"

namespace tallyfs::blob {
namespace {

constexpr unsigned kIntegerBitsMin = 8;
constexpr unsigned kPrecisionMax = 48;

// How much farther than their samples reach two centroids are, if there is a gap between them.
constexpr double kGap = 1.5;
// What the spread grows by when too few were merged, and after so many passes the gap, too.
constexpr double kSpreadMore = 1.25, kGapMore = 4;
constexpr int kPassesWithGaps = 3;
// How much more a centroid may grow by single samples than by merging, so that it does not stay
// full for long.
constexpr double kSpreadToAbsorb = 1.5;

// Greater spreads mean fewer and coarser centroids. With 2*pi/d for its root, some 0.65 d centroids
// are left.
double spread_of(int target) {
  constexpr double kRoot = 2 * std::numbers::pi / 1.5;
  return kRoot * kRoot / (static_cast<double>(target) * target);
}

template <typename Count>
Count saturating_add(Count a, Count b) {
  return a > std::numeric_limits<Count>::max() - b ? std::numeric_limits<Count>::max()
                                                   : static_cast<Count>(a + b);
}

template <typename Width>
int build(Sign sign, const vss_tdgst_hlpr_info& info, std::vector<std::uint8_t>& data) {
  using Node = typename Width::Node;
  using Raw = typename Width::Raw;
  const std::size_t bytes = sizeof(typename Width::Data) + std::size_t{info.nctds} * sizeof(Node);
  if (bytes > kBlobBytesMax) return EFBIG;
  const Raw control = static_cast<Raw>(tally_q_control(info.prec));
  const tally_q example = tally_q_of(control, sizeof(Raw) * 8, sign == Sign::kSigned);
  const unsigned bits = example.bits - 3 - static_cast<unsigned>(example.is_signed);
  if (tally_q_fraction(example) + kIntegerBitsMin > bits) return EINVAL;
  data.assign(bytes, 0);
  auto& tree = reinterpret_cast<typename Width::Data*>(data.data())->ctdtree;
  tree.arb_maxnodes = static_cast<std::int16_t>(info.nctds);
  for (std::uint32_t i = 0; i < info.nctds; ++i) tree.arb_nodes[i].umu = control;
  Digest<Width>(data.data(), sign).clear();
  return 0;
}

}  // namespace

int build_digest(unsigned voi_dtype, const vss_tdgst_hlpr_info& info,
                 std::vector<std::uint8_t>& data) {
  if (!is_voi_dtype(voi_dtype) || info.nctds < 2 || info.prec > kPrecisionMax) return EINVAL;
  if (info.nctds > kBlobBytesMax) return EFBIG;
  const Sign sign = sign_of(voi_dtype);
  if (info.tdgst_dtype == VSD_DTYPE_TDGSTCLUST32) return build<Narrow>(sign, info, data);
  if (info.tdgst_dtype == VSD_DTYPE_TDGSTCLUST64) return build<Wide>(sign, info, data);
  return EINVAL;
}

Sign sign_of(unsigned voi_dtype) {
  return with_type(voi_dtype, [](auto type) {
    return kIsSigned<decltype(type)> ? Sign::kSigned : Sign::kUnsigned;
  });
}

std::size_t centroid_room(unsigned dtype, std::size_t bytes) {
  const bool narrow = dtype == VSD_DTYPE_TDGSTCLUST32;
  const std::size_t head = narrow ? sizeof(Narrow::Data) : sizeof(Wide::Data);
  const std::size_t node = narrow ? sizeof(Narrow::Node) : sizeof(Wide::Node);
  return bytes <= head || (bytes - head) % node != 0 ? 0 : (bytes - head) / node;
}

template <typename Width>
unsigned Digest<Width>::fraction_bits() const {
  return tally_q_fraction(tally_q_of(nodes()[0].umu, sizeof(Raw) * 8, sign_ == Sign::kSigned));
}

template <typename Width>
Int128 Digest<Width>::mean_max() const {
  return tally_q_magnitude_max(tally_q_of(0, sizeof(Raw) * 8, sign_ == Sign::kSigned));
}

template <typename Width>
std::int64_t Digest<Width>::mean_of(Raw raw) const {
  if (sign_ == Sign::kUnsigned) return static_cast<std::int64_t>(raw >> 3);
  constexpr int kSignBit = sizeof(Raw) * 8 - 1;
  const auto magnitude = static_cast<std::int64_t>((raw & ~(Raw{1} << kSignBit)) >> 3);
  const auto negative = -static_cast<std::int64_t>(raw >> kSignBit);
  return (magnitude ^ negative) - negative;
}

template <typename Width>
typename Digest<Width>::Raw Digest<Width>::raw_of(std::int64_t mean) const {
  const Raw control = nodes()[0].umu & 7;
  if (mean >= 0) return static_cast<Raw>(static_cast<Raw>(mean) << 3 | control);
  return static_cast<Raw>(static_cast<Raw>(-mean) << 3 | control | Raw{1} << (sizeof(Raw) * 8 - 1));
}

// How many centroids have a mean of at most `mean`.
template <typename Width>
int Digest<Width>::upper_bound(std::int64_t mean) const {
  const Node* base = nodes();
  int left = size();
  if (left == 0) return 0;
  // Without a branch that depends on a mean: they cannot be predicted.
  while (left > 1) {
    const int half = left / 2;
    base += mean_of(base[half - 1].umu) <= mean ? half : 0;
    left -= half;
  }
  return static_cast<int>(base - nodes()) + (mean_of(base->umu) <= mean);
}

template <typename Width>
bool Digest<Width>::add(Int128 sample) {
  const Int128 most = mean_max();
  if (sample > most || sample < -most) return false;
  if (!is_arranged()) arrange();
  const auto mean = static_cast<std::int64_t>(sample);
  const Raw raw = raw_of(mean);
  data_.smplcnt = saturating_add<Count>(data_.smplcnt, 1);
  const int at = upper_bound(mean);
  if (at > 0 && nodes()[at - 1].umu == raw) {
    nodes()[at - 1].cnt = saturating_add<Count>(nodes()[at - 1].cnt, 1);
    return true;
  }
  // As long as nothing was merged, each centroid is samples of one value.
  if (data_.compcnt != 0 && absorb(at, mean)) return true;
  insert(at, raw);
  if (size() == room()) shrink_to(compress(nodes(), size()));
  return true;
}

// Counts a sample, which belongs before centroid `at`, in the nearer of its neighbours, if that may
// grow; not in the first or last one.
template <typename Width>
bool Digest<Width>::absorb(int at, std::int64_t sample) {
  const int last = size() - 1;
  if (at == 0 || at > last) return false;
  const std::int64_t above = mean_of(nodes()[at].umu) - sample,
                     below = sample - mean_of(nodes()[at - 1].umu);
  int nearest = above < below ? at : at - 1;
  if (nearest == 0) nearest = 1;
  if (nearest == last) nearest = last - 1;
  if (nearest == 0) return false;
  Node& node = nodes()[nearest];
  const double weight = static_cast<double>(node.cnt) + 1,
               total = static_cast<double>(data_.smplcnt);
  Count outside = 0;  // samples between this centroid and the nearer end
  if (nearest * 2 < last) {
    for (int i = 0; i < nearest; ++i) outside += nodes()[i].cnt;
  } else {
    for (int i = last; i > nearest; --i) outside += nodes()[i].cnt;
  }
  const double middle = static_cast<double>(outside) + weight / 2;
  if (weight * weight > kSpreadToAbsorb * spread_of(target()) * middle * (total - middle))
    return false;
  const std::int64_t mean = mean_of(node.umu);
  // Rounded at random, by how many samples there were: a heavy centroid's mean moves by less than
  // its last bit at a time, and would not move at all otherwise.
  const double dice = static_cast<double>(data_.smplcnt * 0x9E3779B97F4A7C15u >> 11) * 0x1p-53;
  const double shift = static_cast<double>(sample - mean) / weight + dice;
  node.umu = raw_of(mean + static_cast<std::int64_t>(shift) - (shift < 0));
  node.cnt = saturating_add<Count>(node.cnt, 1);
  return true;
}

template <typename Width>
void Digest<Width>::insert(int at, Raw raw) {
  Node* const begin = nodes();
  // A mean and its count in one move; the links belong to the places.
  constexpr std::size_t kMoved = sizeof(Raw) + sizeof(Count);
  static_assert(offsetof(Node, cnt) == offsetof(Node, umu) + sizeof(Raw));
  std::uint8_t* to = reinterpret_cast<std::uint8_t*>(begin + size()) + offsetof(Node, umu);
  for (int i = size(); i > at; --i, to -= sizeof(Node)) std::memcpy(to, to - sizeof(Node), kMoved);
  begin[at].umu = raw;
  begin[at].cnt = 1;
  append_links();
}

// Puts the centroids into the order of their means, and links them as ours are.
template <typename Width>
[[gnu::noinline]] void Digest<Width>::arrange() {
  Node* const end = nodes() + room();
  const auto centroids_end = std::partition(
      nodes(), end, [](const Node& node) { return node.ctdlnk.arbe_color != ARB_NOCOLOR; });
  std::sort(nodes(), centroids_end,
            [this](const Node& a, const Node& b) { return mean_of(a.umu) < mean_of(b.umu); });
  const auto left = static_cast<int>(centroids_end - nodes());
  data_.ctdtree.arb_curnodes = 0;
  for (int i = 0; i < left; ++i) append_links();
  shrink_to(left);
}

// Counting from 1, centroid k roots the full tree of the centroids around it, as far as there are
// any to its right.
template <typename Width>
void Digest<Width>::append_links() {
  auto& tree = data_.ctdtree;
  const int index = tree.arb_curnodes, k = index + 1;
  const int below = k & -k, above = (k & (k - 1)) - 1;
  Node& node = nodes()[index];
  node.ctdlnk.arbe_left = static_cast<std::int16_t>(below > 1 ? index - below / 2 : ARB_NULLIDX);
  node.ctdlnk.arbe_right = ARB_NULLIDX;
  node.ctdlnk.arbe_parent = static_cast<std::int16_t>(above);
  node.ctdlnk.arbe_color = ARB_BLACK;
  node.ctdlnk.arbe_is_ours = index == 0;
  if (below > 1) nodes()[index - below / 2].ctdlnk.arbe_parent = static_cast<std::int16_t>(index);
  if (above >= 0) {
    nodes()[above].ctdlnk.arbe_right = static_cast<std::int16_t>(index);
  } else {
    tree.arb_root_idx = static_cast<std::int16_t>(index);
  }
  tree.arb_curnodes = static_cast<std::int16_t>(k);
  tree.arb_free_idx = static_cast<std::int16_t>(k < tree.arb_maxnodes ? k : ARB_NULLIDX);
  tree.arb_min_idx = 0;
  tree.arb_max_idx = static_cast<std::int16_t>(index);
}

template <typename Width>
void Digest<Width>::shrink_to(int size) {
  auto& tree = data_.ctdtree;
  const auto control = static_cast<Raw>(nodes()[0].umu & 7);
  for (int i = size; i < tree.arb_maxnodes; ++i) {
    const bool is_last = i + 1 == tree.arb_maxnodes;
    nodes()[i] = Node{};
    nodes()[i].umu = control;
    nodes()[i].ctdlnk.arbe_right = static_cast<std::int16_t>(is_last ? ARB_NULLIDX : i + 1);
    nodes()[i].ctdlnk.arbe_color = ARB_NOCOLOR;
  }
  // Only the way from the root to the last centroid is another one.
  int parent = ARB_NULLIDX;
  tree.arb_root_idx = ARB_NULLIDX;
  for (unsigned rest = static_cast<unsigned>(size), k = 0; rest != 0;
       rest -= std::bit_floor(rest)) {
    k += std::bit_floor(rest);
    const auto index = static_cast<std::int16_t>(k - 1);
    (parent < 0 ? tree.arb_root_idx : nodes()[parent].ctdlnk.arbe_right) = index;
    nodes()[index].ctdlnk.arbe_parent = static_cast<std::int16_t>(parent);
    nodes()[index].ctdlnk.arbe_right = ARB_NULLIDX;
    parent = index;
  }
  tree.arb_curnodes = static_cast<std::int16_t>(size);
  tree.arb_free_idx = static_cast<std::int16_t>(size < tree.arb_maxnodes ? size : ARB_NULLIDX);
  tree.arb_min_idx = size > 0 ? 0 : ARB_NULLIDX;
  tree.arb_max_idx = static_cast<std::int16_t>(size - 1);
}

template <typename Width>
void Digest<Width>::clear() {
  data_.smplcnt = 0;
  data_.compcnt = 0;
  shrink_to(0);
}

// How many centroids may be left after a compression: the more, the finer; the fewer, the longer
// until the next.
template <typename Width>
int Digest<Width>::target() const {
  return std::max(1, room() - std::max(1, room() / 4));
}

template <typename Width>
int Digest<Width>::compress(Node* nodes, int size) {
  UInt128 samples = 0;
  for (int i = 0; i < size; ++i) samples += nodes[i].cnt;
  const auto total = static_cast<double>(samples);
  Limits limits{spread_of(target()), kGap};
  for (int pass = 1; size > target(); ++pass) {
    data_.compcnt = saturating_add<Count>(data_.compcnt, 1);
    size = merge_neighbours(nodes, size, total, limits, data_.compcnt % 2 == 0 ? 1 : -1);
    limits.spread *= kSpreadMore;
    if (pass >= kPassesWithGaps) limits.gap *= kGapMore;
  }
  return size;
}

// Is there room between the samples of centroid `at` and those of the next? Samples that come
// towards each other from two sides leave such a gap, and a centroid across it would count samples
// of both sides in its middle. How far a centroid's own samples reach is told by its other
// neighbour: as far as its weight's share of the distance to that.
template <typename Width>
bool Digest<Width>::is_gap(const Node* nodes, int size, int at, int direction, double gap) const {
  const int next = at + direction, before = at - direction, after = next + direction;
  if (std::min(before, after) < 0 || std::max(before, after) >= size) return false;
  const auto weight = [&](int i) { return static_cast<double>(nodes[i].cnt); };
  const auto distance = [&](int a, int b) {
    return std::abs(static_cast<double>(mean_of(nodes[b].umu) - mean_of(nodes[a].umu)));
  };
  const double here = weight(before) + weight(at), there = weight(next) + weight(after);
  const double reach =
      distance(before, at) * weight(at) * there + distance(next, after) * weight(next) * here;
  return distance(at, next) * here * there > gap * reach;
}

// The neighbours from `first` on that may become one centroid: as far as the spread allows, and as
// there is no gap between them. `before`: samples of the centroids that are done.
template <typename Width>
typename Digest<Width>::Group Digest<Width>::grow_group(const Node* nodes, const Pass& pass,
                                                        int first, double before) const {
  const std::int64_t first_mean = mean_of(nodes[first].umu);
  Group group{.first = first,
              .last = first,
              .mean = first_mean,
              .weight = static_cast<double>(nodes[first].cnt)};
  while (group.last != pass.last) {
    const Node& next = nodes[group.last + pass.direction];
    const double next_weight = static_cast<double>(next.cnt), width = group.weight + next_weight;
    const double middle = before + width / 2;
    if (width * width > pass.limits.spread * middle * (pass.total - middle) ||
        is_gap(nodes, pass.size, group.last, pass.direction, pass.limits.gap))
      break;
    group.mean = mean_of(next.umu);
    group.moment += static_cast<double>(group.mean - first_mean) * next_weight;
    group.weight = width;
    group.last += pass.direction;
  }
  return group;
}

// Writes a group as one centroid into `to`, which may be one of its own.
template <typename Width>
void Digest<Width>::store_group(Node* nodes, const Group& group, int direction, Node& to) const {
  if (group.last == group.first) {
    to.umu = nodes[group.first].umu;
    to.cnt = nodes[group.first].cnt;
    return;
  }
  const std::int64_t first_mean = mean_of(nodes[group.first].umu);
  Count count = 0;
  for (int i = group.first; i != group.last + direction; i += direction)
    count = saturating_add<Count>(count, nodes[i].cnt);
  const double shift = group.moment / group.weight;
  const std::int64_t merged =
      first_mean + static_cast<std::int64_t>(shift + (shift < 0 ? -0.5 : 0.5));
  to.umu = raw_of(direction > 0 ? std::clamp(merged, first_mean, group.mean)
                                : std::clamp(merged, group.mean, first_mean));
  to.cnt = count;
}

// Merges from one end (direction 1: the first) to the other; the first and the last stay unless
// there are no others.
template <typename Width>
int Digest<Width>::merge_neighbours(Node* nodes, int size, double total, Limits limits,
                                    int direction) const {
  const bool keep_ends = size >= 4;
  const int begin = direction > 0 ? 0 : size - 1, end = size - 1 - begin;
  const Pass pass{.size = size,
                  .last = keep_ends ? end - direction : end,
                  .direction = direction,
                  .total = total,
                  .limits = limits};
  int out = keep_ends ? begin + direction : begin, in = out;
  double before = keep_ends ? static_cast<double>(nodes[begin].cnt) : 0;
  for (;; in += direction, out += direction) {
    const Group group = grow_group(nodes, pass, in, before);
    store_group(nodes, group, direction, nodes[out]);
    before += group.weight;
    in = group.last;
    if (in == pass.last) break;
  }
  if (keep_ends) {
    out += direction;
    nodes[out].umu = nodes[end].umu;
    nodes[out].cnt = nodes[end].cnt;
  }
  if (direction > 0) return out + 1;
  for (int i = out; i < size; ++i) {
    nodes[i - out].umu = nodes[i].umu;
    nodes[i - out].cnt = nodes[i].cnt;
  }
  return size - out;
}

template <typename Width>
void Digest<Width>::merge(Digest& other) {
  arrange();
  other.arrange();
  const auto mine = nodes();
  const auto theirs = other.nodes();
  std::vector<Node> both(static_cast<std::size_t>(size() + other.size()));
  std::merge(mine, mine + size(), theirs, theirs + other.size(), both.begin(),
             [this](const Node& a, const Node& b) { return mean_of(a.umu) < mean_of(b.umu); });
  // Equal ones become one, as add() does it.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (kept > 0 && both[kept - 1].umu == both[i].umu) {
      both[kept - 1].cnt = saturating_add<Count>(both[kept - 1].cnt, both[i].cnt);
    } else {
      both[kept++] = both[i];
    }
  }
  data_.smplcnt = saturating_add<Count>(data_.smplcnt, other.data_.smplcnt);
  data_.compcnt = saturating_add<Count>(data_.compcnt, other.data_.compcnt);
  const int left = static_cast<int>(kept) < room() ? static_cast<int>(kept)
                                                   : compress(both.data(), static_cast<int>(kept));
  shrink_to(0);
  for (int i = 0; i < left; ++i) {
    nodes()[i].umu = both[static_cast<std::size_t>(i)].umu;
    nodes()[i].cnt = both[static_cast<std::size_t>(i)].cnt;
    append_links();
  }
}

// Between the middles of two centroids the rank is taken to rise evenly. A centroid that is heavier
// than merging would have made it is many samples of one value: it is as wide as it is heavy, and
// no ramp. Before the first compression that is true of all.
template <typename Width>
std::optional<double> Digest<Width>::quantile(double q) {
  if (size() == 0) return std::nullopt;
  if (!is_arranged()) arrange();
  double total = 0;
  for (int i = 0; i < size(); ++i) total += static_cast<double>(nodes()[i].cnt);
  const double unit = std::ldexp(1.0, -static_cast<int>(fraction_bits()));
  const double spread = 4 * spread_of(target()), wanted = q * total;
  const auto value = [&](int i) { return static_cast<double>(mean_of(nodes()[i].umu)) * unit; };
  double begun = 0, ramp_from = 0, ramp_value = value(0);
  for (int i = 0; i < size(); ++i) {
    const double weight = static_cast<double>(nodes()[i].cnt), middle = begun + weight / 2;
    const bool solid =
        data_.compcnt == 0 || weight <= 1 || weight * weight > spread * middle * (total - middle);
    const double from = solid ? begun : middle, to = solid ? begun + weight : middle;
    if (wanted <= from && i > 0) {
      const double share = from > ramp_from ? (wanted - ramp_from) / (from - ramp_from) : 1;
      return ramp_value + std::clamp(share, 0.0, 1.0) * (value(i) - ramp_value);
    }
    if (wanted <= to) return value(i);
    ramp_from = to;
    ramp_value = value(i);
    begun += weight;
  }
  return value(size() - 1);
}

template class Digest<Narrow>;
template class Digest<Wide>;

}  // namespace tallyfs::blob
