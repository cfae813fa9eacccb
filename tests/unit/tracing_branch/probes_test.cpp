// Probes of the mount beside a source that is played here.
#include <gtest/gtest.h>

#include <vector>

#include "core/tracing/branch/probe_source.h"
#include "tests/unit/tracing_branch/tracing_stand.h"

namespace tallyfs {
namespace {

class PlayedProbes : public ProbeSource {
 public:
  explicit PlayedProbes(EventSource& events) : events_(events) {}

  EventSource& events() override { return events_; }
  Result<MadeProbe> define(const ProbePlace& place, const CancellationToken&) override {
    if (!answer) return answer.error();
    made.push_back(place);
    return made_of(place);
  }
  Result<void> remove(const std::vector<std::uint64_t>& serials,
                      const CancellationToken&) override {
    removed.insert(removed.end(), serials.begin(), serials.end());
    return {};
  }
  static MadeProbe made_of(const ProbePlace& place) {
    const auto id = static_cast<std::uint32_t>(1000 + place.serial);
    return {.source_id = id,
            .text = place.text,
            .format = format_of(place.event, static_cast<int>(id))};
  }

  Result<void> answer;
  std::vector<ProbePlace> made;
  std::vector<std::uint64_t> removed;

 private:
  EventSource& events_;
};

class ProbesTest : public testing::Test {
 protected:
  Result<void> write_as(uid_t uid, std::string_view text) {
    CallContext call(clock_.now());
    call.uid = uid;
    return file("uprobe_events")->write_line(text, call);
  }
  Result<void> write(std::string_view text) { return write_as(0, text); }
  Result<void> clear() {
    CallContext call(clock_.now());
    call.uid = 0;
    return file("uprobe_events")->truncate(call);
  }
  Result<void> put(std::string_view path, std::string_view text) {
    return file(path)->write_by(77, text, clock_.now());
  }
  bool has(std::string_view path) {
    return find_node(tree_, directory_, path, clock_.now()).has_value();
  }
  std::shared_ptr<File> file(std::string_view path) {
    return tree_.file(find_node(tree_, directory_, path, clock_.now()).value().id).value();
  }
  std::string read(std::string_view path) {
    return file(path)->render(clock_.now(), 1 << 24).value();
  }
  // A record of the probe of that serial, by a thread, with the flags that uprobes have.
  void feed(std::uint64_t serial, std::int32_t common_pid) {
    std::string bytes(16, '\0');
    bytes[2] = bytes[3] = '\xff';
    std::memcpy(bytes.data() + 4, &common_pid, 4);
    const EventRecord record{.event = static_cast<std::uint32_t>(1000 + serial),
                             .time_ns = 1000,
                             .pid = common_pid,
                             .bytes = bytes};
    tracing_.feed(kernel_, {&record, 1}, clock_.now());
  }

