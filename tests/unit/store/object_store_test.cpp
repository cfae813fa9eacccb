// The memory of objects: what is in it after each change, after kills in between, and when its
// bits are flipped.
#include "fs/store/object_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "core/base/fd.h"
#include "fs/store/extents.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kKind = 3, kOtherKind = 4;
constexpr KindBits kBoth = (1 << kKind) | (1 << kOtherKind);

struct Text {
  std::uint16_t kind = kKind;
  std::string label;
  std::string bytes;

  bool operator==(const Text&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Text& each) {
    return out << each.kind << " " << each.label << "=" << each.bytes.substr(0, 20);
  }
};
using Texts = std::vector<Text>;

SavedObject saved(const Text& each) { return {each.kind, 1, each.label, each.bytes}; }

Fd make_memory() { return Fd(::memfd_create("test", MFD_CLOEXEC)); }

ObjectStore::Opened open(const Fd& memory) {
  auto opened = ObjectStore::open(memory.get());
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().reason);
  return std::move(opened.value());
}

Texts contents_of(const ObjectStore::Contents& contents) {
  Texts found;
  for (const SavedObject& each : contents.objects) {
    found.push_back({each.kind, std::string(each.label), std::string(each.bytes)});
  }
  return found;
}

// As the next server reads it.
Texts read(const Fd& memory) {
  const auto opened = open(memory);
  EXPECT_EQ(opened.contents.faults, std::vector<std::string>());
  return contents_of(opened.contents);
}

void pass(ObjectStore& store, const Texts& all, KindBits kinds = kBoth) {
  ObjectStore::Pass pass(store, kinds);
  for (const Text& each : all) ASSERT_TRUE(pass.put(saved(each)));
  ASSERT_TRUE(pass.end());
}

TEST(ExtentsTest, WhatIsGivenBackIsTakenAgain) {
  Extents extents(64);
  const auto a = extents.take(100), b = extents.take(64), c = extents.take(1);
  EXPECT_EQ((std::vector{a, b, c, extents.end()}), (std::vector<std::uint64_t>{64, 192, 256, 320}));
  extents.give({b, 64});
  EXPECT_EQ(extents.take(10), b);
  extents.give({a, 100});
  extents.give({b, 10});
  EXPECT_EQ(extents.take(192), a) << "neighbours become one";
  extents.give({c, 1});
  EXPECT_EQ(extents.end(), c) << "what is free at the end is not kept";
}

TEST(ObjectStoreTest, AnEmptyMemoryHasNoObjects) {
  const Fd memory = make_memory();
  EXPECT_EQ(read(memory), Texts());
  EXPECT_EQ(read(memory), Texts());
}

TEST(ObjectStoreTest, ARunIsReadInItsOrderAndTheNextReplacesIt) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  const Texts first = {{kKind, "b", "1"}, {kOtherKind, "a", ""}, {kKind, "a", "3"}};
  pass(*store, first);
  EXPECT_EQ(read(memory), first);
  const Texts second = {
      {kOtherKind, "new", "9"}, {kKind, "a", "3"}, {kKind, "b", std::string(100'000, 'x')}};
  pass(*store, second);
  EXPECT_EQ(read(memory), second);
  pass(*store, {{kKind, "c", "1"}}, 1 << kKind);
  EXPECT_EQ(read(memory), (Texts{{kKind, "c", "1"}, {kOtherKind, "new", "9"}}))
      << "only of the kinds of the run";
}

TEST(ObjectStoreTest, ObjectsWithOneLabelAreSeveral) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  const Texts all = {{kKind, "a", "1"}, {kKind, "a", "2"}, {kKind, "b", "3"}, {kKind, "a", "4"}};
  pass(*store, all);
  EXPECT_EQ(read(memory), all);
}

TEST(ObjectStoreTest, ManyBetweenTwoStayInOrder) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  Texts all = {{kKind, "first", ""}, {kKind, "last", ""}};
  pass(*store, all);
  for (int i = 0; i < 100; ++i) {
    all.insert(all.begin() + 1, {kKind, std::to_string(i), std::to_string(i)});
    pass(*store, all);
  }
  EXPECT_EQ(read(memory), all);
  std::ranges::reverse(all);
  pass(*store, all);
  EXPECT_EQ(read(memory), all);
}

