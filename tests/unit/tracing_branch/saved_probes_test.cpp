// Probes over a restart, and over a change of servers.
#include <string>
#include <vector>

#include "tests/unit/tracing_branch/probes_fixture.h"

namespace tallyfs::tracing {
namespace {

// What was saved, in the order in which it is loaded.
class KeptObjects : public ObjectSink {
 public:
  bool put(const SavedObject& object) override {
    objects_.push_back({object.kind, object.format, std::string(object.bytes)});
    return true;
  }
  // Returns the refusals.
  std::vector<std::string> load(Tracing& into, Timestamp now, bool has_pages = false) const {
    std::vector<std::string> refusals;
    for (const Kept& each : objects_) {
      const auto loaded =
          into.load({each.kind, each.format, "", each.bytes}, {.now = now, .has_pages = has_pages});
      if (!loaded) refusals.push_back(loaded.error().reason);
    }
    return refusals;
  }
  // As another version of tallyfs would save objects of this kind.
  void set_format(SavedKind kind, std::uint16_t format) {
    for (Kept& each : objects_) {
      if (each.kind == static_cast<std::uint16_t>(kind)) each.format = format;
    }
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
  using ProbesTest::ProbesTest;
  // Another server, with or without a source of probes.
  struct Next {
    explicit Next(Timestamp now, bool has_probes, ProbeTargets targets = {})
        : tracing(tree, directory, ledger,
                  {.probes = has_probes ? &probes : nullptr, .probe_targets = targets}, now) {}
    Ledger ledger{Ledger::Limits()};  // files of the tree give back to it
    Tree tree{Timestamp{}};
    NodeId directory =
        tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), Timestamp{});
    FakeSource kernel;
    PlayedProbes probes{kernel};
    Tracing tracing;
    bool has(std::string_view path) {
      return find_node(tree, directory, path, Timestamp{}).has_value();
    }
    Result<void> write(std::string_view text) {
      CallContext call(Timestamp{});
      call.uid = 0;
      const auto node = find_node(tree, directory, "uprobe_events", Timestamp{});
      return tree.file(node.value().id).value()->write_line(text, call);
    }
    std::string read(std::string_view path) {
      const auto node = find_node(tree, directory, path, Timestamp{});
      return tree.file(node.value().id).value()->render(Timestamp{}, 1 << 20).value();
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
  ASSERT_TRUE(next.write("p:b /bin/x:0x30"));
  ASSERT_EQ(next.probes.made.size(), 1u);
  EXPECT_EQ(next.probes.made[0].serial, 3u) << "the source may have the second one yet";
}

class SavedKernelProbesTest : public SavedProbesTest {
 protected:
  SavedKernelProbesTest() : SavedProbesTest({.programs = true, .kernel = true}) {}
};

TEST_F(SavedKernelProbesTest, AProbeOfTheKernelIsMadeAgainAsItWasWritten) {
  CallContext call(clock_.now());
  call.uid = 0;
  ASSERT_TRUE(file("kprobe_events")->write_line("r10:a vfs_read $retval", call));
  Next next(clock_.now(), true, targets_);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  EXPECT_EQ(next.read("kprobe_events"), "r10:kprobes/a vfs_read $retval\n");
  const auto places = next.tracing.probe_places();
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].text, "vfs_read $retval");
  EXPECT_EQ(places[0].instances, 10u);
  Next without(clock_.now(), true);
  EXPECT_EQ(kept().load(without.tracing, clock_.now()),
            std::vector<std::string>{"this kernel has no probes of this kind"});
}

TEST_F(SavedKernelProbesTest, ProbesOfOtherKindsAreMadeAgainAsTheyWereWritten) {
  CallContext call(clock_.now());
  call.uid = 0;
  const std::string lines =
      "e:eprobes/e sched.sched_switch n=$next_pid if prev_pid == 1\n"
      "f10:fprobes/back vfs_read%return ret=$retval\nt:tracepoints/t sched_waking\n";
  ASSERT_TRUE(file("dynamic_events")->write_line(lines, call));
  for (const bool has_pages : {false, true}) {
    Next next(clock_.now(), true, targets_);
    EXPECT_TRUE(kept().load(next.tracing, clock_.now(), has_pages).empty());
    EXPECT_EQ(next.read("dynamic_events"), lines);
    const auto places = next.tracing.probe_places();
    ASSERT_EQ(places.size(), 3u);
    EXPECT_EQ(letter_of(places[0].target, places[0].kind), 'e');
    EXPECT_EQ(places[0].text, "sched.sched_switch n=$next_pid if prev_pid == 1");
    EXPECT_EQ(letter_of(places[1].target, places[1].kind), 'f');
    EXPECT_EQ(places[1].instances, 10u);
    EXPECT_EQ(letter_of(places[2].target, places[2].kind), 't');
  }
}

// Of a file that is read at a start: programs may be others by now.
TEST_F(SavedProbesTest, PlacesByNameAreFoundAnewAfterARestart) {
  ASSERT_TRUE(write("p:a /bin/x:0x10 n=%di\np:a /bin/x:alpha  n=$arg1:u64 # twice\n"));
  ASSERT_TRUE(write("p:a /bin/x:0x20 n=%di"));
  EXPECT_EQ(tracing_.probe_places().size(), 3u);
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  auto places = next.tracing.probe_places();
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].text, "/bin/x:0x10 n=%di");
  EXPECT_EQ(places[1].text, "");
  EXPECT_EQ(places[1].name, "/bin/x:alpha");
  EXPECT_EQ(next.read("uprobe_events"), "p:uprobes/a /bin/x:0x10 n=%di\n" + places[1].line +
                                            "\np:uprobes/a /bin/x:0x20 n=%di\n");
  const auto found = found_places_of(places[1], "x86_64\n8192 0\n12288 0\n");
  ASSERT_TRUE(found);
  ASSERT_EQ(found.value().size(), 2u);
  EXPECT_EQ(found.value()[1].text, "/bin/x:0x3000 n=%di:u64");
  for (const ProbePlace& each : found.value()) {
    next.tracing.probe_made(each, PlayedProbes::made_of(each), clock_.now());
  }
  places = next.tracing.probe_places();
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[1].text, "/bin/x:0x2000 n=%di:u64");
  EXPECT_EQ(places[2].text, "/bin/x:0x3000 n=%di:u64");
  EXPECT_EQ(places[3].text, "/bin/x:0x20 n=%di");
}

