// Open files on their way from one server to the next.
#include "fs/open_file_saved.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/random.h"

namespace tallyfs {
namespace {

// A file that counts news, as the test says.
class CountingFile final : public File {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string("now\n");
  }
  Timestamp last_change(Timestamp) const override { return {}; }
  std::optional<std::uint64_t> news(Timestamp) const override { return count; }
  Result<std::shared_ptr<const void>> hold(Access, Timestamp) const override { return mark; }
  Result<void> write_line(std::string_view line, const CallContext&) override {
    lines.emplace_back(line);
    return {};
  }

  std::uint64_t count = 0;
  std::vector<std::string> lines;
  std::shared_ptr<const void> mark = std::make_shared<int>(1);
};

class HeldDirectory final : public Directory {
 public:
  std::shared_ptr<const void> hold() const override { return mark; }
  std::shared_ptr<const void> mark = std::make_shared<int>(2);
};

class OpenFileSavedTest : public testing::Test {
 protected:
  static NodeId enter(Tree& tree, std::shared_ptr<File> file) {
    const Audience audience{.permissions = 0600, .readers = true};
    return tree.add_file(Tree::kRoot, "hist", audience, std::move(file), {});
  }
  LineSink sink_of(OpenFile& open) {
    const auto apply = [&open](std::string_view line) {
      return open.file.current()->write_line(line, Timestamp());
    };
    return {.apply = apply, .report = [](std::string_view, const Error&) {}};
  }
  std::string saved() {
    std::string bytes;
    ByteWriter out(bytes);
    save_open_file(kHandle, *open_, {}, out);
    return bytes;
  }

  static constexpr std::uint64_t kHandle = (7ull << 32) + 5;
  Tree tree_{Timestamp{}};
  std::shared_ptr<CountingFile> file_ = std::make_shared<CountingFile>();
  std::shared_ptr<OpenFile> open_ = std::make_shared<OpenFile>();