TEST(ObjectStoreTest, AVersionThatIsThereIsNotWanted) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  const Text web{kKind, "web", "1"};
  {
    ObjectStore::Pass pass(*store, kBoth);
    ASSERT_TRUE(pass.wants(kKind, "web", {7, 1}));
    ASSERT_TRUE(pass.put(saved(web)));
    EXPECT_FALSE(pass.wants(kKind, "web", {7, 1}));
    EXPECT_TRUE(pass.wants(kKind, "web", {7, 2}));
  }
  ObjectStore::Pass pass(*store, kBoth);
  EXPECT_FALSE(pass.wants(kKind, "web", {7, 1}));
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), Texts{web}) << "what was come to stays";
}

TEST(ObjectStoreTest, ARunDoesNotReplaceWhatAnotherThreadHasPutOrRemoved) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  ObjectStore::Pass pass(*store, kBoth);
  ASSERT_TRUE(pass.wants(kKind, "a", {1, 1}));
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "a", "newer"}), {1, 2}));
  ASSERT_TRUE(pass.put(saved({kKind, "a", "older"})));
  ASSERT_TRUE(store->remove(kKind, "b"));
  EXPECT_FALSE(pass.wants(kKind, "b", {2, 1}));
  ASSERT_TRUE(pass.wants(kKind, "d", {4, 1}));
  ASSERT_TRUE(store->remove(kKind, "d"));
  ASSERT_TRUE(pass.put(saved({kKind, "d", "removed since"})));
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "c", "new"}), {3, 1}));
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), (Texts{{kKind, "a", "newer"}, {kKind, "c", "new"}}));
}

TEST(ObjectStoreTest, ARunDoesNotBringBackWhatALaterOneHasRemoved) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  pass(*store, {{kKind, "a", "1"}, {kKind, "b", "2"}});
  ObjectStore::Pass earlier(*store, kBoth);
  pass(*store, {{kKind, "b", "2"}});
  ASSERT_TRUE(earlier.put(saved({kKind, "a", "1"})));
  ASSERT_TRUE(earlier.put(saved({kKind, "b", "2"})));
  EXPECT_EQ(read(memory), (Texts{{kKind, "b", "2"}}));
}

// Made again while another run is under way.
TEST(ObjectStoreTest, ALaterRunWantsWhatWasRemovedBefore) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  const ObjectStore::Pass other(*store, kBoth);
  ASSERT_TRUE(store->remove(kKind, "a"));
  ObjectStore::Pass pass(*store, kBoth);
  EXPECT_TRUE(pass.wants(kKind, "a", {1, 1}));
  ASSERT_TRUE(pass.put(saved({kKind, "a", "again"})));
  EXPECT_EQ(read(memory), (Texts{{kKind, "a", "again"}}));
}

// By the next server, which has no versions of before.
TEST(ObjectStoreTest, AnObjectThatIsAsItWasGetsItsVersion) {
  const Fd memory = make_memory();
  pass(*open(memory).store, {{kKind, "a", "1"}});
  const auto store = open(memory).store;
  ObjectStore::Pass pass(*store, kBoth);
  ASSERT_TRUE(pass.wants(kKind, "a", {1, 1}));
  ASSERT_TRUE(pass.put(saved({kKind, "a", "1"})));
  EXPECT_FALSE(pass.wants(kKind, "a", {1, 1}));
  EXPECT_TRUE(store->has(kKind, "a", {1, 1}));
  EXPECT_FALSE(store->has(kKind, "a", {1, 2}));
}

