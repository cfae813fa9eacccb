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

bool FeederDialogue::is_silent() const {
  if (!owes_response()) return false;
  return seen_.state == FeederActivity::State::kStopped || now() >= active_ + kSilenceMax;
}

FeederDialogue::Time FeederDialogue::Patience::until() {
  if (!is_long_ && all_ < kLongWaitsMax && now() >= long_from_) {
    is_long_ = true;
    all_ += 1;
  }
  return is_long_ ? deadline_ : std::min(deadline_, long_from_);
}

FeederDialogue::Wait FeederDialogue::wait_until(Time time, const CancellationToken& cancel) {
  if (has_ended_waits_) return Wait::kCancelled;
  if (now() >= time) return Wait::kTimedOut;
  news_.wait_until(mutex_, std::min(time, now() + CancellationToken::kPollPeriod));
  mutex_.unlock();
  const bool is_cancelled = cancel.is_cancelled();
  mutex_.lock();
  if (is_cancelled) return Wait::kCancelled;
  if (owes_response()) look();
  return Wait::kGoesOn;
}

void FeederDialogue::look() {
  const pid_t feeder = feeder_;
  mutex_.unlock();
  const FeederActivity activity = look_(feeder);
  mutex_.lock();
  if (feeder != feeder_) return;
  const bool is_at_work = activity.state == FeederActivity::State::kAtWork;
  if (is_at_work || activity.cpu_ticks > seen_.cpu_ticks) active_ = now();
  seen_ = activity;
}

bool FeederDialogue::may_send() const { return !is_busy_ && number_ - answered_ < kUnansweredMax; }

Error FeederDialogue::refusal(Wait last) const {
  if (!is_there_) return absence(gone_);
  return last == Wait::kCancelled ? interruption() : silence();
}

Result<FeederDialogue::Turn> FeederDialogue::take_turn(Time deadline,
                                                       const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  Patience patience(long_waits_, deadline);
  const Time hello_until = std::min(deadline, now() + kHelloMax);
  auto last = Wait::kGoesOn;
  while (!is_there_ && last == Wait::kGoesOn) last = wait_until(hello_until, cancel);
  // A silent one may have gone on since a thread last waited for it.
  if (is_silent()) look();
  while (is_there_ && !may_send() && !is_silent() && last == Wait::kGoesOn) {
    last = wait_until(patience.until(), cancel);
  }
  if (has_ended_waits_) last = Wait::kCancelled;
  if (!is_there_ || last != Wait::kGoesOn || is_silent()) return refusal(last);
  is_busy_ = true;
  return Turn(*this);
}

void FeederDialogue::end_turn() {
  {
    const MutexLock lock(mutex_);
    is_busy_ = false;
  }
  news_.notify_all();
}

bool FeederDialogue::send(wire::Order& order) {
  if (!owes_response()) active_ = now();
  const Number number = ++number_;
  std::visit([number](auto& each) { each.number = number; }, order);
  const std::string text = std::visit([](const auto& each) { return wire::print(each); }, order);
  return ::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

// There is no response to an order that finds no room, or no feeder.
FeederDialogue::Number FeederDialogue::send_awaited(wire::Order order) {
  const MutexLock lock(mutex_);
  if (!is_there_) {
    awaited_[++number_] = absence(gone_);
    lost_ = answered_ = number_;
    return number_;
  }
  const bool is_sent = send(order);
  auto& response = awaited_[number_];
  if (!is_sent) response = silence();
  return number_;
}

FeederDialogue::Response FeederDialogue::wait(Number number, Time deadline,
                                              const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  Patience patience(long_waits_, deadline);
  const auto& response = awaited_[number];
  auto last = Wait::kGoesOn;
  while (!response && !is_silent() && last == Wait::kGoesOn) {
    last = wait_until(patience.until(), cancel);
  }
  auto heard = std::move(awaited_.extract(number).mapped());
  if (heard) return std::move(*heard);
  given_up_.push_back(number);
  return refusal(last);
}

Result<void> FeederDialogue::wait_until_answered(Number number, Time deadline,
                                                 const CancellationToken& cancel) {
  const MutexLock lock(mutex_);
  Patience patience(long_waits_, deadline);
  auto last = Wait::kGoesOn;
  while (answered_ < number && is_there_ && !is_silent() && last == Wait::kGoesOn) {
    last = wait_until(patience.until(), cancel);
  }
  if (answered_ >= number && is_there_) return {};
  return refusal(last);
}

bool FeederDialogue::is_lost(Number number) const {
  const MutexLock lock(mutex_);
  return number <= lost_;
}

void FeederDialogue::end_waits() {
  {
    const MutexLock lock(mutex_);
    has_ended_waits_ = true;
  }
  news_.notify_all();
}

std::optional<FeederDialogue::Number> FeederDialogue::tell(wire::Order order) {
  const MutexLock lock(mutex_);
  return send(order) ? std::optional(number_) : std::nullopt;
}

void FeederDialogue::fail_awaited(Number last, const Error& error) {
  for (auto& [number, response] : awaited_) {
    if (number <= last && !response) response = error;
  }
}

bool FeederDialogue::begin(pid_t feeder) {
  const MutexLock lock(mutex_);
  fail_awaited(number_, absence("another one has started"));
  feeder_ = feeder;
  seen_ = {};
  is_there_ = false;
  lost_ = answered_ = number_;
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
    lost_ = answered_ = number_;
    given_up_.clear();
    gone_ = reason;
    fail_awaited(number_, absence(reason));
  }
  news_.notify_all();
  return was_there;
}

void FeederDialogue::note_at_work() {
  const MutexLock lock(mutex_);
  active_ = now();
  seen_.state = FeederActivity::State::kUnknown;
}

// Orders before this one without a response found no room.
FeederDialogue::Heard FeederDialogue::answered(Number number, Response response) {
  Heard heard = Heard::kUnasked;
  {
    const MutexLock lock(mutex_);
    answered_ = std::max(answered_, std::min(number, number_));
    active_ = now();
    seen_.state = FeederActivity::State::kUnknown;
    const auto awaited = awaited_.find(number);
    if (awaited != awaited_.end()) {
      awaited->second = std::move(response);
      heard = Heard::kAwaited;
    } else if (std::erase(given_up_, number) != 0) {
      heard = Heard::kLate;
    }
  }
  news_.notify_all();
  return heard;
}

}  // namespace tallyfs
