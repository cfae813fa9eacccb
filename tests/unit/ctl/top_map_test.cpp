// Which store has the past of a mount's map, and what is said where there is none.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tools/ctl/top_map.h"
#include "tools/past/store.h"
#include "tools/tree/mount_table.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// $TALLY_STORE as a test needs it; the former one comes back.
class NamedStore {
 public:
  explicit NamedStore(const char* named) {
    if (const char* const before = std::getenv("TALLY_STORE")) before_ = before;
    ::setenv("TALLY_STORE", named, 1);
  }
  ~NamedStore() { ::setenv("TALLY_STORE", before_.c_str(), 1); }
  NamedStore(const NamedStore&) = delete;
  NamedStore& operator=(const NamedStore&) = delete;

 private:
  std::string before_;
};

TEST(TopMapTest, TheStoreOfTheServiceIsThatOfItsMountAlone) {
  {
    const NamedStore none("");
    EXPECT_EQ(store_of_mount(kServiceMount), past::kDefaultStore);
    EXPECT_EQ(store_of_mount("/tmp/mnt"), "");
  }
  const NamedStore named("/tmp/past");
  EXPECT_EQ(store_of_mount(kServiceMount), "/tmp/past");
  EXPECT_EQ(store_of_mount("/tmp/mnt"), "/tmp/past");
}

TEST(TopMapTest, AMissingStoreIsReportedWithWhatMakesOne) {
  EXPECT_EQ(no_store_text(past::kDefaultStore),
            "no past is recorded: systemctl enable --now tally-record");
  EXPECT_EQ(no_store_text(""),
            "no past is recorded: tallyctl record --store DIR, and TALLY_STORE=DIR for top");
  EXPECT_EQ(no_store_text("/tmp/past"),
            "no past is recorded in /tmp/past: tallyctl record --store /tmp/past");
}

TEST(TopMapTest, AMissingStoreIsNoPastOfItsPeriod) {
  const auto past = read_map_past("/nowhere/past", {.name = "web"}, {.name = "us"}, 2s);
  EXPECT_EQ(past.interface, "web");
  EXPECT_EQ(past.statistic, "us");
  EXPECT_EQ(past.period, 2s);
  EXPECT_TRUE(past.columns.empty());
  EXPECT_TRUE(past.fault.starts_with("no past ")) << past.fault;
}

}  // namespace
}  // namespace tallyfs
