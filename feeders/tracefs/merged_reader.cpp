#include "feeders/tracefs/merged_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tallyfs {
namespace {

constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();
// The clock is right to a microsecond, and an event may be as young as that when it is read.
constexpr std::chrono::nanoseconds kClockError = std::chrono::microseconds(10);

// 0 where the record has no such bytes.
template <typename Number>
Number number_at(std::span<const char> record, std::size_t offset) {
  Number number = 0;
  if (record.size() >= offset + sizeof number) {
    std::memcpy(&number, record.data() + offset, sizeof number);
  }
  return number;
}

std::uint16_t type_of(std::span<const char> record) { return number_at<std::uint16_t>(record, 0); }

}  // namespace

MergedReader::MergedReader(const PageFormat& format, const std::vector<int>& fds,
                           const Clock& clock, Losses losses, Pipes pipes)
    : format_(format), clock_(clock), losses_(std::move(losses)), page_(format.page_bytes()) {
  for (const int fd : fds) {
    const auto before = losses_ ? losses_(lanes_.size()) : std::nullopt;
    lanes_.push_back(
        {.fd = fd, .losses = before.value_or(0), .is_inherited = pipes == Pipes::kInherited});
  }
}

MergedReader::Remaining MergedReader::poll(EventSink& sink) {
  const auto start = clock_.now().monotonic - kHoldBack;
  auto horizon_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(start.count(), 0));
  bool all_drained = true;
  for (Lane& lane : lanes_) {
    read_lane(lane);
    if (lane.drained) continue;
    all_drained = false;
    // Records that this CPU has not delivered yet are not older than its last one; but the next may
    // be the stack of that one.
    const std::uint64_t stack_ns = stacks_.type != 0 ? 1 : 0;
    if (lane.held() > 0) horizon_ns = std::min(horizon_ns, lane.items.back().time_ns - stack_ns);
  }
  hand_on(horizon_ns, sink);
  const auto holds = [](const Lane& lane) { return lane.held() > 0; };
  if (!all_drained) return Remaining::kMore;
  return std::ranges::any_of(lanes_, holds) ? Remaining::kHeldBack : Remaining::kNothing;
}

void MergedReader::finish(EventSink& sink) {
  while (poll(sink) == Remaining::kMore) continue;
  hand_on_held(sink);
}

void MergedReader::hand_on_held(EventSink& sink) { hand_on(kEndOfTime, sink); }

void MergedReader::read_lane(Lane& lane) {
  lane.gap.reset();
  lane.said = 0;
  std::size_t pages = 0;
  while (pages < kPagesPerPoll && lane.held() < kHeldMax && read_page(lane)) ++pages;
  lane.drained = pages < kPagesPerPoll && lane.held() < kHeldMax;
  if (lane.gap) count_losses(lane);
  if (pages > 0) lane.is_inherited = false;
}

// The reader before has handed on an unknown part of what an inherited ring had lost by then.
void MergedReader::count_losses(Lane& lane) {
  const auto losses =
      losses_ ? losses_(static_cast<std::size_t>(&lane - lanes_.data())) : std::nullopt;
  std::uint64_t lost = lane.said;
  if (losses) {
    // A ring that was emptied counts from 0.
    const std::uint64_t growth = *losses < lane.losses ? *losses : *losses - lane.losses;
    lost = lane.is_inherited ? std::max(lost, growth) : growth;
    lane.losses = *losses;
  }
  lane.items[*lane.gap].lost = lost;
}

bool MergedReader::read_page(Lane& lane) {
  const auto size = ::read(lane.fd, page_.data(), page_.size());
  if (size <= 0) return false;
  take_page(lane, std::span<const char>(page_).first(static_cast<std::size_t>(size)));
  return true;
}

void MergedReader::take_page(Lane& lane, std::span<const char> bytes) {
  // A time from the future would hold up its CPU until then: bytes that make no sense.
  const auto now_ns = static_cast<std::uint64_t>((clock_.now().monotonic + kClockError).count());
  auto page = RingPage::open(format_, bytes);
  if (!page || page.value().time_ns() > now_ns) return put_gap(lane, handed_on_ns_, 1);
  if (page.value().lost() > 0) {
    if (!lane.gap) lane.gap = lane.items.size();
    lane.said += page.value().lost();
    put_gap(lane, page.value().time_ns(), 0);
  }
  std::uint64_t last_ns = page.value().time_ns();
  while (const auto record = page.value().next()) {
    if (record->time_ns > now_ns) return put_gap(lane, last_ns, 1);
    last_ns = record->time_ns;
    if (is_stack(record->payload)) {
      put_stack(lane, record->payload);
      continue;
    }
    lane.items.push_back(
        {.time_ns = last_ns, .offset = lane.bytes.size(), .size = record->payload.size()});
    lane.bytes.append(record->payload.data(), record->payload.size());
  }
  if (page.value().broken()) put_gap(lane, last_ns, 1);
}

