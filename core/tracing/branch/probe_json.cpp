#include "core/tracing/branch/probe_json.h"

#include <cstdlib>

#include "core/base/json_head.h"
#include "core/tracing/branch/probe_profile.h"

namespace tallyfs::tracing {
namespace {

std::string_view name_of(ProbeTarget target) {
  switch (target) {
    case ProbeTarget::kProgram:
      return "program";
    case ProbeTarget::kKernel:
      return "kernel";
    case ProbeTarget::kEvent:
      return "event";
    case ProbeTarget::kFunction:
      return "function";
    case ProbeTarget::kTracepoint:
      return "tracepoint";
  }
  std::abort();
}

// What is not known is null.
void write_place(JsonWriter& json, const Probes::Place& place, ProbeTarget target,
                 PlaceStates& states) {
  json.begin_object().key("place").string(place.text);
  const PlaceState* const state = states.next(place);
  json.key("hits");
  state ? json.number(state->hits) : json.null();
  if (target != ProbeTarget::kProgram) {
    json.key("missed");
    state ? json.number(state->missed) : json.null();
    json.end_object();
    return;
  }
  json.key("stale");
  const auto stale = is_stale(state, place.file);
  stale ? json.boolean(*stale) : json.null();
  json.key("after_endbr64");
  place.is_after_endbr64 ? json.boolean(*place.is_after_endbr64) : json.null();
  json.end_object();
}

void write_probe(JsonWriter& json, const EventPath& path, const Probes::Probe& probe,
                 const ProbeHits& hits) {
  json.begin_object().key("group").string(path.first).key("event").string(path.second);
  json.key("kind").string(probe.kind == ProbeKind::kReturn ? "return" : "entry");
  json.key("target").string(name_of(probe.target));
  json.key("lines").begin_array();
  auto place = probe.places.begin();
  PlaceStates states(hits, probe.serial);
  for (const Probes::Line& line : probe.lines) {
    json.begin_object().key("line").string(line.text).key("places").begin_array();
    for (std::size_t i = 0; i < line.places; ++i) write_place(json, *place++, probe.target, states);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

// An event of a serial has its places one after the other.
void write_leaving(JsonWriter& json, const std::vector<LeavingPlace>& leaving) {
  json.begin_array();
  for (auto place = leaving.begin(); place != leaving.end() && !json.is_too_long();) {
    const LeavingPlace& first = *place;
    json.begin_object().key("event").string(first.event);
    json.key("target").string(first.text.starts_with('/') ? "program" : "kernel");
    json.key("places").begin_array();
    for (; place != leaving.end() && place->serial == first.serial; ++place) {
      json.begin_object().key("place").string(place->text).key("hits").number(place->hits);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

std::string probes_json(const std::vector<std::pair<EventPath, Probes::Probe>>& probes,
                        const Result<ProbeHits>& hits, Timestamp now, std::size_t bytes_max) {
  const ProbeHits none;
  std::string text;
  JsonWriter json(text, JsonWriter::Encoding::kUtf8, bytes_max);
  json.begin_object().key("format").number(kJsonFormat);
  write_timestamp(json, now);
  json.key("probes").begin_array();
  for (const auto& [path, probe] : probes) {
    if (json.is_too_long()) break;
    write_probe(json, path, probe, hits ? hits.value() : none);
  }
  json.end_array().key("leaving");
  if (hits) {
    write_leaving(json, hits.value().leaving);
  } else {
    json.null();
  }
  json.end_object();
  return text.append("\n");
}

}  // namespace tallyfs::tracing
