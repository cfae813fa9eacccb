#include "core/tracing/branch/probes.h"

#include <algorithm>
#include <utility>

namespace tallyfs::tracing {
namespace {

Error too_many() { return {ErrorCode::kNoSpace, "more probes than allowed (4096)"}; }
Error too_many_places() {
  return {ErrorCode::kNoSpace, "more places of probes than allowed (65536)"};
}
Error too_much_text() {
  return {ErrorCode::kNoSpace, "more text of places of probes than allowed (8 MiB)"};
}

// A possible line for a place whose line is unknown.
std::string line_of(const Probes::Probe& probe, unsigned instances, const EventPath& path,
                    const std::string& place) {
  std::string line(1, letter_of(probe.target, probe.kind));
  if (instances > 0) line += std::to_string(instances);
  return line.append(":").append(path.first).append("/").append(path.second).append(" ") + place;
}

// The place of a line by name. The line was read before.
std::string name_in(const std::string& line) {
  const auto command = parse_probe_line(line);
  const auto* const parsed = command ? std::get_if<ProbeLine>(&command.value()) : nullptr;
  return parsed ? std::string(parsed->words.front().text) : std::string();
}

auto is_same(const Probes::Place& place) {
  return [&place](const Probes::Place& other) { return other.text == place.text; };
}

}  // namespace

Probes::Probe* Probes::find(const EventPath& path) {
  const auto found = probes_.find(path);
  return found == probes_.end() ? nullptr : &found->second;
}

std::optional<ProbeTarget> Probes::target_of(const EventPath& path) const {
  const auto found = probes_.find(path);
  return found == probes_.end() ? std::nullopt : std::optional(found->second.target);
}

Result<Probes::Probe*> Probes::add(const EventPath& path, ProbeTarget target, ProbeKind kind) {
  if (probes_.size() >= kProbesMax) return too_many();
  const std::uint64_t serial = next_serial_++;
  by_serial_[serial] = path;
  changes_ += 1;
  return &(probes_[path] = {.serial = serial, .target = target, .kind = kind});
}

Result<void> Probes::restore(const EventPath& path, Probe probe) {
  if (has(path) || by_serial_.contains(probe.serial)) {
    return Error{ErrorCode::kExists, "there is such a probe already"};
  }
  const std::size_t bytes = place_bytes(probe);
  if (probes_.size() >= kProbesMax) return too_many();
  if (places_ + probe.places.size() > 2 * kPlacesMax) return too_many_places();
  if (place_bytes_ + bytes > 2 * kPlaceBytesMax) return too_much_text();
  by_serial_[probe.serial] = path;
  next_serial_ = std::max(next_serial_, probe.serial + 1);
  places_ += probe.places.size();
  place_bytes_ += bytes;
  changes_ += 1;
  probes_[path] = std::move(probe);
  return {};
}

Result<void> Probes::may_add(std::size_t places, std::size_t bytes) const {
  return may_replace({}, places, bytes);
}

Result<void> Probes::may_replace(const Probe& probe, std::size_t places, std::size_t bytes) const {
  if (places_ - probe.places.size() + places > kPlacesMax) return too_many_places();
  if (place_bytes_ - place_bytes(probe) + bytes > kPlaceBytesMax) return too_much_text();
  return {};
}

void Probes::add_place(Probe& probe, const ProbePlace& of, Place place) {
  auto begin = probe.places.begin();
  auto line = probe.lines.begin();
  for (; line != probe.lines.end() && line->text != of.line; ++line) {
    begin += static_cast<std::ptrdiff_t>(line->places);
  }
  if (line == probe.lines.end()) {
    place_bytes_ += of.line.size();
    line = probe.lines.insert(line, {.text = of.line, .instances = of.instances});
  }
  const auto end = begin + static_cast<std::ptrdiff_t>(line->places);
  if (line->is_sought && std::find_if(begin, end, is_same(place)) != end) {
    set_file(probe, place);
  } else {
    place_bytes_ += place.text.size();
    probe.places.insert(end, std::move(place));
    line->places += 1;
    places_ += 1;
  }
  if (line->places >= of.line_places) line->is_sought = false;
  changes_ += 1;
}

void Probes::set_file(Probe& probe, const Place& place) {
  if (place.file.empty()) return;
  for (Place& each : probe.places) {
    if (each.text != place.text || each.file == place.file) continue;
    each.file = place.file;
    changes_ += 1;
  }
}

void Probes::renew(const EventPath& path, Probe other) {
  Probe& probe = probes_.find(path)->second;
  places_ -= probe.places.size();
  place_bytes_ -= place_bytes(probe);
  by_serial_.erase(probe.serial);
  probe = std::move(other);
  by_serial_[probe.serial] = path;
  places_ += probe.places.size();
  place_bytes_ += place_bytes(probe);
  changes_ += 1;
}

std::size_t Probes::place_bytes(const Probe& probe) {
  std::size_t bytes = 0;
  for (const Place& place : probe.places) bytes += place.text.size();
  for (const Line& line : probe.lines) bytes += line.text.size();
  return bytes;
}

void Probes::remove(const EventPath& path) {
  const auto found = probes_.find(path);
  if (found == probes_.end()) return;
  places_ -= found->second.places.size();
  place_bytes_ -= place_bytes(found->second);
  by_serial_.erase(found->second.serial);
  probes_.erase(found);
  changes_ += 1;
}

std::vector<EventPath> Probes::matching(const ProbeRemoval& removal) const {
  std::vector<EventPath> found;
  for (const auto& [serial, path] : by_serial_) {
    const bool is_meant = (removal.group.empty() || path.first == removal.group) &&
                          (removal.event.empty() || path.second == removal.event) &&
                          (!removal.target || target_of(path) == removal.target);
    if (is_meant) found.push_back(path);
  }
  return found;
}

const EventPath* Probes::find(std::uint64_t serial) const {
  const auto found = by_serial_.find(serial);
  return found == by_serial_.end() ? nullptr : &found->second;
}

std::vector<ProbePlace> Probes::places() const {
  std::vector<ProbePlace> all;
  for (const auto& [serial, path] : by_serial_) {
    const Probe& probe = probes_.find(path)->second;
    auto place = probe.places.begin();
    for (const Line& line : probe.lines) {
      const ProbePlace of{.serial = serial,
                          .target = probe.target,
                          .kind = probe.kind,
                          .event = path.second,
                          .text = {}};
      if (line.is_sought) {
        all.push_back(of);
        all.back().line = line.text;
        all.back().name = name_in(line.text);
        place += static_cast<std::ptrdiff_t>(line.places);
        continue;
      }
      for (std::size_t i = 0; i < line.places; ++i) {
        all.push_back(of);
        all.back().text = (place++)->text;
        all.back().instances = line.instances;
      }
    }
  }
  return all;
}

std::vector<std::uint64_t> Probes::serials() const {
  std::vector<std::uint64_t> all;
  for (const auto& [serial, path] : by_serial_) {
    all.push_back(serial);
    if (const auto other = probes_.find(path)->second.renewal) all.push_back(other);
  }
  return all;
}

std::vector<std::pair<EventPath, Probes::Probe>> Probes::copy() const {
  std::vector<std::pair<EventPath, Probe>> all;
  for (const auto& [serial, path] : by_serial_) all.emplace_back(path, probes_.find(path)->second);
  return all;
}

std::string Probes::text(std::optional<ProbeTarget> target) const {
  std::string text;
  for (const EventPath& path : matching({.group = {}, .event = {}, .target = target})) {
    const Probe& probe = probes_.find(path)->second;
    auto place = probe.places.begin();
    for (const Line& line : probe.lines) {
      if (line.places == 0) text.append(line.text).append("\n");
      for (std::size_t i = 0; i < line.places; ++i) {
        text.append(line_of(probe, line.instances, path, (place++)->text)).append("\n");
      }
    }
  }
  return text;
}

}  // namespace tallyfs::tracing