  FakeClock clock_;
  Ledger ledger_{Ledger::Limits()};
  Tree tree_{clock_.now()};
  NodeId directory_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  FakeSource kernel_;
  PlayedProbes probes_{kernel_};
  Tracing tracing_{tree_, directory_, ledger_, {.probes = &probes_}, clock_.now()};
};

TEST_F(ProbesTest, ALineMakesAnEventThatCounts) {
  ASSERT_TRUE(write("p:mine/a /bin/x:0x10  prio=%di # of every call\n"));
  ASSERT_EQ(probes_.made.size(), 1u);
  EXPECT_EQ(probes_.made[0].text, "/bin/x:0x10 prio=%di");
  EXPECT_EQ(read("uprobe_events"), "p:mine/a /bin/x:0x10 prio=%di\n");
  EXPECT_EQ(read("events/mine/a/format").substr(0, 8), "name: a\n");
  ASSERT_TRUE(put("events/mine/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  EXPECT_NE(read("events/mine/a/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(ProbesTest, AHitOfAnOwnThreadDoesNotCountWhateverItsFlags) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  tracing_.leave_out({41, 42});
  feed(1, 42);
  feed(1, 43);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 1\n"), std::string::npos);
}

TEST_F(ProbesTest, OnlyRootWrites) {
  const auto refused = write_as(500, "p:a /bin/x:0x10");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(probes_.made.empty());
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  EXPECT_EQ(file("uprobe_events")->truncate(clock_.now()).error().code, ErrorCode::kNotPermitted);
  EXPECT_TRUE(has("events/uprobes/a"));
}

TEST_F(ProbesTest, ALineOfTheSameNameAddsAPlaceWhileItIsOff) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:a /bin/x:0x20\n"));
  ASSERT_EQ(probes_.made.size(), 2u);
  EXPECT_EQ(probes_.made[0].serial, probes_.made[1].serial);
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n");
  ASSERT_TRUE(put("events/uprobes/a/enable", "1"));
  EXPECT_EQ(write("p:a /bin/x:0x30").error().code, ErrorCode::kBusy);
  EXPECT_EQ(probes_.made.size(), 2u);
}

TEST_F(ProbesTest, ARefusalHasItsCaretInTheLineAsItWasWritten) {
  probes_.answer = Error{.code = ErrorCode::kInvalid,
                         .reason = "Invalid register name",
                         .token_at = std::string_view("/bin/x:0x10 prio=").size(),
                         .location = "trace_uprobe"};
  const auto refused = write("p:b /bin/x:0x10\n");
  ASSERT_FALSE(refused);
  const std::string line = "p:a  /bin/x:0x10   prio=%zz";
  const auto other = write("\n" + line + "  # a comment\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, line);
  EXPECT_EQ(other.error().token_at, line.find("%zz"));
  EXPECT_EQ(other.error().location, "trace_uprobe");
  EXPECT_EQ(read("uprobe_events"), "");
  EXPECT_FALSE(has("events/uprobes"));
}

TEST_F(ProbesTest, ARemovalTakesTheEventAndIsRefusedWhileItIsOn) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:other/a /bin/x:0x20\np:b /bin/x:0x30\n"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  EXPECT_EQ(write("-:a").error().code, ErrorCode::kBusy);
  EXPECT_EQ(clear().error().code, ErrorCode::kBusy);
  EXPECT_TRUE(probes_.removed.empty());
  EXPECT_TRUE(has("events/uprobes/b")) << "all stay";
  ASSERT_TRUE(put("events/uprobes/a/trigger", "!hist:keys=prio"));
  EXPECT_TRUE(write("-:a"));
  EXPECT_EQ(probes_.removed, (std::vector<std::uint64_t>{1, 2})) << "of every group";
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/b /bin/x:0x30\n");
  EXPECT_EQ(write("-:a").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(clear());
  EXPECT_EQ(probes_.removed.back(), 3u);
  EXPECT_FALSE(has("events/uprobes"));
}

TEST_F(ProbesTest, ANameThatAnotherEventHasIsRefused) {
  const std::string text = format_of("sched_switch", 314);
  ASSERT_TRUE(tracing_.offer(
      kernel_, {.system = "sched", .text = text, .source_id = 314}, clock_.now()));
  EXPECT_EQ(write("p:sched/sched_switch /bin/x:0x10").error().code, ErrorCode::kExists);
  EXPECT_EQ(write("p:synthetic/a /bin/x:0x10").error().code, ErrorCode::kExists);
  EXPECT_TRUE(probes_.made.empty());
}

// The source answers after the write has given up: the kernel has the place, and it is listed.
TEST_F(ProbesTest, APlaceThatIsMadeTooLateIsListedWithItsProbe) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  probes_.answer = Error{ErrorCode::kTimedOut, "the feeder is silent"};
  ASSERT_FALSE(write("p:a /bin/x:0x20"));
  ASSERT_FALSE(write("p:b /bin/x:0x30"));
  const auto made = [](std::uint64_t serial, const char* text) {
    return PlayedProbes::made_of({.serial = serial, .event = "a", .text = text});
  };
  EXPECT_TRUE(tracing_.place_made_late(1, made(1, "/bin/x:0x20"), clock_.now()));
  EXPECT_FALSE(tracing_.place_made_late(2, made(2, "/bin/x:0x30"), clock_.now())) << "it goes";
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n");
}

// A probe with a line of 4,000 bytes, again and again.
TEST_F(ProbesTest, TheTextOfAllPlacesTogetherIsBounded) {
  const std::string path = "/bin/" + std::string(4'000, 'x');
  int made = 0;
  while (made <= 2'200 && write("p:a" + std::to_string(made) + " " + path + ":0x10")) made += 1;
  EXPECT_GT(made, 2'000);
  EXPECT_LT(made, 2'200) << "8 MiB";
  ASSERT_TRUE(write("-:a0"));
  EXPECT_TRUE(write("p:b " + path + ":0x10")) << "the room is there again";
  EXPECT_EQ(write("p:c " + path + ":0x10").error().code, ErrorCode::kNoSpace);
}

TEST_F(ProbesTest, ANewSourceMakesThemAnewAndWhatIsSetCountsOn) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  feed(1, 7);
  tracing_.withdraw(kernel_, clock_.now());
  const auto places = tracing_.probe_places();
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(tracing_.probe_serials(), std::vector<std::uint64_t>{1});
  tracing_.probe_made(1, PlayedProbes::made_of(places[0]), clock_.now());
  ASSERT_EQ(kernel_.is_wanted.size(), 1u);
  tracing_.leave_out({42});
  feed(1, 7);
  feed(1, 42);
  EXPECT_NE(read("events/uprobes/a/hist").find("Hits: 2\n"), std::string::npos);
}

// What was saved, in the order in which it is loaded.
class KeptObjects : public ObjectSink {
 public:
  bool put(const SavedObject& object) override {
    objects_.push_back({object.kind, object.format, std::string(object.bytes)});
    return true;
  }
  // Returns the refusals.
  std::vector<std::string> load(Tracing& into, Moment now) const {
    std::vector<std::string> refusals;
    for (const Kept& each : objects_) {
      const auto loaded = into.load({each.kind, each.format, "", each.bytes}, {.now = now});
      if (!loaded) refusals.push_back(loaded.error().reason);
    }
    return refusals;
  }
  // In each of the objects of this kind.
  void change(SavedKind kind, const std::string& from, const std::string& to) {
    for (Kept& each : objects_) {
      const std::size_t at = each.bytes.find(from);
      const bool is_of_kind = each.kind == static_cast<std::uint16_t>(kind);
      if (is_of_kind && at != std::string::npos) each.bytes.replace(at, from.size(), to);
    }
  }

 private:
  struct Kept {
    std::uint16_t kind = 0, format = 0;
    std::string bytes;
  };
  std::vector<Kept> objects_;
};

class SavedProbesTest : public ProbesTest {
 protected:
  // Another server, with or without a source of probes.
  struct Next {
    explicit Next(Moment now, bool has_probes)
        : tracing(tree, directory, ledger, {.probes = has_probes ? &probes : nullptr}, now) {}
    Ledger ledger{Ledger::Limits()};  // files of the tree give back to it
    Tree tree{Moment{}};
    NodeId directory =
        tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), Moment{});
    FakeSource kernel;
    PlayedProbes probes{kernel};
    Tracing tracing;
    bool has(std::string_view path) {
      return find_node(tree, directory, path, Moment{}).has_value();
    }
  };
  KeptObjects kept() {
    KeptObjects objects;
    tracing_.save(objects);
    return objects;
  }
};

TEST_F(SavedProbesTest, ASerialIsNotGivenAgain) {
  ASSERT_TRUE(write("p:a /bin/x:0x10\np:b /bin/x:0x20\n-:b\n"));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  CallContext call(clock_.now());
  call.uid = 0;
  const auto node = find_node(next.tree, next.directory, "uprobe_events", clock_.now());
  ASSERT_TRUE(next.tree.file(node.value().id).value()->write_line("p:b /bin/x:0x30", call));
  ASSERT_EQ(next.probes.made.size(), 1u);
  EXPECT_EQ(next.probes.made[0].serial, 3u) << "the source may have the second one yet";
}

// Its hist.json would be readable as that of any other event is.
TEST_F(SavedProbesTest, AnEventOfAProbeIsNotThereWithoutTheProbe) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  Next without(clock_.now(), false);
  EXPECT_FALSE(kept().load(without.tracing, clock_.now()).empty());
  EXPECT_FALSE(without.has("events/uprobes"));
  Next with(clock_.now(), true);
  EXPECT_TRUE(kept().load(with.tracing, clock_.now()).empty());
  EXPECT_TRUE(with.has("events/uprobes/a/hist.json"));
}

// A state file that was damaged, or written by another.
TEST_F(SavedProbesTest, AProbeThatNoLineCouldHaveMadeIsRefused) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  const auto refused_with = [this](const std::string& from, const std::string& to) {
    KeptObjects objects = kept();
    objects.change(SavedKind::kProbe, from, to);
    Next next(clock_.now(), true);
    const bool is_refused = objects.load(next.tracing, clock_.now()).size() == 1;
    return is_refused && next.tracing.probe_serials().empty();
  };
  EXPECT_TRUE(refused_with("uprobes", "mine/ab")) << "the line would be of another group";
  EXPECT_TRUE(refused_with("uprobes", "4probes"));
  EXPECT_TRUE(refused_with(std::string("p\1\0\0\0\xb\0\0\0/bin/x:0x10", 20),
                           std::string("p\0\0\0\0", 5)))
      << "without a place";
  EXPECT_FALSE(refused_with("uprobes", "uprobez")) << "another name is none that is wrong";
}

}  // namespace
}  // namespace tallyfs
