// A run of samples that a source and its views get. What several of them need of it is added up
// once, and only when one needs it. Confined to the call of Interface::add() that makes it.
#pragma once

#include <optional>
#include <span>

#include "core/model/sample.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class SharedRun {
 public:
  explicit SharedRun(std::span<const Sample> samples) : samples_(samples) {}

  std::span<const Sample> samples() const { return samples_; }
  // Nullopt as in RunSums::of().
  const std::optional<RunSums>& sums() const {
    if (!is_added_up_) {
      sums_ = RunSums::of(samples_);
      is_added_up_ = true;
    }
    return sums_;
  }

 private:
  std::span<const Sample> samples_;
  mutable std::optional<RunSums> sums_;
  mutable bool is_added_up_ = false;
};

}  // namespace tallyfs::statistics
