// What a server leaves to the next one in a reload, of feeders and of the mount, in its first
// formats, tests/golden/state/*.hex: each part takes it, and leaves it as it was. The rooms of the
// branches have the same for theirs.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/tree/tree.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/process_ends.h"
#include "fs/daemon/pages.h"
#include "fs/handles.h"
#include "fs/notifier.h"
#include "fs/open_file_saved.h"
#include "tests/unit/golden_state.h"
#include "tests/unit/held_descriptors.h"
#include "tests/unit/intake/lanes_fixture.h"
#include "tests/unit/intake/ring_feeder.h"

namespace tallyfs {
namespace {

constexpr pid_t kFirstPid = 4711;
constexpr Loading kGoesOn{.has_pages = true};

Timestamp golden_moment(std::int64_t seconds) {
  return {std::chrono::seconds(seconds), std::chrono::seconds(1'000 + seconds)};
}

SavedObjects left_by(TransferredPart& part, TransferredFds& descriptors) {
  SavedObjects left;
  part.save_for_successor(left, descriptors);
  return left;
}

template <typename Value>
std::string contents_of(const Value& value) {
  std::string bytes;
  ByteWriter out(bytes);
  value.save(out);
  return bytes;
}

TEST(TransferGoldenTest, PagesOfFeeders) {
  constexpr Pages::Layout kLayout{.statistics = 64, .stats = 8, .events = 8};
  Pages before(7, kLayout, SwitchPage::create(80).value(), ShapePage::create(64).value());
  HeldDescriptors held;
  TransferredFds sent(&held);
  const SavedObjects kept = golden::kept_as("pages.2.hex", left_by(before, sent));
  TransferredFds received(nullptr, held.received());
  auto next = Pages::take(kept.at(0), kLayout, received);
  ASSERT_TRUE(next) << next.error().reason;
  EXPECT_EQ(next.value().epoch(), 7u);
  EXPECT_EQ(left_by(next.value(), received), kept);
}

// Of a process that lives.
TEST(TransferGoldenTest, ProcessesWhoseEndIsAwaited) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(std::int32_t{kFirstPid});
  out.put(std::uint32_t{1000});
  out.put(std::uint32_t{0});
  const std::string kept = golden::kept_contents("processes.1.hex", SavedKind::kProcesses, bytes);
  EventLoop loop;
  ProcessEnds next(loop, 0, [](const Sender&) { return ProcessEnds::Heard::kDone; });
  TransferredFds::Received received;
  received.emplace_back(0, Fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))));
  TransferredFds descriptors(nullptr, std::move(received));
  const auto object = saved_object(SavedKind::kProcesses, 1, "processes", kept);
  ASSERT_TRUE(next.load(object, kGoesOn, descriptors));
  EXPECT_TRUE(next.watches(kFirstPid));
  EXPECT_EQ(left_by(next, descriptors).at(0).bytes, kept);
}

// Both have a statistic and a feeder with one ring, of which one record was taken.
TEST(TransferGoldenTest, LanesAndTheirRings) {
  LanesFixture before("type=list entries_max=9 base=16");
  RingFeeder feeder(*before.lanes_, LanesFixture::sender());
  ASSERT_TRUE(feeder.bind(*before.lanes_, before.number_));
  ASSERT_TRUE(feeder.put(3));
  before.lanes_->note_heads();
  EXPECT_EQ(before.lanes_->take(std::chrono::hours(1)).records, 1u);
  ASSERT_TRUE(feeder.put(3));
  HeldDescriptors held;
  TransferredFds sent(&held);
  const SavedObjects kept = golden::kept_as("lanes.2.hex", left_by(*before.lanes_, sent));
  LanesFixture next("type=list entries_max=9 base=16");
  TransferredFds received(nullptr, held.received());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto loaded = next.lanes_->load(kept.at(i), kGoesOn, received);
    EXPECT_TRUE(loaded) << loaded.error().reason;
  }
  EXPECT_EQ(left_by(*next.lanes_, received), kept);
  next.lanes_->note_heads();
  EXPECT_EQ(next.lanes_->take(std::chrono::hours(1)).records, 1u);
  EXPECT_EQ(next.read("data"), "s 0x3 1\n");
}

class GoldenFile final : public File {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string();
  }
  Timestamp last_change(Timestamp) const override { return {}; }
  Result<void> write_line(std::string_view line, const CallContext&) override {
    lines.emplace_back(line);
    return {};
  }

  std::vector<std::string> lines;
};

