// What a server leaves to its successor of its open files.
#include <vector>

#include "fs/handles.h"

namespace tallyfs {

void Handles::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  const auto slots = files_.save();
  out.put(static_cast<std::uint32_t>(slots.size()));
  for (const auto& slot : slots) {
    out.put(slot.generation);
    out.put(static_cast<std::uint8_t>(slot.is_taken));
  }
}

Result<void> Handles::load(std::string_view saved) {
  using Slots = SlotTable<std::shared_ptr<OpenFile>>;
  ByteReader in(saved);
  std::vector<Slots::SavedSlot> slots;
  for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
    const auto generation = in.get<std::uint32_t>();
    slots.push_back({generation, in.get_flag()});
    if (slots.back().is_taken && generation == 0) in.fail();
  }
  if (!in.ok() || in.left() != 0) {
    return Error{ErrorCode::kInvalid, "these are no numbers of open files"};
  }
  const MutexLock lock(mutex_);
  files_.restore(slots, [](std::uint64_t) { return std::shared_ptr<OpenFile>(); });
  return {};
}

}  // namespace tallyfs
