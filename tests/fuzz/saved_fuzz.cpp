// What a daemon saved of an interface: bytes that are none are refused, and what is loaded saves to
// what loads again. The input is the name, and the contents of the object.
#include <string>

#include "core/statistics/branch/statistics_branch.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs::fuzz {
namespace {

struct Fixture {
  FakeClock clock{std::chrono::seconds(10)};
  Tree tree{clock.now()};
  Ledger ledger{{.per_uid = {.interfaces = 16, .statistics = 64, .bytes = 1u << 20},
                 .total = {.interfaces = 32, .statistics = 128, .bytes = 4u << 20}}};
  statistics::StatisticsBranch statistics{tree, ledger, 500, clock.now()};
};

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;
  ByteReader in(std::string_view(reinterpret_cast<const char*>(bytes), size));
  const std::string_view name = in.get_text();
  const auto object =
      saved_object(SavedKind::kInterface, 1, name, in.ok() ? in.take(in.left()) : "");
  for (const Boot boot : {Boot::kThis, Boot::kOther}) {
    fuzz::Fixture first, second;
    (void)first.statistics.load(object, {.boot = boot, .now = first.clock.now()});
    const SavedObjects saved(first.statistics);
    fuzz::must(saved.load_into(second.statistics, {.now = first.clock.now()}).has_value(),
               "what is saved loads");
    fuzz::must(SavedObjects(second.statistics) == saved, "and saves as it was");
  }
  return 0;
}
