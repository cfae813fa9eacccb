// The names: which directory holds which files, under numbers that are never used twice. Whatever
// shows itself on the mount is entered here by the part that owns it (Statistics, ...), and
// the FUSE adapter looks it up here.
//
// Thread-safe, one lock (Tree::mutex_) over names and numbers only. It is the last lock of the
// lock order: nothing is called while it is held but TreeObserver, which may only take a note.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/tree/audience.h"
#include "core/tree/file.h"

namespace tallyfs {

// Identifies a node for as long as the daemon runs; shown as its inode number. 0 is none.
using NodeId = std::uint64_t;

enum class NodeKind { kDirectory, kFile };

// The facts about a node that need no call of its File.
struct NodeInfo {
  NodeId id = 0;
  NodeId parent = 0;
  NodeKind kind = NodeKind::kFile;
  Audience audience;               // as it was added
  std::size_t subdirectories = 0;  // of a directory
  Timestamp last_change;           // of a directory: when an entry came or went
};

struct NodeEntry {
  NodeInfo info;
  std::string name;
};

// Is notified of changes to names and attributes that the kernel may have cached. Called with locks
// held: an implementation stores the change and returns.
class TreeObserver {
 public:
  virtual ~TreeObserver() = default;
  // For a removed node and each directory below it, not for files below it.
  virtual void entry_removed(NodeId directory, std::string_view name, NodeId removed) = 0;
  virtual void directory_changed(NodeId directory) = 0;
};

class Tree {
 public:
  static constexpr NodeId kRoot = 1;
  // The number of removed nodes whose paths are remembered, the newest of them.
  static constexpr std::size_t kRemovedMax = 4096;
  // Numbers below this are the root's and the adapter's own ("." and ".." in a listing).
  static constexpr NodeId kFirst = 16;

  // first: the number of the first node but the root, kFirst at least.
  explicit Tree(Timestamp now, NodeId first = kFirst);
  ~Tree();

  // Adds a node below a directory and returns its id; 0 if the parent is gone or is a file. The
  // name must be free and a name (is_name); the parts that own the nodes see to both. `rules` say
  // what may be made and removed in the directory. Requests that use the rules or the file keep
  // them alive when the node is removed.
  NodeId add_directory(NodeId parent, std::string_view name, std::shared_ptr<Directory> rules,
                       Timestamp now, Audience audience = {0755}) EXCLUDES(mutex_);
  NodeId add_file(NodeId parent, std::string_view name, Audience audience,
                  std::shared_ptr<File> file, Timestamp now) EXCLUDES(mutex_);
  // Removes a node, but not the root, and all below it. Nothing happens if it is gone already.
  void remove(NodeId id, Timestamp now) EXCLUDES(mutex_) { remove({&id, 1}, now); }
  // Removes several nodes, none of them below another. Goes through each directory once, so that a
  // hundred thousand of its entries need as long as a few.
  void remove(std::span<const NodeId> ids, Timestamp now) EXCLUDES(mutex_);

  // kNotFound: there is no such name. kStale: the directory was removed, or is a file.
  Result<NodeInfo> lookup(NodeId directory, std::string_view name) const EXCLUDES(mutex_);
  // info(), file(), rules(), list(): kStale if the node is gone or is of the other kind.
  Result<NodeInfo> info(NodeId id) const EXCLUDES(mutex_);
  Result<std::shared_ptr<File>> file(NodeId id) const EXCLUDES(mutex_);
  Result<std::shared_ptr<Directory>> rules(NodeId id) const EXCLUDES(mutex_);
  // All facts about a file that an open needs, under one lock. kStale as above.
  struct FileNode {
    NodeInfo info;
    std::shared_ptr<File> file;
    std::string location;  // the path of its directory, in the root its own
  };
  Result<FileNode> file_node(NodeId id) const EXCLUDES(mutex_);
  // At most count entries with ids above after, by id: ids are stable, so they serve as cookies of
  // a listing that goes on while entries come and go.
  Result<std::vector<NodeEntry>> list(NodeId directory, NodeId after, std::size_t count) const
      EXCLUDES(mutex_);
  // `statistics/web/data`; empty for the root and for a node that is gone.
  std::string path(NodeId id) const EXCLUDES(mutex_);

