// Statistics that the program has removed or released while buffers may hold their samples. They
// stay in the Registry, without a name, until every buffer has sent what it held at their removal.
// The buffers' positions show this, for many statistics at once: the cost does not depend on the
// number of statistics or of samples.
//
// A statistic with samples that are held for long keeps back those removed with it. So that a
// program which makes and drops statistics all the time does not reach the Registry's bound while
// the daemon is away, the buffers are searched whenever kSearchMin of them, or twice as many as the
// last time, wait.
//
// Confined to the Client's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feeders/client/registry.h"
#include "feeders/client/thread_buffer.h"

namespace tallyfs {

class DeferredRemoval {
 public:
  using Buffers = std::vector<ThreadBuffer*>;  // all there are, always in one order
  static constexpr std::size_t kSearchMin = 1024;
  // How many are destroyed at a time: other threads need the lock, too.
  static constexpr std::size_t kDestroyedMax = 1024;

  explicit DeferredRemoval(Registry& registry) : registry_(registry) {}

  void add(FedStatistic& statistic);
  bool empty() const { return waiting_.empty() && passing_.empty(); }
  // Rings of an earlier daemon: buffers will hold what is in them.
  enum class Rings { kRead, kToBeRead };
  // Destroys those of which nothing is held any more, and interfaces that were waiting for them.
  void destroy_sent(const Buffers& buffers, Rings rings);
  // In a forked child, whose buffers are empty.
  void forget_positions() { heads_.clear(); }

 private:
  bool record_heads(const Buffers& buffers);
  bool have_passed(const Buffers& buffers) const;
  void search(const Buffers& buffers, Rings rings);
  void wait_again();
  void destroy(FedStatistic& statistic);

  Registry& registry_;
  std::vector<FedStatistic*> waiting_;  // for a turn
  std::vector<FedStatistic*> passing_;  // until all tails have passed
  std::vector<std::uint64_t> heads_;    // these
  std::size_t search_at_ = kSearchMin;
};

}  // namespace tallyfs
