// Builds digests, and has the numbers, the order and the links of centroids. digest_compress.cpp
// makes centroids grow, and digest_quantile.cpp reads quantiles from them.
#include "core/stats3/blob/digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/stats3/blob/digest_scale.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {
namespace {

constexpr unsigned kIntegerBitsMin = 8;
constexpr unsigned kPrecisionMax = 48;

// Centroids of a blob.
template <typename Width>
constexpr std::size_t kPlacesMax = kBlobBytesMax / sizeof(typename Width::Node);

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
  // Sorted samples need no search.
  if (left == 0 || mean < mean_of(base->umu)) return 0;
  if (mean_of(base[left - 1].umu) <= mean) return left;
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
  // Until the first compression, each centroid has samples of one value only.
  if (data_.compcnt != 0 && absorb(at, mean)) return true;
  const bool is_beyond = at == 0 || at == size();
  const bool is_last_place = data_.compcnt != 0 && size() + 1 == room();
  if (is_beyond && is_last_place && put_at_end(at, raw)) return true;
  insert(at, raw);
  if (size() == room()) {
    std::array<std::uint8_t, kPlacesMax<Width>> scratch;
    shrink_to(compress(nodes(), size(), scratch));
  }
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
  auto left = static_cast<int>(kept);
  if (left >= room()) {
    std::vector<std::uint8_t> scratch(kept);
    left = compress(both.data(), left, scratch);
  }
  shrink_to(0);
  for (int i = 0; i < left; ++i) {
    nodes()[i].umu = both[static_cast<std::size_t>(i)].umu;
    nodes()[i].cnt = both[static_cast<std::size_t>(i)].cnt;
    append_links();
  }
}

template class Digest<Narrow>;
template class Digest<Wide>;

}  // namespace tallyfs::stats3::blob
