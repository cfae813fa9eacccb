#include "feeders/kernel/real_probes.h"

#include <fcntl.h>
#include <gtest/gtest.h>

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

  RealProbesTest() { std::ofstream(file_) << ""; }

  RealProbes probes() {
    return RealProbes({.tracefs = &tracefs_, .group = kGroup}, catalogue_, events_, clock_);
  }
  // As the kernel makes it with the first line of the event.
  void has_format(const std::string& event) const {
    const std::string path = directory_ / "events/" + kGroup.name() + "/" + event;
    std::filesystem::create_directories(path);
    std::ofstream(path + "/format") << "name: " << event << "\nID: 1400\nformat:\n"
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
  const std::string file_ = directory_ / "uprobe_events";
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
  clock_.advance(RealProbes::kTryAgain);
  next.tidy();
  EXPECT_EQ(written(), before + "-:tallyfs_4711_99/a_7\n");
}

TEST_F(RealProbesTest, ARefusedRemovalIsNotTriedAgainAtOnce) {
  RealProbes probes = this->probes();
  has_format("a_7");
  ASSERT_TRUE(probes.define(order(7)));
  refuse(true);
  probes.remove({7});
  refuse(false);
  const std::string before = written();
  EXPECT_EQ(probes.due(), std::optional<std::chrono::milliseconds>(RealProbes::kTryAgain));
  probes.tidy();
  EXPECT_EQ(written(), before) << "nothing is recorded, and it waits all the same";
  clock_.advance(RealProbes::kTryAgain);
  probes.tidy();
  EXPECT_EQ(written(), before + "-:tallyfs_4711_99/a_7\n");
  EXPECT_FALSE(probes.due());
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

TEST_F(RealProbesTest, WithoutALockItSaysWhatToDo) {
  RealProbes none({.tracefs = &tracefs_, .group = {}}, catalogue_, events_, clock_);
  EXPECT_EQ(none.define(order(7)).error().reason,
            "this tallyfs has no lock for probes: restart it");
  std::filesystem::remove(file_);
  EXPECT_EQ(none.define(order(7)).error().reason,
            "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
}

}  // namespace
}  // namespace tallyfs