  OpenFileSavedTest() {
    open_->node = tree_.info(enter(tree_, file_)).value();
    open_->file = HandleFile(file_);
    open_->uid = 1000;
    open_->readable = open_->append = true;
    open_->text = std::string("as it was\nat the open\n\0", 23);
    open_->location = "tracing";
  }
};

TEST_F(OpenFileSavedTest, TheTextThatAReaderHasBegunStaysAsItIs) {
  const auto loaded = load_open_file(saved(), tree_, {});
  ASSERT_TRUE(loaded);
  const OpenFile& open = *loaded.value().open;
  EXPECT_EQ(loaded.value().handle, kHandle);
  EXPECT_EQ(open.text, open_->text);
  EXPECT_EQ(open.node.id, open_->node.id);
  EXPECT_EQ(open.node.audience, (Audience{.permissions = 0600, .readers = true}));
  EXPECT_EQ(open.uid, 1000u);
  EXPECT_EQ(open.shows, Shows::kAny);
  EXPECT_TRUE(open.readable && open.append);
  EXPECT_EQ(open.location, "tracing");
  EXPECT_EQ(open.file.current(), file_) << "found by its number";
}

TEST_F(OpenFileSavedTest, ALineThatWasBegunIsCarriedOutOnce) {
  {
    const MutexLock lock(open_->writing);
    ASSERT_TRUE(open_->transaction.write("one\ntw", {}, sink_of(*open_)));
    open_->begun = "a command\\\n";
    open_->answered = 12;
    open_->answer = 2;
  }
  const auto loaded = load_open_file(saved(), tree_, {});
  ASSERT_TRUE(loaded);
  OpenFile& open = *loaded.value().open;
  const MutexLock lock(open.writing);
  EXPECT_EQ(open.begun, "a command\\\n");
  EXPECT_EQ(open.answered, 12u);
  EXPECT_EQ(open.answer, 2);
  ASSERT_TRUE(open.transaction.write("o\nthree\n", {.offset = 6}, sink_of(open)));
  EXPECT_EQ(file_->lines, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_FALSE(open.transaction.write("x\n", {.offset = 3}, sink_of(open))) << "does not follow";
}

TEST_F(OpenFileSavedTest, ALineThatWasTooLongIsStillDropped) {
  const std::string much(LineAssembler::kPendingBytesMax + 10, 'x');
  {
    const MutexLock lock(open_->writing);
    EXPECT_FALSE(open_->transaction.write(much, {.append = true}, sink_of(*open_)));
  }
  const auto loaded = load_open_file(saved(), tree_, {});
  ASSERT_TRUE(loaded);
  OpenFile& open = *loaded.value().open;
  const MutexLock lock(open.writing);
  EXPECT_FALSE(open.transaction.write("its end\n", {.append = true}, sink_of(open)));
  EXPECT_TRUE(open.transaction.write("next\n", {.append = true}, sink_of(open)));
  EXPECT_EQ(file_->lines, std::vector<std::string>{"next"});
}

TEST_F(OpenFileSavedTest, NewsThatWasSeenIsSeenHoweverTheNextServerCounts) {
  file_->count = 40;
  {
    const MutexLock lock(open_->reading);
    open_->news = open_->shown = 40;
    open_->seen = 39;
    open_->later_text = std::make_shared<const std::string>("read anew\n");
    open_->is_read = true;
  }
  const std::string bytes = saved();
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{40}}) {
    file_->count = count;
    const auto loaded = load_open_file(bytes, tree_, {});
    ASSERT_TRUE(loaded);
    OpenFile& open = *loaded.value().open;
    const MutexLock lock(open.reading);
    EXPECT_EQ(open.news, count);
    EXPECT_EQ(open.shown, count);
    EXPECT_TRUE(count == 0 ? open.seen != 0 : open.seen < count) << "and never a later number";
    ASSERT_TRUE(open.later_text);
    EXPECT_EQ(*open.later_text, "read anew\n");
    EXPECT_EQ(open.later_bytes, 10u);
    EXPECT_TRUE(open.is_read);
  }
}

TEST_F(OpenFileSavedTest, WhatIsNotThereCanStillBeReadAndComesBack) {
  file_->count = 40;
  const std::string bytes = saved();
  Tree next{Timestamp{}};
  const auto loaded = load_open_file(bytes, next, {});
  ASSERT_TRUE(loaded);
  OpenFile& open = *loaded.value().open;
  EXPECT_EQ(open.text, open_->text);
  const auto absent = open.file.current();
  EXPECT_EQ(absent->news({}), 40u) << "as it was";
  EXPECT_EQ(absent->write_line("x", Timestamp{}).error().code, ErrorCode::kStale);
  EXPECT_EQ(absent->truncate(Timestamp{}).error().code, ErrorCode::kStale);
  EXPECT_EQ(absent->render(Timestamp{}, 100).error().code, ErrorCode::kStale);
  EXPECT_FALSE(absent->state({}).version);
  EXPECT_EQ(hold_loaded(open, next, {}).value(), nullptr);
  ASSERT_EQ(enter(next, file_), open.node.id);
  EXPECT_EQ(open.file.current(), file_);
  EXPECT_EQ(hold_loaded(open, next, {}).value(), file_->mark);
}

TEST_F(OpenFileSavedTest, ARequestThatBeganBeforeTheFileCameBackWritesNothing) {
  Tree next{Timestamp{}};
  const auto loaded = load_open_file(saved(), next, {});
  ASSERT_TRUE(loaded);
  const auto file = loaded.value().open->file.current();
  ASSERT_EQ(enter(next, file_), open_->node.id);
  EXPECT_EQ(file->write_line("the second half of a request", Timestamp{}).error().code,
            ErrorCode::kStale);
  EXPECT_TRUE(file_->lines.empty());
}

