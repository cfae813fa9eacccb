#include "feeders/client/deferred_removal.h"

#include <algorithm>

namespace tallyfs {

void DeferredRemoval::add(FedStatistic& statistic) {
  if (statistic.lingers) return;
  waiting_.push_back(&statistic);
  registry_.detach(statistic);
}

void DeferredRemoval::destroy_sent(const Buffers& buffers, Rings rings) {
  if (waiting_.size() + passing_.size() >= search_at_) search(buffers, rings);
  if (rings == Rings::kToBeRead) return wait_again();
  for (int turn = 0; turn < 2; ++turn) {
    if (passing_.empty()) {
      if (waiting_.empty() || !record_heads(buffers)) return;
      passing_.swap(waiting_);
    }
    if (!have_passed(buffers)) return;
    for (std::size_t i = 0; i < kDestroyedMax && !passing_.empty(); ++i) {
      destroy(*passing_.back());
      passing_.pop_back();
    }
  }
}

// Waits for all again: the positions of the buffers do not cover samples that they get from rings.
void DeferredRemoval::wait_again() {
  waiting_.insert(waiting_.end(), passing_.begin(), passing_.end());
  passing_.clear();
  heads_.clear();
}

// False: of which statistics nested samples are only the buffer's owner can say.
bool DeferredRemoval::record_heads(const Buffers& buffers) {
  heads_.clear();
  for (const ThreadBuffer* const buffer : buffers) {
    if (buffer->has_nested()) return false;
    heads_.push_back(buffer->head());
  }
  return true;
}

// Buffers that are newer than the positions never had anything of them.
bool DeferredRemoval::have_passed(const Buffers& buffers) const {
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!buffers[i]->has_sent(heads_[i])) return false;
  }
  return true;
}

// In a ring is nothing of a statistic that never asked for one.
void DeferredRemoval::search(const Buffers& buffers, Rings rings) {
  std::vector<const FedStatistic*> held;
  bool some_nested = false;
  for (ThreadBuffer* const buffer : buffers) {
    const MutexLock lock(buffer->mutex());
    some_nested = some_nested || buffer->has_nested();
    buffer->for_each_held([&](UnsentSample& entry) {
      FedStatistic* const statistic = entry.statistic();
      if (!statistic || !statistic->lingers) return;
      if (statistic->removed) {
        entry.make_void();
      } else if (held.empty() || held.back() != statistic) {
        held.push_back(statistic);
      }
    });
  }
  std::ranges::sort(held);
  for (auto* const some : {&waiting_, &passing_}) {
    std::erase_if(*some, [&](FedStatistic* each) {
      if (some_nested || std::ranges::binary_search(held, each)) return false;
      if (rings == Rings::kToBeRead && each->wants_cells) return false;
      destroy(*each);
      return true;
    });
  }
  search_at_ = std::max(kSearchMin, 2 * (waiting_.size() + passing_.size()));
}

void DeferredRemoval::destroy(FedStatistic& statistic) {
  FedInterface* const interface = statistic.interface;
  registry_.erase(statistic);
  if (interface->lingers && interface->statistics.empty()) registry_.erase(*interface);
}

}  // namespace tallyfs