void MergedReader::put_gap(Lane& lane, std::uint64_t time_ns, std::uint64_t lost) {
  lane.items.push_back(
      {.time_ns = time_ns, .lost = lost, .offset = lane.bytes.size(), .size = kGap});
}

bool MergedReader::is_stack(std::span<const char> payload) const {
  return stacks_.type != 0 && type_of(payload) == stacks_.type;
}

void MergedReader::put_stack(Lane& lane, std::span<const char> payload) const {
  if (payload.size() <= stacks_.frames_offset) return;
  const auto frames = payload.subspan(stacks_.frames_offset);
  const auto pid = number_at<std::int32_t>(payload, stacks_.pid_offset);
  const std::size_t first =
      std::max(lane.next, lane.items.size() - std::min(lane.items.size(), kStackReach));
  for (std::size_t i = lane.items.size(); i > first; --i) {
    Item& item = lane.items[i - 1];
    if (item.is_gap()) continue;
    const auto before = std::span<const char>(lane.bytes).subspan(item.offset, item.size);
    const std::uint16_t type = type_of(before);
    if (item.stack_size != 0 || type >= stacks_.with_stack.size() || !stacks_.with_stack[type] ||
        number_at<std::int32_t>(before, stacks_.pid_offset) != pid) {
      continue;
    }
    item.stack_offset = lane.bytes.size();
    item.stack_size = frames.size() / 8 * 8;
    lane.bytes.append(frames.data(), item.stack_size);
    return;
  }
}

// A merge of sorted lanes: of all CPUs the one with the oldest event comes first, and stays as
// long as its events are older than those of the next.
void MergedReader::hand_on(std::uint64_t horizon_ns, EventSink& sink) {
  const auto next_time = [](const Lane* lane) { return lane->items[lane->next].time_ns; };
  const auto younger = [&](const Lane* a, const Lane* b) { return next_time(a) > next_time(b); };
  const auto due = [&](const Lane* lane) {
    return lane->held() > 0 && next_time(lane) <= horizon_ns;
  };
  heap_.clear();
  for (Lane& lane : lanes_) {
    if (due(&lane)) heap_.push_back(&lane);
  }
  std::ranges::make_heap(heap_, younger);
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, younger);
    Lane* const lane = heap_.back();
    heap_.pop_back();
    const std::uint64_t until_ns = heap_.empty() ? horizon_ns : next_time(heap_.front());
    do {
      hand_on(*lane, lane->items[lane->next], sink);
      lane->next += 1;
    } while (lane->held() > 0 && next_time(lane) <= until_ns);
    if (!due(lane)) continue;
    heap_.push_back(lane);
    std::ranges::push_heap(heap_, younger);
  }
  for (Lane& lane : lanes_) compact(lane);
}

void MergedReader::hand_on(const Lane& lane, const Item& item, EventSink& sink) {
  const auto cpu = static_cast<std::size_t>(&lane - lanes_.data());
  if (item.is_gap()) return sink.lost(cpu, item.lost);
  if (item.time_ns < handed_on_ns_) return sink.lost(cpu, 1);
  handed_on_ns_ = item.time_ns;
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(item.time_ns));
  const std::span<const char> bytes(lane.bytes);
  const auto payload = bytes.subspan(item.offset, item.size);
  if (item.stack_size == 0) return sink.event(time, cpu, payload);
  sink.event_with_stack(time, cpu, payload, bytes.subspan(item.stack_offset, item.stack_size));
}

// Forgets what was handed on; the few that are held back move to the front.
void MergedReader::compact(Lane& lane) {
  if (lane.next == 0) return;
  const std::size_t gone = lane.held() == 0 ? lane.bytes.size() : lane.items[lane.next].offset;
  lane.items.erase(lane.items.begin(), lane.items.begin() + static_cast<std::ptrdiff_t>(lane.next));
  lane.bytes.erase(0, gone);
  for (Item& item : lane.items) {
    item.offset -= gone;
    item.stack_offset -= item.stack_size > 0 ? gone : 0;
  }
  lane.next = 0;
}

}  // namespace tallyfs
