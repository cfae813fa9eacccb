#include "core/tracing/probe/marker_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/nearest.h"
#include "core/tracing/probe/marker_argument.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kOwner = "stapsdt";
constexpr std::uint32_t kMarker = 3;  // NT_STAPSDT
constexpr std::uint64_t kMarkerBytesMax = std::uint64_t{32} << 20;
constexpr std::size_t kArgumentBytesMax = 4'096;
constexpr std::size_t kMarkersMax = std::size_t{1} << 16;

Error too_many() {
  return {ErrorCode::kTooBig, "the file has more than 65536 places of markers"};
}

// A note, taken apart.
struct Marker {
  std::uint64_t address = 0, base = 0, counter = 0;
  std::string_view provider, name, arguments;
};

std::string_view take_text(std::string_view& rest) {
  const std::string_view text = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  return text;
}

std::optional<Marker> parse_marker(const ElfFile::Note& note, bool is_64) {
  if (note.name != kOwner || note.type != kMarker) return std::nullopt;
  ByteReader reader(note.description);
  Marker marker;
  for (std::uint64_t* const each : {&marker.address, &marker.base, &marker.counter}) {
    *each = is_64 ? reader.get<std::uint64_t>() : reader.get<std::uint32_t>();
  }
  if (!reader.ok()) return std::nullopt;
  std::string_view rest = note.description.substr(is_64 ? 24 : 12);
  marker.provider = take_text(rest);
  marker.name = take_text(rest);
  marker.arguments = take_text(rest).substr(0, kArgumentBytesMax);
  return marker;
}

class MarkerSearch {
 public:
  MarkerSearch(const ElfFile& file, const PlaceName& place) : file_(file), place_(place) {}

  Result<FoundPlaces> run();

 private:
  void take(const Marker& marker);
  Result<void> add(const Marker& marker);
  // The address of a symbol; nullopt: there is none.
  using Address = std::optional<std::uint64_t>;
  Address address_of(std::string_view symbol);
  Address search(std::string_view symbol) const;

  const ElfFile& file_;
  const PlaceName& place_;
  std::vector<Marker> found_;
  std::set<std::string> names_;  // of all markers
  std::size_t count_ = 0;
  // A search reads all names of the file; many places have the same ones in their arguments.
  std::map<std::string, Address, std::less<>> addresses_;
  std::uint64_t base_ = 0;  // where the section is whose address all markers know
  FoundPlaces places_;
};

void MarkerSearch::take(const Marker& marker) {
  if (++count_ > kMarkersMax) return;
  if (marker.provider == place_.provider && marker.name == place_.name) {
    found_.push_back(marker);
  } else if (found_.empty()) {
    names_.insert(std::string(marker.provider) + ":" + std::string(marker.name));
  }
}

MarkerSearch::Address MarkerSearch::address_of(std::string_view symbol) {
  const auto known = addresses_.find(symbol);
  if (known != addresses_.end()) return known->second;
  return addresses_.emplace(symbol, search(symbol)).first->second;
}

MarkerSearch::Address MarkerSearch::search(std::string_view symbol) const {
  Address address;
  for (const auto* const table : {file_.symbols(), file_.dynamic_symbols()}) {
    if (!table || address) continue;
    (void)file_.each_symbol(*table, [&](const ElfSymbol& each) {
      if (each.name == symbol && !each.is_undefined) address = each.value;
    });
  }
  return address;
}

// A prelinked program was moved after its notes had been written.
Result<void> MarkerSearch::add(const Marker& marker) {
  const std::uint64_t moved = base_ == 0 ? 0 : base_ - marker.base;
  const auto offset = file_.offset_of_code(marker.address + moved);
  const std::string name = place_.provider + ":" + place_.name;
  if (!offset) return invalid(name + " is in no segment with code");
  FoundPlace place{.offset = *offset};
  if (marker.counter != 0) {
    const auto counter = file_.offset_of(marker.counter + moved);
    if (!counter) return invalid("the counter of " + name + " is not in the file");
    place.reference = *counter;
  }
  // The kernel counts from where the place's own segment would begin in the file.
  const std::uint64_t to_file = *offset - (marker.address + moved);
  const FindData find_data = [&](std::string_view symbol, std::int64_t plus) {
    const auto address = address_of(symbol);
    if (!address) return Address();
    const std::uint64_t data = *address + static_cast<std::uint64_t>(plus) + to_file;
    return data <= INT64_MAX ? std::optional(data) : std::nullopt;
  };
  for (const std::string_view each : split_arguments(marker.arguments)) {
    place.arguments.push_back(fetch_of(each, file_.machine(), find_data));
  }
  places_.places.push_back(std::move(place));
  return {};
}

// The bytes of all notes of markers; none: the file has none.
Result<std::string> notes_of(const ElfFile& file) {
  const ElfFile::Section* const notes = file.section(".note.stapsdt");
  return notes ? file.contents(*notes, kMarkerBytesMax) : std::string();
}

Result<FoundPlaces> MarkerSearch::run() {
  const auto bytes = notes_of(file_);
  if (!bytes) return bytes.error();
  const ElfFile::Section* const base = file_.section(".stapsdt.base");
  base_ = base ? base->address : 0;
  ElfFile::each_note(bytes.value(), [this](const ElfFile::Note& note) {
    if (const auto marker = parse_marker(note, file_.is_64())) take(*marker);
  });
  if (count_ > kMarkersMax) return too_many();
  if (found_.empty()) {
    const std::string name = place_.provider + ":" + place_.name;
    if (names_.empty()) return invalid("no marker " + name + ": the file has none");
    return invalid("no marker " + name + did_you_mean(name, {names_.begin(), names_.end()}));
  }
  if (found_.size() > FoundPlaces::kPlacesMax) {
    return invalid(place_.provider + ":" + place_.name + " has more than 1024 places");
  }
  places_.machine = file_.machine();
  for (const Marker& marker : found_) {
    if (auto added = add(marker); !added) return added.error();
  }
  return std::move(places_);
}

}  // namespace

Result<FoundPlaces> find_marker(const ElfFile& file, const PlaceName& place) {
  return MarkerSearch(file, place).run();
}

Result<std::vector<ListedMarker>> list_markers(const ElfFile& file) {
  const auto bytes = notes_of(file);
  if (!bytes) return bytes.error();
  std::map<std::string, ListedMarker> found;
  std::size_t count = 0;
  ElfFile::each_note(bytes.value(), [&](const ElfFile::Note& note) {
    const auto marker = parse_marker(note, file.is_64());
    if (!marker || ++count > kMarkersMax) return;
    const std::string name = std::string(marker->provider) + ":" + std::string(marker->name);
    const auto at = found.try_emplace(name, ListedMarker{name, 0, std::string(marker->arguments)});
    at.first->second.places += 1;
  });
  if (count > kMarkersMax) return too_many();
  std::vector<ListedMarker> list;
  for (auto& [name, marker] : found) list.push_back(std::move(marker));
  return list;
}

}  // namespace tallyfs::tracing
