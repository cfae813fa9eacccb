// What a server leaves to its successor in a reload, of the requests' side.
#include <string>

#include "fs/operations.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kHandlesFormat = 1;

}  // namespace

void Operations::save(ObjectSink& sink) const {
  std::string bytes;
  ByteWriter out(bytes);
  handles_.save(out);
  sink.put(saved_object(SavedKind::kHandles, kHandlesFormat, "handles", bytes));
}

Result<void> Operations::load(const SavedObject& object) {
  if (object.format != kHandlesFormat) return other_format(object);
  return handles_.load(object.bytes);
}

}  // namespace tallyfs
