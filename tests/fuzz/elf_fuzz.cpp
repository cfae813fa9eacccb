// Searches and lists of program files: the first line of the input is a line of uprobe_events with a place by
// name, the rest is the file, and the arguments of a marker. Places that are found are in the file,
// and the lines that are made of them are the kernel's.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <variant>

#include "core/tracing/probe/function_search.h"
#include "core/tracing/probe/marker_argument.h"
#include "core/tracing/probe/marker_search.h"
#include "core/tracing/probe/named_lines.h"
#include "core/tracing/probe/program_list.h"
#include "program/untrusted/packed_symbols.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

Result<tracing::ElfFile> open(std::string_view bytes) {
  return tracing::ElfFile::open(
      [bytes](std::uint64_t offset, std::span<char> into) {
        must(offset <= bytes.size() && into.size() <= bytes.size() - offset, "within the file");
        std::memcpy(into.data(), bytes.data() + offset, into.size());
        return into.size();
      },
      bytes.size());
}

void check_lines(std::string_view line, const tracing::ProbeLine& parsed,
                 const tracing::FoundPlaces& found) {
  const auto texts = tracing::texts_of(parsed, *parsed.place, found);
  if (!texts) {
    must(!texts.error().reason.empty(), "a reason");
    const std::size_t at = texts.error().token_at;
    must(at <= line.size() || at == Error::kNoToken, "a place in the line");
    return;
  }
  must(texts.value().size() == found.places.size(), "a text for each place");
  for (const tracing::PlaceText& each : texts.value()) {
    must(each.text.size() <= tracing::kProbeLineBytesMax, "no longer than the kernel takes");
    must(each.text.find('\n') == each.text.npos, "one line");
    for (std::size_t i = 0; i <= each.text.size(); ++i) {
      must(each.byte_of(i) <= line.size(), "a place in the line");
    }
    const auto again = tracing::parse_probe_line("p:a " + each.text);
    const bool is_short = each.text.size() + 4 <= tracing::kProbeLineBytesMax;
    must(again || !is_short, "a line of the kernel's");
    if (again) must(!std::get<tracing::ProbeLine>(again.value()).place, "in numbers");
  }
}

void check_found(std::string_view line, const tracing::ProbeLine& parsed,
                 const Result<tracing::FoundPlaces>& found, std::size_t file_bytes) {
  if (!found) {
    must(!found.error().reason.empty(), "a reason");
    return;
  }
  must(!found.value().places.empty(), "a place");
  must(found.value().places.size() <= tracing::FoundPlaces::kPlacesMax, "not too many");
  for (const tracing::FoundPlace& each : found.value().places) {
    must(each.offset < file_bytes, "in the file");
    must(each.reference < file_bytes, "in the file");
  }
  const std::string text = tracing::print(found.value());
  const auto again = tracing::parse_found_places(text);
  must(again && tracing::print(*again) == text, "as it was printed");
  check_lines(line, parsed, found.value());
}

void check_arguments(std::string_view text) {
  const tracing::FindData find = [](std::string_view, std::int64_t plus) {
    return std::optional(static_cast<std::uint64_t>(plus));
  };
  for (const std::string_view each : tracing::split_arguments(text)) {
    for (const tracing::ElfMachine machine :
         {tracing::ElfMachine::kX86_64, tracing::ElfMachine::kAarch64}) {
      const tracing::Fetch fetch = tracing::fetch_of(each, machine, find);
      must(fetch.text.empty() == fetch.type.empty(), "a type with it");
      must(fetch.text.find_first_of(" \n:$") == fetch.text.npos, "a word of the kernel's");
    }
  }
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;  // NOLINT(google-build-using-namespace): this function alone
  fuzz::Input input(bytes, size);
  const std::string line(input.until('\n'));
  const std::string_view rest = input.rest();
  fuzz::check_arguments(rest);
  (void)tracing::parse_found_places(rest);
  const auto command = tracing::parse_probe_line(line);
  const auto* const parsed = command ? std::get_if<tracing::ProbeLine>(&command.value()) : nullptr;
  if (!parsed || !parsed->place) return 0;
  if (const auto found = tracing::parse_found_places(rest))
    fuzz::check_lines(line, *parsed, *found);
  const auto file = fuzz::open(rest);
  if (!file) return 0;
  (void)file.value().build_id();
  (void)file.value().debug_link();
  const auto packed = packed_symbols(file.value());
  const auto* const more = packed && packed.value() ? &*packed.value() : &file.value();
  (void)tracing::list_program(file.value(), more);
  const auto found = parsed->place->is_marker()
                         ? tracing::find_marker(file.value(), *parsed->place)
                         : tracing::find_function(file.value(), more, *parsed->place);
  fuzz::check_found(line, *parsed, found, rest.size());
  return 0;
}
