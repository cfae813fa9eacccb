#include "fs/daemon/predecessor.h"

#include <algorithm>
#include <iterator>

namespace tallyfs {
namespace {

constexpr SavedKinds kOfMount =
    saved_kinds(SavedKind::kNodes, SavedKind::kCachedDirectories, SavedKind::kHandles,
                SavedKind::kOpenFile);

}  // namespace

std::optional<Result<Predecessor>> Predecessor::read(Handover& handover) {
  TransferredBytes bytes = handover.take_state();
  if (bytes.is_unreadable()) {
    return Error{ErrorCode::kNoSpace, "what was left cannot be read: all that it had begins anew"};
  }
  if (bytes.view().empty()) return std::nullopt;
  auto file = read_state(bytes.view());
  if (!file) return file.error();
  return Predecessor(std::move(bytes), std::move(file.value()));
}

Predecessor::Predecessor(TransferredBytes bytes, StateFile file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  auto& all = file_.objects;
  const auto of_mount = std::stable_partition(all.begin(), all.end(), [](const SavedObject& each) {
    return (kOfMount & kind_bit(each.kind)) == 0;
  });
  of_mount_.assign(of_mount, all.end());
  all.erase(of_mount, all.end());
}

const SavedObject* Predecessor::find(SavedKind kind) const {
  const auto found = std::ranges::find_if(
      of_mount_, [kind](const SavedObject& object) { return is_of(object, kind); });
  return found == of_mount_.end() ? nullptr : &*found;
}

std::vector<SavedObject> Predecessor::open_files() const {
  std::vector<SavedObject> found;
  std::ranges::copy_if(of_mount_, std::back_inserter(found), [](const SavedObject& object) {
    return is_of(object, SavedKind::kOpenFile);
  });
  return found;
}

std::optional<Result<Pages>> take_pages(const StateFile& file, const Pages::Layout& layout,
                                        TransferredFds& descriptors) {
  for (const SavedObject& each : file.objects) {
    if (!is_of(each, SavedKind::kPages)) continue;
    if (!file.is_whole()) return Error{ErrorCode::kInvalid, "what was left is not whole"};
    return Pages::take(each, layout, descriptors);
  }
  return std::nullopt;
}

}  // namespace tallyfs
