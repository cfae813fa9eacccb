// Pages of the kernel's ring buffer: events lie inside the page, and decoding one ends. A page that
// our writer makes gives back what was written.
//
// The input's first byte chooses the layout; the rest is the page, as long as it is. With its
// second bit set, the rest is what is to be written: times and sizes.
#include <algorithm>
#include <string>
#include <vector>

#include "core/tracing/trace/page_writer.h"
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

struct Written {
  std::uint64_t time_ns;
  std::string bytes;
};

// Any change of the time, of few bits or of many, forwards or back.
std::uint64_t next_time(Input& input, std::uint64_t time_ns) {
  const std::uint8_t how = input.byte();
  const std::uint64_t change = input.number(1 + how % 8);
  return how & 0x80 ? time_ns - change : time_ns + change;
}

void check_written(const PageFormat& format, Input input) {
  tracing::PageWriter writer;
  const tracing::PageRoom::Missing missing{input.number(2), (input.byte() & 1) != 0};
  writer.miss(missing);
  std::vector<Written> all;
  for (std::uint64_t time_ns = input.number(8); !input.empty();
       time_ns = next_time(input, time_ns)) {
    const std::size_t size = input.number(2) % (tracing::PageWriter::kRecordBytesMax + 1);
    const std::string bytes(std::max<std::size_t>(size, 1), static_cast<char>(input.byte()));
    char* const to = writer.add(time_ns, bytes.size());
    must(to || !all.empty(), "an empty page has room");
    if (!to) break;
    bytes.copy(to, bytes.size());
    all.push_back({time_ns, bytes});
  }
  const std::string page = writer.finish();
  must(page.size() == tracing::PageWriter::kPageBytes, "a page's size");
  auto read = RingPage::open(format, page);
  must(read.has_value(), "a page that can be read");
  must((read.value().lost() > 0) == missing.any(), "what is missing is told");
  for (const Written& each : all) {
    const auto record = read.value().next();
    must(record && record->time_ns == each.time_ns, "the same time");
    const std::string_view bytes(record->payload.data(), record->payload.size());
    must(bytes.starts_with(each.bytes) && bytes.size() - each.bytes.size() < 4, "the same bytes");
  }
  must(!read.value().next() && !read.value().broken(), "nothing else");
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const tallyfs::PageFormat wide = tallyfs::fuzz::layout(true),
                                   narrow = tallyfs::fuzz::layout(false);
  if (size == 0) return 0;
  if (bytes[0] & 2) {
    tallyfs::fuzz::check_written(wide, tallyfs::fuzz::Input(bytes + 1, size - 1));
    return 0;
  }
  // Apart, so that reading beyond its end is seen.
  const std::vector<char> page(bytes + 1, bytes + size);
  tallyfs::fuzz::check(bytes[0] & 1 ? wide : narrow, page);
  return 0;
}
