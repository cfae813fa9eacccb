#include "feeders/intake/fair_share/ring_schedule.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

namespace tallyfs {
namespace {

using Words = boost::unordered_flat_map<SenderKey, std::uint64_t>;

// The longest record: what reading it may cost is bounded like that of a datagram of so many bytes.
constexpr std::size_t kRecordBytesMax = 32;

// Counts the words of senders with much in their rings. In most looks there are few words in all
// rings together.
Words words_of_long(const std::vector<RingSchedule::Rings>& all) {
  Words words;
  std::uint64_t total = 0;
  for (const auto& each : all) total += each.words;
  if (total <= RingSchedule::kFewWords) return words;
  for (const auto& each : all) words[each.sender] += each.words;
  boost::unordered::erase_if(
      words, [](const auto& each) { return each.second <= RingSchedule::kFewWords; });
  return words;
}

}  // namespace

void RingSchedule::Cuts::order(std::vector<std::uint64_t>& lanes) const {
  if (first_turn) {
    const auto cut = std::ranges::find(lanes, *first_turn);
    if (cut != lanes.end()) std::rotate(lanes.begin(), cut + 1, lanes.end());
  }
  for (const std::uint64_t each : later_turns) {
    const auto cut = std::ranges::find(lanes, each);
    if (cut != lanes.end()) std::rotate(cut, cut + 1, lanes.end());
  }
}

RingSchedule::RingSchedule(Accounts& accounts, Budgets& budgets, const Limits& limits,
                           std::vector<Rings> all, Nanoseconds now)
    : accounts_(accounts), budgets_(budgets), limits_(limits) {
  const Words words = limits.by == By::kReader ? words_of_long(all) : Words();
  planned_.reserve(all.size());
  for (const Rings& each : all) {
    Planned planned{.rings = each};
    const auto its = words.find(each.sender);
    if (accounts_.holds(each.sender, now)) {
      planned.turn = Turn::kHeld;
    } else if (its != words.end()) {
      planned.turn = Turn::kLong;
      planned.sender_words = its->second;
    }
    planned_.push_back(planned);
  }
  std::ranges::stable_sort(
      planned_, {}, [](const Planned& each) { return std::pair(each.turn, each.sender_words); });
}

RingSchedule::Nanoseconds RingSchedule::deadline_of(const Planned& planned, Nanoseconds now) const {
  switch (planned.turn) {
    case Turn::kFirst:
      return limits_.deadline;
    case Turn::kHeld:
      return limits_.held_until;
    case Turn::kLong:
      break;
  }
  const auto left =
      std::min(budgets_.long_rings.left(now), accounts_.reading_left(planned.rings.sender, now));
  return left < Budgets::kLeast ? now : std::min(now + left, limits_.deadline);
}

// Some of the first rings are read even at the deadline, so that each look gets on.
std::optional<RingSchedule::Step> RingSchedule::next(Nanoseconds now) {
  for (; next_ < planned_.size(); ++next_) {
    const Planned& each = planned_[next_];
    const auto deadline = deadline_of(each, now);
    const bool has_time = each.turn == Turn::kFirst ? !cuts_.first_turn : now < deadline;
    if (!has_time) {
      leave(each.turn);
      continue;
    }
    next_ += 1;
    return Step{.rings = each.rings, .turn = each.turn, .deadline = deadline};
  }
  return std::nullopt;
}

void RingSchedule::finish(const Step& step, const Done& done, Nanoseconds now) {
  records_ += done.records;
  if (!done.is_all) {
    leave(step.turn);
    if (step.turn == Turn::kFirst) {
      cuts_.first_turn = step.rings.lane;
    } else {
      cuts_.later_turns.push_back(step.rings.lane);
    }
  }
  const SenderKey sender = step.rings.sender;
  if (step.turn == Turn::kHeld && limits_.by == By::kReader) {
    budgets_.held_senders.spend(done.spent, now);
    budgets_.held_senders.forgive(now);
  }
  if (step.turn == Turn::kLong) {
    budgets_.long_rings.spend(done.spent, now);
    accounts_.spend_reading(sender, done.spent, now);
  }
  const auto most = Accounts::cost_max(sender, done.records * kRecordBytesMax);
  accounts_.charge(sender, Cost::kAll, std::min(done.spent, most), now);
}

void RingSchedule::leave(Turn turn) {
  outcome_ = std::max(outcome_, turn == Turn::kHeld ? Outcome::kLeft : Outcome::kCut);
}

}  // namespace tallyfs
