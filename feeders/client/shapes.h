// The daemon's page of shapes (core/wire/FORMAT.md): how samples are counted in cells.
//
// Confined to the Client's lock; any thread may read the shapes themselves (sealed_mapping.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/shape.h"
#include "feeders/client/sealed_mapping.h"

namespace tallyfs {

class Shapes {
 public:
  // Room for as many shapes as there are switches.
  static constexpr std::size_t kBytesMax = 64u << 20;

  // Fails as SealedMapping::map() does.
  Result<void> map(const Fd& page, std::uint64_t bytes) { return view_.map(page, bytes, "shapes"); }
  void forget() { view_.forget(); }
  // nullptr: no shape has this number.
  const Shape* find(std::uint64_t number) const { return view_.find<Shape>(number); }

 private:
  SealedMapping view_{kBytesMax};
};

}  // namespace tallyfs
