// Longer than most: orders for events, for latencies and for names share their replies.
#include "fs/daemon/kernel_feeder/ordered_feeder.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "fs/daemon/kernel_feeder/own_threads.h"
#include "fs/daemon/kernel_feeder/syscall_names.h"

namespace tallyfs {
namespace {

// The feeder has to be started, and to read the formats of all events.
constexpr std::chrono::seconds kArrivalMax{10};

// A feeder that has begun before a new server is there drops the order to end, and may have sent
// some of its offers to the server before.
constexpr int kReplacedMax = 3;

// Marks events in ordered_events_ with an unknown state in the feeder.
constexpr std::uint32_t kUncertain = ~0u;

FeederDialogue::Time within(std::chrono::milliseconds most) {
  return std::chrono::steady_clock::now() + most;
}

// The result of an order that is only carried out or refused.
Result<void> outcome(const FeederDialogue::Response& response) {
  return response ? Result<void>() : Result<void>(response.error());
}

// True if the feeder has not answered, and may be slow with the next order as well.
bool is_unanswered(ErrorCode code) {
  return code == ErrorCode::kNoDevice || code == ErrorCode::kTimedOut ||
         code == ErrorCode::kInterrupted;
}

// Removes events that do not fit into one order, whatever number the order gets.
void make_fit(wire::EventsOrder& order) {
  order.number = std::numeric_limits<std::uint64_t>::max();
  std::size_t taken = 0;
  (void)wire::print(order, taken);
  order.events.resize(std::min(taken, OrderedFeeder::kEventsPerOrderMax));
}

}  // namespace

OrderedFeeder::~OrderedFeeder() { stop(); }

void OrderedFeeder::start(Listeners listeners) {
  listeners_ = std::move(listeners);
  listener_ = std::thread([this] { listen(); });
}

void OrderedFeeder::stop() {
  if (!listener_.joinable()) return;
  is_stopping_ = true;
  ::shutdown(dialogue_.fd(), SHUT_RDWR);
  listener_.join();
}

Result<void> OrderedFeeder::want(const std::function<WantedEvents()>& wanted,
                                 const CancellationToken& cancel) {
  const auto deadline = within(kWantMax);
  const auto number = send_in_turn(
      deadline, cancel, [&] { return wire::WantOrder{.events = wanted(), .without = without()}; });
  if (!number) return number.error();
  return outcome(dialogue_.wait(number.value(), deadline, cancel));
}

Result<FeederDialogue::Number> OrderedFeeder::send_in_turn(
    Time deadline, const CancellationToken& cancel,
    const std::function<wire::Order()>& order) const {
  auto turn = dialogue_.take_turn(deadline, cancel);
  if (!turn) return turn.error();
  return turn.value().send(order());
}

Result<void> OrderedFeeder::want(const tracing::EventSource::Wanted& wanted,
                                 const CancellationToken& cancel) {
  {
    const MutexLock lock(mutex_);
    wanted_ = wanted;
  }
  if (!is_listener()) return order_changes(wanted, cancel);
  tell_events(wanted);
  return {};
}

// Without a feeder there is nothing to drain.
void OrderedFeeder::drain(const CancellationToken& cancel) {
  if (!dialogue_.is_there()) return;
  (void)without();
  if (!order_drain(cancel)) drain_failed_();
  drain_socket_();
}

// Drains that were given up would delay later orders: one at a time is left to the feeder.
Result<void> OrderedFeeder::order_drain(const CancellationToken& cancel) {
  const auto deadline = within(kDrainMax);
  auto is_free = dialogue_.wait_until_answered(given_up_drain_, deadline, cancel);
  if (!is_free) return is_free;
  const auto number = send_in_turn(deadline, cancel, [] { return wire::DrainOrder(); });
  if (!number) return number.error();
  auto done = outcome(dialogue_.wait(number.value(), deadline, cancel));
  if (!done && is_unanswered(done.error().code)) given_up_drain_ = number.value();
  return done;
}

// Some threads begin late, and each restart gives the feeder another thread.
std::vector<pid_t> OrderedFeeder::without() {
  std::vector<pid_t> threads = own_threads();
  std::vector<pid_t> all = threads;
  {
    const MutexLock lock(mutex_);
    if (feeder_ != 0 && knows_own_threads()) all.push_back(feeder_);
    if (all == left_out_) return threads;
    left_out_ = all;
  }
  listeners_.left_out(std::move(all));
  return threads;
}

// ---- events

std::vector<wire::WatchedEvent> OrderedFeeder::changes(
    const std::vector<tracing::WantedEvent>& wanted) const {
  std::vector<wire::WatchedEvent> changed;
  std::set<std::uint32_t> on;
  for (const auto& [id, demand] : wanted) {
    const wire::WatchedEvent event{
        .id = id, .on = true, .stack = demand.stack, .comm = demand.comm, .filter = demand.filter};
    on.insert(id);
    const auto told = ordered_events_.find(id);
    if (told == ordered_events_.end() || told->second.event != event) changed.push_back(event);
  }
  for (const auto& [id, told] : ordered_events_) {
    if (!on.contains(id)) changed.push_back({.id = id});
  }
  std::ranges::sort(changed, {}, &wire::WatchedEvent::id);
  return changed;
}

FeederDialogue::Number OrderedFeeder::last_order(
    const std::vector<tracing::WantedEvent>& wanted) const {
  Number last = 0;
  for (const tracing::WantedEvent& each : wanted) {
    const auto told = ordered_events_.find(each.source_id);
    if (told != ordered_events_.end()) last = std::max(last, told->second.order);
  }
  return last;
}

// The lock is held while the order is sent, so that orders are sent in the sequence in which
// ordered_events_ has them. Sending does not wait.
OrderedFeeder::Sent OrderedFeeder::send_changes(const tracing::EventSource::Wanted& wanted,
                                                const std::vector<std::uint32_t>& untried,
                                                const Send& send) {
  const auto events = wanted();
  wire::EventsOrder order{.without = without()};
  const MutexLock lock(mutex_);
  order.events = changes(events);
  std::erase_if(order.events, [&](const auto& each) {
    return std::ranges::find(untried, each.id) != untried.end();
  });
  if (order.events.empty()) return {.order = last_order(events)};
  make_fit(order);
  const Number number = send(order);
  for (const wire::WatchedEvent& each : order.events) {
    if (each.on) {
      ordered_events_[each.id] = {each, number};
    } else {
      ordered_events_.erase(each.id);
    }
  }
  return {std::move(order.events), number};
}

void OrderedFeeder::mark_uncertain(const std::vector<wire::WatchedEvent>& events) {
  const MutexLock lock(mutex_);
  for (const wire::WatchedEvent& each : events) {
    ordered_events_[each.id] = {.event = {.id = kUncertain}};
  }
}

// Sends as many orders as are needed, each in its turn; events that are refused are not tried
// again. Another thread may have just ordered an event that this one wants too.
Result<void> OrderedFeeder::order_changes(const tracing::EventSource::Wanted& wanted,
                                          const CancellationToken& cancel) {
  Result<void> first;
  std::vector<std::uint32_t> refused;
  for (;;) {
    const auto deadline = within(kWantMax);
    const auto sent = send_changes_in_turn(wanted, refused, deadline, cancel);
    if (!sent) return sent.error();
    const auto& [events, number] = sent.value();
    if (events.empty()) {
      auto told = dialogue_.wait_until_answered(number, deadline, cancel);
      return first ? std::move(told) : first;
    }
    auto done = outcome(dialogue_.wait(number, deadline, cancel));
    if (done) continue;
    mark_uncertain(events);
    const ErrorCode code = done.error().code;
    if (first) first = std::move(done);
    const bool is_over = code == ErrorCode::kTimedOut || code == ErrorCode::kInterrupted;
    if (is_over || dialogue_.is_lost(number)) return first;
    for (const wire::WatchedEvent& each : events) refused.push_back(each.id);
  }
}

Result<OrderedFeeder::Sent> OrderedFeeder::send_changes_in_turn(
    const tracing::EventSource::Wanted& wanted, const std::vector<std::uint32_t>& untried,
    Time deadline, const CancellationToken& cancel) {
  auto turn = dialogue_.take_turn(deadline, cancel);
  if (!turn) return turn.error();
  return send_changes(wanted, untried,
                      [&](const wire::EventsOrder& order) { return turn.value().send(order); });
}

// ---- names

// The names and texts for one call, on its thread. After one response that does not come, the call
// requests nothing more: a text with many addresses is delayed once. Modules that were loaded since
// may have brought texts, so that one that is not known is requested once.
class OrderedFeeder::SymbolsOfCall final : public Symbols {
 public:
  SymbolsOfCall(const OrderedFeeder& feeder, CancellationToken cancel)
      : feeder_(feeder), cancel_(std::move(cancel)) {}
  Place place(std::uint64_t address) const override {
    if (auto known = feeder_.known_place(address)) return std::move(*known);
    if (gave_up_) return {};
    auto placed = feeder_.request_place(address, cancel_);
    if (placed) return std::move(placed.value());
    gave_up_ = true;
    return {};
  }
  std::string syscall(std::uint64_t number) const override { return syscall_name(number); }
  std::optional<std::string> text(std::uint64_t address) const override {
    auto known = feeder_.known_texts()->at(address);
    if (known || gave_up_ || std::exchange(has_texts_, true)) return known;
    const auto texts = feeder_.request_texts(cancel_);
    gave_up_ = !texts;
    return texts ? texts.value()->at(address) : std::nullopt;
  }

