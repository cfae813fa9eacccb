#include "feeders/client/sender.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

namespace tally {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kConnectPauseMin = 50ms;
constexpr std::chrono::nanoseconds kConnectPauseMax = 2s;
// Answers come in microseconds, unless the daemon had no room for them in our queue.
constexpr std::chrono::nanoseconds kAnswerWait = 1s;
// What was refused (a quota, a name) may be allowed later.
constexpr std::chrono::nanoseconds kRefusedPause = 10s;
// An idle feeder sends an empty datagram now and then: only a send tells whether the daemon lives.
constexpr std::chrono::nanoseconds kIdleMax = 1s;
// A message of samples before its records: its header and the statistic's number.
constexpr std::size_t kRunBytes = wire::kMessageHeaderBytes + 8;
// A request besides its text: header, sequence, length and padding.
constexpr std::size_t kRequestBytes = wire::kMessageHeaderBytes + 8 + 7;

std::chrono::milliseconds left_until(std::chrono::nanoseconds deadline, const Clock& clock) {
  const auto left = deadline - clock.now().monotonic;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms);
}

}  // namespace

Sender::Sender(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      link_(options_.path),
      datagram_(0),
      connect_pause_(kConnectPauseMin) {}

Result<Sender::Handle> Sender::add_statistic(const std::string& path,
                                             const std::string& definition) {
  if (statistics_.size() >= kStatisticsMax) {
    return Error{ErrorCode::kNoSpace, "one feeder cannot have more statistics"};
  }
  statistics_.push_back({.line = "create " + path + " " + definition});
  return static_cast<Handle>(statistics_.size() - 1);
}

void Sender::add(Handle handle, const Sample& sample) {
  Statistic& statistic = statistics_[static_cast<std::size_t>(handle)];
  if (full() || statistic.standing == Standing::kRefused) {
    statistic.dropped += 1;
    return;
  }
  statistic.held.push_back(sample);
  held_ += 1;
  // Not while the daemon's queue is full: the caller would wait with every sample.
  if (held_ % kHeldBeforeSending == 0 && !full_) flush();
}

std::uint64_t Sender::take_dropped(Handle handle) {
  return std::exchange(statistics_[static_cast<std::size_t>(handle)].dropped, 0);
}

void Sender::flush() {
  const Time now = clock_.now().monotonic;
  if (!reach_daemon(now)) return;
  // Having waited in vain once, the caller has other things to do than to wait in every flush().
  const Time deadline = full_ ? now : now + options_.wait_max;
  take_answers(0ms);
  ask(now, deadline);
  send_held(deadline);
  if (link_.connected() && now - sent_at_ >= kIdleMax) {
    datagram_.clear(epoch_);
    send_datagram(now);
  }
  if (!link_.connected()) lose_daemon(now);
}

void Sender::finish() {
  full_ = false;
  flush();
  const Time deadline = clock_.now().monotonic + options_.wait_max;
  const auto waiting = [this] {
    return std::ranges::any_of(statistics_,
                               [](const Statistic& s) { return s.standing == Standing::kAsked; });
  };
  while (link_.connected() && waiting() && left_until(deadline, clock_) > 0ms) {
    take_answers(left_until(deadline, clock_));
    ask(clock_.now().monotonic, deadline);
  }
  flush();
}

bool Sender::reach_daemon(Time now) {
  if (link_.connected()) return true;
  if (now < connect_at_) return false;
  if (const auto done = link_.connect(); !done) {
    if (!std::exchange(reported_missing_, true)) report("no daemon yet: " + done.error().reason);
    connect_at_ = now + connect_pause_;
    connect_pause_ = std::min(2 * connect_pause_, kConnectPauseMax);
    return false;
  }
  report("sending to " + link_.path());
  reported_missing_ = false;
  connect_pause_ = kConnectPauseMin;
  sent_at_ = now;
  full_ = false;
  forget_numbers();
  return true;
}

void Sender::lose_daemon(Time now) {
  report("the daemon at " + link_.path() + " is gone");
  reported_missing_ = true;
  connect_at_ = now + connect_pause_;
}

void Sender::forget_numbers() {
  for (Statistic& statistic : statistics_) statistic.standing = Standing::kUnknown;
}

void Sender::take_answers(std::chrono::milliseconds wait_max) {
  while (const auto bytes = link_.receive(wait_max)) {
    wait_max = 0ms;
    auto reader = wire::DatagramReader::open(*bytes);
    if (!reader) continue;
    if (std::exchange(epoch_, reader.value().epoch()) != reader.value().epoch()) forget_numbers();
    while (const auto message = reader.value().next()) {
      if (!*message) continue;
      if (const auto* answer = std::get_if<wire::Answer>(&message->value())) take_answer(*answer);
    }
  }
}

void Sender::take_answer(const wire::Answer& answer) {
  // Sequence 0 answers samples: a number is void (another daemon, or somebody removed the
  // statistic). It does not say which, so all are asked for again.
  if (answer.sequence == 0) return forget_numbers();
  if (answer.sequence > statistics_.size()) return;
  Statistic& statistic = statistics_[answer.sequence - 1];
  if (answer.error == 0) {
    statistic.standing = Standing::kKnown;
    statistic.number = answer.number;
    return;
  }
  report("the daemon refused '" + statistic.line +
         "': " + std::strerror(static_cast<int>(answer.error)));
  statistic.standing = Standing::kRefused;
  drop_held(statistic);
  retry_refused_at_ = clock_.now().monotonic + kRefusedPause;
}

// One datagram of requests at a time: its answers fit into one, and the queue in which we receive
// them may be as short as ten.
// One datagram of requests at a time: its answers fit into one, and the queue in which we receive
// them may be as short as ten.
void Sender::ask(Time now, Time deadline) {
  const auto asked = [](const Statistic& s) { return s.standing == Standing::kAsked; };
  if (now < ask_again_at_ && std::ranges::any_of(statistics_, asked)) return;
  const auto wanted = [&](const Statistic& s) {
    return s.standing != Standing::kKnown &&
           (s.standing != Standing::kRefused || now >= retry_refused_at_);
  };
  std::vector<Statistic*> asking;
  datagram_.clear(epoch_);
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    if (!wanted(statistics_[i])) continue;
    const std::size_t size = kRequestBytes + statistics_[i].line.size();
    if (!asking.empty() && datagram_.size() + size > kDatagramBytes) break;
    datagram_.request(static_cast<std::uint32_t>(i + 1), statistics_[i].line);
    asking.push_back(&statistics_[i]);
  }
  if (asking.empty() || !send_datagram(deadline)) return;
  for (Statistic* statistic : asking) statistic->standing = Standing::kAsked;
  ask_again_at_ = now + kAnswerWait;
}

