#include "feeders/kernel/real_probes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/fake_clock.h"
#include "tests/unit/receiving_socket.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Beside a directory with the files of a tracefs that are looked at. What is written stays in them,
// so that a probe is listed that was removed.
class RealProbesTest : public testing::Test {
 protected:
  static constexpr ProbeGroup kGroup{4711, 99};

  RealProbesTest() {
    std::ofstream(file_) << "";
    std::ofstream(directory_ / "uprobe_events") << "";
  }

  RealProbes probes() {
    return RealProbes({.tracefs = &tracefs_, .group = kGroup}, catalogue_, events_, clock_);
  }
  // As the kernel makes it with the first line of the event.
  void has_format(const std::string& event) const {
    const std::string path = directory_ / "events/" + kGroup.name() + "/" + event;
    std::filesystem::create_directories(path);
    std::ofstream(path + "/format")
        << "name: " << event
        << "\nID: 1400\nformat:\n"
           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
           "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
  }
  std::string written() const {
    std::ifstream file(file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // From now on, or no longer.
  void refuse(bool refuses) const {
    const std::string aside = directory_ / "aside";
    if (refuses) {
      std::filesystem::rename(file_, aside);
      std::filesystem::create_directory(file_);
    } else {
      std::filesystem::remove(file_);
      std::filesystem::rename(aside, file_);
    }
  }
  static wire::ProbeOrder order(std::uint64_t serial, const std::string& text = "/bin/x:0x10") {
    return {.number = 1, .serial = serial, .event = "a", .text = text};
  }

  const TemporaryDirectory directory_;
  const std::string file_ = directory_ / "dynamic_events";
  const Fd tracefs_{::open((directory_ / "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  FakeClock clock_{1h};
  ReceivingSocket daemon_;
  Link link_{daemon_.path()};
  SymbolBook symbols_{[] { return Result<KernelSymbols>(KernelSymbols()); }};
  RecordShipper shipper_{link_, symbols_, [](std::int32_t) { return std::string(); }};
  Catalogue catalogue_{std::vector<CatalogueEvent>()};
  EventTracing events_{catalogue_, shipper_, clock_, {}};
};

TEST_F(RealProbesTest, ANewProbeIsNoPlaceOfOneThatIsLeaving) {
  RealProbes probes = this->probes();
  has_format("a_7");
  has_format("a_7x2");
  ASSERT_TRUE(probes.define(order(7)));
  refuse(true);
  probes.remove({7});
  refuse(false);
  const auto made = probes.define(order(7, "/bin/x:0x20"));
  ASSERT_TRUE(made) << made.error().reason;
  EXPECT_EQ(made.value().format.substr(0, 8), "name: a\n");
  EXPECT_EQ(written(), "p:tallyfs_4711_99/a_7 /bin/x:0x10\np:tallyfs_4711_99/a_7x2 /bin/x:0x20\n");
  // For the next feeder the later one is the probe.
  RealProbes next = this->probes();
  wire::ProbeOrder known = order(7, "/bin/x:0x20");
  known.is_known = true;
  const std::string before = written();
  EXPECT_TRUE(next.define(known));
  EXPECT_EQ(written(), before) << "it is there";
  clock_.advance(LeavingProbes::kTryAgain);
  next.tidy();
  EXPECT_EQ(written(), before + "-:tallyfs_4711_99/a_7\n");
}

// The text is the daemon's: the kernel writes numbers in another way.
TEST_F(RealProbesTest, AKnownPlaceIsThereInTheKernelsWords) {
  std::ofstream(file_) << "p:tallyfs_4711_99/a_7 /bin/x:0x0000000000000010(0x8) n=%di\n";
  has_format("a_7");
  RealProbes probes = this->probes();
  const std::string before = written();
  for (const char* const text : {"/bin/x:0x10(0x8) n=%di:u64", "/bin/x:0x20 n=%di:u64"}) {
    wire::ProbeOrder known = order(7, text);
    known.is_known = true;
    ASSERT_TRUE(probes.define(known));
    if (known.text.find("0x10") == std::string::npos) continue;
    EXPECT_EQ(probes.define(known).value().text, "/bin/x:0x0000000000000010(0x8) n=%di");
    EXPECT_EQ(written(), before);
  }
  EXPECT_EQ(written(), before + "p:tallyfs_4711_99/a_7 /bin/x:0x20 n=%di:u64\n");
}

// The kernel takes both: their names and types are the same.
TEST_F(RealProbesTest, APlaceThatFetchesSomethingElseIsAnother) {
  std::ofstream(file_) << "p:tallyfs_4711_99/a_7 /bin/x:0x10 n=%di:u64 m=%ax\n";
  has_format("a_7");
  RealProbes probes = this->probes();
  const std::string before = written();
  wire::ProbeOrder known = order(7, "/bin/x:0x10 n=%si:u64 m=%ax");
  known.is_known = true;
  ASSERT_TRUE(probes.define(known));
  EXPECT_EQ(written(), before + "p:tallyfs_4711_99/a_7 /bin/x:0x10 n=%si:u64 m=%ax\n");
  known.text = "/bin/x:0x10 n=%di:u64 m=%ax";
  EXPECT_EQ(probes.define(known).value().text, known.text);
}

TEST_F(RealProbesTest, ARefusedRemovalIsNotTriedAgainAtOnce) {
  RealProbes probes = this->probes();
  has_format("a_7");
  ASSERT_TRUE(probes.define(order(7)));
  refuse(true);
  probes.remove({7});
  refuse(false);
  const std::string before = written();
  EXPECT_EQ(probes.due(), std::optional<std::chrono::milliseconds>(LeavingProbes::kTryAgain));
  probes.tidy();
  EXPECT_EQ(written(), before) << "nothing is recorded, and it waits all the same";
  clock_.advance(LeavingProbes::kTryAgain);
  probes.tidy();
  EXPECT_EQ(written(), before + "-:tallyfs_4711_99/a_7\n");
  EXPECT_FALSE(probes.due());
}

// A clock that advances by 10 ms whenever it is read.
class ReadClock final : public Clock {
 public:
  Timestamp now() const override { return {.monotonic = passed_ += 10ms, .realtime = {}}; }
  void advance(std::chrono::nanoseconds by) { passed_ += by; }

 private:
  mutable std::chrono::nanoseconds passed_{1h};
};

TEST_F(RealProbesTest, OrdersDoNotWaitForAllRemovals) {
  constexpr std::uint64_t kProbes = 20;
  ReadClock clock;
  RealProbes probes({.tracefs = &tracefs_, .group = kGroup}, catalogue_, events_, clock);
  for (std::uint64_t serial = 1; serial <= kProbes; ++serial) {
    has_format("a_" + std::to_string(serial));
    ASSERT_TRUE(probes.define(order(serial)));
  }
  refuse(true);
  probes.keep({});
  refuse(false);
  const std::string made = written();
  const auto removed = [&] {
    const std::string text = written().substr(made.size());
    return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  };
  clock.advance(2 * LeavingProbes::kTryAgain);
  probes.tidy();
  EXPECT_EQ(removed(), 2U);
  EXPECT_EQ(probes.due(), std::optional(0ms));
  while (probes.due()) probes.tidy();
  EXPECT_EQ(removed(), kProbes);
}

// The kernel's profile has no groups: its lines are those of the list, one by one.
TEST_F(RealProbesTest, HitsAreThoseOfOwnPlacesAloneAndOfThoseThatAreLeaving) {
  std::ofstream(file_) << "p:other/a_7 /nowhere/x:0x10\n"
                          "p:tallyfs_4711_99/a_7 /nowhere/x:0x10\n"
                          "p:tallyfs_4711_99/a_8 /nowhere/x:0x10 n=%di\n"
                          "p:tallyfs_4711_99/a_7x2 /nowhere/x:0x20\n"
                          "r:tallyfs_4711_99/a_8 /nowhere/y:0x10 n=%di\n";
  const std::string profile = directory_ / "uprobe_profile";
  const std::string lines =
      "  /nowhere/x a_7 1\n  /nowhere/x a_7 2\n  /nowhere/x a_8 3\n  /nowhere/x a_7x2 4\n";
  std::ofstream(profile) << lines << "  /nowhere/y a_8 5\n";
  RealProbes probes = this->probes();
  const auto text_from = [&](std::uint64_t serial, std::uint64_t place) {
    const auto profiled = probes.profile({.number = 1, .serial = serial, .place = place});
    std::string text = profiled ? print(profiled.value()) : profiled.error().reason;
    // The kernel may have it cached that there is no such file.
    std::ranges::replace(text, '?', '-');
    return text;
  };
  const std::string of_8 = "8 3 0 - /nowhere/x:0x10\n8 5 0 - /nowhere/y:0x10\n";
  const std::string made_7 = "7 4 0 - /nowhere/x:0x20\n";
  EXPECT_EQ(text_from(0, 0), "profiled 1\n7 2 0 - /nowhere/x:0x10 a\n" + made_7 + of_8);
  EXPECT_EQ(text_from(7, 1), "profiled 1\n" + made_7 + of_8);
  EXPECT_EQ(text_from(7, 2), "profiled 1\n" + of_8);
  EXPECT_EQ(text_from(8, 1), "profiled 1\n8 5 0 - /nowhere/y:0x10\n");
  EXPECT_EQ(text_from(8, 2), "profiled 1\n");
  for (const char* const other : {"", "  /nowhere/z a_8 5\n", "  /nowhere/y a_9 5\n",
                                  "  /nowhere/y a_8 5\n  /nowhere/y a_8 5\n"}) {
    std::ofstream(profile) << lines << other;
    EXPECT_EQ(text_from(0, 0), "the kernel's probes come and go all the time");
  }
  std::filesystem::remove(profile);
  EXPECT_EQ(text_from(0, 0), "cannot read the kernel's uprobe_profile: No such file or directory");
}

// A text of the kernel's files, as Documentation/trace/kprobetrace.rst has it.
TEST_F(RealProbesTest, ProbesOfTheKernelAreBesideThoseOfPrograms) {
  has_format("open_7");
  RealProbes probes = this->probes();
  const auto made = probes.define({.number = 1,
                                   .serial = 7,
                                   .kind = 'r',
                                   .instances = 10,
                                   .event = "open",
                                   .text = "do_sys_open $retval"});
  ASSERT_TRUE(made) << made.error().reason;
  EXPECT_EQ(written(), "r10:tallyfs_4711_99/open_7 do_sys_open $retval\n");
  EXPECT_EQ(made.value().text, "do_sys_open $retval");
  EXPECT_EQ(made.value().file, "-");
  EXPECT_EQ(catalogue_.find(1400)->probe, tracing::ProbeTarget::kKernel);
  std::ofstream(file_) << "s:synthetic/lat u64 us\n"
                          "p:tallyfs_4711_99/a_8 /nowhere/x:0x10\n"
                          "p:kprobes/other vfs_read+8\n"
                          "e:eprobes/e sched.sched_switch n=$next_pid\n"
                          "r10:tallyfs_4711_99/open_7 do_sys_open arg1=$retval\n";
  std::ofstream(directory_ / "uprobe_profile") << "  /nowhere/x a_8 3\n";
  const std::string profile = directory_ / "kprobe_profile";
  std::ofstream(profile) << "  other  12   0\n  open_7  1234  56\n";
  RealProbes next = this->probes();
  const wire::ProfileOrder all{.number = 1};
  std::string text = print(next.profile(all).value());
  EXPECT_NE(text.find("7 1234 56 ? do_sys_open\n8 3 0 "), text.npos) << text;
  std::ofstream(profile) << "  open_7  1234  56\n";
  EXPECT_EQ(next.profile(all).error().code, ErrorCode::kBusy);
}

// As a Debian 12 with Linux 6.12 lists them.
TEST_F(RealProbesTest, ProbesOfOtherKindsAreMadeWhereTheKernelHasThem) {
  std::ofstream(file_) << "p:uprobes/other /bin/x:0x10\n"
                          "e:tallyfs_4711_99/a_7 sched.sched_switch n=$next_pid\n"
                          "f10:tallyfs_4711_99/a_8 vfs_read%return ret=$retval\n"
                          "t:tallyfs_4711_99/a_9 sched_switch prev=$arg2\n";
  for (const char* const event : {"a_7", "a_8", "a_9", "a_10"}) has_format(event);
  RealProbes probes = this->probes();
  const std::string before = written();
  const auto define = [&](std::uint64_t serial, char kind, const std::string& text) {
    auto order = this->order(serial, text);
    order.kind = kind;
    order.is_known = true;
    const auto made = probes.define(order);
    return made ? made.value().text : made.error().reason;
  };
  const std::string filtered = "sched.sched_switch n=$next_pid if prev_pid == 1";
  EXPECT_EQ(define(7, 'e', filtered), filtered) << "the kernel does not repeat the filter";
  EXPECT_EQ(define(8, 'f', "vfs_read%return ret=$retval"), "vfs_read%return ret=$retval");
  EXPECT_EQ(define(9, 't', "sched_switch prev=$arg2"), "sched_switch prev=$arg2");
  const std::string trials =
      "e:tallyfs_4711_99/trial sched.sched_switch\n-:tallyfs_4711_99/trial\n"
      "f:tallyfs_4711_99/trial vfs_read\n-:tallyfs_4711_99/trial\n"
      "t:tallyfs_4711_99/trial sched_switch\n-:tallyfs_4711_99/trial\n";
  EXPECT_EQ(written(), before + trials) << "they were there";
  EXPECT_EQ(define(10, 'f', "vfs_write"), "vfs_write");
  EXPECT_EQ(written(), before + trials + "f:tallyfs_4711_99/a_10 vfs_write\n") << "tried once";
  EXPECT_EQ(define(11, 'e', "uprobes.other"),
            "another tool has made this event: it could not remove it");
  std::ofstream(directory_ / "uprobe_profile") << "  /bin/x other 5\n";
  const auto profiled = probes.profile({.number = 1});
  ASSERT_TRUE(profiled) << profiled.error().reason;
  EXPECT_TRUE(profiled.value().places.empty()) << "nothing counts them";
}

TEST_F(RealProbesTest, AKindThatTheKernelLacksIsTriedOnceAndRefused) {
  RealProbes probes = this->probes();
  for (const bool refuses : {true, false}) {
    refuse(refuses);
    const auto made = probes.define({.number = 1, .kind = 'f', .event = "-", .text = "-"});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, "this kernel has no fprobes (CONFIG_FPROBE_EVENTS)");
  }
}

// A file system that does not answer would keep all tracing of the mount waiting.
TEST_F(RealProbesTest, NoFileSystemIsAskedForTheFileOfAPath) {
  const std::string cached = directory_ / "cached", other = directory_ / "never-looked-up";
  std::ofstream(cached) << "x";
  std::ofstream(file_) << "p:tallyfs_4711_99/a_7 " << cached << ":0x10\n"
                       << "p:tallyfs_4711_99/a_7 " << other << ":0x10\n";
  std::ofstream(directory_ / "uprobe_profile")
      << "  " << cached << " a_7 1\n  " << other << " a_7 2\n";
  RealProbes probes = this->probes();
  const auto profiled = probes.profile({.number = 1, .serial = 0, .place = 0});
  ASSERT_TRUE(profiled);
  ASSERT_EQ(profiled.value().places.size(), 2u);
  struct stat status {};
  ASSERT_EQ(::stat(cached.c_str(), &status), 0);
  const std::int64_t written = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  EXPECT_TRUE(profiled.value().places[0].file.ends_with(":" + std::to_string(status.st_ino) + ":" +
                                                        std::to_string(written)))
      << profiled.value().places[0].file;
  EXPECT_EQ(profiled.value().places[1].file, "?");
}

// Of 65,536 places a reader has some in each of 70 replies.
TEST_F(RealProbesTest, TheKernelsFilesAreReadOnceForAllReplies) {
  std::ofstream(file_) << "p:tallyfs_4711_99/a_7 /nowhere/x:0x10\n"
                          "p:tallyfs_4711_99/a_7 /nowhere/x:0x20\n";
  const std::string profile = directory_ / "uprobe_profile";
  std::ofstream(profile) << "  /nowhere/x a_7 1\n  /nowhere/x a_7 2\n";
  RealProbes probes = this->probes();
  const auto places_from = [&](std::uint64_t serial, std::uint64_t place) {
    const auto some = probes.profile({.number = 1, .serial = serial, .place = place});
    return some ? static_cast<int>(some.value().places.size()) : -1;
  };
  EXPECT_EQ(places_from(0, 0), 2);
  std::filesystem::remove(profile);
  EXPECT_EQ(places_from(7, 1), 1);
  EXPECT_EQ(places_from(7, 2), 0);
  EXPECT_EQ(places_from(0, 0), -1) << "another reader";
}

TEST_F(RealProbesTest, ALineThatTheKernelWouldCutIsRefused) {
  RealProbes probes = this->probes();
  has_format("a_7");
  const std::size_t name = std::string("p:tallyfs_4711_99/a_7 ").size();
  const std::size_t most = RealProbes::kRealLineBytesMax - name;
  const auto refused = probes.define(order(7, "/" + std::string(most, 'x')));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooBig);
  EXPECT_EQ(written(), "");
  EXPECT_TRUE(probes.define(order(7, "/" + std::string(most - 1, 'x'))));
}

TEST_F(RealProbesTest, AProbeOfWhichNothingCanBeReadIsRemoved) {
  RealProbes probes = this->probes();
  const std::string aside = directory_ / "aside";
  std::filesystem::rename(file_, aside);
  std::filesystem::create_symlink("/dev/null", file_);
  EXPECT_FALSE(probes.define(order(7)));
  std::filesystem::remove(file_);
  std::filesystem::rename(aside, file_);
  probes.remove({7});
  EXPECT_EQ(written(), "-:tallyfs_4711_99/a_7\n");
}

TEST_F(RealProbesTest, WithoutALockItSaysWhatToDo) {
  RealProbes none({.tracefs = &tracefs_, .group = {}}, catalogue_, events_, clock_);
  EXPECT_EQ(none.define(order(7)).error().reason,
            "this tallyfs has no lock for probes: restart it");
  std::filesystem::remove(file_);
  EXPECT_EQ(none.define(order(7)).error().reason,
            "this kernel has no dynamic_events: probes need Linux 5.0 or later");
  std::filesystem::remove(directory_ / "uprobe_events");
  EXPECT_EQ(none.define(order(7)).error().reason,
            "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
}

}  // namespace
}  // namespace tallyfs