 private:
  const OrderedFeeder& feeder_;
  const CancellationToken cancel_;
  mutable bool gave_up_ = false;
  mutable bool has_texts_ = false;  // as they are now
};

std::unique_ptr<const Symbols> OrderedFeeder::symbols(CancellationToken cancel) const {
  return std::make_unique<SymbolsOfCall>(*this, std::move(cancel));
}

std::optional<Symbols::Place> OrderedFeeder::known_place(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  const auto known = places_.find(address);
  return known == places_.end() ? std::nullopt : std::optional(known->second);
}

// An address has no name if the name does not come in time, until it comes later.
Result<Symbols::Place> OrderedFeeder::request_place(std::uint64_t address,
                                                    const CancellationToken& cancel) const {
  if (!dialogue_.is_there()) return Error{ErrorCode::kNoDevice, "there is no feeder"};
  const auto deadline = within(kPlaceMax);
  const auto number =
      send_in_turn(deadline, cancel, [&] { return wire::PlaceOrder{.address = address}; });
  if (!number) return number.error();
  {
    const MutexLock lock(mutex_);
    late_places_[number.value()] = address;
  }
  auto placed = dialogue_.wait(number.value(), deadline, cancel);
  const MutexLock lock(mutex_);
  if (placed) late_places_.erase(number.value());
  auto* const found = placed ? std::get_if<wire::Placed>(&placed.value()) : nullptr;
  auto place = remember(address, found ? std::move(*found) : wire::Placed());
  if (!placed && is_unanswered(placed.error().code)) return placed.error();
  return place;
}

std::string OrderedFeeder::printk_formats(const CancellationToken& cancel) const {
  const auto texts = request_texts(cancel);
  return (texts ? texts.value() : known_texts())->printk_formats();
}

OrderedFeeder::Texts OrderedFeeder::known_texts() const {
  const MutexLock lock(mutex_);
  return texts_;
}

Result<OrderedFeeder::Texts> OrderedFeeder::request_texts(const CancellationToken& cancel) const {
  if (!dialogue_.is_there()) return Error{ErrorCode::kNoDevice, "there is no feeder"};
  const auto deadline = within(kPlaceMax);
  const auto number = send_in_turn(deadline, cancel, [] { return wire::TextsOrder(); });
  if (!number) return number.error();
  auto response = dialogue_.wait(number.value(), deadline, cancel);
  if (!response) return response.error();
  auto* const told = std::get_if<wire::Texts>(&response.value());
  auto texts =
      std::make_shared<const KernelTexts>(told ? std::move(told->printk_formats) : std::string());
  const MutexLock lock(mutex_);
  return texts_ = std::move(texts);
}

Symbols::Place OrderedFeeder::remember(std::uint64_t address, wire::Placed placed) const {
  if (places_.size() >= kPlacesMax) {
    places_.clear();
    late_places_.clear();
  }
  return places_[address] = {.name = std::move(placed.name),
                             .offset = placed.offset,
                             .size = placed.size,
                             .module = std::move(placed.module)};
}

// ---- replies

void OrderedFeeder::replace_feeder() {
  discard_replies();
  end_feeder();
}

// Discards replies to the predecessor: the end of a feeder among them is not that of the next one.
void OrderedFeeder::discard_replies() {
  std::vector<char> text(wire::kOrderBytesMax);
  while (::recv(dialogue_.fd(), text.data(), text.size(), MSG_DONTWAIT) > 0) {
  }
}

void OrderedFeeder::end_feeder() {
  replaced_ += 1;
  is_replacing_ = true;
  is_end_told_ = false;
  order_end();
}

// Orders the feeder to end. Without room, the order is sent later: the feeder first has to read
// orders of the predecessor.
void OrderedFeeder::order_end() { is_end_unsent_ = !dialogue_.tell(wire::EndOrder()); }

// Waits for a reply until `until`, or without a limit once `ready` was called. False: none came.
bool OrderedFeeder::wait_for_reply(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - within({}));
  const auto most = is_ready_ ? -1 : static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  const short room = is_end_unsent_ ? POLLOUT : 0;
  pollfd waited{.fd = dialogue_.fd(), .events = static_cast<short>(POLLIN | room), .revents = 0};
  if (::poll(&waited, 1, most) == 0) report_ready();
  if ((waited.revents & POLLOUT) != 0) order_end();
  return (waited.revents & ~POLLOUT) != 0;
}

