// What a tree leaves to that of the next server.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/tree/tree.h"
#include "tests/unit/random.h"

namespace tallyfs {
namespace {

class EmptyFile final : public File {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string();
  }
  Timestamp last_change(Timestamp) const override { return {}; }
};

class Changes final : public TreeObserver {
 public:
  void entry_removed(NodeId, std::string_view name, NodeId) override { removed.emplace_back(name); }
  void directory_changed(NodeId directory) override { changed.push_back(directory); }

  std::vector<std::string> removed;
  std::vector<NodeId> changed;
};

class TreeSavedTest : public testing::Test {
 protected:
  static NodeId directory(Tree& tree, NodeId parent, std::string_view name, Timestamp now = {}) {
    return tree.add_directory(parent, name, std::make_shared<Directory>(), now);
  }
  static NodeId file(Tree& tree, NodeId parent, std::string_view name, Timestamp now = {}) {
    return tree.add_file(parent, name, {0600}, std::make_shared<EmptyFile>(), now);
  }
  static std::string saved(const Tree& tree) {
    std::string bytes;
    ByteWriter out(bytes);
    tree.save(out);
    return bytes;
  }
  static Timestamp at(std::int64_t seconds) {
    return {std::chrono::seconds(seconds), std::chrono::seconds(seconds)};
  }

  Tree before_{at(1)};
  Tree tree_{at(9), NodeId{1} << 40};
};

TEST_F(TreeSavedTest, WhatHasTheSamePathHasTheSameNumberInAnyOrder) {
  const NodeId web = directory(before_, Tree::kRoot, "web", at(2));
  const NodeId db = directory(before_, Tree::kRoot, "db", at(3));
  const NodeId data = file(before_, web, "data", at(4));
  const NodeId rules = file(before_, web, "rules", at(5));
  ASSERT_TRUE(tree_.expect(saved(before_)));
  EXPECT_EQ(tree_.first(), Tree::kFirst);
  EXPECT_EQ(directory(tree_, Tree::kRoot, "db", at(10)), db);
  EXPECT_EQ(tree_.incomplete(), std::vector<NodeId>{Tree::kRoot});
  EXPECT_EQ(directory(tree_, Tree::kRoot, "web", at(10)), web);
  EXPECT_EQ(tree_.incomplete(), std::vector<NodeId>{web});
  EXPECT_EQ(file(tree_, web, "rules", at(10)), rules);
  EXPECT_EQ(file(tree_, web, "data", at(10)), data);
  EXPECT_TRUE(tree_.incomplete().empty());
  EXPECT_EQ(tree_.info(web).value().last_change.monotonic, at(5).monotonic);
  EXPECT_EQ(tree_.info(Tree::kRoot).value().last_change.realtime, at(3).realtime);
  EXPECT_EQ(saved(tree_), saved(before_));
  std::vector<NodeId> listed;
  for (const NodeEntry& entry : tree_.list(web, 0, 9).value()) listed.push_back(entry.info.id);
  EXPECT_EQ(listed, (std::vector<NodeId>{data, rules})) << "the cookies of a listing";
  EXPECT_EQ(tree_.lookup(web, "data").value().id, data);
}

TEST_F(TreeSavedTest, OtherNodesHaveNewNumbers) {
  const NodeId web = directory(before_, Tree::kRoot, "web");
  const NodeId removed = file(before_, web, "data");
  before_.remove(removed, at(2));
  ASSERT_TRUE(tree_.expect(saved(before_)));
  const NodeId as_file = file(tree_, Tree::kRoot, "web", at(10));
  EXPECT_GT(as_file, removed) << "of another kind";
  EXPECT_EQ(tree_.info(Tree::kRoot).value().last_change.monotonic, at(10).monotonic);
  EXPECT_EQ(tree_.path_of(removed).value().names, (std::vector<std::string>{"web", "data"}));
}

TEST_F(TreeSavedTest, WhatDoesNotComeIsRemovedAtTheEnd) {
  const NodeId web = directory(before_, Tree::kRoot, "web");
  const NodeId data = file(before_, web, "data");
  const NodeId gone = directory(before_, Tree::kRoot, "gone");
  ASSERT_TRUE(tree_.expect(saved(before_)));
  directory(tree_, Tree::kRoot, "web");
  EXPECT_EQ(tree_.path_of(data).value().from, web);
  EXPECT_EQ(tree_.path_of(gone).value().names, std::vector<std::string>{"gone"});
  Changes changes;
  tree_.observe(&changes);
  tree_.end_expecting(at(11));
  tree_.observe(nullptr);
  EXPECT_EQ(changes.removed, (std::vector<std::string>{"data", "gone"}));
  EXPECT_EQ(changes.changed, (std::vector<NodeId>{web, Tree::kRoot}));
  EXPECT_TRUE(tree_.incomplete().empty());
  EXPECT_EQ(tree_.path_of(gone).value().names, std::vector<std::string>{"gone"});
  EXPECT_GT(directory(tree_, Tree::kRoot, "gone"), gone) << "a removed node does not come back";
}

TEST_F(TreeSavedTest, WhatHasNotComeYetGoesToTheNextButOne) {
  const NodeId web = directory(before_, Tree::kRoot, "web");
  ASSERT_TRUE(tree_.expect(saved(before_)));
  EXPECT_EQ(saved(tree_), saved(before_));
  Tree third{at(20), NodeId{2} << 40};
  ASSERT_TRUE(third.expect(saved(tree_)));
  EXPECT_EQ(directory(third, Tree::kRoot, "web"), web);
}

TEST_F(TreeSavedTest, ATruncatedOneIsRefusedAndNothingChanges) {
  const NodeId web = directory(before_, Tree::kRoot, "web");
  file(before_, web, "data");
  before_.remove(file(before_, web, "old"), at(2));
  const std::string whole = saved(before_);
  const std::string empty = saved(tree_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(tree_.expect(whole.substr(0, size))) << size;
    EXPECT_EQ(saved(tree_), empty);
  }
  EXPECT_FALSE(tree_.expect(whole + '\0'));
  EXPECT_EQ(saved(tree_), empty);
  EXPECT_TRUE(tree_.expect(whole));
}

// Every path must still lead to the root.
TEST_F(TreeSavedTest, BrokenOnesAreRefusedOrHarmless) {
  NodeId parent = Tree::kRoot;
  for (const char* name : {"a", "b", "c", "d"}) {
    parent = directory(before_, parent, name);
    before_.remove(file(before_, parent, "old"), at(2));
  }
  const std::string whole = saved(before_);
  Random random;
  SCOPED_TRACE(random.seed());
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = whole;
    for (auto flips = random.below(4) + 1; flips != 0; --flips) {
      broken[random.below(broken.size())] = static_cast<char>(random.below(256));
    }
    Tree tree{at(1), NodeId{1} << 40};
    const std::string empty = saved(tree);
    if (!tree.expect(broken)) {
      ASSERT_EQ(saved(tree), empty);
      continue;
    }
    for (NodeId id = Tree::kFirst; id < Tree::kFirst + 12; ++id) (void)tree.path_of(id);
    directory(tree, Tree::kRoot, "a");
    tree.end_expecting(at(3));
  }
}

}  // namespace
}  // namespace tallyfs
