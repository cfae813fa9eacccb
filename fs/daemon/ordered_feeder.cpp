#include "fs/daemon/ordered_feeder.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>
#include <variant>

#include "fs/daemon/own_threads.h"
#include "fs/daemon/syscall_names.h"

namespace tally {
namespace {

// It has to be started, and to read the formats of all events.
constexpr int kFirstWordMs = 10'000;

// Stands among what was told where nobody knows what holds.
constexpr std::uint32_t kUncertain = ~0u;

}  // namespace

OrderedFeeder::~OrderedFeeder() { stop(); }

void OrderedFeeder::start(Listeners listeners) {
  listeners_ = std::move(listeners);
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
  return finish_order(deadline);
}

Result<void> OrderedFeeder::want(const EventSource::Wanted& wanted) {
  if (is_listener()) {
    send_changes(wanted);
    return {};
  }
  return order_changes(wanted, std::chrono::steady_clock::now() + kWantMax);
}

void OrderedFeeder::drain() {
  const auto deadline = std::chrono::steady_clock::now() + kDrainMax;
  const auto number = begin(deadline);
  if (!number) return;
  send(wire::print(wire::DrainOrder{*number}));
  if (!finish(deadline)) cut_();
  taken_in_();
}

// ---- events

std::vector<wire::WatchedEvent> OrderedFeeder::changes(
    const std::vector<WantedEvent>& wanted) const {
  std::vector<wire::WatchedEvent> changed;
  std::set<std::uint32_t> on;
  for (const auto& [id, demand] : wanted) {
    const wire::WatchedEvent event{.id = id,
                                   .on = true,
                                   .stack = demand.stack,
                                   .comm = demand.comm,
                                   .filter = demand.filter};
    on.insert(id);
    const auto told = told_.find(id);
    if (told == told_.end() || told->second != event) changed.push_back(event);
  }
  for (const auto& [id, event] : told_) {
    if (!on.contains(id)) changed.push_back({.id = id});
  }
  std::ranges::sort(changed, {}, &wire::WatchedEvent::id);
  return changed;
}

void OrderedFeeder::note_told(const std::vector<wire::WatchedEvent>& events, std::size_t count) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i].on) {
      told_[events[i].id] = events[i];
    } else {
      told_.erase(events[i].id);
    }
  }
}

void OrderedFeeder::note_refused(const std::vector<wire::WatchedEvent>& events,
                                 std::size_t count) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < count; ++i) told_[events[i].id] = {.id = kUncertain};
}

// As many orders as it takes, each in its turn; what is refused is not tried again.
Result<void> OrderedFeeder::order_changes(const EventSource::Wanted& wanted, Time deadline) {
  Result<void> first;
  std::set<std::uint32_t> refused;
  for (;;) {
    const auto number = begin(deadline);
    if (!number) return no_feeder();
    const auto events = wanted();
    wire::EventsOrder order{.number = *number, .without = own_threads(), .events = {}};
    {
      const MutexLock lock(mutex_);
      order.events = changes(events);
    }
    std::erase_if(order.events, [&](const auto& each) { return refused.contains(each.id); });
    if (order.events.empty()) {
      give_up_turn();
      return first;
    }
    std::size_t taken = 0;
    const std::string text = wire::print(order, taken);
    note_told(order.events, taken);
    send(text);
    auto done = finish_order(deadline);
    if (done) continue;
    note_refused(order.events, taken);
    if (std::chrono::steady_clock::now() >= deadline) return done;
    for (std::size_t i = 0; i < taken; ++i) refused.insert(order.events[i].id);
    if (first) first = std::move(done);
  }
}

// The same for a new feeder, on the thread that hears its answers.
void OrderedFeeder::send_changes(const EventSource::Wanted& wanted) {
  const auto events = wanted();
  for (;;) {
    wire::EventsOrder order{.without = own_threads()};
    {
      const MutexLock lock(mutex_);
      order.number = ++number_;
      order.events = changes(events);
    }
    if (order.events.empty()) return;
    std::size_t taken = 0;
    const std::string text = wire::print(order, taken);
    note_told(order.events, taken);
    send(text);
  }
}

// ---- names