  // The path of a node that may have been removed: its nearest existing directory, and the names
  // below that. `names` is empty if the node itself exists. kStale: too many nodes were removed
  // since.
  struct Path {
    NodeId from = 0;
    std::vector<std::string> names{};
  };
  Result<Path> path_of(NodeId id) const EXCLUDES(mutex_);

  // Saves the number of each path for a successor (core/state/FORMAT.md, kind 32).
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  // Call while the root is the only node. A node that is added with a saved path gets the number
  // and the last change that it had; other nodes get numbers above all saved ones. kInvalid: save()
  // does not write such bytes, and nothing has changed.
  Result<void> expect(std::string_view saved) EXCLUDES(mutex_);
  // The directories, by number, of which saved entries have not been added.
  std::vector<NodeId> incomplete() const EXCLUDES(mutex_);
  // Saved nodes that have not been added are removed ones from now on.
  void end_expecting(Timestamp now) EXCLUDES(mutex_);
  // The number of the first node but the root. Lower ones are of servers that died.
  NodeId first() const EXCLUDES(mutex_);

  // At most one; it must be taken off (nullptr) before it dies.
  void observe(TreeObserver* observer) EXCLUDES(mutex_);

 private:
  struct DirectoryPart;
  struct Node;

  struct Removed {
    NodeId parent = 0;
    std::string name;
  };
  // A node of the server before that has not been added yet.
  struct Expected {
    Removed path;
    NodeKind kind = NodeKind::kFile;
    Timestamp last_change;
  };
  struct Saved;

  Node* find(NodeId id) const REQUIRES(mutex_);
  Node* find_directory(NodeId id) const REQUIRES(mutex_);
  std::string path_locked(NodeId id) const REQUIRES(mutex_);
  NodeId add(NodeId parent, std::unique_ptr<Node> node, Timestamp now) EXCLUDES(mutex_);
  void remove_children(Node& above, std::span<Node* const> gone, Timestamp now) REQUIRES(mutex_);
  void take_out(Node& node, std::vector<std::unique_ptr<Node>>& removed) REQUIRES(mutex_);
  void remember(NodeId id, Removed removed) REQUIRES(mutex_);
  std::optional<Timestamp> number(Node& node) REQUIRES(mutex_);
  const Removed* path_without_node(NodeId id) const REQUIRES(mutex_);
  static void put(ByteWriter& out, NodeId id, const Removed& path);
  static void put(ByteWriter& out, NodeId id, const Expected& node);

  // Names are kept once, in their nodes; the index looks at them there.
  struct NameKey {
    NodeId parent;
    std::string_view name;
    bool operator==(const NameKey&) const = default;
  };
  friend std::size_t hash_value(const NameKey& key);
  // Hash and equality of nodes by their names.
  struct ByName {
    using is_transparent = void;
    static const NameKey& key_of(const NameKey& key) { return key; }
    static NameKey key_of(const Node* node);
    std::size_t operator()(const NameKey& key) const;
    std::size_t operator()(const Node* node) const;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return key_of(a) == key_of(b);
    }
  };

  mutable Mutex mutex_{LockRank::kTree};
  NodeId first_ GUARDED_BY(mutex_);
  NodeId next_id_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<NodeId, std::unique_ptr<Node>> nodes_ GUARDED_BY(mutex_);
  boost::unordered_flat_set<Node*, ByName, ByName> names_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<NodeId, Removed> removed_ GUARDED_BY(mutex_);
  std::deque<NodeId> removed_in_order_ GUARDED_BY(mutex_);
  std::map<NodeId, Expected> expected_ GUARDED_BY(mutex_);
  // Looks at the names in expected_.
  boost::unordered_flat_map<NameKey, NodeId> expected_names_ GUARDED_BY(mutex_);
  TreeObserver* observer_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace tallyfs