// The source dies when it has made the first of two places, or the server is replaced then.
TEST_F(SavedProbesTest, ANameIsSoughtUntilAllOfItsPlacesAreMade) {
  ASSERT_TRUE(write("p:a /bin/x:alpha"));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  const auto found = found_places_of(next.tracing.probe_places().at(0), "x86_64\n16 0\n32 0\n");
  ASSERT_TRUE(found);
  const auto make = [&](std::size_t nth) {
    const ProbePlace& place = found.value().at(nth);
    next.tracing.probe_made(place, PlayedProbes::made_of(place), clock_.now());
  };
  make(0);
  EXPECT_EQ(next.read("uprobe_events"), "p:uprobes/a /bin/x:0x10\n");
  ASSERT_EQ(next.tracing.probe_places().size(), 1u);
  EXPECT_EQ(next.tracing.probe_places()[0].name, "/bin/x:alpha");
  KeptObjects again;
  next.tracing.save(again);
  Next last(clock_.now(), true);
  EXPECT_TRUE(again.load(last.tracing, clock_.now(), true).empty());
  ASSERT_EQ(last.tracing.probe_places().size(), 1u);
  EXPECT_EQ(last.tracing.probe_places()[0].name, "/bin/x:alpha");
  make(0);
  make(1);
  EXPECT_EQ(next.read("uprobe_events"), "p:uprobes/a /bin/x:0x10\np:uprobes/a /bin/x:0x20\n");
  ASSERT_EQ(next.tracing.probe_places().size(), 2u);
  EXPECT_EQ(next.tracing.probe_places()[1].text, "/bin/x:0x20");
}

