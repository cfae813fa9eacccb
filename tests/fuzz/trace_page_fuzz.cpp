// Pages of the kernel's ring buffer: events lie inside the page, and decoding one ends.
//
// The input's first byte chooses the layout; the rest is the page, as long as it is.
#include <string>
#include <vector>

#include "feeders/tracefs/ring_page.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/kernel_formats.h"

namespace tallyfs::fuzz {
namespace {

// That of 64-bit kernels, and the one of 32 bits.
PageFormat layout(bool wide) {
  std::string text = kHeaderPage;
  if (!wide) {
    text =
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
        "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
  }
  return parse_page_format(text).value();
}

void check(const PageFormat& format, std::span<const char> bytes) {
  auto page = RingPage::open(format, bytes);
  if (!page) return must(!page.error().reason.empty(), "a reason");
  const char* last = bytes.data();
  for (std::size_t records = 0; const auto record = page.value().next(); ++records) {
    must(records <= bytes.size() / 4, "each record takes room");
    must(record->payload.data() >= last &&
             record->payload.data() + record->payload.size() <= bytes.data() + bytes.size(),
         "records lie inside the page, one behind the other");
    last = record->payload.data() + record->payload.size();
    must(record->time_ns == page.value().time_ns(), "the time is that of the last one");
    std::size_t sum = 0;
    for (const char c : record->payload) sum += static_cast<unsigned char>(c);
    must(sum <= record->payload.size() * 255, "readable");
  }
  must(!page.value().next(), "what has ended stays so");
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const tallyfs::PageFormat wide = tallyfs::fuzz::layout(true),
                                   narrow = tallyfs::fuzz::layout(false);
  if (size == 0) return 0;
  // Apart, so that reading beyond its end is seen.
  const std::vector<char> page(bytes + 1, bytes + size);
  tallyfs::fuzz::check(bytes[0] & 1 ? wide : narrow, page);
  return 0;
}
