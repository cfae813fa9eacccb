// Registers this process's events and sends their records in the order in which they were written:
// a Requester. See tally/event.h for what it promises, and core/wire/FORMAT.md for the bytes.
//
// Confined to the Client's lock. At most kEventsMax events, and kHeldBytes of records that wait for
// room; further records are dropped and counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "feeders/client/conversation.h"
#include "feeders/client/event_layout.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/requester.h"
#include "feeders/client/switches.h"
#include "tally/event.h"

namespace tallyfs {

struct FedEvent : ::user_event {
  FedEvent() : ::user_event{&FedStatistic::kOff} {}

  std::uint64_t id = 0;  // never used twice
  std::string system, name, fields;
  EventLayout layout;
  Registration registration = Registration::kUnregistered;
  std::uint64_t number = 0;
};

// Counts of this process's records by result. Any thread may read them.
struct RecordCounts {
  std::atomic<std::uint64_t> added{0};  // those dropped included
  std::atomic<std::uint64_t> held{0};   // to be sent
  std::atomic<std::uint64_t> dropped{0};
};

class EventFeed final : public Requester {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::size_t kEventsMax = 4'096;
  // Records of that many bytes are sent at once.
  static constexpr std::size_t kDatagramBytes = 32 * 1024;
  static constexpr std::size_t kHeldBytes = 128 * 1024;

  // The thread that writes a record, and the time.
  struct Writer {
    Time now{0};
    std::uint32_t cpu = 0;
    std::int32_t pid = 0;
    std::string_view comm;
  };

  EventFeed(Conversation& conversation, Switches& switches, RecordCounts& counts)
      : Requester(conversation), switches_(switches), counts_(counts) {}

  // kInvalid, kExists, kNoSpace.
  Result<FedEvent*> add(std::string_view system, std::string_view name, std::string_view fields);
  void remove(FedEvent& event);
  // Whether the daemon wants the name of the writing thread, too.
  static bool wants_comm(const FedEvent& event);
  // 0 or a negative errno. The caller sends what it gathers: when is_full(), or soon.
  int write(FedEvent& event, const void* fields, std::size_t bytes, const Writer& writer);

  // Looks at the page for what has changed there.
  void look(Time now);
  // Sends what was gathered, as far as there is room. The number of records sent.
  std::uint64_t send();
  // In a forked child: what was gathered and counted is the parent's.
  void reset_in_child();

  bool has_records() const { return !records_.empty(); }
  bool is_full() const { return records_.size() >= kDatagramBytes; }
  int refusal() const { return refusal_; }

 private:
  void begin() override;
  void add_requests(RequestDatagram& requests) override;
  void retry_refused() override;
  void take_stale(std::uint64_t number) override;

  void add_event(RequestDatagram& requests, FedEvent& event);
  // Nullptr: it is gone, though another of its name may have been made.
  FedEvent* find(const std::pair<std::string, std::string>& key, std::uint64_t id) const;
  void take_event(FedEvent& event, const Response& response);
  void drop_records();
  void forget_records();
  void append(FedEvent& event, const void* fields, const Writer& writer);
  void point_at_switch(FedEvent& event);
  void look_for_void();

  Switches& switches_;
  RecordCounts& counts_;

  std::map<std::pair<std::string, std::string>, std::unique_ptr<FedEvent>> events_;
  std::uint64_t last_id_ = 0;

  std::string records_;         // a datagram that is growing, or nothing
  std::size_t message_at_ = 0;  // the last message in it, which grows
  FedEvent* message_of_ = nullptr;
  std::string scratch_;

  Time looked_at_{0};
  int refusal_ = 0;
};

}  // namespace tallyfs