void OrderedFeeder::report_ready() {
  if (!std::exchange(is_ready_, true)) listeners_.ready();
}

void OrderedFeeder::listen() {
  listening_ = std::this_thread::get_id();
  std::vector<char> text(wire::kOrderBytesMax);
  const auto until = within(kArrivalMax);
  for (;;) {
    if ((!is_ready_ || is_end_unsent_) && !wait_for_reply(until)) continue;
    const auto size = ::recv(dialogue_.fd(), text.data(), text.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    const auto reply = wire::parse_reply({text.data(), static_cast<std::size_t>(size)});
    if (reply) std::visit([this](const auto& each) { hear(each); }, *reply);
    // The predecessor's probes are expected until the feeder has orders for all of them.
    const bool is_going_on = replaced_ > 0 && owes_probes_;
    if (!is_replacing_ && !is_going_on) report_ready();
  }
  hear(wire::Gone{"the process that starts it has ended"});
  if (!is_stopping_) report_ready();
  listening_ = std::thread::id();
}

void OrderedFeeder::tell_latencies(const WantedEvents& wanted) {
  const auto told = dialogue_.tell(wire::WantOrder{.events = wanted, .without = without()});
  if (told) told_latencies_ = *told;
  is_untold_ |= !told;
}

void OrderedFeeder::tell_events(const tracing::EventSource::Wanted& wanted) {
  bool is_told = true;
  const auto tell = [&](const wire::EventsOrder& order) {
    const auto number = dialogue_.tell(order);
    is_told = number.has_value();
    return number.value_or(0);
  };
  Sent sent;
  do {
    sent = send_changes(wanted, {}, tell);
  } while (is_told && !sent.events.empty());
  if (is_told) return;
  mark_uncertain(sent.events);
  is_untold_ = true;
}

// The last order may have been reverted since, without an order to the feeder. If an order could
// not be sent, the feeder has now answered an earlier one, so there is room.
void OrderedFeeder::send_outstanding(FeederDialogue::Heard heard) {
  if (std::exchange(is_untold_, false) || heard == FeederDialogue::Heard::kLate) tell_again();
  tell_probes();
}

void OrderedFeeder::tell_again() {
  tell_latencies(listeners_.wanted());
  tracing::EventSource::Wanted wanted;
  {
    const MutexLock lock(mutex_);
    wanted = wanted_;
  }
  if (wanted) tell_events(wanted);
}

// The predecessor's events that are not wanted any more need not be recorded further.
void OrderedFeeder::send_end_of_orders() {
  is_untold_ |= !dialogue_.tell(wire::EventsOrder{.without = without()});
}

// A new feeder begins without any order. Other threads give theirs after these, so that theirs take
// effect later.
void OrderedFeeder::hear(const wire::Hello& reply) {
  const bool is_first = dialogue_.begin(reply.pid);
  is_untold_ = is_end_unsent_ = tells_probes_ = false;
  untold_probes_.clear();
  told_probes_.clear();
  {
    const MutexLock lock(mutex_);
    feeder_ = reply.pid;
    ordered_events_.clear();
    places_.clear();
    late_places_.clear();
    ordered_.clear();
  }
  const WantedEvents wanted = listeners_.wanted();
  if (wanted.any()) {
    tell_latencies(wanted);
    // The first feeder cannot have lost events: it got no order before this one.
    if (!is_first) listeners_.changed();
  }
  // A feeder that began after the end of another has made all offers to this server: an event that
  // is missing does not exist any more.
  const bool has_begun_since = is_end_told_;
  const bool is_whole = listeners_.arrived(reply.without_events) || has_begun_since;
  if (!is_whole && replaced_ < kReplacedMax) return end_feeder();
  is_replacing_ = false;
  const auto places = listeners_.probe_places();
  untold_probes_.assign(places.begin(), places.end());
  tells_probes_ = owes_probes_ = !is_first || has_lost_one_ || !places.empty();
  tell_probes();
  dialogue_.open();
}

void OrderedFeeder::hear(const wire::Done& reply) {
  send_outstanding(dialogue_.answered(reply.number, FeederDialogue::Answer()));
}

void OrderedFeeder::hear(const wire::Failed& reply) {
  const auto heard = dialogue_.answered(reply.number, reply.error);
  const auto asked = reply.number == told_latencies_ ? Asked::kForLatencyHist : Asked::kForEvents;
  send_outstanding(heard);
  if (heard == FeederDialogue::Heard::kUnasked) listeners_.refused(asked, reply.error);
}

void OrderedFeeder::hear(const wire::Placed& reply) {
  const auto heard = dialogue_.answered(reply.number, reply);
  if (is_untold_) send_outstanding(heard);
  if (heard != FeederDialogue::Heard::kLate) return;
  const MutexLock lock(mutex_);
  const auto asked = late_places_.find(reply.number);
  if (asked == late_places_.end()) return;
  const std::uint64_t address = asked->second;
  late_places_.erase(asked);
  (void)remember(address, reply);
}

void OrderedFeeder::hear(const wire::Texts& reply) {
  const auto heard = dialogue_.answered(reply.number, reply);
  if (is_untold_) send_outstanding(heard);
}

void OrderedFeeder::hear(const wire::Gone& reply) {
  is_untold_ = is_end_unsent_ = tells_probes_ = false;
  has_lost_one_ = true;
  is_replacing_ = is_replacing_ && !std::exchange(is_end_told_, true);
  const bool was_there = dialogue_.end(reply.reason);
  // The next feeder gets the orders for probes, if it starts.
  owes_probes_ = owes_probes_ && was_there;
  if (!was_there) return;
  if (!is_stopping_) listeners_.gone(reply.reason);
  listeners_.changed();
}

}  // namespace tallyfs
