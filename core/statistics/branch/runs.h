// How the branch hands samples to its interfaces. Confined to the branch's lock.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {

// Collects runs of one interface after the other and hands them over under one lock each.
class StatisticsBranch::Runs {
 public:
  Runs(Workspace& workspace, Taken& taken, Timestamp now)
      : runs_(workspace.runs), taken_(taken), now_(now) {}

  void push(const InterfaceEntry& owner, Statistic* statistic, std::span<const Sample> samples) {
    if (&owner != owner_ || size_ == runs_.size()) flush();
    owner_ = &owner;
    runs_[size_++] = {statistic, samples};
    taken_.samples += samples.size();
  }

  void flush() {
    if (size_ == 0) return;
    if (owner_->interface->add(std::span(runs_).first(size_), now_) != 0) {
      taken_.saturated.push_back(owner_->name);
    }
    size_ = 0;
  }

 private:
  std::array<Run, NamedSamples::kCapacity>& runs_;
  Taken& taken_;
  const Timestamp now_;
  const InterfaceEntry* owner_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tallyfs::statistics