Symbols::Place OrderedFeeder::place(std::uint64_t address) const {
  {
    const MutexLock lock(mutex_);
    const auto known = places_.find(address);
    if (known != places_.end()) return known->second;
    if (!is_there_) return {};
  }
  const auto deadline = std::chrono::steady_clock::now() + kPlaceMax;
  const auto number = begin(deadline);
  if (!number) return {};
  send(wire::print(wire::PlaceOrder{*number, address}));
  auto answer = finish(deadline);
  auto* const placed = answer ? std::get_if<wire::Placed>(&*answer) : nullptr;
  if (!placed) return {};
  const Place found{.name = std::move(placed->name),
                    .offset = placed->offset,
                    .size = placed->size,
                    .module = std::move(placed->module)};
  const MutexLock lock(mutex_);
  if (places_.size() >= kPlacesMax) places_.clear();
  places_[address] = found;
  return found;
}

std::string OrderedFeeder::syscall(std::uint64_t number) const { return syscall_name(number); }

// ---- turns

std::optional<std::uint64_t> OrderedFeeder::begin(Time deadline) const {
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

std::optional<OrderedFeeder::Answer> OrderedFeeder::finish(Time deadline) const {
  std::optional<Answer> answer;
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

Result<void> OrderedFeeder::finish_order(Time deadline) const {
  auto answer = finish(deadline);
  auto* const done = answer ? std::get_if<Result<void>>(&*answer) : nullptr;
  return done ? std::move(*done) : no_feeder();
}

void OrderedFeeder::give_up_turn() const {
  {
    const MutexLock lock(mutex_);
    is_busy_ = false;
  }
  news_.notify_all();
}

Error OrderedFeeder::no_feeder() const {
  const MutexLock lock(mutex_);
  return {ErrorCode::kNoDevice, is_there_ ? "the feeder of the kernel's events does not answer"
                                          : "there is no feeder of the kernel's events: " + gone_};
}

void OrderedFeeder::send(const std::string& text) const {
  (void)!::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// ---- replies

void OrderedFeeder::wait_for_first_word() {
  pollfd waited{.fd = channel_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&waited, 1, kFirstWordMs) == 0) settle();
}

void OrderedFeeder::settle() {
  if (!std::exchange(settled_, true)) listeners_.settled();
}

void OrderedFeeder::listen() {
  std::vector<char> text(wire::kOrderBytesMax);
  wait_for_first_word();
  for (;;) {
    const auto size = ::recv(channel_.get(), text.data(), text.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    const auto reply = wire::parse_reply({text.data(), static_cast<std::size_t>(size)});
    if (reply) std::visit([this](const auto& each) { hear(each); }, *reply);
    settle();
  }
  hear(wire::Gone{"nobody is left to start it"});
}

// A new one begins with nothing, whatever was wanted of the last. Others give orders once it has
// had these, so that theirs come after them.
void OrderedFeeder::hear(const wire::Hello&) {
  std::uint64_t number = 0;
  bool is_first = false;  // before whom nobody was told of anything: nothing can be lost
  {
    const MutexLock lock(mutex_);
    is_there_ = false;
    is_first = number_ == 0;
    number = ++number_;
    told_.clear();
    places_.clear();
  }
  const WantedEvents wanted = listeners_.wanted();
  if (wanted.any()) {
    send(
        wire::print(wire::WantOrder{.number = number, .events = wanted, .without = own_threads()}));
    if (!is_first) listeners_.changed();
  }
  listeners_.arrived();
  {
    const MutexLock lock(mutex_);
    is_there_ = true;
  }
  news_.notify_all();
}

void OrderedFeeder::hear(const wire::Done& reply) { answered(reply.number, Result<void>()); }

void OrderedFeeder::hear(const wire::Failed& reply) {
  answered(reply.number, Result<void>(reply.error));
}

void OrderedFeeder::hear(const wire::Placed& reply) { answered(reply.number, reply); }

// What nobody waits for any more, or never did: what a new feeder was told.
void OrderedFeeder::answered(std::uint64_t number, Answer answer) {
  const MutexLock lock(mutex_);
  const auto* const done = std::get_if<Result<void>>(&answer);
  if (is_busy_ && number == number_) {
    answer_ = std::move(answer);
    news_.notify_all();
  } else if (done && !*done) {
    spdlog::warn("the kernel's events are not fed any more: {}", done->error().reason);
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
  if (!was_there) return;
  listeners_.gone();
  listeners_.changed();
}

}  // namespace tally