// statistics/web with one file, and what was removed.
class GoldenTree {
 public:
  GoldenTree(Timestamp now, NodeId first) : tree(now, first) {}
  void fill(Timestamp now) {
    web = tree.add_directory(Tree::kRoot, "web", std::make_shared<Directory>(), now);
    definition = tree.add_file(web, "definition", {0600}, file, now);
  }

  Tree tree;
  const std::shared_ptr<GoldenFile> file = std::make_shared<GoldenFile>();
  NodeId web = 0, definition = 0;
};

TEST(TransferGoldenTest, NumbersOfNames) {
  GoldenTree before(golden_moment(1), Tree::kFirst);
  before.fill(golden_moment(2));
  const NodeId data =
      before.tree.add_file(before.web, "data", {0400}, before.file, golden_moment(3));
  before.tree.remove(data, golden_moment(4));
  const std::string kept =
      golden::kept_contents("nodes.1.hex", SavedKind::kNodes, contents_of(before.tree));
  GoldenTree next(golden_moment(9), NodeId{1} << 40);
  ASSERT_TRUE(next.tree.expect(kept));
  next.fill(golden_moment(10));
  EXPECT_EQ(next.web, before.web);
  EXPECT_EQ(next.definition, before.definition);
  EXPECT_EQ(contents_of(next.tree), kept);
}

TEST(TransferGoldenTest, DirectoriesThatTheKernelKnows) {
  constexpr NodeId kDirectory = 7;
  Notifier before([](NodeId) { return true; });
  before.gives_attributes(kDirectory);
  before.stop();
  const std::string kept = golden::kept_contents("directories.1.hex", SavedKind::kCachedDirectories,
                                                 contents_of(before));
  Notifier next([](NodeId) { return true; });
  ASSERT_TRUE(next.resume(kept));
  EXPECT_EQ(next.given(), 1u);
  next.stop();
  EXPECT_EQ(contents_of(next), kept);
}

// One that a person reads, and into which half a line was written.
std::shared_ptr<OpenFile> golden_open_file(const GoldenTree& fixture) {
  auto open = std::make_shared<OpenFile>();
  open->node = fixture.tree.info(fixture.definition).value();
  open->file = HandleFile(fixture.file);
  open->uid = 1000;
  open->readable = open->append = true;
  open->text = "as it was\n";
  open->location = "statistics/web";
  open->path = "path/of/it";
  const LineSink sink{.apply = [](std::string_view) { return Result<void>(); },
                      .report = [](std::string_view, const Error&) {}};
  const MutexLock lock(open->writing);
  EXPECT_TRUE(open->transaction.write("name=a ty", {}, sink));
  open->begun = "a command\\\n";
  return open;
}

TEST(TransferGoldenTest, OpenFilesAndTheirNumbers) {
  GoldenTree fixture(golden_moment(1), Tree::kFirst);
  fixture.fill(golden_moment(2));
  const auto open = golden_open_file(fixture);
  Handles before({});
  const std::uint64_t closed = before.add(open).value();
  const std::uint64_t number = before.add(open).value();
  before.remove(closed);
  std::string file;
  ByteWriter out(file);
  save_open_file(number, *open, golden_moment(3), out);
  SavedObjects left;
  left.put(saved_object(SavedKind::kHandles, 1, "handles", contents_of(before)));
  left.put(saved_object(SavedKind::kOpenFile, 2, std::to_string(number), file));
  const SavedObjects kept = golden::kept_as("open_files.2.hex", left);
  const auto loaded = load_open_file(kept.at(1).bytes, fixture.tree, golden_moment(9));
  ASSERT_TRUE(loaded) << loaded.error().reason;
  EXPECT_EQ(loaded.value().handle, number);
  OpenFile& next = *loaded.value().open;
  Handles handles({});
  ASSERT_TRUE(handles.load(kept.at(0).bytes, {{number, loaded.value().open}}));
  EXPECT_EQ(contents_of(handles), kept.at(0).bytes);
  EXPECT_EQ(next.text, "as it was\n");
  EXPECT_EQ(next.location, "statistics/web");
  const LineSink sink{
      .apply =
          [&](std::string_view line) { return next.file.current()->write_line(line, Timestamp()); },
      .report = [](std::string_view, const Error&) {}};
  const MutexLock lock(next.writing);
  EXPECT_EQ(next.begun, "a command\\\n");
  ASSERT_TRUE(next.transaction.write("pe=list\n", {.offset = 9}, sink));
  EXPECT_EQ(fixture.file->lines, std::vector<std::string>{"name=a type=list"});
}

}  // namespace
}  // namespace tallyfs