TEST(ObjectStoreTest, WhatIsKeptIsThereOrNot) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  pass(*store, {{kKind, "a", "1"}, {kKind, "a", "2"}, {kKind, "b", "3"}});
  ObjectStore::Pass pass(*store, kBoth);
  EXPECT_TRUE(pass.keep(kKind, "a"));
  EXPECT_TRUE(pass.keep(kKind, "a"));
  EXPECT_FALSE(pass.keep(kKind, "a"));
  EXPECT_FALSE(pass.keep(kKind, "c"));
  ASSERT_TRUE(pass.put(saved({kKind, "c", "4"})));
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), (Texts{{kKind, "a", "1"}, {kKind, "a", "2"}, {kKind, "c", "4"}}));
}

TEST(ObjectStoreTest, ChangesOfAllKindsAreReadBack) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Fd memory = make_memory();
  auto store = open(memory).store;
  std::map<std::string, std::string> model;
  const auto size = [&] { return random() % 4 == 0 ? random() % 200'000 : random() % 300; };
  for (int i = 0; i < 3000; ++i) {
    const std::string label = std::to_string(random() % 40);
    if (random() % 3 == 0) {
      ASSERT_TRUE(store->remove(kKind, label));
      model.erase(label);
    } else {
      std::string bytes(size(), static_cast<char>('a' + random() % 26));
      ASSERT_TRUE(store->put(kBoth, saved({kKind, label, bytes}), {}));
      model[label] = std::move(bytes);
    }
    if (random() % 50 != 0) continue;
    std::map<std::string, std::string> found;
    for (Text& each : read(memory)) found.emplace(each.label, std::move(each.bytes));
    ASSERT_EQ(found, model);
    if (random() % 2 == 0) store = open(memory).store;
  }
  struct stat status {};
  ::fstat(memory.get(), &status);
  std::size_t held = 0;
  for (const auto& [label, bytes] : model) held += bytes.size();
  EXPECT_LT(static_cast<std::size_t>(status.st_blocks) * 512, 3 * held + (16 << 20))
      << "memory that is free is given back";
}

constexpr std::uint32_t kLabels = 8;
using Announced = std::array<std::atomic<std::uint64_t>, kLabels>;

