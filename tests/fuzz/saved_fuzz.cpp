// What a daemon saved of its statistics: bytes that are none are refused, and what is loaded saves
// to what loads again.
#include <string>

#include "core/branch/statistics/statistics_branch.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::fuzz {
namespace {

struct Stand {
  FakeClock clock{std::chrono::seconds(10)};
  Tree tree{clock.now()};
  Ledger ledger{{.per_uid = {.interfaces = 16, .statistics = 64, .bytes = 1u << 20},
                 .total = {.interfaces = 32, .statistics = 128, .bytes = 4u << 20}}};
  StatisticsBranch statistics{tree, ledger, 500, clock.now()};

  bool load(const std::string& bytes) {
    ByteReader in(bytes);
    return statistics.load(in, clock.now()).has_value();
  }
  std::string save() const {
    std::string bytes;
    ByteWriter out(bytes);
    statistics.save(out);
    return bytes;
  }
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using tallyfs::fuzz::must;
  tallyfs::fuzz::Stand first, second;
  (void)first.load(std::string(reinterpret_cast<const char*>(bytes), size));
  const std::string saved = first.save();
  must(second.load(saved), "what is saved loads");
  must(second.save() == saved, "and saves as it was");
  return 0;
}
