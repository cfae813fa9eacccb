#include "core/tracing/branch/saved_probes.h"

#include <optional>
#include <utility>

#include "core/tracing/probe/probe_line.h"

namespace tallyfs::tracing {
namespace {

// The version of the contents. Probes had no lines in the first; the next number has that one yet.
constexpr std::uint16_t kNumberFormat = 1;
constexpr std::uint16_t kLineFormat = 3;

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

// The places of each line, or all of them in one line of their own.
Result<Probes::Probe> read_probe(const EventPath& path, ByteReader& in, bool has_lines) {
  Probes::Probe probe;
  probe.serial = in.get<std::uint64_t>();
  const auto kind = static_cast<char>(in.get<std::uint8_t>());
  const auto places = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < places && in.ok(); ++i) {
    probe.places.push_back({.text = std::string(in.get_text())});
    if (has_lines) probe.places.back().file = in.get_text();
  }
  if (!in.ok() || (kind != 'p' && kind != 'r')) return no_saved_probe();
  probe.kind = ProbeKind{kind};
  const std::string begin = std::string(1, kind) + ":" + path.first + "/" + path.second + " ";
  for (const auto& [text, file] : probe.places) {
    const std::string line = begin + text;
    if (auto done = read_probe_line(path, probe.kind, line); !done) return done.error();
    if (!has_lines) probe.lines.push_back({.text = line, .places = 1});
  }
  const auto lines = has_lines ? in.get<std::uint32_t>() : 0;
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
  const bool is_whole = in.ok() && in.left() == 0 && !probe.lines.empty();
  if (!is_whole || (has_lines && of_lines != places)) return no_saved_probe();
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
    Object object{.format = kLineFormat, .label = path.first + "/" + path.second, .bytes = {}};
    ByteWriter out(object.bytes);
    out.put_text(path.first);
    out.put_text(path.second);
    out.put(probe.serial);
    out.put(static_cast<std::uint8_t>(probe.kind));
    out.put(static_cast<std::uint32_t>(probe.places.size()));
    for (const Probes::Place& place : probe.places) {
      out.put_text(place.text);
      out.put_text(place.file);
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
  const bool has_lines = object.format == kLineFormat;
  ByteReader in(object.bytes);
  if (has_lines || object.format == kNumberFormat) return load_probe(in, has_lines, loading);
  refuse(in);
  return other_format(object);
}

Result<void> SavedProbes::load_probe(ByteReader& in, bool has_lines, const Loading& loading) {
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
  auto probe = read_probe(path, in, has_lines);
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