// Writes objects for ever; each begins with a number, and is announced behind its put().
[[noreturn]] void write_for_ever(const Fd& memory, unsigned seed, Announced& announced) {
  std::mt19937 random(seed);
  const auto opened = ObjectStore::open(memory.get());
  if (!opened) ::_exit(1);
  for (;;) {
    const std::uint32_t at = random() % kLabels;
    const std::uint64_t next = announced[at].load() + 1;
    std::string bytes = std::to_string(next) + "|";
    bytes.append(random() % 50'000, static_cast<char>('a' + next % 26));
    const std::string label = std::to_string(at);
    if (!opened.value().store->put(kBoth, {kKind, 1, label, bytes}, {})) ::_exit(1);
    announced[at].store(next);
  }
}

void expect_announced(const Fd& memory, Announced& announced) {
  for (const Text& each : read(memory)) {
    const auto end = each.bytes.find('|');
    ASSERT_NE(end, std::string::npos);
    const std::uint64_t number = std::stoull(each.bytes.substr(0, end));
    std::atomic<std::uint64_t>& told = announced[std::stoul(each.label)];
    ASSERT_GE(number, told.load());
    ASSERT_LE(number, told.load() + 1) << "the one that was being written may be there";
    told = number;
    ASSERT_EQ(each.bytes.find_first_not_of(static_cast<char>('a' + number % 26), end + 1),
              std::string::npos);
  }
}

// What was announced before the kill is there, and nothing is half of anything.
TEST(ObjectStoreTest, AKillLosesNothingThatWasWritten) {
  constexpr int kKills = 100;
  const Fd memory = make_memory();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  void* const shared = ::mmap(nullptr, sizeof(Announced), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& announced = *new (shared) Announced{};
  const auto all = [&] {
    std::uint64_t sum = 0;
    for (const auto& each : announced) sum += each.load();
    return sum;
  };
  for (int kill = 0; kill < kKills; ++kill) {
    const auto child_seed = static_cast<unsigned>(random());
    const std::uint64_t begun = all();
    const pid_t child = ::fork();
    if (child == 0) write_for_ever(memory, child_seed, announced);
    ASSERT_GT(child, 0);
    int status = 0;
    const std::uint64_t until = begun + 2 + random() % 20;
    while (all() < until && ::waitpid(child, &status, WNOHANG) == 0) std::this_thread::yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    expect_announced(memory, announced);
  }
  ::munmap(shared, sizeof(Announced));
}

TEST(ObjectStoreTest, FlippedBitsLoseTheirObjectAlone) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Fd memory = make_memory();
  Texts all;
  {
    const auto [store, none] = open(memory);
    for (int i = 0; i < 20; ++i) {
      all.push_back({kKind, std::to_string(i), std::string(random() % 2000, 'x')});
    }
    pass(*store, all);
  }
  struct stat status {};
  ::fstat(memory.get(), &status);
  std::size_t hurt = 0;
  for (int round = 0; round < 2000; ++round) {
    // An entry, or an object behind the 1 << 22 entries.
    const bool is_entry = random() % 2 == 0;
    const off_t begin = is_entry ? 4096 : 4096 + (256 << 20);
    const off_t end = is_entry ? 4096 + 20 * 64 : status.st_size;
    const off_t at = begin + static_cast<off_t>(random() % static_cast<std::size_t>(end - begin));
    unsigned char byte = 0;
    ASSERT_EQ(::pread(memory.get(), &byte, 1, at), 1);
    const unsigned char flipped = byte ^ static_cast<unsigned char>(1u << (random() % 8));
    ASSERT_EQ(::pwrite(memory.get(), &flipped, 1, at), 1);
    const auto opened = open(memory);
    const Texts found = contents_of(opened.contents);
    EXPECT_GE(found.size() + opened.contents.faults.size(), all.size());
    EXPECT_GE(found.size(), all.size() - 1);
    for (const Text& each : found) EXPECT_NE(std::ranges::find(all, each), all.end());
    hurt += found.size() != all.size();
    ASSERT_EQ(::pwrite(memory.get(), &byte, 1, at), 1);
  }
  EXPECT_GT(hurt, 0u);
  EXPECT_EQ(read(memory), all);
}

TEST(ObjectStoreTest, WhatIsNoStoreIsRefusedAndBegunAnew) {
  const Fd memory = make_memory();
  ASSERT_EQ(::ftruncate(memory.get(), 10), 0);
  EXPECT_EQ(ObjectStore::open(memory.get()).error().code, ErrorCode::kInvalid);
  ASSERT_EQ(::ftruncate(memory.get(), 1 << 20), 0);
  EXPECT_EQ(ObjectStore::open(memory.get()).error().code, ErrorCode::kInvalid);
  const auto store = ObjectStore::format(memory.get());
  ASSERT_TRUE(store);
  ASSERT_TRUE(store.value()->put(kBoth, saved({kKind, "a", "1"}), {}));
  EXPECT_EQ(read(memory), (Texts{{kKind, "a", "1"}}));
}

// ---- parts

constexpr PartKinds kParts{.part = kOtherKind, .whole = kKind};
Text part(const char* label) { return {kOtherKind, label, "x"}; }

ObjectStore::Opened open_with_parts(const Fd& memory) {
  auto opened = ObjectStore::open(memory.get(), kParts);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().reason);
  return std::move(opened.value());
}

// As a run does, which comes to no whole here.
void remove_void_parts(ObjectStore& store) {
  ASSERT_TRUE(ObjectStore::Pass(store, 1 << kOtherKind).end());
}

