// Which input the statistics of an interface have, one after the other: those of one step of a save
// have the same. A value.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/model/input_position.h"

namespace tallyfs::statistics {

class InputRuns {
 public:
  // Of the next statistic.
  void add(const InputPosition& input) {
    if (runs_.empty() || runs_.back().second != input) runs_.push_back({0, input});
    ++runs_.back().first;
  }
  void save(ByteWriter& out) const {
    out.put(static_cast<std::uint32_t>(runs_.size()));
    for (const auto& [count, input] : runs_) {
      out.put(count);
      out.put(input.socket);
      out.put(input.rings);
    }
  }
  // Calls visit(input) for each of so many statistics. Fails the reader where they are others.
  template <typename Visit>
  static void load(ByteReader& in, std::uint64_t statistics, Visit visit) {
    for (auto runs = in.get<std::uint32_t>(); in.ok() && runs != 0; --runs) {
      auto count = in.get<std::uint32_t>();
      InputPosition input;
      input.socket = in.get<std::uint64_t>();
      input.rings = in.get<std::uint64_t>();
      if (count > statistics) in.fail();
      if (!in.ok()) return;
      statistics -= count;
      for (; count != 0; --count) visit(input);
    }
    if (statistics != 0) in.fail();
  }

 private:
  std::vector<std::pair<std::uint32_t, InputPosition>> runs_;
};

}  // namespace tallyfs::statistics
