#include "fs/daemon/ordered_feeder.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "fs/daemon/own_threads.h"

namespace tally {

OrderedFeeder::~OrderedFeeder() { stop(); }

void OrderedFeeder::start(std::function<void()> changed, std::function<WantedEvents()> wanted) {
  changed_ = std::move(changed);
  wanted_ = std::move(wanted);
  listener_ = std::thread([this] { listen(); });
}

void OrderedFeeder::stop() {
  if (!listener_.joinable()) return;
  ::shutdown(channel_.get(), SHUT_RDWR);
  listener_.join();
}

Result<void> OrderedFeeder::want(const std::function<WantedEvents()>& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + kWantMax;
  const auto number = begin(deadline);
  if (!number) return no_feeder();
  send(wire::print(
      wire::WantOrder{.number = *number, .events = wanted(), .without = own_threads()}));
  const auto done = finish(deadline);
  return done ? *done : no_feeder();
}

void OrderedFeeder::drain() {
  const auto deadline = std::chrono::steady_clock::now() + kDrainMax;
  const auto number = begin(deadline);
  if (!number) return;
  send(wire::print(wire::DrainOrder{*number}));
  (void)finish(deadline);
}

std::optional<std::uint64_t> OrderedFeeder::begin(Time deadline) {
  const auto hello_until = std::min(deadline, std::chrono::steady_clock::now() + kHelloMax);
  const MutexLock lock(mutex_);
  while (!is_there_ || is_busy_) {
    const Time until = is_there_ ? deadline : hello_until;
    if (news_.wait_until(mutex_, until) == std::cv_status::timeout) return std::nullopt;
  }
  is_busy_ = true;
  answer_.reset();
  return ++number_;
}

std::optional<Result<void>> OrderedFeeder::finish(Time deadline) {
  std::optional<Result<void>> answer;
  {
    const MutexLock lock(mutex_);
    while (!answer_ && is_there_) {
      if (news_.wait_until(mutex_, deadline) == std::cv_status::timeout) break;
    }
    answer = std::exchange(answer_, std::nullopt);
    is_busy_ = false;
  }
  news_.notify_all();
  return answer;
}

Error OrderedFeeder::no_feeder() const {
  const MutexLock lock(mutex_);
  return {ErrorCode::kNoDevice, is_there_ ? "the feeder of the kernel's events does not answer"
                                          : "there is no feeder of the kernel's events: " + gone_};
}

void OrderedFeeder::send(const std::string& text) const {
  (void)!::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void OrderedFeeder::listen() {
  std::array<char, wire::kOrderBytesMax> text;
  for (;;) {
    const auto size = ::recv(channel_.get(), text.data(), text.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    const auto reply = wire::parse_reply({text.data(), static_cast<std::size_t>(size)});
    if (reply) std::visit([this](const auto& each) { hear(each); }, *reply);
  }
  hear(wire::Gone{"nobody is left to start it"});
}

// A new one begins with nothing, whatever was wanted of the last. Others give orders once it has
// had this one, so that theirs come after it.
void OrderedFeeder::hear(const wire::Hello&) {
  std::uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    is_there_ = false;
    number = ++number_;
  }
  const WantedEvents wanted = wanted_();
  if (wanted.any()) {
    send(
        wire::print(wire::WantOrder{.number = number, .events = wanted, .without = own_threads()}));
    changed_();
  }
  {
    const MutexLock lock(mutex_);
    is_there_ = true;
  }
  news_.notify_all();
}

void OrderedFeeder::hear(const wire::Done& reply) { answered(reply.number, {}); }

void OrderedFeeder::hear(const wire::Failed& reply) { answered(reply.number, reply.error); }

// What nobody waits for any more, or never did: what a new feeder was told.
void OrderedFeeder::answered(std::uint64_t number, Result<void> done) {
  const MutexLock lock(mutex_);
  if (is_busy_ && number == number_) {
    answer_ = std::move(done);
    news_.notify_all();
  } else if (!done) {
    spdlog::warn("the kernel's events are not fed any more: {}", done.error().reason);
  }
}

void OrderedFeeder::hear(const wire::Gone& reply) {
  bool was_there = false;
  {
    const MutexLock lock(mutex_);
    was_there = std::exchange(is_there_, false);
    gone_ = reply.reason;
  }
  news_.notify_all();
  if (was_there) changed_();
}

}  // namespace tally
