// type=value: one counter, the sum of Y (increments) or of X * Y (products).
// Confined to its Interface's lock. 32 bytes, nothing on the heap.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/bytes.h"
#include "core/definition/definition.h"
#include "core/statistic/sums.h"

namespace tally {

class ValueStatistic {
 public:
  explicit ValueStatistic(const ValueSettings& settings);

  // Heap that the data may come to hold.
  static std::uint64_t worst_case_bytes(const ValueSettings&) { return 0; }

  // True when the counter reached the end of its type.
  bool add(std::span<const Sample> samples);
  void clear();
  // `name total`
  void render(std::string_view name, std::string& out) const;

  void save(ByteWriter& out) const;
  // Into one made with the settings of the saved one. Fails the reader on what save() never wrote.
  void load(ByteReader& in);

 private:
  std::variant<Increments, Products> total_;
};

}  // namespace tally
