// Saves the numbers of nodes for a successor's tree.
#include <set>
#include <utility>

#include "core/base/timestamp_bytes.h"
#include "core/tree/tree.h"
#include "core/tree/tree_node.h"

namespace tallyfs {
namespace {

// Listings have numbers as their cookies, which are signed.
constexpr NodeId kNumbersEnd = NodeId{1} << 62;
constexpr std::size_t kNameMax = 255;

bool is_entry_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && name.find('/') == name.npos;
}

}  // namespace

// The bytes of save(), parsed and checked.
struct Tree::Saved {
  NodeId first = 0;
  NodeId next = 0;
  Timestamp root_change;
  std::map<NodeId, Expected> nodes;
  std::vector<std::pair<NodeId, Removed>> removed;

  explicit Saved(std::string_view bytes) {
    ByteReader in(bytes);
    first = in.get<std::uint64_t>();
    next = in.get<std::uint64_t>();
    root_change = get_timestamp(in);
    if (first < kFirst || next < first || next > kNumbersEnd) in.fail();
    get_nodes(in);
    get_removed(in);
    is_whole = in.ok() && in.left() == 0;
  }

  bool is_whole = false;

 private:
  // A node is younger than the directory that it is in, so no path leads in a circle.
  std::pair<NodeId, Removed> get_path(ByteReader& in) const {
    const NodeId id = in.get<std::uint64_t>();
    const NodeId parent = in.get<std::uint64_t>();
    const std::string_view name = in.get_text();
    const bool is_below = parent == kRoot || (parent >= first && parent < id);
    if (id < first || id >= next || !is_below || !is_entry_name(name)) in.fail();
    return {id, Removed{parent, std::string(name)}};
  }

  void get_nodes(ByteReader& in) {
    std::set<std::pair<NodeId, std::string_view>> paths;
    for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
      auto [id, path] = get_path(in);
      const NodeKind kind = in.get_flag() ? NodeKind::kDirectory : NodeKind::kFile;
      const Timestamp last_change = get_timestamp(in);
      const auto [node, is_new] = nodes.emplace(id, Expected{std::move(path), kind, last_change});
      if (!is_new || !paths.emplace(node->second.path.parent, node->second.path.name).second) {
        in.fail();
      }
    }
  }

  void get_removed(ByteReader& in) {
    std::set<NodeId> ids;
    for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
      removed.push_back(get_path(in));
      const NodeId id = removed.back().first;
      if (removed.size() > kRemovedMax || nodes.contains(id) || !ids.insert(id).second) in.fail();
    }
  }
};

void Tree::put(ByteWriter& out, NodeId id, const Removed& path) {
  out.put(std::uint64_t{id});
  out.put(std::uint64_t{path.parent});
  out.put_text(path.name);
}

void Tree::put(ByteWriter& out, NodeId id, const Expected& node) {
  put(out, id, node.path);
  out.put(static_cast<std::uint8_t>(node.kind == NodeKind::kDirectory));
  put_timestamp(out, node.last_change);
}

void Tree::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(std::uint64_t{first_});
  out.put(std::uint64_t{next_id_});
  put_timestamp(out, find(kRoot)->last_change);
  std::map<NodeId, Expected> all = expected_;
  for (const auto& [id, node] : nodes_) {
    if (id == kRoot) continue;
    all.emplace(id, Expected{{node->parent, node->name}, node->info().kind, node->last_change});
  }
  out.put(static_cast<std::uint32_t>(all.size()));
  for (const auto& [id, node] : all) put(out, id, node);
  out.put(static_cast<std::uint32_t>(removed_in_order_.size()));
  for (const NodeId id : removed_in_order_) put(out, id, removed_.at(id));
}

Result<void> Tree::expect(std::string_view bytes) {
  Saved saved(bytes);
  if (!saved.is_whole) return Error{ErrorCode::kInvalid, "these are no numbers of nodes"};
  const MutexLock lock(mutex_);
  first_ = saved.first;
  next_id_ = saved.next;
  find(kRoot)->last_change = saved.root_change;
  expected_ = std::move(saved.nodes);
  for (const auto& [id, node] : expected_) {
    expected_names_.emplace(NameKey{node.path.parent, node.path.name}, id);
  }
  for (auto& [id, path] : saved.removed) remember(id, std::move(path));
  return {};
}

std::vector<NodeId> Tree::incomplete() const {
  const MutexLock lock(mutex_);
  std::set<NodeId> directories;
  for (const auto& [id, node] : expected_) {
    if (find_directory(node.path.parent)) directories.insert(node.path.parent);
  }
  return {directories.begin(), directories.end()};
}

void Tree::end_expecting(Timestamp now) {
  const MutexLock lock(mutex_);
  expected_names_.clear();
  for (auto& [id, node] : std::exchange(expected_, {})) {
    const NodeId parent = node.path.parent;
    Node* const above = find_directory(parent);
    if (above) above->last_change = now;
    const bool is_told = observer_ && (above || node.kind == NodeKind::kDirectory);
    if (is_told) observer_->entry_removed(parent, node.path.name, id);
    if (is_told && above) observer_->directory_changed(parent);
    remember(id, std::move(node.path));
  }
}

NodeId Tree::first() const {
  const MutexLock lock(mutex_);
  return first_;
}

}  // namespace tallyfs
