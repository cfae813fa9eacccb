#include "feeders/client/client.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "feeders/client/last_error.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

Client::Time now_ns() { return Client::Time(monotonic_ns()); }

Registrar::Lane lane_of(const ClientSettings& settings) {
  return {.is_wanted = settings.has_lane, .statistics_max = settings.statistics_max};
}

}  // namespace

Client::Client(Settings settings)
    : samples_({settings_, buffers_, signals_, thread_, delivery_, rings_}),
      settings_(std::move(settings)),
      buffers_(settings_.held_max),
      link_(settings_.socket.path, settings_.socket.fallback),
      delivery_({settings_, buffers_, samples_.time(), link_, signals_, inherited_}),
      rings_({settings_, samples_.cell_files(), link_, signals_, delivery_}),
      progress_(samples_.cell_files(), buffers_),
      counts_(samples_, buffers_, delivery_, progress_, record_counts_),
      thread_(
          link_, signals_,
          {.run = [this] { return run_round(); }, .fall_asleep = [this] { return fall_asleep(); }}),
      reports_(settings_),
      conversation_(
          link_,
          {.other_epoch = [this](std::uint64_t epoch)
                              REQUIRES(mutex_) { connection_.enter_epoch(epoch); },
           .confirmed = [this](std::uint64_t sent,
                               Conversation::Taken taken) { delivery_.confirm(sent, taken); },
           .report = [this](std::string text) REQUIRES(mutex_) { reports_.add(std::move(text)); }}),
      registrar_(registry_, conversation_, {switches_, shapes_, samples_.cell_files()},
                 lane_of(settings_)),
      publisher_(conversation_, switches_),
      events_(conversation_, switches_, record_counts_),
      replay_({samples_.cell_files(), buffers_, samples_.time(), link_, delivery_, progress_,
               registry_}),
      connection_({link_, conversation_, registrar_, samples_.cell_files(), buffers_, delivery_,
                   progress_, replay_, counts_, reports_, settings_.socket}),
      timer_(registrar_, signals_),
      changes_({registry_, registrar_, conversation_, samples_.cell_files(), buffers_, delivery_}),
      round_({settings_, registry_, inherited_, samples_.time(), samples_.cell_files(), buffers_,
              link_, signals_, conversation_, connection_, registrar_, timer_, changes_, publisher_,
              events_, delivery_, replay_}),
      statistics_({mutex_, registry_, registrar_, buffers_, delivery_, changes_, timer_, thread_,
                   signals_}),
      publishing_({mutex_, publisher_, timer_, reports_, thread_, signals_}),
      event_calls_({mutex_, events_, timer_, settings_, delivery_, thread_, signals_}),
      forking_({mutex_, registry_, inherited_, samples_, buffers_, delivery_, progress_, replay_,
                registrar_, publisher_, events_, changes_, connection_, reports_, thread_,
                signals_}) {}

// ---- the background thread

Client::Time Client::run_round() {
  Time due{0};
  std::vector<Publisher::NewRates> new_rates;
  {
    const MutexLock lock(mutex_);
    const Time now = now_ns();
    round_.run(now, UpkeepRound::Urgency::kWhenDue);
    due = round_.next_due(now);
    new_rates = publisher_.take_new_rates();
  }
  deliver_reports();
  publishing_.deliver_rates(new_rates);
  return due;
}

// Every thread that adds a sample or calls from now on wakes the background thread. False: one did
// before it knew.
bool Client::fall_asleep() {
  bool empty = true;
  buffers_.for_each([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    buffer.set_stop(0);
    empty &= buffer.held() == 0;
  });
  signals_.sleep.prepare(UpkeepSleep::Depth::kDeep);
  empty = empty && process_barrier() && buffers_.held() == 0 && !signals_.has_rung;
  const MutexLock lock(mutex_);
  const Time now = now_ns();
  const bool is_idle = !events_.has_records() && round_.is_idle(now) && !changes_.has_removed();
  if (empty && is_idle) return true;
  signals_.sleep.prepare(UpkeepSleep::Depth::kAwake);
  round_.stay_active(now);
  return false;
}

// No lock is held while the program's function runs. A forked child finds the texts whole: they
// change under the lock, and are not on the stack of a thread that it does not have.
void Client::deliver_reports() {
  {
    const MutexLock lock(mutex_);
    delivering_.clear();
    reports_.swap(delivering_);
  }
  for (const std::string& text : delivering_) settings_.report(text.c_str(), settings_.context);
}

