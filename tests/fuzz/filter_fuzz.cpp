// Filters: the first line is one, the rest a record. What is taken gives an answer about every
// record, and the opposite one when it is negated.
#include <string>

#include "core/tracing/filter/filter.h"
#include "tests/fuzz/event_fixture.h"
#include "tests/fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;  // NOLINT(google-build-using-namespace): this function alone
  static const tracing::EventFormat format = tracing::parse_event_format(fuzz::kAllKinds).value();
  fuzz::Input input(bytes, size);
  const std::string text(input.until('\n'));
  std::string record(input.rest());
  if (record.size() < fuzz::kAllKindsBytes) record.resize(fuzz::kAllKindsBytes);
  const auto filter = tracing::Filter::compile(text, format);
  if (!filter) {
    fuzz::must(!filter.error().reason.empty(), "a reason");
    // The kernel's carets stand one or two behind their place.
    fuzz::must(filter.error().at <= text.size() + 2, "a place in the text");
    return 0;
  }
  const EventRecord fed{.cpu = 1, .pid = 7, .bytes = record, .comm = "comm"};
  const bool matches = filter.value().matches(fed);
  const auto negated = tracing::Filter::compile("!(" + text + ")", format);
  if (!negated) return 0;  // one parenthesis too many
  fuzz::must(negated.value().matches(fed) != matches, "the opposite");
  return 0;
}
