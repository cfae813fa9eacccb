#include "feeders/block/disks.h"

#include <linux/limits.h>
#include <unistd.h>

#include "core/base/text.h"

namespace tally {
namespace {

constexpr std::chrono::seconds kNameLasts{1};
constexpr const char* kDirectionNames[kDirections] = {"read", "write", "other"};

// 1,024 sizes: the sizes of requests are multiples of a page, up to a few MiB.
constexpr const char* kSizes = "type=list entries_max=1024 on=1 units=bytes/requests";
// 22 intervals, 0 to a second in powers of two; what takes longer is a disk in trouble and stands
// under `>`. Microseconds: a fast disk takes ten, a spinning one ten thousand.
constexpr const char* kLatencies =
    "type=array scale=log2 base_interval=1 range_min=0 range_max=1048576 on=1 "
    "units=microseconds/requests";
constexpr const char* kPending = "type=range on=1 units=pending/requests";
constexpr const char* kLost = "type=value mode=increments on=1 units=events/occurrences";

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

Disk Disks::create(const std::string& name) {
  Disk disk{};
  const auto add = [&](const std::string& statistic, const char* definition) -> Sender::Handle {
    // There is room for it: disks.h asserts that.
    return sender_.add_statistic("block-" + name + "/" + statistic, definition).value();
  };
  for (std::size_t i = 0; i < kDirections; ++i) {
    disk.request_sizes[i] = add(std::string("request_sizes_") + kDirectionNames[i], kSizes);
  }
  for (std::size_t i = 0; i < kDirections; ++i) {
    disk.latencies[i] = add(std::string("latencies_") + kDirectionNames[i], kLatencies);
  }
  for (std::size_t i = 0; i < disk.pending.size(); ++i) {
    disk.pending[i] = add(std::string("pending_") + kDirectionNames[i], kPending);
  }
  disk.occurrence_lost = add("occurrence_lost", kLost);
  return disk;
}

}  // namespace tally
