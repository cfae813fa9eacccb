#include "fs/open_files.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <string_view>
#include <utility>

namespace tallyfs {
namespace {

constexpr std::uint16_t kHandlesFormat = transfer_format(SavedKind::kHandles);
constexpr std::uint16_t kOpenFileFormat = transfer_format(SavedKind::kOpenFile);

std::string stale_file(const SavedObject& object, std::string_view reason) {
  std::string text("the open file ");
  return text.append(object.label).append(" is stale: ").append(reason);
}

// With what its owner knows of it. kStale: the owner has removed it.
Result<SavedOpenFile> load_file(const SavedObject& object, const Tree& tree, Timestamp now,
                                FoundBy by) {
  if (object.format != kOpenFileFormat) return other_format(object);
  auto loaded = load_open_file(object.bytes, tree, now, by);
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
  std::vector<std::string> faults;
  Handles::Numbered open_files = read(files, FoundBy::kNumber, faults);
  note_numbers(open_files);
  if (handles_.load(handles.bytes, std::move(open_files))) return faults;
  // A number of one is none of these. Those of all others must not be given again.
  faults.push_back("the open files are stale: they are not those that were open");
  if (const auto done = handles_.load(handles.bytes, {}); !done) return done.error();
  return faults;
}

std::vector<std::string> OpenFiles::load_kept(const std::vector<SavedObject>& files) {
  std::vector<std::string> faults;
  Handles::Numbered open_files = read(files, FoundBy::kPath, faults);
  note_numbers(open_files);
  handles_.load(std::move(open_files));
  return faults;
}

Handles::Numbered OpenFiles::read(const std::vector<SavedObject>& files, FoundBy by,
                                  std::vector<std::string>& faults) {
  const Timestamp now = clock_.now();
  Handles::Numbered open_files;
  for (const SavedObject& object : files) {
    auto loaded = load_file(object, tree_, now, by);
    if (loaded) {
      const std::uint64_t number = loaded.value().handle;
      if (!tree_.file(loaded.value().open->node.id)) absent_.push_back(number);
      const bool is_new = open_files.emplace(number, std::move(loaded.value().open)).second;
      if (!is_new) faults.push_back(stale_file(object, "there is another one of its number"));
    } else {
      faults.push_back(stale_file(object, loaded.error().reason));
    }
  }
  return open_files;
}

void OpenFiles::note_numbers(const Handles::Numbered& files) {
  for (const auto& [number, open] : files) {
    if (open->kernel_node != 0) nodes_.insert_or_assign(open->kernel_node, open->node.id);
    if (open->request != 0) handles_of_requests_.insert_or_assign(open->request, number);
  }
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

void OpenFiles::keep_with(PartKeeper& keeper, const std::vector<SavedObject>& before) {
  keeper_ = &keeper;
  boost::unordered_flat_set<std::string> kept;
  for (const auto& [number, open] : handles_.all()) {
    keep(number, *open);
    const MutexLock lock(open->keeping);
    if (open->kept_bytes != 0) kept.insert(std::to_string(number));
  }
  for (const SavedObject& each : before) {
    const std::string label(each.label);
    if (!kept.contains(label)) keeper.remove(SavedKind::kOpenFile, label);
  }
}

// Requests on one file may be under way at once, and the file may be closed meanwhile.
void OpenFiles::keep(std::uint64_t handle, OpenFile& open) {
  if (!keeper_) return;
  const MutexLock lock(open.keeping);
  std::string bytes;
  if (open.text.size() <= kFileBytesMax) {
    constexpr std::size_t kOfTheRest = 1024;
    bytes.reserve(open.text.size() + kOfTheRest);
    ByteWriter out(bytes);
    save_open_file(handle, open, clock_.now(), out);
  }
  const bool is_short = !bytes.empty() && bytes.size() <= kFileBytesMax;
  const std::size_t others = bytes_.load() - open.kept_bytes;
  if (!is_short || bytes.size() + others > kBytesMax) return drop(handle, open);
  bytes_ += bytes.size() - open.kept_bytes;
  open.kept_bytes = bytes.size();
  const std::string label = std::to_string(handle);
  keeper_->put(saved_object(SavedKind::kOpenFile, kOpenFileFormat, label, bytes));
  if (!handles_.find(handle)) drop(handle, open);
}

void OpenFiles::forget(std::uint64_t handle, OpenFile& open) {
  if (!keeper_) return;
  const MutexLock lock(open.keeping);
  drop(handle, open);
}

void OpenFiles::drop(std::uint64_t handle, OpenFile& open) {
  if (open.kept_bytes == 0) return;
  bytes_ -= std::exchange(open.kept_bytes, 0);
  keeper_->remove(SavedKind::kOpenFile, std::to_string(handle));
}

std::optional<NodeId> OpenFiles::node_of(NodeId kernels) const {
  if (nodes_.empty()) return std::nullopt;
  const auto found = nodes_.find(kernels);
  return found == nodes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint64_t> OpenFiles::handle_of(std::uint64_t request) const {
  if (handles_of_requests_.empty()) return std::nullopt;
  const auto found = handles_of_requests_.find(request);
  return found == handles_of_requests_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tallyfs
