#include "fs/daemon/handed_state.h"

#include <algorithm>
#include <string>

#include "log/log.h"

namespace tallyfs {
namespace {

constexpr SavedKinds kOthers =
    saved_kinds(SavedKind::kNodes, SavedKind::kCachedDirectories, SavedKind::kHandles);

}  // namespace

std::optional<HandedState> HandedState::take(Handover& handover) {
  HandedBytes bytes = handover.take_state();
  if (bytes.view().empty()) return std::nullopt;
  auto file = read_state(bytes.view());
  if (file) return HandedState(std::move(bytes), std::move(file.value()));
  log_error("reload: " + file.error().reason);
  return std::nullopt;
}

HandedState::HandedState(HandedBytes bytes, StateFile file)
    : bytes_(std::move(bytes)), branches_(std::move(file)) {
  auto& all = branches_.objects;
  const auto others = std::stable_partition(all.begin(), all.end(), [](const SavedObject& object) {
    return (kOthers & kind_bit(object.kind)) == 0;
  });
  others_.assign(others, all.end());
  all.erase(others, all.end());
}

const SavedObject* HandedState::find(SavedKind kind) const {
  const auto found = std::ranges::find_if(
      others_, [kind](const SavedObject& object) { return is_of(object, kind); });
  return found == others_.end() ? nullptr : &*found;
}

}  // namespace tallyfs
