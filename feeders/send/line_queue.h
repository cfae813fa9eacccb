// The lines between the thread that reads them and the one that sends them, so that the program
// that writes the lines is not held up while no daemon takes them. Any thread.
// Bound: kBytesMax, with kOverhead for each line. A line beyond that is dropped and counted: those
// that came first are kept.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"

namespace tallyfs {

// A line with a text of its own.
struct KeptLine {
  std::uint64_t number = 0;
  std::string text;
};

class LineQueue {
 public:
  static constexpr std::size_t kBytesMax = 16 * 1024 * 1024;
  static constexpr std::size_t kOverhead = 64;

  // False: it was dropped.
  bool push(std::uint64_t number, std::string_view text) EXCLUDES(mutex_);
  // No line comes after this.
  void end() EXCLUDES(mutex_);
  // The next line that is there.
  std::optional<KeptLine> try_pop() EXCLUDES(mutex_);
  // Waits for the next line. Nothing: the end.
  std::optional<KeptLine> pop() EXCLUDES(mutex_);
  // Lines that were popped come first again, whatever the bound says.
  void put_back(std::vector<KeptLine> lines) EXCLUDES(mutex_);

  std::size_t size() const EXCLUDES(mutex_);
  std::uint64_t dropped() const EXCLUDES(mutex_);

 private:
  static std::size_t cost(std::string_view text) { return text.size() + kOverhead; }
  std::optional<KeptLine> pop_front() REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLineQueue};
  std::condition_variable_any changed_;  // waits on mutex_
  std::deque<KeptLine> lines_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  bool has_ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace tallyfs
