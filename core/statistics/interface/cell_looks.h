// Which look at the cells of an interface serves more than the one that took it. Opens and stat()
// that wait for the interface while its cells are read do not read them again, one after the other.
//
// begin() and end() are of the owner of the interface's lock; any thread may arrive.
#pragma once

#include <atomic>
#include <cstdint>

namespace tallyfs {

class CellLooks {
 public:
  // Before the lock is taken.
  struct Arrival {
    std::uint64_t begun = 0;
    std::uint64_t done = 0;
  };
  Arrival arrive() const { return {begun_.load(), done_.load()}; }

  // kAnOpen: shows all that was there when it came. kItsState: a size or a time, for which a look
  // will do that was under way then.
  enum class Use { kAnOpen, kItsState };
  bool has_served(const Arrival& arrival, Use use) const {
    return done_.load() > (use == Use::kAnOpen ? arrival.begun : arrival.done);
  }

  void begin() { begun_.fetch_add(1); }
  void end() { done_.store(begun_.load()); }

 private:
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};  // the last one that has ended
};

}  // namespace tallyfs
