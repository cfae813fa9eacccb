// Lines of uprobe_events, and what an error_log of the kernel says of them: names that are taken
// are names, the rest reaches the kernel as it was written, and each caret has its place in the
// line.
#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "core/tracing/probe/probe_line.h"
#include "feeders/tracefs/probe_group.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::fuzz {
namespace {

bool is_plain(std::string_view name) {
  return name.size() <= tracing::kProbeNameBytesMax && std::ranges::none_of(name, [](char c) {
           return c == '/' || c == ':' || is_blank(c) || static_cast<unsigned char>(c) < ' ';
         });
}

void check_definition(std::string_view line, const tracing::ProbeLine& parsed) {
  must(is_plain(parsed.group) && !parsed.group.empty(), "a group");
  must(is_plain(parsed.event) && !parsed.event.empty(), "an event");
  const std::string text = parsed.text();
  must(text.find('\n') == text.npos, "one line");
  for (std::size_t i = 0; i <= text.size() + 1; ++i) {
    const std::size_t at = parsed.byte_of(i);
    must(at <= line.size(), "a place in the line");
    if (i < text.size() && text[i] != ' ') must(line[at] == text[i], "the same byte");
  }
}

void check_line(std::string_view line, std::optional<tracing::ProbeTarget> only) {
  const auto command = tracing::parse_probe_line(line, only);
  if (!command) {
    must(!command.error().reason.empty(), "a reason");
    must(command.error().token_at <= line.size(), "a place in the line");
    must(command.error().text == line, "the line");
    return;
  }
  const auto* const renewal = std::get_if<tracing::ProbeRenewal>(&command.value());
  const auto* const removal =
      renewal ? &renewal->meant : std::get_if<tracing::ProbeRemoval>(&command.value());
  if (removal) {
    must(is_plain(removal->group) && is_plain(removal->event), "names");
    must(!removal->group.empty() || !removal->event.empty(), "one of them");
    return;
  }
  const auto& parsed = std::get<tracing::ProbeLine>(command.value());
  must(!only || parsed.target == *only, "the target of the file");
  check_definition(line, parsed);
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs;  // NOLINT(google-build-using-namespace): this function alone
  fuzz::Input input(bytes, size);
  const std::string line(input.until('\n'));
  using enum tracing::ProbeTarget;
  fuzz::check_line(line, std::nullopt);
  fuzz::check_line(line, kProgram);
  fuzz::check_line(line, kKernel);
  (void)ProbeGroup::parse(line);
  if (const auto refusal = find_refusal(input.rest(), line)) {
    const bool has_place = refusal->token_at != Error::kNoToken;
    fuzz::must(!has_place || refusal->token_at < size, "a place in the log");
  }
  return 0;
}
