#include "feeders/client/event_feed.h"

#include <cerrno>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/wire/events.h"
#include "feeders/client/registrar.h"
#include "feeders/client/request.h"

namespace tallyfs {
namespace {

constexpr EventFeed::Time kVoidLookPause = std::chrono::seconds(1);
constexpr std::size_t kFieldsBytesMax = 4'000;
constexpr std::size_t kEventNameBytesMax = 64;
// A bit of the switch (core/wire/FORMAT.md).
constexpr std::uint32_t kWithComm = 2;

bool is_good_name(std::string_view name) { return is_name(name) && name.size() <= kEventNameBytesMax; }

}  // namespace

// ---- what there is

Result<FedEvent*> EventFeed::add(std::string_view system, std::string_view name,
                                 std::string_view fields) {
  if (!is_good_name(system) || !is_good_name(name) || fields.size() > kFieldsBytesMax ||
      fields.find('\n') != fields.npos) {
    return Error{ErrorCode::kInvalid, "not the name of an event"};
  }
  auto layout = EventLayout::parse(fields);
  if (!layout) return layout.error();
  if (events_.size() == kEventsMax) return Error{ErrorCode::kNoSpace, "too many events"};
  auto& place = events_[{std::string(system), std::string(name)}];
  if (place) return Error{ErrorCode::kExists, "this process has the event already"};
  place = std::make_unique<FedEvent>();
  place->system = system;
  place->name = name;
  place->fields = fields;
  place->layout = std::move(layout.value());
  changed_ = true;
  return place.get();
}

void EventFeed::remove(FedEvent& event) {
  if (message_of_ == &event) message_of_ = nullptr;
  std::erase_if(asked_, [&](const auto& each) { return each.second == &event; });
  events_.erase({event.system, event.name});
}

// ---- records

bool EventFeed::wants_comm(const FedEvent& event) {
  const std::uint32_t* const on = __atomic_load_n(&event.on, __ATOMIC_RELAXED);
  return (__atomic_load_n(on, __ATOMIC_RELAXED) & kWithComm) != 0;
}

int EventFeed::write(FedEvent& event, const void* fields, std::size_t bytes, const Writer& writer) {
  if (bytes != event.layout.struct_bytes()) return -EINVAL;
  if (event.standing != Standing::kKnown) return 0;
  added_ += 1;
  if (records_.size() >= kHeldBytes) {
    dropped_ += 1;
    return -EAGAIN;
  }
  append(event, fields, writer);
  return 0;
}

void EventFeed::append(FedEvent& event, const void* fields, const Writer& writer) {
  if (records_.empty()) {
    records_ = wire::DatagramWriter(epoch_).bytes();
    message_of_ = nullptr;
  }
  if (message_of_ != &event) {
    message_of_ = &event;
    message_at_ = records_.size();
    wire::append_user_message(records_, event.number);
  }
  scratch_.clear();
  event.layout.append(scratch_, fields);
  wire::append_record(records_, {.time_ns = static_cast<std::uint64_t>(writer.now.count()),
                                 .cpu = writer.cpu,
                                 .pid = writer.pid,
                                 .bytes = scratch_,
                                 .comm = writer.comm});
  const auto length =
      static_cast<std::uint32_t>(records_.size() - message_at_ - wire::kMessageHeaderBytes);
  std::memcpy(records_.data() + message_at_ + 4, &length, sizeof length);
  count_ += 1;
}

std::uint64_t EventFeed::send() {
  if (records_.empty()) return 0;
  switch (link_.send(records_)) {
    case Link::Sent::kFull:
      return 0;  // until there is room
    case Link::Sent::kGone:
      drop_records();
      return 0;
    case Link::Sent::kDone:
      break;
  }
  const std::uint64_t sent = count_;
  forget_records();
  return sent;
}

void EventFeed::drop_records() {
  dropped_ += count_;
  forget_records();
}

void EventFeed::forget_records() {
  records_.clear();
  message_of_ = nullptr;
  count_ = 0;
}

void EventFeed::begin_anew() {
  forget_records();
  added_ = dropped_ = 0;
}

// ---- asking

void EventFeed::begin() {
  drop_records();
  asked_.clear();
  some_refused_ = false;
  refusal_ = 0;
  changed_ = !events_.empty();
  for (auto& [key, event] : events_) {
    event->standing = Standing::kUnknown;
    point_at_switch(*event);
  }
}

void EventFeed::ask(std::uint64_t epoch, Time now) {
  if (!asked_.empty()) {
    if (now - asked_at_ < kAnswerWait) return;
    for (const auto& [id, event] : asked_) event->standing = Standing::kUnknown;
    asked_.clear();
    changed_ = true;
  }
  if (some_refused_ && now >= retry_refused_at_) {
    some_refused_ = false;
    changed_ = true;
    for (auto& [key, event] : events_) {
      if (event->standing == Standing::kRefused) event->standing = Standing::kUnknown;
    }
  }
  if (!changed_) return;
  changed_ = false;
  requests_.clear(epoch);
  for (auto& [key, event] : events_) {
    if (event->standing != Standing::kUnknown) continue;
    if (requests_.size() > kRequestsBytes) {
      changed_ = true;
      break;
    }
    event->standing = Standing::kAsked;
    next_id_ = next_id_ + 1 == Registrar::kEventIds ? 1 : next_id_ + 1;
    asked_[next_id_] = event.get();
    requests_.request(
        Registrar::kOthers | Registrar::kEventIds | next_id_,
        "event define " + event->system + "/" + event->name + " lifetime=feeder " + event->fields);
  }
  if (asked_.empty()) return;
  asked_at_ = now;
  if (link_.send(requests_.bytes()) == Link::Sent::kDone) return;
  for (const auto& [id, event] : asked_) event->standing = Standing::kUnknown;
  asked_.clear();
  changed_ = true;
}

void EventFeed::take(std::uint32_t id, const wire::Answer& answer, std::uint64_t epoch, Time now) {
  if (id == 0) return look_for_void();
  const auto found = asked_.find(id);
  if (found == asked_.end()) return;
  FedEvent& event = *found->second;
  asked_.erase(found);
  if (answer.error != 0) return refused(event, answer, now);
  epoch_ = epoch;
  event.standing = Standing::kKnown;
  event.number = answer.number;
  point_at_switch(event);
}

void EventFeed::refused(FedEvent& event, const wire::Answer& answer, Time now) {
  event.standing = Standing::kRefused;
  some_refused_ = true;
  retry_refused_at_ = now + kRefusedPause;
  if (refusal_ == 0) refusal_ = static_cast<int>(answer.error);
  report_("the daemon refused the event " + event.system + "/" + event.name + ": " +
          words_for(answer));
}

// ---- the page

// Without a page, records go whether anybody wants them or not.
void EventFeed::point_at_switch(FedEvent& event) {
  const std::uint32_t* to = &FedStatistic::kOff;
  if (event.standing == Standing::kKnown) {
    to = switches_.find(event.number);
    if (!to) to = &FedStatistic::kOn;
  }
  __atomic_store_n(&event.on, to, __ATOMIC_RELAXED);
}

void EventFeed::look(Time now) {
  if (now - looked_at_ < kVoidLookPause) return;
  looked_at_ = now;
  look_for_void();
  for (auto& [key, event] : events_) point_at_switch(*event);
}

// What a user has removed from the tree comes back: the program says it has such an event.
void EventFeed::look_for_void() {
  for (auto& [key, event] : events_) {
    if (event->standing != Standing::kKnown || !switches_.is_void(event->number)) continue;
    event->standing = Standing::kUnknown;
    point_at_switch(*event);
    changed_ = true;
  }
}

}  // namespace tallyfs
