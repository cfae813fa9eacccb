// Which store has the past of a mount's map.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/ctl/top_map.h"
#include "tools/past/store.h"
#include "tools/tree/mount_table.h"

namespace tallyfs {
namespace {

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

}  // namespace
}  // namespace tallyfs