TEST_F(OpenFileSavedTest, WhatIsNotThereHoldsItsDirectoryUntilItComesBack) {
  const auto enter_above = [](Tree& tree, std::shared_ptr<Directory> rules) {
    const NodeId mine = tree.add_directory(Tree::kRoot, "mine", std::move(rules), {});
    return tree.add_directory(mine, "events", std::make_shared<Directory>(), {});
  };
  const auto enter_file = [this](Tree& tree, NodeId events) {
    const NodeId event = tree.add_directory(events, "event", std::make_shared<Directory>(), {});
    return tree.add_file(event, "trigger", {0600}, file_, {});
  };
  Tree before{Timestamp{}};
  const NodeId events_before = enter_above(before, std::make_shared<Directory>());
  open_->node = before.info(enter_file(before, events_before)).value();
  std::string nodes;
  ByteWriter out(nodes);
  before.save(out);
  Tree next{Timestamp{}};
  ASSERT_TRUE(next.expect(nodes));
  const auto rules = std::make_shared<HeldDirectory>();
  const NodeId events = enter_above(next, rules);
  const auto loaded = load_open_file(saved(), next, {});
  ASSERT_TRUE(loaded);
  const OpenFile& open = *loaded.value().open;
  EXPECT_EQ(hold_loaded(open, next, {}).value(), rules->mark);
  ASSERT_EQ(enter_file(next, events), open_->node.id);
  EXPECT_EQ(hold_loaded(open, next, {}).value(), file_->mark);
}

// A killed server leaves no numbers of nodes, and nothing of the reads.
TEST_F(OpenFileSavedTest, AfterAKillAFileIsFoundByItsPathAndHasNews) {
  open_->request = 77;
  open_->path = "hist";
  Tree next{Timestamp{}, 1000};
  const NodeId there = enter(next, file_);
  ASSERT_NE(there, open_->node.id);
  const auto loaded = load_open_file(saved(), next, {}, FoundBy::kPath);
  ASSERT_TRUE(loaded);
  OpenFile& open = *loaded.value().open;
  EXPECT_EQ(open.node.id, there);
  EXPECT_EQ(open.kernel_node, open_->node.id);
  EXPECT_EQ(open.request, 77u);
  EXPECT_EQ(open.text, open_->text);
  {
    const MutexLock lock(open.reading);
    EXPECT_NE(open.seen, file_->count);
    EXPECT_TRUE(open.is_read);
  }
  std::string bytes;
  ByteWriter out(bytes);
  save_open_file(kHandle, open, {}, out);
  Tree last{Timestamp{}, 2000};
  const auto again = load_open_file(bytes, last, {}, FoundBy::kPath);
  ASSERT_TRUE(again);
  EXPECT_EQ(again.value().open->kernel_node, open_->node.id) << "which the kernel goes on with";
  EXPECT_EQ(again.value().open->node.id, there) << "it is not there";
}

TEST_F(OpenFileSavedTest, ATruncatedOneIsRefused) {
  const std::string bytes = saved();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(load_open_file(std::string_view(bytes).substr(0, size), tree_, {})) << size;
  }
  EXPECT_FALSE(load_open_file(bytes + "x", tree_, {}));
}

TEST_F(OpenFileSavedTest, BrokenOnesAreRefusedOrHarmless) {
  {
    const MutexLock lock(open_->writing);
    ASSERT_TRUE(open_->transaction.write("one\ntw", {}, sink_of(*open_)));
  }
  const std::string whole = saved();
  Random random;
  SCOPED_TRACE(random.seed());
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = whole;
    for (auto flips = random.below(3) + 1; flips != 0; --flips) {
      broken[random.below(broken.size())] = static_cast<char>(random.below(256));
    }
    const auto loaded = load_open_file(broken, tree_, {});
    if (!loaded) continue;
    OpenFile& open = *loaded.value().open;
    (void)open.file.current()->news({});
    const MutexLock lock(open.writing);
    (void)open.transaction.write("o\n", {.append = true}, sink_of(open));
  }
}

}  // namespace
}  // namespace tallyfs
