// Reading a t-digest by its links, as a digest of another maker requires.
#include <algorithm>
#include <limits>

#include "core/stats3/blob/digest.h"

namespace tallyfs::stats3::blob {
namespace {

// One pass over an untrusted digest.
template <typename Width>
class Reader {
 public:
  Reader(const std::uint8_t* bytes, std::size_t room, Sign sign)
      : data_(*reinterpret_cast<const typename Width::Data*>(bytes)),
        tree_(data_.ctdtree),
        sign_(sign),
        seen_(room) {
    content_.samples = data_.smplcnt;
    content_.compressions = data_.compcnt;
    content_.room = static_cast<int>(room);
  }

  DigestContent run() {
    walk_tree();
    const bool linked = content_.sound && free_places_are_linked();
    for (std::size_t i = 0; i < seen_.size(); ++i) content_.places.push_back(place(i));
    content_.sound = linked && head_is_right() && centroids_are_right() && order_is_as_said();
    return std::move(content_);
  }

 private:
  const auto& node(int i) const { return tree_.arb_nodes[i]; }
  bool is_new(int i) {
    if (i < 0 || i >= content_.room || seen_[static_cast<std::size_t>(i)]) return false;
    seen_[static_cast<std::size_t>(i)] = true;
    return true;
  }
  Centroid place(std::size_t i) const {
    const auto& node = tree_.arb_nodes[i];
    return {static_cast<int>(i), tally_q_of(node.umu, sizeof node.umu * 8, sign_ == Sign::kSigned),
            node.cnt};
  }

  // In order, without trusting the links: each node is entered once.
  void walk_tree() {
    std::vector<int> way;
    int above = ARB_NULLIDX;
    for (int at = tree_.arb_root_idx; at != ARB_NULLIDX || !way.empty();) {
      if (at == ARB_NULLIDX) {
        above = way.back();
        way.pop_back();
        content_.centroids.push_back(place(static_cast<std::size_t>(above)));
        at = node(above).ctdlnk.arbe_right;
        continue;
      }
      content_.sound =
          is_new(at) && node(at).ctdlnk.arbe_parent == above &&
          (node(at).ctdlnk.arbe_color == ARB_BLACK || node(at).ctdlnk.arbe_color == ARB_RED);
      if (!content_.sound) return;
      way.push_back(above = at);
      at = node(at).ctdlnk.arbe_left;
    }
  }

  bool free_places_are_linked() {
    std::size_t count = content_.centroids.size();
    for (int at = tree_.arb_free_idx; at != ARB_NULLIDX; at = node(at).ctdlnk.arbe_right, ++count) {
      if (!is_new(at) || node(at).ctdlnk.arbe_color != ARB_NOCOLOR) return false;
    }
    return count == seen_.size();
  }

  // FreeBSD looks for the smallest and the largest when it needs them, and knows of none until
  // then.
  bool head_is_right() const {
    const auto& centroids = content_.centroids;
    const int first = centroids.empty() ? ARB_NULLIDX : centroids.front().index,
              last = centroids.empty() ? ARB_NULLIDX : centroids.back().index;
    return tree_.arb_maxnodes == content_.room &&
           tree_.arb_curnodes == static_cast<int>(centroids.size()) &&
           (tree_.arb_min_idx == ARB_NULLIDX || tree_.arb_min_idx == first) &&
           (tree_.arb_max_idx == ARB_NULLIDX || tree_.arb_max_idx == last);
  }

  // FreeBSD loses samples, which it has counted.
  bool centroids_are_right() const {
    UInt128 count = 0;
    for (std::size_t i = 0; i < content_.centroids.size(); ++i) {
      const Centroid& each = content_.centroids[i];
      count += each.count;
      if (each.count == 0) return false;
      if (i > 0 && tally_q_compare(content_.centroids[i - 1].mean, each.mean) > 0) return false;
    }
    const auto has_control = [&](const Centroid& each) {
      return (each.mean.raw & 7) == (content_.places[0].mean.raw & 7);
    };
    return std::ranges::all_of(content_.places, has_control) &&
           (count <= data_.smplcnt ||
            data_.smplcnt == std::numeric_limits<decltype(data_.smplcnt)>::max());
  }

  // A digest marked as ours has its centroids in the order of ours.
  bool order_is_as_said() const {
    if (tree_.arb_curnodes == 0 || node(0).ctdlnk.arbe_is_ours == 0) return true;
    for (int i = 0; i < tree_.arb_curnodes; ++i) {
      if (content_.centroids[static_cast<std::size_t>(i)].index != i) return false;
    }
    return true;
  }

  const typename Width::Data& data_;
  const decltype(Width::Data::ctdtree)& tree_;
  const Sign sign_;
  std::vector<bool> seen_;  // by the tree, then by the list of free places
  DigestContent content_;
};

}  // namespace

DigestContent read_digest(const std::uint8_t* data, unsigned dtype, std::size_t room, Sign sign) {
  return dtype == VSD_DTYPE_TDGSTCLUST32 ? Reader<Narrow>(data, room, sign).run()
                                         : Reader<Wide>(data, room, sign).run();
}

}  // namespace tallyfs::stats3::blob