TEST(ObjectStoreTest, APartStaysUntilItsWholeHasTheChange) {
  const Fd memory = make_memory();
  const auto [store, none] = open_with_parts(memory);
  const Text web{kKind, "web", std::string(100, 'w')};
  EXPECT_FALSE(store->put_part(kBoth, saved(part("web/1")), {5, 2}).value()) << "of no whole";
  ASSERT_TRUE(store->put(kBoth, saved(web), {5, 1}));
  EXPECT_FALSE(store->put_part(kBoth, saved(part("web/1")), {6, 2}).value()) << "of another one";
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/1")), {5, 2}).value());
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/2")), {5, 3}).value());
  EXPECT_EQ(read(memory), (Texts{web, part("web/1"), part("web/2")}));
  ASSERT_TRUE(store->put(kBoth, saved(web), {5, 2}));
  remove_void_parts(*store);
  EXPECT_EQ(read(memory), (Texts{web, part("web/2")}));
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/3")), {5, 2}).value()) << "it has that";
  EXPECT_EQ(read(memory), (Texts{web, part("web/2")}));
  ASSERT_TRUE(store->remove(kKind, "web"));
  remove_void_parts(*store);
  EXPECT_EQ(read(memory), Texts{});
}

// A kill between the two must not leave a whole without its changes.
TEST(ObjectStoreTest, AWholeIsRemovedBeforeItsPartsAndTheNextServerRemovesThese) {
  const Fd memory = make_memory();
  {
    const auto [store, none] = open_with_parts(memory);
    ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(100, 'w')}), {5, 1}));
    ASSERT_TRUE(store->put_part(kBoth, saved(part("web/1")), {5, 2}).value());
    ASSERT_TRUE(store->remove(kKind, "web"));
  }
  EXPECT_EQ(read(memory), Texts{part("web/1")});
  EXPECT_EQ(contents_of(open_with_parts(memory).contents), Texts{});
  EXPECT_EQ(read(memory), Texts{});
}

// A memory that takes no more writes has all that it had.
TEST(ObjectStoreTest, PartsWithoutTheirWholeThatCannotBeRemovedKeepNothingElseFromBeingRead) {
  const Fd memory = make_memory();
  {
    const auto [store, none] = open_with_parts(memory);
    ASSERT_TRUE(store->put(kBoth, saved({kKind, "few", "f"}), {4, 1}));
    ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(100, 'w')}), {5, 1}));
    ASSERT_TRUE(store->put_part(kBoth, saved(part("web/1")), {5, 2}).value());
    ASSERT_TRUE(store->remove(kKind, "web"));
  }
  const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
  const Fd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(contents_of(open_with_parts(read_only).contents), (Texts{{kKind, "few", "f"}}));
  EXPECT_EQ(read(memory), (Texts{{kKind, "few", "f"}, part("web/1")}));
}

// Others wait for the store meanwhile.
TEST(ObjectStoreTest, VoidPartsAreRemovedAFewAtATime) {
  const Fd memory = make_memory();
  const auto [store, none] = open_with_parts(memory);
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(1000, 'w')}), {5, 1}));
  for (int i = 0; i < 10; ++i) {
    const std::string label = "web/" + std::to_string(i);
    ASSERT_TRUE(store->put_part(kBoth, saved(part(label.c_str())), {5, 2}).value());
  }
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(1000, 'v')}), {5, 2}));
  EXPECT_EQ(store->objects(), 11u);
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/new")), {5, 3}).value());
  EXPECT_EQ(store->objects(), 10u) << "two for one";
  EXPECT_FALSE(store->put_part(kBoth, saved(part("web/9")), {5, 4}).value()) << "not yet";
  remove_void_parts(*store);
  EXPECT_EQ(store->objects(), 2u);
}

TEST(ObjectStoreTest, PartsOfAWholeHaveNoMoreBytesThanItself) {
  const Fd memory = make_memory();
  const auto [store, none] = open_with_parts(memory);
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(1000, 'w')}), {5, 1}));
  unsigned parts = 0;
  while (store->put_part(kBoth, saved(part(("web/" + std::to_string(parts)).c_str())), {5, 2})
             .value()) {
    ASSERT_LT(++parts, 1000u);
  }
  EXPECT_GT(parts, 10u);
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(1000, 'v')}), {5, 3}));
  remove_void_parts(*store);
  EXPECT_EQ(store->objects(), 1u);
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/next")), {5, 4}).value());
}

