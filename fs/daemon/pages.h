// The pages that feeders have mapped, with their epoch, and how they are divided. They do not
// change once they are made, so any thread hands them on; what is in the pages is written under the
// locks of the branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/result.h"
#include "core/branch/transferred_part.h"
#include "feeders/intake/switch_page.h"

namespace tallyfs {

class Pages final : public TransferredPart {
 public:
  // How many entries of the page of switches each branch has. Numbers mean the same only where this
  // is the same.
  struct Layout {
    std::uint64_t statistics = 0;
    std::uint64_t stats = 0;
    std::uint64_t events = 0;
    bool operator==(const Layout&) const = default;
  };

  // Without switches everything works, but feeders send samples of statistics that are off; without
  // shapes none counts in cells of its own.
  Pages(std::uint64_t epoch, const Layout& layout, std::optional<SwitchPage> switches,
        std::optional<ShapePage> shapes)
      : epoch_(epoch),
        layout_(layout),
        switches_(std::move(switches)),
        shapes_(std::move(shapes)) {}

  std::uint64_t epoch() const { return epoch_; }
  const std::optional<SwitchPage>& switches() const { return switches_; }
  const std::optional<ShapePage>& shapes() const { return shapes_; }

  SavedKinds objects() const override { return saved_kinds(SavedKind::kPages); }
  // Nothing, if one of the pages is missing: then the next server draws an epoch of its own.
  void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) override;
  // Nothing is left to be done: take() has read it.
  Result<void> load(const SavedObject&, const Loading&, TransferredFds&) override { return {}; }

  // Of the server before. kInvalid: one is missing, or the layout is another one.
  static Result<Pages> take(const SavedObject& object, const Layout& layout,
                            TransferredFds& descriptors);

 private:
  std::uint64_t epoch_;
  Layout layout_;
  std::optional<SwitchPage> switches_;
  std::optional<ShapePage> shapes_;
};

}  // namespace tallyfs
