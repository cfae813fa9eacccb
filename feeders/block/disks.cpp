#include "feeders/block/disks.h"

#include <linux/limits.h>
#include <unistd.h>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::chrono::seconds kNameLasts{1};
constexpr const char* kDirectionNames[kDirections] = {"read", "write", "other"};

// 15 intervals, 0 to 4 MiB in powers of two from a sector on. What is larger, as discards of whole
// files, stands under `>`.
const tally::Definition kSizes{
    .units = "bytes/requests",
    .type = tally::Array{.range = {0, 1 << 22}, .base_interval = 512},
    .begin = tally::Begin::kOn};
// Each size by itself: those of requests are multiples of a page, up to a few MiB.
const tally::List kEachSize{.entries_max = 1024, .base = 10};
// 22 intervals, 0 to a second in powers of two; what takes longer is a disk in trouble and stands
// under `>`. Microseconds: a fast disk takes ten, a spinning one ten thousand.
const tally::Definition kLatencies{.units = "microseconds/requests",
                                   .type = tally::Array{.range = {0, 1 << 20}},
                                   .begin = tally::Begin::kOn};
const tally::Definition kPending{
    .units = "pending/requests", .type = tally::MinMax{}, .begin = tally::Begin::kOn};
const tally::Definition kLost{
    .units = "events/occurrences", .type = tally::Value{}, .begin = tally::Begin::kOn};

std::vector<tally::Statistic> create_by_direction(const tally::Interface& interface,
                                                  const std::string& name, std::size_t directions,
                                                  const tally::Definition& definition) {
  std::vector<tally::Statistic> made;
  for (std::size_t i = 0; i < directions; ++i) {
    made.emplace_back(interface, name + "_" + kDirectionNames[i], definition);
  }
  return made;
}

Disk create(const std::string& name) {
  tally::Interface interface("block-" + name, tally::Lifetime::kForGood, tally::Units::kAny,
                             tally::Feed::kOwner);
  auto sizes = create_by_direction(interface, "request_sizes", kDirections, kSizes);
  auto latencies = create_by_direction(interface, "latencies", kDirections, kLatencies);
  std::vector<tally::Statistic> views;
  for (std::size_t i = 0; i < kDirections; ++i) {
    const std::string list = std::string("request_sizes_") + kDirectionNames[i] + "_list";
    views.push_back(sizes[i].create_view(list, kEachSize));
    auto some = create_latency_views(latencies[i], std::string("latencies_") + kDirectionNames[i]);
    for (tally::Statistic& view : some) views.push_back(std::move(view));
  }
  auto pending = create_by_direction(interface, "pending", 2, kPending);
  tally::Statistic lost(interface, "occurrence_lost", kLost);
  return {std::move(interface), std::move(sizes),   std::move(latencies),
          std::move(views),     std::move(pending), std::move(lost)};
}

}  // namespace

std::string number_of(DeviceNumber device) {
  return std::to_string(device >> 20) + ":" + std::to_string(device & ((1u << 20) - 1));
}

std::optional<std::string> disk_name(DeviceNumber device) {
  const std::string number = number_of(device);
  char target[PATH_MAX];
  const auto size = ::readlink(("/sys/dev/block/" + number).c_str(), target, sizeof target);
  if (size <= 0) return std::nullopt;
  const std::string_view path(target, static_cast<std::size_t>(size));
  const std::string name(path.substr(path.rfind('/') + 1));
  return is_name("block-" + name) ? name : number;
}

Disk* Disks::find(DeviceNumber device, std::chrono::nanoseconds now) {
  Numbered& numbered = by_number_[device];
  if (!numbered.disk || now - numbered.named_at >= kNameLasts) {
    const auto name = disk_name(device);
    // A disk that is gone has no name any more; its last requests are still its own.
    if (name || !numbered.disk) {
      numbered.disk = find_named(name.value_or(number_of(device)));
    }
    numbered.named_at = now;
  }
  return numbered.disk;
}

Disk* Disks::find_named(const std::string& name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return &found->second;
  if (by_name_.size() >= kDisksMax) return nullptr;
  return &by_name_.emplace(name, create(name)).first->second;
}

}  // namespace tallyfs
