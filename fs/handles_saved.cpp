// What a server leaves to its successor of its open files.
#include <utility>

#include "fs/handles.h"

namespace tallyfs {

void Handles::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  files_.save(out);
}

Result<void> Handles::load(std::string_view saved) {
  ByteReader in(saved);
  SlotTable<std::shared_ptr<OpenFile>> files;
  if (!files.settle(in, [](std::uint64_t) {})) {
    return Error{ErrorCode::kInvalid, "these are no numbers of open files"};
  }
  const MutexLock lock(mutex_);
  files_ = std::move(files);
  return {};
}

}  // namespace tallyfs
