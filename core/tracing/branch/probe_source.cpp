#include "core/tracing/branch/probe_source.h"

#include <algorithm>

#include "core/tracing/probe/named_lines.h"

namespace tallyfs::tracing {

bool is_same_file(std::string_view made, std::string_view now) {
  if (made == now) return true;
  const bool has_no_time = std::ranges::count(made, ':') == 2;
  return has_no_time && now.starts_with(made) && now.substr(made.size()).starts_with(':');
}

std::optional<bool> is_stale(const PlaceState* state, std::string_view made) {
  if (!state || !state->file || made.empty()) return std::nullopt;
  return !is_same_file(made, *state->file);
}

Result<std::vector<ProbePlace>> found_places_of(const ProbePlace& named, std::string_view found) {
  const auto command = parse_probe_line(named.line);
  if (!command) return command.error();
  const auto* const line = std::get_if<ProbeLine>(&command.value());
  const auto places = parse_found_places(found);
  if (!line || !line->place || !places) return invalid("the search of the file gave no answer");
  const auto texts = texts_of(*line, *line->place, *places);
  if (!texts) return texts.error();
  std::vector<ProbePlace> all;
  for (const PlaceText& each : texts.value()) {
    all.push_back(named);
    all.back().name.clear();
    all.back().text = each.text;
    all.back().is_after_endbr64 = each.is_after_endbr64;
    all.back().line_places = texts.value().size();
  }
  return all;
}

}  // namespace tallyfs::tracing
