#include "core/tree/tree.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/fake_clock.h"

namespace tallyfs {
namespace {

class Note final : public File {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string("text\n");
  }
  Timestamp last_change(Timestamp) const override { return {}; }
};

class TreeTest : public testing::Test {
 protected:
  NodeId add_directory(NodeId parent, std::string_view name) {
    return tree_.add_directory(parent, name, std::make_shared<Directory>(), clock_.now());
  }
  NodeId add_file(NodeId parent, std::string_view name) {
    return tree_.add_file(parent, name, {0600}, std::make_shared<Note>(), clock_.now());
  }

  FakeClock clock_;
  Tree tree_{clock_.now()};
};

TEST_F(TreeTest, FindsWhatWasAddedByNameAndByNumber) {
  const NodeId directory = add_directory(Tree::kRoot, "statistics");
  const NodeId file = add_file(directory, "data");
  EXPECT_EQ(tree_.lookup(directory, "data").value().id, file);
  EXPECT_EQ(tree_.info(file).value().audience, Audience{0600});
  EXPECT_EQ(tree_.path(file), "statistics/data");
  EXPECT_EQ(tree_.lookup(directory, "nothing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(tree_.lookup(file, "data").error().code, ErrorCode::kStale);
}

TEST_F(TreeTest, AFileIsFoundWithItsDirectory) {
  const NodeId directory = add_directory(Tree::kRoot, "web");
  const NodeId file = add_file(directory, "data");
  const NodeId at_the_top = add_file(Tree::kRoot, "rules");
  const auto found = tree_.file_node(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found.value().info.id, file);
  EXPECT_EQ(found.value().info.parent, directory);
  EXPECT_EQ(found.value().file, tree_.file(file).value());
  EXPECT_EQ(found.value().location, "web");
  EXPECT_EQ(tree_.file_node(at_the_top).value().location, "rules");
  EXPECT_EQ(tree_.file_node(directory).error().code, ErrorCode::kStale);
  tree_.remove(directory, clock_.now());
  EXPECT_EQ(tree_.file_node(file).error().code, ErrorCode::kStale);
}

TEST_F(TreeTest, ANumberIsNeverGivenTwice) {
  const NodeId first = add_directory(Tree::kRoot, "web");
  tree_.remove(first, clock_.now());
  const NodeId second = add_directory(Tree::kRoot, "web");
  EXPECT_NE(first, second);
  EXPECT_EQ(tree_.info(first).error().code, ErrorCode::kStale);
  EXPECT_EQ(tree_.lookup(Tree::kRoot, "web").value().id, second);
}

TEST_F(TreeTest, RemovingADirectoryRemovesAllBelowAndKeepsAFileThatIsInUse) {
  const NodeId directory = add_directory(Tree::kRoot, "web");
  const NodeId file = add_file(directory, "data");
  const auto in_use = tree_.file(file).value();
  tree_.remove(directory, clock_.now());
  EXPECT_EQ(tree_.file(file).error().code, ErrorCode::kStale);
  EXPECT_EQ(in_use->render(clock_.now(), 100).value(), "text\n");
  EXPECT_EQ(tree_.path(file), "");
}

TEST_F(TreeTest, AListingGoesOnFromACookieWhileEntriesComeAndGo) {
  std::vector<NodeId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(add_directory(Tree::kRoot, "d" + std::to_string(i)));
  const auto first = tree_.list(Tree::kRoot, 0, 4).value();
  ASSERT_EQ(first.size(), 4u);
  tree_.remove(ids[3], clock_.now());
  tree_.remove(ids[5], clock_.now());
  add_directory(Tree::kRoot, "new");
  std::vector<std::string> rest;
  for (const auto& entry : tree_.list(Tree::kRoot, first.back().info.id, 100).value()) {
    rest.push_back(entry.name);
  }
  EXPECT_EQ(rest, (std::vector<std::string>{"d4", "d6", "d7", "d8", "d9", "new"}));
}

TEST_F(TreeTest, ADirectoryCountsItsSubdirectoriesAndKnowsWhenItChanged) {
  const NodeId directory = add_directory(Tree::kRoot, "web");
  clock_.advance(std::chrono::seconds(5));
  const NodeId below = add_directory(directory, "sub");
  EXPECT_EQ(tree_.info(directory).value().subdirectories, 1u);
  EXPECT_EQ(tree_.info(directory).value().last_change.monotonic, std::chrono::seconds(5));
  tree_.remove(below, clock_.now());
  EXPECT_EQ(tree_.info(directory).value().subdirectories, 0u);
}

struct Heard final : TreeObserver {
  void entry_removed(NodeId directory, std::string_view name, NodeId) override {
    removed.emplace_back(directory, name);
  }
  void directory_changed(NodeId directory) override { changed.push_back(directory); }
  std::vector<std::pair<NodeId, std::string>> removed;
  std::vector<NodeId> changed;
};

TEST_F(TreeTest, TheObserverHearsWhatTheKernelMayHaveCached) {
  Heard heard;
  tree_.observe(&heard);
  const NodeId web = add_directory(Tree::kRoot, "web");
  tree_.remove(web, clock_.now());
  EXPECT_EQ(heard.removed, (std::vector<std::pair<NodeId, std::string>>{{Tree::kRoot, "web"}}));
  EXPECT_EQ(heard.changed, (std::vector<NodeId>{Tree::kRoot, Tree::kRoot}));
  // Of a directory with others in it, of each.
  const NodeId events = add_directory(Tree::kRoot, "events");
  add_directory(events, "sched");
  add_file(events, "enable");
  heard.removed.clear();
  tree_.remove(events, clock_.now());
  EXPECT_EQ(heard.removed, (std::vector<std::pair<NodeId, std::string>>{{Tree::kRoot, "events"},
                                                                        {events, "sched"}}));
  tree_.observe(nullptr);
}

TEST_F(TreeTest, SeveralAreRemovedAsOneAfterTheOther) {
  const NodeId web = add_directory(Tree::kRoot, "web");
  const NodeId disk = add_directory(Tree::kRoot, "disk");
  const NodeId stays = add_directory(disk, "stays");
  const NodeId reads = add_file(disk, "reads");
  const NodeId data = add_file(web, "data");
  const NodeId writes = add_directory(disk, "writes");
  Heard heard;
  tree_.observe(&heard);
  tree_.remove(std::vector<NodeId>{writes, data, 0, Tree::kRoot, reads, 12'345'678}, clock_.now());
  EXPECT_EQ(heard.changed, (std::vector<NodeId>{web, disk}));
  EXPECT_EQ(heard.removed, (std::vector<std::pair<NodeId, std::string>>{
                               {web, "data"}, {disk, "reads"}, {disk, "writes"}}));
  EXPECT_EQ(tree_.list(web, 0, 9).value().size(), 0u);
  ASSERT_EQ(tree_.list(disk, 0, 9).value().size(), 1u);
  EXPECT_EQ(tree_.list(disk, 0, 9).value()[0].info.id, stays);
  EXPECT_EQ(tree_.info(disk).value().subdirectories, 1u);
  EXPECT_EQ(tree_.lookup(disk, "reads").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(tree_.info(writes).error().code, ErrorCode::kStale);
  tree_.observe(nullptr);
}

TEST_F(TreeTest, ThePathOfARemovedNodeBeginsAtANodeThatIsThere) {
  const NodeId above = add_directory(Tree::kRoot, "statistics");
  const NodeId web = add_directory(above, "web");
  const NodeId data = add_file(web, "data");
  EXPECT_EQ(tree_.path_of(data).value().from, data);
  EXPECT_TRUE(tree_.path_of(data).value().names.empty());
  tree_.remove(data, clock_.now());
  EXPECT_EQ(tree_.path_of(data).value().from, web);
  EXPECT_EQ(tree_.path_of(data).value().names, std::vector<std::string>{"data"});
  tree_.remove(web, clock_.now());
  add_file(add_directory(above, "web"), "data");
  EXPECT_EQ(tree_.path_of(data).value().from, above);
  EXPECT_EQ(tree_.path_of(data).value().names, (std::vector<std::string>{"web", "data"}));
}

TEST_F(TreeTest, RemembersABoundedNumberOfRemovedNodes) {
  const NodeId first = add_directory(Tree::kRoot, "first");
  tree_.remove(first, clock_.now());
  EXPECT_EQ(tree_.path_of(first).value().names, std::vector<std::string>{"first"});
  for (std::size_t i = 0; i < Tree::kRemovedMax; ++i) {
    tree_.remove(add_directory(Tree::kRoot, "other"), clock_.now());
  }
  EXPECT_EQ(tree_.path_of(first).error().code, ErrorCode::kStale);
  EXPECT_EQ(tree_.path_of(12'345'678).error().code, ErrorCode::kStale);
}

}  // namespace
}  // namespace tallyfs
