#include "fs/open_files.h"

#include <string_view>
#include <utility>

#include "fs/open_file_saved.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kHandlesFormat = transfer_format(SavedKind::kHandles);
constexpr std::uint16_t kOpenFileFormat = transfer_format(SavedKind::kOpenFile);

std::string stale_file(const SavedObject& object, std::string_view reason) {
  std::string text("the open file ");
  return text.append(object.label).append(" is stale: ").append(reason);
}

// With what its owner knows of it. kStale: the owner has removed it.
Result<SavedOpenFile> load_file(const SavedObject& object, const Tree& tree, Timestamp now) {
  if (object.format != kOpenFileFormat) return other_format(object);
  auto loaded = load_open_file(object.bytes, tree, now);
  if (!loaded) return loaded;
  OpenFile& open = *loaded.value().open;
  auto held = hold_loaded(open, tree, now);
  if (!held) return held.error();
  open.held = std::move(held.value());
  return loaded;
}

}  // namespace

void OpenFiles::save(ObjectSink& sink) const {
  const Timestamp now = clock_.now();
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

bool OpenFiles::can_load(const SavedObject& handles) {
  return handles.format == kHandlesFormat && Handles({}).load(handles.bytes, {}).has_value();
}

Result<std::vector<std::string>> OpenFiles::load(const SavedObject& handles,
                                                const std::vector<SavedObject>& files) {
  if (handles.format != kHandlesFormat) return other_format(handles);
  const Timestamp now = clock_.now();
  std::vector<std::string> faults;
  Handles::Numbered open_files;
  for (const SavedObject& object : files) {
    auto loaded = load_file(object, tree_, now);
    if (loaded) {
      const std::uint64_t number = loaded.value().handle;
      if (!tree_.file(loaded.value().open->node.id)) absent_.push_back(number);
      const bool is_new = open_files.emplace(number, std::move(loaded.value().open)).second;
      if (!is_new) faults.push_back(stale_file(object, "there is another one of its number"));
    } else {
      faults.push_back(stale_file(object, loaded.error().reason));
    }
  }
  if (handles_.load(handles.bytes, std::move(open_files))) return faults;
  // A number of one is none of these. Those of all others must not be given again.
  faults.push_back("the open files are stale: they are not those that were open");
  if (const auto done = handles_.load(handles.bytes, {}); !done) return done.error();
  return faults;
}

// One whose owner has removed it meanwhile fails by itself, each time that it is used.
void OpenFiles::hold_returned() {
  const Timestamp now = clock_.now();
  for (const std::uint64_t number : std::exchange(absent_, {})) {
    const auto open = handles_.find(number);
    if (!open) continue;
    auto held = hold_loaded(*open, tree_, now);
    if (held) handles_.hold(number, std::move(held.value()));
  }
}

}  // namespace tallyfs
