// Saves and loads the numbers of open files for a successor.
#include <utility>

#include "fs/handles.h"

namespace tallyfs {

void Handles::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  files_.save(out);
}

Handles::Numbered Handles::all() const {
  const MutexLock lock(mutex_);
  Numbered all;
  files_.each([&](std::uint64_t number, const std::shared_ptr<OpenFile>& file) {
    all.emplace(number, file);
  });
  return all;
}

void Handles::load(Numbered files) {
  const MutexLock lock(mutex_);
  for (const auto& [number, file] : files) {
    if (!files_.can_put(number)) continue;
    files_.put(number, file);
    count(*file);
  }
  ByteReader nothing{std::string_view()};
  (void)files_.finish_restore(nothing, [](std::uint64_t) {});
}

Result<void> Handles::load(std::string_view saved, Numbered files) {
  ByteReader in(saved);
  SlotTable<std::shared_ptr<OpenFile>> table(uses_);
  for (const auto& [number, file] : files) {
    if (table.can_put(number)) table.put(number, file);
  }
  if (!table.finish_restore(in, [](std::uint64_t) {})) {
    return Error{ErrorCode::kInvalid, "these are no numbers of open files"};
  }
  const MutexLock lock(mutex_);
  files_ = std::move(table);
  for (const auto& [number, file] : files) {
    if (files_.find(number)) count(*file);
  }
  return {};
}

}  // namespace tallyfs
