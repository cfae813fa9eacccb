// The statistics/ branch as bytes, for a successor of the daemon.
#include <algorithm>
#include <vector>

#include "core/base/text.h"
#include "core/branch/statistics/statistics.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kVersion = 1;

Error not_saved_here() { return {ErrorCode::kInvalid, "not what save() of statistics/ writes"}; }

}  // namespace

void Statistics::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  std::vector<const InterfaceEntry*> entries;
  for (const auto& [key, entry] : interfaces_) {
    if (entry->name != kOwnName && entry->feeders.empty()) entries.push_back(entry.get());
  }
  // Nodes are numbered in the order in which they came, and so is the listing.
  std::sort(entries.begin(), entries.end(),
            [](const auto* a, const auto* b) { return a->node < b->node; });
  out.put(kVersion);
  out.put(static_cast<std::uint32_t>(entries.size()));
  for (const InterfaceEntry* entry : entries) {
    out.put_text(entry->name);
    entry->interface->save(out);
  }
}

Result<void> Statistics::load(ByteReader& in, Moment now) {
  const auto version = in.get<std::uint32_t>();
  auto count = in.get<std::uint32_t>();
  if (!in.ok() || version != kVersion) return not_saved_here();
  const MutexLock lock(mutex_);
  for (; count > 0; --count) {
    const std::string name(in.get_text());
    if (!in.ok() || !is_name(name) || find_interface(name)) return not_saved_here();
    auto loaded = Interface::load(in, ledger_);
    if (!loaded) return loaded.error();
    InterfaceEntry& entry = enter(name, std::move(loaded.value()), now);
    for (Statistic* statistic : entry.interface->statistics()) {
      enter(entry, statistic);
    }
  }
  return {};
}

}  // namespace tallyfs
