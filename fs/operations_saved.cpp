// What a server leaves to its successor in a reload, of the requests' side.
#include <string>
#include <utility>

#include "fs/open_file_saved.h"
#include "fs/operations.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kHandlesFormat = handed_format(SavedKind::kHandles);
constexpr std::uint16_t kOpenFileFormat = handed_format(SavedKind::kOpenFile);

Result<SavedOpenFile> load_file(const SavedObject& object, const Tree& tree, Moment now) {
  if (object.format != kOpenFileFormat) return other_format(object);
  return load_open_file(object.bytes, tree, now);
}

}  // namespace

void Operations::save(ObjectSink& sink) const {
  const Moment now = parts_.clock.now();
  std::string bytes;
  ByteWriter out(bytes);
  handles_.save(out);
  if (!sink.put(saved_object(SavedKind::kHandles, kHandlesFormat, "handles", bytes))) return;
  for (const auto& [number, open] : handles_.all()) {
    bytes.clear();
    save_open_file(number, *open, now, out);
    const std::string label = std::to_string(number);
    if (!sink.put(saved_object(SavedKind::kOpenFile, kOpenFileFormat, label, bytes))) return;
  }
}

bool Operations::can_load(const SavedObject& handles) {
  return handles.format == kHandlesFormat && Handles({}).load(handles.bytes, {}).has_value();
}

Result<std::vector<std::string>> Operations::load(const SavedObject& handles,
                                                  const std::vector<SavedObject>& files) {
  if (handles.format != kHandlesFormat) return other_format(handles);
  const Moment now = parts_.clock.now();
  std::vector<std::string> faults;
  Handles::Numbered open_files;
  for (const SavedObject& object : files) {
    auto loaded = load_file(object, parts_.tree, now);
    if (loaded) {
      open_files.emplace(loaded.value().handle, std::move(loaded.value().open));
    } else {
      faults.push_back(std::string("the open file ").append(object.label).append(" is stale: ") +
                       loaded.error().reason);
    }
  }
  for (const auto& [number, open] : open_files) {
    const auto access = open->readable ? File::Access::kRead : File::Access::kWrite;
    if (auto held = open->file->hold(access, now)) open->held = std::move(held.value());
  }
  if (const auto done = handles_.load(handles.bytes, std::move(open_files)); !done) {
    return done.error();
  }
  return faults;
}

}  // namespace tallyfs