// What docs/probes.md says to do about a name that was not found.
TEST_F(SavedProbesTest, ALineThatIsWrittenAgainHasItsEvent) {
  ASSERT_TRUE(write("p:a /bin/x:alpha"));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  EXPECT_FALSE(next.has("events/uprobes/a"));
  ASSERT_TRUE(next.write("p:a /bin/x:alpha"));
  EXPECT_TRUE(next.has("events/uprobes/a/format"));
  EXPECT_EQ(next.read("uprobe_events"), "p:uprobes/a /bin/x:0x1000\n");
}

// The probe is there, and its places are those that the predecessor had made.
TEST_F(SavedProbesTest, PlacesByNameAreKeptByTheNextServer) {
  ASSERT_TRUE(write("p:a /bin/x:alpha"));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now(), true).empty());
  ASSERT_EQ(next.tracing.probe_places().size(), 1u);
  EXPECT_EQ(next.tracing.probe_places()[0].text, "/bin/x:0x1000");
}

TEST_F(SavedProbesTest, WhatIsAfterAnEndbr64IsKept) {
  probes_.found = std::string("x86_64\n4100+4 0\n");
  ASSERT_TRUE(write("p:a /bin/x:alpha"));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now(), true).empty());
  const std::string json = next.read("probes.json");
  EXPECT_NE(json.find(R"("after_endbr64":true)"), json.npos) << json;
}

// Of one probe, as a server before format 4 has saved it.
TEST_F(SavedProbesTest, PlacesOfTheFormatBeforeAreKept) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_text("uprobes");
  out.put_text("a");
  out.put(std::uint64_t{7});
  out.put(std::uint8_t{'p'});
  out.put(std::uint32_t{1});
  out.put_text("/bin/x:0x1004");
  out.put_text("8:1:77:1000");
  out.put(std::uint32_t{1});
  out.put_text("p:a /bin/x:alpha");
  out.put(std::uint32_t{1});
  const SavedObject object{static_cast<std::uint16_t>(SavedKind::kProbe), 3, "", bytes};
  ASSERT_TRUE(tracing_.load(object, {.now = clock_.now(), .has_pages = true}));
  EXPECT_EQ(read("uprobe_events"), "p:uprobes/a /bin/x:0x1004\n");
  const std::string json = read("probes.json");
  EXPECT_NE(json.find(R"("after_endbr64":null)"), json.npos) << json;
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

TEST_F(SavedProbesTest, AnEventOfAProbeInAnotherFormatIsNotThereEither) {
  ASSERT_TRUE(write("p:a /bin/x:0x10"));
  ASSERT_TRUE(put("events/uprobes/a/trigger", "hist:keys=prio"));
  for (const std::uint16_t format : {std::uint16_t{2}, std::uint16_t{99}}) {
    KeptObjects objects = kept();
    objects.set_format(SavedKind::kProbe, format);
    Next next(clock_.now(), true);
    EXPECT_FALSE(objects.load(next.tracing, clock_.now()).empty());
    EXPECT_FALSE(next.has("events/uprobes")) << "its hist.json would be readable";
  }
}

// A place that was on its way when others were added is beyond the limit, and is kept all the same.
TEST_F(SavedProbesTest, WhatTheLimitHasAllowedIsThereAfterARestart) {
  const std::string place = "/bin/" + std::string(4'000, 'x') + ":0x10";
  for (int made = 0; write("p:a" + std::to_string(made) + " " + place); ++made) {
  }
  const MadeProbe late{.source_id = 1001, .text = place, .file = "", .format = ""};
  const ProbePlace of{.serial = 1, .event = "a0", .text = place, .line = "p:a0 " + place};
  ASSERT_TRUE(tracing_.place_made_late(of, late, clock_.now()));
  Next next(clock_.now(), true);
  EXPECT_TRUE(kept().load(next.tracing, clock_.now()).empty());
  EXPECT_EQ(next.tracing.probe_places().size(), tracing_.probe_places().size());
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
  const std::string place(
      "p\1\0\0\0\xb\0\0\0/bin/x:0x10\6\0\0\0"
      "8:1:77",
      30);
  EXPECT_TRUE(refused_with(place, std::string("p\0\0\0\0", 5))) << "without a place";
  EXPECT_FALSE(refused_with("uprobes", "uprobes")) << "as it was saved";
}

}  // namespace
}  // namespace tallyfs::tracing