// The next server knows no versions: it has taken all parts into the whole that it puts.
TEST(ObjectStoreTest, PartsGoWithTheFirstSaveOfTheNextServer) {
  const Fd memory = make_memory();
  {
    const auto [store, none] = open_with_parts(memory);
    ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(100, 'w')}), {5, 1}));
    ASSERT_TRUE(store->put_part(kBoth, saved(part("web/1")), {5, 2}).value());
  }
  const auto [store, found] = open_with_parts(memory);
  EXPECT_EQ(found.objects.size(), 2u);
  EXPECT_FALSE(store->put_part(kBoth, saved(part("web/1")), {5, 3}).value());
  ObjectStore::Pass pass(*store, kBoth);
  ASSERT_TRUE(pass.put(saved({kKind, "web", std::string(100, 'v')}), {2, 1}));
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), (Texts{{kKind, "web", std::string(100, 'v')}}));
}

TEST(ObjectStoreTest, AWholeOfTheServerBeforeThatIsKnownGetsPartsAndIsPutByTheNextRun) {
  const Fd memory = make_memory();
  const Text web{kKind, "web", std::string(100, 'w')};
  ASSERT_TRUE(open_with_parts(memory).store->put(kBoth, saved(web), {5, 9}));
  const auto [store, found] = open_with_parts(memory);
  store->know_whole("web", 2);
  EXPECT_TRUE(store->put_part(kBoth, saved(part("web/1")), {2, 9}).value());
  EXPECT_EQ(read(memory), (Texts{web, part("web/1")}));
  ObjectStore::Pass pass(*store, kBoth);
  EXPECT_TRUE(pass.wants(kKind, "web", {2, 9}));
  const Text next{kKind, "web", std::string(100, 'v')};
  ASSERT_TRUE(pass.put(saved(next)));
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), Texts{next});
}

// Of an interface that was removed, and made again.
TEST(ObjectStoreTest, PartsDoNotGoOverToAnotherWholeOfTheName) {
  const Fd memory = make_memory();
  const auto [store, none] = open_with_parts(memory);
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", std::string(100, 'w')}), {5, 1}));
  ASSERT_TRUE(store->put_part(kBoth, saved(part("web/1")), {5, 9}).value());
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "web", "new"}), {6, 1}));
  remove_void_parts(*store);
  EXPECT_EQ(read(memory), (Texts{{kKind, "web", "new"}}));
  ObjectStore::Pass pass(*store, kBoth);
  ASSERT_TRUE(pass.end());
  EXPECT_EQ(read(memory), Texts{});
}

// Sealed memory stands for one that is full.
TEST(ObjectStoreTest, AChangeThatFailsLeavesWhatWasBefore) {
  const Fd memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto [store, none] = open(memory);
  ASSERT_TRUE(store->put(kBoth, saved({kKind, "a", "1"}), {}));
  ASSERT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(store->put(kBoth, saved({kKind, "a", much}), {}).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(store->put(kBoth, saved({kKind, "b", much}), {}).error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(read(memory), (Texts{{kKind, "a", "1"}}));
  EXPECT_EQ(store->objects(), 1u);
}

TEST(ObjectStoreTest, ALabelOrAnObjectThatIsTooLongIsRefused) {
  const Fd memory = make_memory();
  const auto [store, none] = open(memory);
  const std::string label(kLabelBytesMax + 1, 'x');
  EXPECT_EQ(store->put(kBoth, saved({kKind, label, ""}), {}).error().code, ErrorCode::kTooBig);
  EXPECT_EQ(store->objects(), 0u);
}

}  // namespace
}  // namespace tallyfs
