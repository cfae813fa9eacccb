#include "feeders/send/line_queue.h"

#include <iterator>
#include <utility>

namespace tallyfs {

bool LineQueue::push(std::uint64_t number, std::string_view text) {
  const MutexLock lock(mutex_);
  if (bytes_ + cost(text) > kBytesMax) {
    dropped_ += 1;
    return false;
  }
  bytes_ += cost(text);
  lines_.push_back({.number = number, .text = std::string(text)});
  changed_.notify_one();
  return true;
}

void LineQueue::end() {
  const MutexLock lock(mutex_);
  has_ended_ = true;
  changed_.notify_one();
}

std::optional<KeptLine> LineQueue::try_pop() {
  const MutexLock lock(mutex_);
  return pop_front();
}

std::optional<KeptLine> LineQueue::pop() {
  const MutexLock lock(mutex_);
  while (!has_ended_ && lines_.empty()) changed_.wait(mutex_);
  return pop_front();
}

std::optional<KeptLine> LineQueue::pop_front() {
  if (lines_.empty()) return std::nullopt;
  KeptLine line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= cost(line.text);
  return line;
}

void LineQueue::put_back(std::vector<KeptLine> lines) {
  const MutexLock lock(mutex_);
  for (const KeptLine& line : lines) bytes_ += cost(line.text);
  lines_.insert(lines_.begin(), std::make_move_iterator(lines.begin()),
                std::make_move_iterator(lines.end()));
}

std::size_t LineQueue::size() const {
  const MutexLock lock(mutex_);
  return lines_.size();
}

std::uint64_t LineQueue::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace tallyfs
