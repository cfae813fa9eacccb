// Reports refusals to their senders, and seldom enough to the error log.
#include <algorithm>
#include <span>
#include <utility>

#include "core/wire/errno.h"
#include "feeders/intake/dispatcher.h"

namespace tallyfs {
namespace {

std::uint32_t error_number(const Error& error) {
  return static_cast<std::uint32_t>(wire::to_errno(error.code));
}

// A sender that continues is reported again after five refreshes of `watch cat error_log`, of 2 s
// each. So it stays in sight, and leaves others the log's places (ErrorLog::kSocketEntries)
// between.
constexpr std::chrono::seconds kToldAgain{10};

}  // namespace

void Dispatcher::refuse_numbered(const Error& error, std::uint64_t number, std::uint64_t lost) {
  reject(kMessage, error, lost);
  respond_stale(error, number);
}

void Dispatcher::respond_stale(const Error& error, std::uint64_t number) {
  if (error.code != ErrorCode::kStale || std::exchange(told_stale_, true)) return;
  add_response({.error = error_number(error), .number = number, .reason = error.reason});
}

bool Dispatcher::is_news(std::uint64_t number) {
  if (!has_room_to_report()) return false;
  const Stale stale{origin_->pid, has_our_epoch() ? number : 0, call_.now.monotonic};
  const auto known = std::span(stale_).first(std::min(next_stale_, stale_.size()));
  const auto found = std::ranges::find_if(known, [&](const Stale& each) {
    return each.sender == stale.sender && each.number == stale.number;
  });
  if (found == known.end()) {
    stale_[next_stale_++ % stale_.size()] = stale;
    return true;
  }
  if (stale.told - found->told < kToldAgain) return false;
  found->told = stale.told;
  return true;
}

void Dispatcher::count_put_off_dropped(Piece piece) {
  if (piece == Piece::kWhole) counts_.add("datagrams");
  counts_.add("put_off_dropped");
  counts_.add("rejects");
}

void Dispatcher::report_put_off_dropped(const Origin& sender, Timestamp now) {
  errors_.report({ErrorLog::Source::kSocket, sender.uid},
                 "socket uid " + std::to_string(sender.uid), kWholeDatagram,
                 {ErrorCode::kNoSpace,
                  "datagrams of this uid were dropped: it sends more than can "
                  "wait (put_off_dropped)"},
                 now);
}

void Dispatcher::respond_refused(std::uint32_t sequence, const Error& error) {
  add_response({.sequence = sequence,
                .error = error_number(error),
                .at = error.token_at == Error::kNoToken
                          ? wire::Response::kNowhere
                          : static_cast<std::uint32_t>(error.token_at),
                .reason = error.reason});
}

void Dispatcher::count_dropped(const wire::Dropped& dropped) {
  const std::uint64_t counts = drop_claims_.take(origin_->uid, dropped.samples);
  if (counts < dropped.samples) {
    reject(kMessage, DropClaims::too_many());
  }
  DaemonCounters& counters = statistics_.counters();
  counters.count("dropped", counts, call_.now);
  counters.record("dropped_by", shown_pid(origin_->pid), counts, call_.now);
  counters.record("dropped_by_uid", origin_->uid, counts, call_.now);
  call_.dropped = counts;
}

void Dispatcher::reject(std::string_view text, const Error& error, std::uint64_t count) {
  counts_.add("rejects", count);
  if (has_room_to_report()) report(text, error);
}

void Dispatcher::reject(std::string_view line, const wire::Fault& fault) {
  counts_.add("rejects");
  if (!has_room_to_report()) return;
  ++reports_;
  errors_.report_sent(origin_->uid, place_of(line), fault.reason(), fault.token_at, call_.now);
}

void Dispatcher::report(std::string_view text, const Error& error) {
  ++reports_;
  errors_.report_sent(origin_->uid, place_of(text), error, call_.now);
}

Refusal::Place Dispatcher::place_of(std::string_view text) const {
  return {.line = text, .process = shown_pid(origin_->pid)};
}

}  // namespace tallyfs
