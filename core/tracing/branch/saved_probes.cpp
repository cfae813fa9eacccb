#include "core/tracing/branch/saved_probes.h"

#include <optional>
#include <utility>

#include "core/tracing/probe/probe_line.h"

namespace tallyfs::tracing {
namespace {

// The version of the contents. Probes had no lines in the first; the next number has that one yet.
// In the one before the last their places did not say what an endbr64 is before.
constexpr std::uint16_t kNumberFormat = 1;
constexpr std::uint16_t kLineFormat = 3;
constexpr std::uint16_t kPlaceFormat = 4;

bool has_lines(std::uint16_t format) { return format == kLineFormat || format == kPlaceFormat; }

// Whether a place is after an endbr64, in a byte.
constexpr std::uint8_t kUnknown = 2;

std::uint8_t byte_of(std::optional<bool> value) {
  return value ? static_cast<std::uint8_t>(*value) : kUnknown;
}
std::optional<bool> value_of(std::uint8_t byte) {
  return byte < kUnknown ? std::optional(byte == 1) : std::nullopt;
}

Error no_saved_probe() { return {ErrorCode::kInvalid, "no saved object of tracing/"}; }

// Lines of which this is true have no places then, and are sought.
template <typename IsMeant>  // bool(const Probes::Line&)
void seek(Probes::Probe& probe, const IsMeant& is_meant) {
  std::vector<Probes::Place> kept;
  auto place = probe.places.begin();
  for (Probes::Line& line : probe.lines) {
    const auto end = place + static_cast<std::ptrdiff_t>(line.places);
    if (is_meant(line)) {
      line.places = 0;
      line.is_sought = true;
    } else {
      kept.insert(kept.end(), place, end);
    }
    place = end;
  }
  probe.places = std::move(kept);
}

// The line, which could have made a place of that probe.
Result<ProbeLine> read_probe_line(const EventPath& path, ProbeKind kind, std::string_view line) {
  auto command = parse_probe_line(line);
  if (!command) return command.error();
  auto* const read = std::get_if<ProbeLine>(&command.value());
  const bool is_its = read && EventPath(read->group, read->event) == path && read->kind == kind;
  if (!is_its) return no_saved_probe();
  return std::move(*read);
}

Probes::Place read_place(ByteReader& in, std::uint16_t format) {
  Probes::Place place{.text = std::string(in.get_text())};
  if (has_lines(format)) place.file = in.get_text();
  place.is_after_endbr64 = format == kPlaceFormat ? value_of(in.get<std::uint8_t>()) : std::nullopt;
  return place;
}

// The places of each line, or all of them in one line of their own.
Result<Probes::Probe> read_probe(const EventPath& path, ByteReader& in, std::uint16_t format) {
  Probes::Probe probe;
  probe.serial = in.get<std::uint64_t>();
  const auto kind = static_cast<char>(in.get<std::uint8_t>());
  const auto places = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < places && in.ok(); ++i) {
    probe.places.push_back(read_place(in, format));
  }
  if (!in.ok() || (kind != 'p' && kind != 'r')) return no_saved_probe();
  probe.kind = ProbeKind{kind};
  const auto lines = has_lines(format) ? in.get<std::uint32_t>() : 0;
  std::size_t of_lines = 0;
  for (std::uint32_t i = 0; i < lines && in.ok(); ++i) {
    probe.lines.push_back({.text = std::string(in.get_text())});
    of_lines += probe.lines.back().places = in.get<std::uint32_t>();
    probe.lines.back().is_sought = probe.lines.back().places == 0;
    const auto line = read_probe_line(path, probe.kind, probe.lines.back().text);
    if (!line) return line.error();
    probe.target = line.value().target;
    probe.lines.back().instances = line.value().instances;
  }
  const std::string begin = std::string(1, letter_of(probe.target, probe.kind)) + ":" + path.first +
                            "/" + path.second + " ";
  for (const Probes::Place& place : probe.places) {
    const std::string line = begin + place.text;
    if (auto done = read_probe_line(path, probe.kind, line); !done) return done.error();
    if (!has_lines(format)) probe.lines.push_back({.text = line, .places = 1});
  }
  const bool is_whole = in.ok() && in.left() == 0 && !probe.lines.empty();
  if (!is_whole || (has_lines(format) && of_lines != places)) return no_saved_probe();
  return probe;
}

// The files may be others than those that the places are of. A line with the kernel's place stays.
void find_again(Probes::Probe& probe) {
  seek(probe, [](const Probes::Line& line) {
    const auto command = parse_probe_line(line.text);
    return command && std::get<ProbeLine>(command.value()).place.has_value();
  });
}

}  // namespace

