#include "core/tracing/probe/found_places.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

using MachineName = std::pair<ElfMachine, std::string_view>;
constexpr std::array<MachineName, 3> kMachines = {{{ElfMachine::kI386, "i386"},
                                                   {ElfMachine::kX86_64, "x86_64"},
                                                   {ElfMachine::kAarch64, "aarch64"}}};

constexpr std::string_view kAfterEndbr64 = "+4";

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::optional<Fetch> parse_fetch(std::string_view text) {
  if (text == "-") return Fetch();
  const std::size_t colon = text.find(':');
  if (!is_printable(text) || colon == text.npos || colon == 0) return std::nullopt;
  return Fetch{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::optional<FoundPlace> parse_place(std::string_view line) {
  Tokens tokens(line);
  const auto offset = tokens.next();
  const auto reference = tokens.next();
  std::string_view number = offset ? offset->text : std::string_view();
  const bool is_after_endbr64 = number.ends_with(kAfterEndbr64);
  if (is_after_endbr64) number.remove_suffix(kAfterEndbr64.size());
  const auto place = parse_unsigned(number);
  const auto counter = reference ? parse_unsigned(reference->text) : std::nullopt;
  if (!place || !counter) return std::nullopt;
  FoundPlace found{.offset = *place, .reference = *counter, .is_after_endbr64 = is_after_endbr64};
  while (const auto token = tokens.next()) {
    auto fetch = parse_fetch(token->text);
    if (!fetch || found.arguments.size() >= FoundPlaces::kArgumentsMax) return std::nullopt;
    found.arguments.push_back(std::move(*fetch));
  }
  return found;
}

}  // namespace

std::string print(const FoundPlaces& found) {
  const auto* const machine = std::ranges::find(kMachines, found.machine, &MachineName::first);
  std::string text(machine->second);
  text.append(found.is_go ? " go\n" : "\n");
  for (const FoundPlace& place : found.places) {
    append_number(text, place.offset);
    if (place.is_after_endbr64) text.append(kAfterEndbr64);
    append_number(text += " ", place.reference);
    for (const Fetch& each : place.arguments) {
      text.append(" ").append(each.text.empty() ? "-" : each.text + ":" + each.type);
    }
    text.append("\n");
  }
  return text;
}

std::optional<FoundPlaces> parse_found_places(std::string_view text) {
  Tokens head(take_line(text));
  const auto name = head.next();
  const auto* const machine =
      std::ranges::find(kMachines, name ? name->text : std::string_view(), &MachineName::second);
  const auto go = head.next();
  if (machine == kMachines.end() || (go && go->text != "go") || head.next()) return std::nullopt;
  FoundPlaces found{.machine = machine->first, .is_go = go.has_value()};
  while (!text.empty()) {
    auto place = parse_place(take_line(text));
    if (!place || found.places.size() >= FoundPlaces::kPlacesMax) return std::nullopt;
    found.places.push_back(std::move(*place));
  }
  return found.places.empty() ? std::nullopt : std::optional(std::move(found));
}

}  // namespace tallyfs::tracing
