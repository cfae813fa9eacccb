// t-digests: quantiles of any number of samples from a bounded number of centroids (Dunning and
// Ertl, "Computing extremely accurate quantiles using t-digests"). The layout is FreeBSD's,
// voistatdata_tdgstclust32 and 64 in tally/stats.h; the arithmetic is ours.
//
// A digest that another library built is taken as it is, and rearranged before its first use here.
// In ours, centroids stand in the array in the order of their means, and are linked to a search
// tree whose shape depends on their number only: the number whose binary digits end in n zeros
// roots a full tree of height n+1, so that one more centroid changes two links. A sample becomes a
// centroid of its own, or counts in one of exactly its value, or, from the first compression on, in
// the nearest one, if that may grow (digest_scale.h). When there is no room left, the cheapest
// pairs of neighbours are merged: those whose common count is smallest in proportion to the count
// that digest_scale.h allows there. A sample beyond all others merges the cheap pair nearest to its
// end. The first and the last centroid are never merged, so that the smallest and the largest
// sample stay known.
//
// Adding a sample allocates nothing, so that a signal handler may do it to a blob of its own.
// Confined to the owner of the blob; reading a quantile may rearrange it, too. Bytes of an
// untrusted sender have passed check_blob().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/int128.h"
#include "core/stats3/blob/layout.h"
#include "tally/qmath.h"

namespace tallyfs::stats3::blob {

class DigestScale;

enum class Sign { kUnsigned, kSigned };

// The differences between digests of 32 and of 64 bits.
struct Narrow {
  using Data = voistatdata_tdgstclust32;
  using Node = voistatdata_tdgstctd32;
  using Raw = std::uint32_t;
  using Count = std::uint32_t;
};
struct Wide {
  using Data = voistatdata_tdgstclust64;
  using Node = voistatdata_tdgstctd64;
  using Raw = std::uint64_t;
  using Count = std::uint64_t;
};

// Means are signed if the samples are.
Sign sign_of(unsigned voi_dtype);

// The initial data. 0; EINVAL, EFBIG: see vss_tdgst_hlpr_info.
int build_digest(unsigned voi_dtype, const vss_tdgst_hlpr_info& info,
                 std::vector<std::uint8_t>& data);

// How many centroids `bytes` of such a digest have room for; 0 if it cannot have that size.
std::size_t centroid_room(unsigned dtype, std::size_t bytes);

// A digest in a blob.
template <typename Width>
class Digest {
 public:
  using Node = typename Width::Node;
  using Raw = typename Width::Raw;
  using Count = typename Width::Count;

  Digest(std::uint8_t* data, Sign sign)
      : data_(*reinterpret_cast<typename Width::Data*>(data)), sign_(sign) {}

  int size() const { return data_.ctdtree.arb_curnodes; }
  int room() const { return data_.ctdtree.arb_maxnodes; }
  unsigned fraction_bits() const;
  // The largest absolute value of a mean, times 2^fraction_bits().
  Int128 mean_max() const;

  // sample: its value times 2^fraction_bits(). False: it is beyond mean_max(), and was not added.
  bool add(Int128 sample);
  // Adds the samples of `other`, which has the same type, sign, room and fraction. May rearrange
  // it.
  void merge(Digest& other);
  void clear();
  // See stats_voistat_fetch_quantile(). nullopt: there are no samples.
  std::optional<double> quantile(double q);

 private:
  bool is_arranged() const { return size() > 0 && nodes()[0].ctdlnk.arbe_is_ours != 0; }
  void arrange();
  Node* nodes() { return data_.ctdtree.arb_nodes; }
  const Node* nodes() const { return data_.ctdtree.arb_nodes; }
  std::int64_t mean_of(Raw raw) const;
  Raw raw_of(std::int64_t mean) const;
  int upper_bound(std::int64_t mean) const;
  bool absorb(int at, std::int64_t sample);
  bool put_at_end(int at, Raw raw);
  void insert(int at, Raw raw);
  void append_links();
  void shrink_to(int size);
  // scratch: a byte for each of the nodes.
  int compress(Node* nodes, int size, std::span<std::uint8_t> scratch);
  void classify(const Node* nodes, int size, const DigestScale& scale,
                std::span<std::uint8_t> classes) const;
  int merge_cheapest(Node* nodes, int size, int wanted, const DigestScale& scale,
                     std::span<std::uint8_t> classes) const;
  double cost_at(const Node* nodes, int size, int at, double before,
                 const DigestScale& scale) const;
  bool has_gap(const Node* pair) const;
  Node merged(Node a, const Node& b) const;
  double distance(const Node& a, const Node& b) const;
  bool is_near(double off, const Node& node, const Node& neighbour) const;
  static double weight(const Node& node) { return static_cast<double>(node.cnt); }
  double middle_of(int at) const;
  int target() const;

  typename Width::Data& data_;
  Sign sign_;
};

// Calls `function` with the Digest that `data` contains.
template <typename Function>
decltype(auto) with_digest(unsigned dtype, std::uint8_t* data, Sign sign, Function&& function) {
  if (dtype == VSD_DTYPE_TDGSTCLUST32) return function(Digest<Narrow>(data, sign));
  return function(Digest<Wide>(data, sign));
}

// One centroid as it is shown.
struct Centroid {
  int index;  // its place in the array
  tally_q mean;
  std::uint64_t count;
};
// The content of a digest, for rendering: counters, the centroids in the order of the tree, and all
// places of the array, in its order.
struct DigestContent {
  std::uint64_t samples = 0, compressions = 0;
  int room = 0;
  std::vector<Centroid> centroids, places;
  // True: the tree reaches each centroid once, in order, the list of free places contains all other
  // places, and links, colours and counts are in range.
  bool sound = true;
};
// Follows the links, as a blob of FreeBSD's needs it, and never leaves the `room` centroids that
// the data has.
DigestContent read_digest(const std::uint8_t* data, unsigned dtype, std::size_t room, Sign sign);

}  // namespace tallyfs::stats3::blob
