// Definitions of synthetic and of users' events: what is taken is shown so that it means the same
// again, and has a format that can be read.
#include <string>

#include "core/tracing/format/synthetic.h"
#include "core/tracing/set/event_set.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

void check_definition(const std::string& text) {
  const auto parsed = tracing::FieldsDefinition::parse(text);
  if (!parsed) return must(!parsed.error().reason.empty(), "a reason");
  const tracing::FieldsDefinition& made = parsed.value();
  must(made.fields.size() <= tracing::FieldsDefinition::kFieldsMax, "bounded");
  const auto again = tracing::FieldsDefinition::parse(made.text());
  must(again && again.value() == made, "what is shown means the same");
  const auto format = tracing::parse_event_format(made.format_text(40'000));
  must(format.has_value(), "its format can be read");
  must(format.value().fixed_bytes() <= made.fixed_bytes, "records are as long as the format says");
  for (const tracing::FieldsDefinition::Field& field : made.fields) {
    const auto found = format.value().field(field.name);
    must(found.has_value(), "every field is in the format");
  }
}

void check_files(const std::string& text) {
  tracing::EventSet set;
  const auto by_file = set.synthetic.write_dynamic(text);
  if (by_file) must(!text.empty(), "nothing defines nothing");
  (void)set.synthetic.write(text);
  (void)set.events.define_fields("user", text);
  must(set.synthetic.truncate().has_value(), "all can go");
  must(tracing::SyntheticEvents::text(set.synthetic.definitions()).empty(), "all went");
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  tallyfs::fuzz::check_definition(text);
  tallyfs::fuzz::check_files(text);
  return 0;
}
