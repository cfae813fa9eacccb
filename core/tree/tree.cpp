#include "core/tree/tree.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <utility>

#include "core/base/keyed_hash.h"
#include "core/tree/tree_node.h"

namespace tallyfs {

namespace {

Error stale() { return {ErrorCode::kStale, "it was removed meanwhile"}; }

}  // namespace

std::size_t hash_value(const Tree::NameKey& key) {
  std::size_t seed = keyed_hash(key.name);
  boost::hash_combine(seed, key.parent);
  return seed;
}

std::size_t Tree::ByName::operator()(const NameKey& key) const { return hash_value(key); }
std::size_t Tree::ByName::operator()(const Node* node) const { return hash_value(key_of(node)); }
Tree::NameKey Tree::ByName::key_of(const Node* node) { return {node->parent, node->name}; }

Tree::Tree(Timestamp now, NodeId first) : first_(first), next_id_(first) {
  auto root = std::make_unique<Node>(
      Node{.id = kRoot, .parent = kRoot, .audience = {0755}, .last_change = now});
  root->part = std::make_unique<DirectoryPart>(DirectoryPart{std::make_shared<Directory>()});
  const MutexLock lock(mutex_);
  nodes_.emplace(kRoot, std::move(root));
}

Tree::~Tree() = default;

Tree::Node* Tree::find(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.get();
}

Tree::Node* Tree::find_directory(NodeId id) const {
  Node* node = find(id);
  return node && node->directory() ? node : nullptr;
}

NodeId Tree::add(NodeId parent, std::unique_ptr<Node> node, Timestamp now) {
  const MutexLock lock(mutex_);
  Node* const above = find_directory(parent);
  if (!above) return 0;
  node->parent = parent;
  const auto expected = number(*node);
  node->last_change = expected.value_or(now);
  if (!expected) above->last_change = now;
  auto& siblings = above->directory()->children;
  siblings.insert(std::ranges::upper_bound(siblings, node->id, {}, &Node::id), node.get());
  if (node->directory()) above->directory()->subdirectories += 1;
  names_.insert(node.get());
  const NodeId id = node->id;
  nodes_.emplace(id, std::move(node));
  if (observer_) observer_->directory_changed(parent);
  return id;
}

// Gives the node its number. The last change of one that was expected.
std::optional<Timestamp> Tree::number(Node& node) {
  const auto name = expected_names_.find(NameKey{node.parent, node.name});
  const NodeKind kind = node.directory() ? NodeKind::kDirectory : NodeKind::kFile;
  const auto found = name == expected_names_.end() ? expected_.end() : expected_.find(name->second);
  if (found == expected_.end() || found->second.kind != kind) {
    node.id = next_id_++;
    return std::nullopt;
  }
  node.id = found->first;
  const Timestamp last_change = found->second.last_change;
  expected_names_.erase(name);
  expected_.erase(found);
  return last_change;
}

NodeId Tree::add_directory(NodeId parent, std::string_view name, std::shared_ptr<Directory> rules,
                           Timestamp now, Audience audience) {
  auto node = std::make_unique<Node>(Node{.name = std::string(name), .audience = audience});
  node->part = std::make_unique<DirectoryPart>(DirectoryPart{std::move(rules)});
  return add(parent, std::move(node), now);
}

NodeId Tree::add_file(NodeId parent, std::string_view name, Audience audience,
                      std::shared_ptr<File> file, Timestamp now) {
  return add(parent,
             std::make_unique<Node>(
                 Node{.name = std::string(name), .audience = audience, .part = std::move(file)}),
             now);
}

void Tree::remove(std::span<const NodeId> ids, Timestamp now) {
  std::vector<std::unique_ptr<Node>> removed;  // dies after the lock: a File may be its last owner
  const MutexLock lock(mutex_);
  std::vector<Node*> gone;
  for (const NodeId id : ids) {
    Node* const node = id == kRoot ? nullptr : find(id);
    if (node) gone.push_back(node);
  }
  std::ranges::sort(gone, {}, [](const Node* node) { return std::pair(node->parent, node->id); });
  for (auto first = gone.begin(); first != gone.end();) {
    const auto next = std::ranges::upper_bound(first, gone.end(), (*first)->parent, {},
                                               &Node::parent);
    remove_children(*find_directory((*first)->parent), {first, next}, now);
    first = next;
  }
  for (Node* const node : gone) take_out(*node, removed);
}

void Tree::remove_children(Node& above, std::span<Node* const> gone, Timestamp now) {
  auto& siblings = above.directory()->children;
  std::vector<std::vector<Node*>::iterator> places;
  for (Node* const node : gone) {
    places.push_back(std::ranges::lower_bound(siblings, node->id, {}, &Node::id));
    if (node->directory()) above.directory()->subdirectories -= 1;
    if (observer_) observer_->entry_removed(above.id, node->name, node->id);
  }
  for (const auto place : places) *place = nullptr;
  siblings.erase(std::remove(places.front(), siblings.end(), nullptr), siblings.end());
  above.last_change = now;
  if (observer_) observer_->directory_changed(above.id);
}

void Tree::take_out(Node& node, std::vector<std::unique_ptr<Node>>& removed) {
  if (node.directory()) {
    for (Node* child : node.directory()->children) {
      if (observer_ && child->directory()) {
        observer_->entry_removed(node.id, child->name, child->id);
      }
      take_out(*child, removed);
    }
  }
  names_.erase(&node);
  remember(node.id, {node.parent, node.name});
  const auto found = nodes_.find(node.id);
  removed.push_back(std::move(found->second));
  nodes_.erase(found);
}

void Tree::remember(NodeId id, Removed removed) {
  if (removed_in_order_.size() == kRemovedMax) {
    removed_.erase(removed_in_order_.front());
    removed_in_order_.pop_front();
  }
  removed_.emplace(id, std::move(removed));
  removed_in_order_.push_back(id);
}

const Tree::Removed* Tree::path_without_node(NodeId id) const {
  if (const auto removed = removed_.find(id); removed != removed_.end()) return &removed->second;
  const auto expected = expected_.find(id);
  return expected == expected_.end() ? nullptr : &expected->second.path;
}

Result<Tree::Path> Tree::path_of(NodeId id) const {
  const MutexLock lock(mutex_);
  Path path{.from = id};
  while (!find(path.from)) {
    const Removed* const removed = path_without_node(path.from);
    if (!removed) return stale();
    path.names.push_back(removed->name);
    path.from = removed->parent;
  }
  std::ranges::reverse(path.names);
  return path;
}

Result<NodeInfo> Tree::lookup(NodeId directory, std::string_view name) const {
  const MutexLock lock(mutex_);
  if (!find_directory(directory)) return stale();
  const auto found = names_.find(NameKey{directory, name});
  if (found == names_.end()) return Error{ErrorCode::kNotFound, "no such entry"};
  return (*found)->info();
}

Result<NodeInfo> Tree::info(NodeId id) const {
  const MutexLock lock(mutex_);
  Node* const node = find(id);
  if (!node) return stale();
  return node->info();
}

Result<std::shared_ptr<File>> Tree::file(NodeId id) const {
  const MutexLock lock(mutex_);
  Node* const node = find(id);
  if (!node || node->directory()) return stale();
  return std::get<Node::FilePart>(node->part);
}

Result<std::shared_ptr<Directory>> Tree::rules(NodeId id) const {
  const MutexLock lock(mutex_);
  Node* const node = find_directory(id);
  if (!node) return stale();
  return node->directory()->rules;
}

Result<Tree::FileNode> Tree::file_node(NodeId id) const {
  const MutexLock lock(mutex_);
  Node* const node = find(id);
  if (!node || node->directory()) return stale();
  return FileNode{node->info(), std::get<Node::FilePart>(node->part),
                  path_locked(node->parent == kRoot ? id : node->parent)};
}

Result<std::vector<NodeEntry>> Tree::list(NodeId directory, NodeId after, std::size_t count) const {
  const MutexLock lock(mutex_);
  Node* const node = find_directory(directory);
  if (!node) return stale();
  const auto& children = node->directory()->children;
  auto child = std::upper_bound(children.begin(), children.end(), after,
                                [](NodeId id, const Node* next) { return id < next->id; });
  std::vector<NodeEntry> entries;
  for (; child != children.end() && entries.size() < count; ++child) {
    entries.push_back({(*child)->info(), (*child)->name});
  }
  return entries;
}

std::string Tree::path(NodeId id) const {
  const MutexLock lock(mutex_);
  return path_locked(id);
}

std::string Tree::path_locked(NodeId id) const {
  std::string path;
  for (const Node* node = find(id); node && node->id != kRoot; node = find(node->parent)) {
    path = path.empty() ? node->name : node->name + "/" + path;
  }
  return path;
}

void Tree::observe(TreeObserver* observer) {
  const MutexLock lock(mutex_);
  observer_ = observer;
}

}  // namespace tallyfs
