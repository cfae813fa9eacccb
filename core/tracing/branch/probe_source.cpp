#include "core/tracing/branch/probe_source.h"

#include "core/tracing/probe/named_lines.h"

namespace tallyfs::tracing {

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
    all.back().line_places = texts.value().size();
  }
  return all;
}

}  // namespace tallyfs::tracing
