#include "feeders/client/event_feed.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/wire/events.h"

namespace tallyfs {
namespace {

constexpr EventFeed::Time kVoidLookPause = std::chrono::seconds(1);
constexpr std::size_t kFieldsBytesMax = 4'000;
constexpr std::size_t kEventNameBytesMax = 64;
// A bit of the switch (core/wire/FORMAT.md).
constexpr std::uint32_t kWithComm = 2;

bool is_good_name(std::string_view name) {
  return is_name(name) && name.size() <= kEventNameBytesMax;
}

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
  place->id = ++last_id_;
  place->system = system;
  place->name = name;
  place->fields = fields;
  place->layout = std::move(layout.value());
  note_change();
  return place.get();
}

void EventFeed::remove(FedEvent& event) {
  if (message_of_ == &event) message_of_ = nullptr;
  events_.erase({event.system, event.name});
}

// ---- records

bool EventFeed::wants_comm(const FedEvent& event) {
  const std::uint32_t* const on = __atomic_load_n(&event.on, __ATOMIC_RELAXED);
  return (__atomic_load_n(on, __ATOMIC_RELAXED) & kWithComm) != 0;
}

int EventFeed::write(FedEvent& event, const void* fields, std::size_t bytes, const Writer& writer) {
  if (bytes != event.layout.struct_bytes()) return -EINVAL;
  if (event.registration != Registration::kRegistered) return 0;
  counts_.added += 1;
  if (records_.size() >= kHeldBytes) {
    counts_.dropped += 1;
    return -EAGAIN;
  }
  append(event, fields, writer);
  return 0;
}

void EventFeed::append(FedEvent& event, const void* fields, const Writer& writer) {
  if (records_.empty()) {
    records_ = wire::DatagramWriter(conversation_.epoch()).bytes();
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
  counts_.held += 1;
}

std::uint64_t EventFeed::send() {
  if (records_.empty()) return 0;
  switch (conversation_.link().send(records_)) {
    case Link::Sent::kFull:
      return 0;  // until there is room
    case Link::Sent::kGone:
      drop_records();
      return 0;
    case Link::Sent::kDone:
      break;
  }
  const std::uint64_t sent = counts_.held;
  forget_records();
  return sent;
}

void EventFeed::drop_records() {
  counts_.dropped += counts_.held;
  forget_records();
}

void EventFeed::forget_records() {
  records_.clear();
  message_of_ = nullptr;
  counts_.held = 0;
}

void EventFeed::reset_in_child() {
  forget_records();
  counts_.added = counts_.dropped = 0;
}

// ---- registration

void EventFeed::begin() {
  drop_records();
  refusal_ = 0;
  for (auto& [key, event] : events_) {
    event->registration = Registration::kUnregistered;
    point_at_switch(*event);
  }
}

void EventFeed::retry_refused() {
  for (auto& [key, event] : events_) {
    if (event->registration == Registration::kRefused) {
      event->registration = Registration::kUnregistered;
    }
  }
}

void EventFeed::add_requests(RequestDatagram& requests) {
  for (auto& [key, event] : events_) {
    if (requests.is_full()) return;
    if (event->registration == Registration::kUnregistered) add_event(requests, *event);
  }
}

void EventFeed::add_event(RequestDatagram& requests, FedEvent& event) {
  const std::pair key(event.system, event.name);
  requests.add(
      "event define " + event.system + "/" + event.name + " lifetime=feeder " + event.fields,
      {.sent = [&event] { event.registration = Registration::kRequested; },
       .responded =
           [this, key, id = event.id](const Response& response) {
             if (auto* const found = find(key, id)) take_event(*found, response);
           },
       .timed_out =
           [this, key, id = event.id] {
             auto* const found = find(key, id);
             if (found && found->registration == Registration::kRequested) {
               found->registration = Registration::kUnregistered;
             }
           }});
}

FedEvent* EventFeed::find(const std::pair<std::string, std::string>& key, std::uint64_t id) const {
  const auto found = events_.find(key);
  return found != events_.end() && found->second->id == id ? found->second.get() : nullptr;
}

void EventFeed::take_event(FedEvent& event, const Response& response) {
  if (response.error != 0) {
    event.registration = Registration::kRefused;
    if (refusal_ == 0) refusal_ = response.refusal();
    return report_refusal("the event " + event.system + "/" + event.name, response);
  }
  event.registration = Registration::kRegistered;
  event.number = response.number;
  point_at_switch(event);
}

void EventFeed::take_stale(std::uint64_t number) {
  if (number != 0) look_for_void();
}

// ---- the page

// Without a page all records are sent, whether there is demand or not.
void EventFeed::point_at_switch(FedEvent& event) {
  const std::uint32_t* to = &FedStatistic::kOff;
  if (event.registration == Registration::kRegistered) {
    to = switches_.find(event.number);
    if (!to) to = &FedStatistic::kOn;
  }
  __atomic_store_n(&event.on, to, __ATOMIC_RELEASE);
}

void EventFeed::look(Time now) {
  if (now - looked_at_ < kVoidLookPause) return;
  looked_at_ = now;
  look_for_void();
  for (auto& [key, event] : events_) point_at_switch(*event);
}

// An event that a user has removed from the tree comes back: the program still has it.
void EventFeed::look_for_void() {
  for (auto& [key, event] : events_) {
    if (event->registration != Registration::kRegistered || !switches_.is_void(event->number))
      continue;
    event->registration = Registration::kUnregistered;
    point_at_switch(*event);
    note_change();
  }
}

}  // namespace tallyfs
