// The text of sample rates: what is taken is printed so that it is taken again, and means the same.
#include <string_view>

#include "core/stats3/blob/rates.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

using namespace stats3::blob;

// Three templates: "A", "BETA" and one with an empty name.
int find(std::optional<std::string_view> name, std::uint32_t hash) {
  constexpr std::string_view kNames[] = {"A", "BETA", ""};
  for (int id = 0; id < 3; ++id) {
    const auto own = static_cast<std::uint32_t>(100 + id);
    if ((!name || *name == kNames[id]) && (hash == 0 || hash == own)) return id;
  }
  return -1;
}

std::optional<std::string> spec(std::int32_t id) {
  constexpr const char* kSpecs[] = {"\"A\":100", "\"BETA\":101", "\"\":102"};
  return kSpecs[id];
}

void check(const Rates& rates) {
  unsigned sum = 0;
  for (const stats_tpl_sample_rate& rate : rates) sum += rate.tpl_sample_pct;
  must(sum <= 100, "a hundred at most");
  const auto again = parse_rates(print_rates(rates, &spec), &find);
  must(again && again->size() == rates.size(), "what is printed is taken");
  for (std::size_t i = 0; i < rates.size(); ++i) {
    must((*again)[i].tpl_slot_id == rates[i].tpl_slot_id &&
             (*again)[i].tpl_sample_pct == rates[i].tpl_sample_pct,
         "and means the same");
  }
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tallyfs::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = tallyfs::stats3::blob::parse_rates(text, &find);
  if (!parsed) {
    must(parsed.error().token_at <= size, "a fault is in the text");
    return 0;
  }
  const auto& rates = parsed.value();
  check(rates);
  must(tallyfs::stats3::blob::hundredth_of_seed(text) < 100, "a hundredth");
  const int chosen = tallyfs::stats3::blob::choose(rates.data(), rates.size(),
                                                   tallyfs::stats3::blob::hundredth_of_seed(text));
  must(chosen >= -1 && chosen < 3, "one of them, or none");
  return 0;
}
