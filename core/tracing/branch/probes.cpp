#include "core/tracing/branch/probes.h"

#include <algorithm>
#include <utility>

namespace tallyfs {
namespace {

Error too_many() { return {ErrorCode::kNoSpace, "more probes than allowed (4096)"}; }

std::size_t bytes_of(const std::vector<std::string>& places) {
  std::size_t bytes = 0;
  for (const std::string& place : places) bytes += place.size();
  return bytes;
}

}  // namespace

Probes::Probe* Probes::find(const EventPath& path) {
  const auto found = probes_.find(path);
  return found == probes_.end() ? nullptr : &found->second;
}

Result<Probes::Probe*> Probes::add(const EventPath& path, ProbeKind kind) {
  if (probes_.size() >= kProbesMax) return too_many();
  const std::uint64_t serial = next_serial_++;
  by_serial_[serial] = path;
  changes_ += 1;
  return &(probes_[path] = {.serial = serial, .kind = kind, .places = {}});
}

Result<void> Probes::restore(const EventPath& path, Probe probe) {
  if (has(path) || by_serial_.contains(probe.serial)) {
    return Error{ErrorCode::kExists, "there is such a probe already"};
  }
  const std::size_t bytes = bytes_of(probe.places);
  if (probes_.size() >= kProbesMax || places_ + probe.places.size() > kPlacesMax ||
      place_bytes_ + bytes > kPlaceBytesMax) {
    return too_many();
  }
  by_serial_[probe.serial] = path;
  next_serial_ = std::max(next_serial_, probe.serial + 1);
  places_ += probe.places.size();
  place_bytes_ += bytes;
  changes_ += 1;
  probes_[path] = std::move(probe);
  return {};
}

Result<void> Probes::may_add_place(std::string_view place) const {
  if (places_ >= kPlacesMax) {
    return Error{ErrorCode::kNoSpace, "more places of probes than allowed (65536)"};
  }
  if (place_bytes_ + place.size() <= kPlaceBytesMax) return {};
  return Error{ErrorCode::kNoSpace, "more text of places of probes than allowed (8 MiB)"};
}

void Probes::add_place(Probe& probe, std::string place) {
  place_bytes_ += place.size();
  probe.places.push_back(std::move(place));
  places_ += 1;
  changes_ += 1;
}

void Probes::remove(const EventPath& path) {
  const auto found = probes_.find(path);
  if (found == probes_.end()) return;
  places_ -= found->second.places.size();
  place_bytes_ -= bytes_of(found->second.places);
  by_serial_.erase(found->second.serial);
  probes_.erase(found);
  changes_ += 1;
}

std::vector<EventPath> Probes::matching(const ProbeRemoval& removal) const {
  std::vector<EventPath> found;
  for (const auto& [serial, path] : by_serial_) {
    const bool is_meant = (removal.group.empty() || path.first == removal.group) &&
                          (removal.event.empty() || path.second == removal.event);
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
    for (const std::string& text : probe.places) {
      all.push_back({.serial = serial, .kind = probe.kind, .event = path.second, .text = text});
    }
  }
  return all;
}

std::vector<std::uint64_t> Probes::serials() const {
  std::vector<std::uint64_t> all;
  for (const auto& [serial, path] : by_serial_) all.push_back(serial);
  return all;
}

std::string Probes::text() const {
  std::string text;
  for (const auto& [serial, path] : by_serial_) {
    const Probe& probe = probes_.find(path)->second;
    for (const std::string& place : probe.places) {
      text.push_back(static_cast<char>(probe.kind));
      text.append(":").append(path.first).append("/").append(path.second);
      text.append(" ").append(place).append("\n");
    }
  }
  return text;
}

}  // namespace tallyfs
