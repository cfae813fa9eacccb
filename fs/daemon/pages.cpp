#include "fs/daemon/pages.h"

#include <string>
#include <utility>

#include "core/base/bytes.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kPagesFormat = transfer_format(SavedKind::kPages);

}  // namespace

void Pages::save_for_successor(ObjectSink& sink, TransferredFds& descriptors) {
  if (!switches_ || !shapes_) return;
  std::string bytes;
  ByteWriter out(bytes);
  out.put(epoch_);
  for (const std::uint64_t each : {layout_.statistics, layout_.stats, layout_.events}) {
    out.put(each);
  }
  out.put(switches_->bytes());
  out.put(descriptors.add(switches_->fd()));
  out.put(shapes_->bytes());
  out.put(descriptors.add(shapes_->fd()));
  sink.put(saved_object(SavedKind::kPages, kPagesFormat, "pages", bytes));
}

Result<Pages> Pages::take(const SavedObject& object, const Layout& layout,
                          TransferredFds& descriptors) {
  if (object.format != kPagesFormat) return other_format(object);
  ByteReader in(object.bytes);
  const auto epoch = in.get<std::uint64_t>();
  Layout before;
  for (std::uint64_t* const each : {&before.statistics, &before.stats, &before.events}) {
    *each = in.get<std::uint64_t>();
  }
  const auto switches_bytes = in.get<std::uint64_t>();
  const auto switches_place = in.get<std::uint32_t>();
  const auto shapes_bytes = in.get<std::uint64_t>();
  const auto shapes_place = in.get<std::uint32_t>();
  if (!in.ok() || in.left() != 0 || epoch == 0) {
    return Error{ErrorCode::kInvalid, "they are not as they are handed on"};
  }
  if (before != layout) {
    return Error{ErrorCode::kInvalid, "this version numbers things in another way"};
  }
  auto switches = SwitchPage::adopt(descriptors.take(switches_place), switches_bytes);
  if (!switches) return switches.error();
  auto shapes = ShapePage::adopt(descriptors.take(shapes_place), shapes_bytes);
  if (!shapes) return shapes.error();
  descriptors.adopt(switches_place, switches.value().fd());
  descriptors.adopt(shapes_place, shapes.value().fd());
  return Pages(epoch, layout, std::move(switches.value()), std::move(shapes.value()));
}

}  // namespace tallyfs
