#include "feeders/tracefs/merged_reader.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

namespace tally {
namespace {

constexpr std::uint64_t kEndOfTime = std::numeric_limits<std::uint64_t>::max();

}  // namespace

MergedReader::MergedReader(const PageFormat& format, const std::vector<int>& fds,
                           const Clock& clock)
    : format_(format), clock_(clock), page_(format.page_bytes()) {
  for (const int fd : fds) lanes_.push_back({.fd = fd});
}

MergedReader::Left MergedReader::poll(EventSink& sink) {
  const auto start = clock_.now().monotonic - kHoldBack;
  auto horizon_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(start.count(), 0));
  bool all_drained = true;
  for (Lane& lane : lanes_) {
    read_lane(lane);
    if (lane.drained) continue;
    all_drained = false;
    // What this CPU has still to say is not older than what it has said.
    if (lane.held() > 0) horizon_ns = std::min(horizon_ns, lane.items.back().time_ns);
  }
  hand_on(horizon_ns, sink);
  const auto holds = [](const Lane& lane) { return lane.held() > 0; };
  if (!all_drained) return Left::kMore;
  return std::ranges::any_of(lanes_, holds) ? Left::kHeldBack : Left::kNothing;
}

void MergedReader::finish(EventSink& sink) {
  while (poll(sink) == Left::kMore) continue;
  hand_on(kEndOfTime, sink);
}

void MergedReader::read_lane(Lane& lane) {
  lane.drained = false;
  for (std::size_t pages = 0; pages < kPagesPerPoll && lane.held() < kHeldMax; ++pages) {
    if (!read_page(lane)) {
      lane.drained = true;
      return;
    }
  }
}

bool MergedReader::read_page(Lane& lane) {
  const auto size = ::read(lane.fd, page_.data(), page_.size());
  if (size <= 0) return false;
  take_page(lane, std::span<const char>(page_).first(static_cast<std::size_t>(size)));
  return true;
}

void MergedReader::take_page(Lane& lane, std::span<const char> bytes) {
  const auto put = [&](std::uint64_t time_ns, std::uint64_t lost, std::size_t size) {
    lane.items.push_back(
        {.time_ns = time_ns, .lost = lost, .offset = lane.bytes.size(), .size = size});
  };
  // A time from the future would hold up its CPU until then: bytes that make no sense.
  const auto now_ns = static_cast<std::uint64_t>(clock_.now().monotonic.count());
  auto page = RingPage::open(format_, bytes);
  if (!page || page.value().time_ns() > now_ns) return put(handed_on_ns_, 1, 0);
  if (page.value().lost() > 0) put(page.value().time_ns(), page.value().lost(), 0);
  std::uint64_t last_ns = page.value().time_ns();
  while (const auto record = page.value().next()) {
    if (record->time_ns > now_ns) return put(last_ns, 1, 0);
    last_ns = record->time_ns;
    put(last_ns, 0, record->payload.size());
    lane.bytes.append(record->payload.data(), record->payload.size());
  }
  if (page.value().broken()) put(last_ns, 1, 0);
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
  if (item.lost > 0) return sink.lost(item.lost);
  if (item.time_ns < handed_on_ns_) return sink.lost(1);
  handed_on_ns_ = item.time_ns;
  sink.event(std::chrono::nanoseconds(static_cast<std::int64_t>(item.time_ns)),
             static_cast<std::size_t>(&lane - lanes_.data()),
             std::span<const char>(lane.bytes).subspan(item.offset, item.size));
}

// Forgets what was handed on; the few that are held back move to the front.
void MergedReader::compact(Lane& lane) {
  if (lane.next == 0) return;
  const std::size_t gone = lane.held() == 0 ? lane.bytes.size() : lane.items[lane.next].offset;
  lane.items.erase(lane.items.begin(), lane.items.begin() + static_cast<std::ptrdiff_t>(lane.next));
  lane.bytes.erase(0, gone);
  for (Item& item : lane.items) item.offset -= gone;
  lane.next = 0;
}

}  // namespace tally