// ---- delivery

int Client::wait_until(Time deadline, const std::function<int()>& check) {
  for (bool first = true;; first = false) {
    {
      const MutexLock lock(mutex_);
      const Time now = now_ns();
      if (first) connection_.connect_at_once();
      round_.run(now, UpkeepRound::Urgency::kNow);
      if (const int result = check(); result != -EINPROGRESS) return result;
      if (now >= deadline) {
        if (!link_.connected()) return fail_with(ENOTCONN, "there is no daemon");
        return fail_with(ETIMEDOUT, "the daemon has not taken everything in in time");
      }
    }
    thread_.wait_for_responses(std::min<Time>(deadline - now_ns(), 5ms));
  }
}

int Client::flush() {
  const Time deadline = now_ns() + settings_.wait_max;
  const int result = wait_until(deadline, [this]() REQUIRES(mutex_) {
    const bool is_sent = publisher_.send_kept() && !events_.has_records();
    const bool is_empty = buffers_.held() == 0 && !samples_.cell_files().has_unread_records();
    return is_sent && is_empty ? 0 : -EINPROGRESS;
  });
  if (result != -ETIMEDOUT) return result;
  return fail_with(EAGAIN, "the daemon's queue is full, or it has not answered a registration yet");
}

int Client::sync(std::chrono::milliseconds time_max) {
  // The samples of each buffer that were added before this call: sync() does not wait for samples
  // that other threads add meanwhile.
  std::vector<std::pair<const ThreadBuffer*, std::uint64_t>> added;
  buffers_.for_each([&](ThreadBuffer& buffer) { added.emplace_back(&buffer, buffer.head()); });
  const auto is_sent = [](const auto& each) {
    return each.first->head() - each.first->held() >= each.second;
  };
  std::optional<std::uint64_t> sent;
  std::optional<LaneProgress::RingHeads> rings;
  return wait_until(now_ns() + time_max, [&]() REQUIRES(mutex_) -> int {
    if (!rings) rings = progress_.ring_heads();
    if (!link_.connected() || !conversation_.is_idle()) return -EINPROGRESS;
    if (replay_.is_pending() || !progress_.are_read(*rings)) {
      conversation_.ping(now_ns(), delivery_.sent());
      return -EINPROGRESS;
    }
    if (!publisher_.send_kept()) return -EINPROGRESS;
    if (!sent && events_.has_records()) return -EINPROGRESS;
    if (!sent) {
      if (!std::ranges::all_of(added, is_sent)) return -EINPROGRESS;
      sent = delivery_.sent();
    }
    if (!delivery_.is_confirmed(*sent)) return -EINPROGRESS;
    for (const int refusal : {registrar_.refusal(), publisher_.refusal(), events_.refusal()}) {
      if (refusal != 0) return fail_with(refusal, conversation_.last_refusal());
    }
    return 0;
  });
}

void Client::finish(std::chrono::milliseconds time_max) {
  const bool is_first = thread_.begin_end();
  if (time_max.count() > 0 && (is_first || counts_.held() != 0)) {
    wait_until(now_ns() + time_max, [this]() REQUIRES(mutex_) -> int {
      if (!link_.connected()) return -ENOTCONN;
      const bool settled = conversation_.is_idle() && publisher_.send_kept();
      const bool is_sent = counts_.held() == 0 && !replay_.is_pending();
      return is_sent && settled ? 0 : -EINPROGRESS;
    });
  }
  thread_.join();
  if (time_max.count() == 0 || !is_first) return;
  report_unsent();
  deliver_reports();
}

// Records in rings are not lost while the daemon lives: it reads them after this process has ended.
void Client::report_unsent() {
  const MutexLock lock(mutex_);
  std::uint64_t unsent = counts_.held();
  const LaneProgress::InRings rings = progress_.in_rings();
  if (samples_.cell_files().has_unread_records()) unsent += rings.sent - rings.confirmed;
  if (unsent == 0) return;
  const char* why = link_.connected() ? "the daemon does not take them" : "there is no daemon";
  reports_.add(std::to_string(unsent)
                   .append(" samples could not be sent before the end, and are lost: ")
                   .append(why));
}

}  // namespace tallyfs
