#include "feeders/client/upkeep_round.h"

#include <algorithm>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Longer than a pause between two bursts of samples, which would cost a wake-up each.
constexpr UpkeepRound::Time kActiveFor = 100ms;
constexpr UpkeepRound::Time kCheckTimePause = 60s;
// Threads whose end gives no notification are looked for.
constexpr UpkeepRound::Time kReclaimPause = 1s;

}  // namespace

void UpkeepRound::run(Time now, Urgency urgency) {
  its_.inherited.restore(its_.registry);
  its_.connection.release_cell_files();
  its_.replay.send(now);
  if (now - reclaimed_at_ >= kReclaimPause) {
    reclaimed_at_ = now;
    its_.buffers.reclaim(its_.cell_files);
  }
  its_.connection.notice_end(now);
  its_.connection.connect(now);
  if (its_.link.connected()) run_connected(now, urgency);
  its_.connection.notice_end(now);
}

void UpkeepRound::run_connected(Time now, Urgency urgency) {
  const bool is_urgent = urgency == Urgency::kNow;
  its_.conversation.take_responses(now);
  if (its_.signals.has_void.exchange(false)) its_.registrar.look_for_void();
  if (its_.signals.wants_requests.exchange(false)) its_.registrar.note_change_anywhere();
  its_.publisher.look(now);
  its_.events.look(now);
  if (is_urgent || its_.timer.is_due(now)) its_.changes.request(now);
  if (is_urgent) drain_at_ = now;
  if (is_urgent || now >= send_at_) send_due(now);
}

// Samples are not sent more often than they may wait; the rounds in between are for responses.
void UpkeepRound::send_due(Time now) {
  const std::uint64_t sent_before = its_.delivery.sent();
  if (now >= drain_at_) {
    its_.delivery.drain_all();
    its_.delivery.count_sent_records(its_.events.send());
    drain_at_ = now + its_.settings.delay;
  }
  its_.changes.destroy_removed();
  its_.connection.keep_in_touch(now);
  send_at_ = now + tick();
  const std::uint64_t sent = its_.delivery.sent();
  const bool is_active = sent != sent_before || its_.buffers.held() != 0 ||
                         !its_.conversation.is_idle() || its_.events.has_records() ||
                         !its_.delivery.is_confirmed(sent);
  // A daemon that has taken over from another answers a doorbell.
  if (its_.signals.has_rung.exchange(false) || is_active) stay_active(now);
  if (now < check_time_at_) return;
  its_.time.check();
  check_time_at_ = now + kCheckTimePause;
}

void UpkeepRound::stay_active(Time now) { active_until_ = now + kActiveFor; }

UpkeepRound::Time UpkeepRound::tick() const {
  return std::clamp<Time>(its_.settings.delay, 1ms, kTick);
}

bool UpkeepRound::is_idle(Time now) const {
  return its_.timer.is_due(now) && its_.conversation.is_idle();
}

UpkeepRound::Time UpkeepRound::next_due(Time now) const {
  if (!its_.link.connected()) return std::max(its_.connection.connect_at() - now, Time(1ms));
  if (now >= active_until_ && is_idle(now)) return DaemonConnection::kIdlePause;
  const bool is_due = its_.timer.is_due(now);
  const Time due = is_due ? send_at_ : std::min(its_.timer.due_at(), send_at_);
  return std::clamp<Time>(due - now, 0ms, kTick);
}

}  // namespace tallyfs