void Sender::send_held(Time deadline) {
  datagram_.clear(epoch_);
  bool going = true;
  for (Statistic& statistic : statistics_) {
    if (going && statistic.standing == Standing::kKnown) going = pack(statistic, deadline);
  }
  if (going && !runs_.empty()) send_runs(deadline);
  for (Statistic& statistic : statistics_) discard_sent(statistic);
}

bool Sender::pack(Statistic& statistic, Time deadline) {
  while (statistic.packed < statistic.held.size()) {
    const std::size_t used = datagram_.size() + kRunBytes;
    const std::size_t room = used < kDatagramBytes ? (kDatagramBytes - used) / sizeof(Sample) : 0;
    if (room == 0) {
      if (!send_runs(deadline)) return false;
      continue;
    }
    const auto rest = std::span<const Sample>(statistic.held).subspan(statistic.packed);
    const auto run = rest.first(std::min(room, rest.size()));
    datagram_.samples(statistic.number, run, wire::kFull);
    statistic.packed += run.size();
    runs_.push_back({&statistic, run.size()});
  }
  return true;
}

// What could not be sent stays held.
bool Sender::send_runs(Time deadline) {
  const bool sent = send_datagram(deadline);
  for (const Run& run : runs_) run.statistic->packed -= sent ? 0 : run.samples;
  runs_.clear();
  datagram_.clear(epoch_);
  return sent;
}

bool Sender::send_datagram(Time deadline) {
  switch (link_.send(datagram_.bytes(), left_until(deadline, clock_))) {
    case Link::Sent::kDone:
      full_ = false;
      sent_at_ = clock_.now().monotonic;
      return true;
    case Link::Sent::kFull:
      full_ = true;
      return false;
    case Link::Sent::kGone:
      return false;
  }
  return false;
}

void Sender::discard_sent(Statistic& statistic) {
  if (statistic.packed == 0) return;
  const auto first = statistic.held.begin();
  statistic.held.erase(first, first + static_cast<std::ptrdiff_t>(statistic.packed));
  held_ -= std::exchange(statistic.packed, 0);
}

void Sender::drop_held(Statistic& statistic) {
  statistic.dropped += statistic.held.size();
  held_ -= statistic.held.size();
  statistic.held.clear();
}

void Sender::report(const std::string& what) const {
  if (options_.report) options_.report(what);
}

}  // namespace tally
