// The kernel's descriptions of its trace records: what is taken for one can be read by.
#include <string>
#include <vector>

#include "core/tracing/print/print_format.h"
#include "feeders/tracefs/page_format.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

constexpr std::size_t kRecordBytesMax = 64 * 1024;

void check_event(const std::string& text) {
  const auto format = tracing::parse_event_format(text);
  if (!format) return must(!format.error().reason.empty(), "a reason");
  must(!format.value().fields.empty() && format.value().fields.size() <= tracing::kFormatFieldsMax,
       "bounded");
  for (const tracing::TraceField& field : format.value().fields) {
    must(std::uint64_t{field.offset} + field.size <= kRecordBytesMax, "a record's bound");
    must(format.value().field(field.name).has_value(), "a field is found by its name");
    const auto number = tracing::TraceNumber::find(format.value(), field.name);
    if (!number) continue;
    const std::vector<char> payload(number.value().end(), '\xff');
    (void)number.value().read(payload);
  }
}

// A record shown by it is as long as its texts make it, and no longer.
void check_print(const std::string& text) {
  const auto format = tracing::parse_event_format(text);
  if (!format || format.value().fixed_bytes() > 4096) return;
  const auto print = tracing::PrintFormat::compile(text, format.value());
  if (!print) return;
  for (const char fill : {'\0', '\1', '\xff'}) {
    const std::string bytes(format.value().fixed_bytes(), fill);
    std::string shown;
    print->append(shown, {.bytes = bytes}, NoSymbols());
    must(shown.size() <= 1024 * (text.size() + 1), "bounded");
  }
}

void check_page(const std::string& text) {
  const auto format = parse_page_format(text);
  if (!format) return must(!format.error().reason.empty(), "a reason");
  must(format.value().page_bytes() <= kRecordBytesMax, "a page's bound");
  must(format.value().data.offset >= format.value().commit.end(), "data follow the header");
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  tallyfs::fuzz::check_event(text);
  tallyfs::fuzz::check_print(text);
  tallyfs::fuzz::check_page(text);
  return 0;
}
