#include "fs/daemon/kernel_feeder/feeder_dialogue.h"

#include <sys/socket.h>

#include <algorithm>
#include <variant>

namespace tallyfs {
namespace {

FeederDialogue::Time now() { return std::chrono::steady_clock::now(); }

Error silence() {
  return {ErrorCode::kTimedOut, "the feeder of the kernel's events does not answer"};
}

Error interruption() {
  return {ErrorCode::kInterrupted, "interrupted before the feeder of the kernel's events answered"};
}

Error absence(const std::string& reason) {
  return {ErrorCode::kNoDevice, "there is no feeder of the kernel's events: " + reason};
}

}  // namespace

bool FeederDialogue::is_there() const {
  const MutexLock lock(mutex_);
  return is_there_;
}

FeederDialogue::Time FeederDialogue::end_of(Time deadline) const {
  return owes_since_ ? std::min(deadline, *owes_since_ + kSilenceMax) : deadline;
}

FeederDialogue::Wait FeederDialogue::wait_until(Time time, const CancellationToken& cancel) {
  if (now() >= time) return Wait::kTimedOut;
  news_.wait_until(mutex_, std::min(time, now() + CancellationToken::kPollPeriod));
  mutex_.unlock();
  const bool is_cancelled = cancel.is_cancelled();
  mutex_.lock();
  return is_cancelled ? Wait::kCancelled : Wait::kGoesOn;
}

Result<FeederDialogue::Turn> FeederDialogue::take_turn(Time deadline,
                                                       const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  const Time hello_until = std::min(deadline, now() + kHelloMax);
  while (!is_there_ && wait_until(hello_until, cancel) == Wait::kGoesOn) {
  }
  auto last = Wait::kGoesOn;
  while (is_there_ && is_busy_ && last == Wait::kGoesOn) {
    last = wait_until(end_of(deadline), cancel);
  }
  if (!is_there_) return absence(gone_);
  if (is_busy_ && last == Wait::kCancelled) return interruption();
  if (is_busy_ || now() >= end_of(deadline)) return silence();
  is_busy_ = true;
  return Turn(*this, cancel);
}

void FeederDialogue::end_turn() {
  {
    const MutexLock lock(mutex_);
    is_busy_ = false;
    awaited_ = 0;
  }
  news_.notify_all();
}

// The feeder owes a response also to an order that found no room.
bool FeederDialogue::send(wire::Order& order) {
  const Number number = ++number_;
  std::visit([number](auto& each) { each.number = number; }, order);
  const std::string text = std::visit([](const auto& each) { return wire::print(each); }, order);
  const auto sent = ::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (!owes_since_) owes_since_ = now();
  return sent >= 0;
}

FeederDialogue::Number FeederDialogue::send_awaited(wire::Order order) {
  const MutexLock lock(mutex_);
  response_.reset();
  (void)send(order);
  awaited_ = number_;
  return awaited_;
}

FeederDialogue::Response FeederDialogue::wait(Time deadline, const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  auto last = Wait::kGoesOn;
  while (!response_ && is_there_ && last == Wait::kGoesOn) {
    last = wait_until(end_of(deadline), cancel);
  }
  const Number number = std::exchange(awaited_, 0);
  if (response_) return *std::exchange(response_, std::nullopt);
  if (!is_there_) return absence(gone_);
  given_up_.push_back(number);
  return last == Wait::kCancelled ? interruption() : silence();
}

Result<void> FeederDialogue::wait_for_told(Time deadline, const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  auto last = Wait::kGoesOn;
  while (owes_since_ && is_there_ && last == Wait::kGoesOn) {
    last = wait_until(end_of(deadline), cancel);
  }
  if (!is_there_) return absence(gone_);
  if (!owes_since_) return {};
  return last == Wait::kCancelled ? interruption() : silence();
}

std::optional<FeederDialogue::Number> FeederDialogue::tell(wire::Order order) {
  const MutexLock lock(mutex_);
  return send(order) ? std::optional(number_) : std::nullopt;
}

bool FeederDialogue::begin() {
  const MutexLock lock(mutex_);
  is_there_ = false;
  owes_since_.reset();
  given_up_.clear();
  return number_ == 0;
}

void FeederDialogue::open() {
  {
    const MutexLock lock(mutex_);
    is_there_ = true;
  }
  news_.notify_all();
}

bool FeederDialogue::end(const std::string& reason) {
  bool was_there = false;
  {
    const MutexLock lock(mutex_);
    was_there = std::exchange(is_there_, false);
    owes_since_.reset();
    given_up_.clear();
    gone_ = reason;
  }
  news_.notify_all();
  return was_there;
}

void FeederDialogue::note_working() {
  const MutexLock lock(mutex_);
  if (owes_since_) owes_since_ = now();
}

FeederDialogue::Heard FeederDialogue::answered(Number number, Response response) {
  Heard heard = Heard::kUnasked;
  {
    const MutexLock lock(mutex_);
    owes_since_.reset();
    if (number != number_) owes_since_ = now();
    if (number == awaited_) {
      response_ = std::move(response);
      heard = Heard::kAwaited;
    } else if (std::erase(given_up_, number) != 0) {
      heard = Heard::kLate;
    }
  }
  news_.notify_all();
  return heard;
}

}  // namespace tallyfs