// A line that is sought is saved without places: all of them are found again.
std::vector<SavedProbes::Object> SavedProbes::list(Probes& probes) {
  std::vector<Object> all;
  if (probes.next_serial() > 1) {
    Object next{.format = kNumberFormat, .label = "next", .bytes = {}};
    ByteWriter out(next.bytes);
    out.put_text("");
    out.put_text("");
    out.put(probes.next_serial());
    all.push_back(std::move(next));
  }
  for (const EventPath& path : probes.all()) {
    Probes::Probe probe = *probes.find(path);
    if (probe.lines.empty()) continue;
    seek(probe, [](const Probes::Line& line) { return line.is_sought; });
    Object object{.format = kPlaceFormat, .label = path.first + "/" + path.second, .bytes = {}};
    ByteWriter out(object.bytes);
    out.put_text(path.first);
    out.put_text(path.second);
    out.put(probe.serial);
    out.put(static_cast<std::uint8_t>(probe.kind));
    out.put(static_cast<std::uint32_t>(probe.places.size()));
    for (const Probes::Place& place : probe.places) {
      out.put_text(place.text);
      out.put_text(place.file);
      out.put(byte_of(place.is_after_endbr64));
    }
    out.put(static_cast<std::uint32_t>(probe.lines.size()));
    for (const Probes::Line& line : probe.lines) {
      out.put_text(line.text);
      out.put(static_cast<std::uint32_t>(line.places));
    }
    all.push_back(std::move(object));
  }
  return all;
}

Result<void> SavedProbes::load(const SavedObject& object, const Loading& loading) {
  ByteReader in(object.bytes);
  if (has_lines(object.format) || object.format == kNumberFormat) {
    return load_probe(in, object.format, loading);
  }
  refuse(in);
  return other_format(object);
}

Result<void> SavedProbes::load_probe(ByteReader& in, std::uint16_t format, const Loading& loading) {
  EventPath path;
  path.first = in.get_text();
  path.second = in.get_text();
  if (path == EventPath()) {
    const auto next = in.get<std::uint64_t>();
    if (!in.ok() || in.left() != 0) return no_saved_probe();
    const MutexLock lock(state_.mutex);
    state_.probes.begin_serials(next);
    return {};
  }
  auto probe = read_probe(path, in, format);
  if (probe && !loading.has_pages) find_again(probe.value());
  auto done = probe ? restore(path, std::move(probe.value())) : probe.error();
  if (!done) {
    const MutexLock lock(state_.mutex);
    state_.probes.refuse(path);
  }
  return done;
}

// The path is at the start in all formats.
void SavedProbes::refuse(ByteReader& in) {
  EventPath path;
  path.first = in.get_text();
  path.second = in.get_text();
  if (!in.ok()) return;
  const MutexLock lock(state_.mutex);
  state_.probes.refuse(path);
}

Result<void> SavedProbes::restore(const EventPath& path, Probes::Probe probe) {
  if (!state_.options.probes) {
    return Error{ErrorCode::kNoDevice, "probes need tallyfs -o tracefs, as root"};
  }
  if (!state_.options.probe_targets.has(probe.target)) {
    return Error{ErrorCode::kNoDevice, "this kernel has no probes of this kind"};
  }
  const MutexLock lock(state_.mutex);
  return state_.probes.restore(path, std::move(probe));
}

}  // namespace tallyfs::tracing
