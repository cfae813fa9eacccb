// Tells the daemon of this process's events, and sends their records in the order in which they
// were written; see tally/event.h for what it promises, and core/wire/FORMAT.md for how it is said.
//
// Confined to whoever holds the Client's lock. It has one datagram of requests on its way at a
// time, besides the others'; what is not answered within kAnswerWait is asked for again, what is
// refused after kRefusedPause. At most kEventsMax events, and kHeldBytes of records that wait for
// room; what comes then is dropped and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/wire/binary.h"
#include "feeders/client/event_layout.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/link.h"
#include "feeders/client/switches.h"
#include "tally/event.h"

namespace tallyfs {

struct FedEvent : ::user_event {
  FedEvent() : ::user_event{&FedStatistic::kOff} {}

  std::string system, name, fields;
  EventLayout layout;
  Standing standing = Standing::kUnknown;
  std::uint64_t number = 0;
};

class EventFeed {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kAnswerWait = std::chrono::seconds(1);
  static constexpr Time kRefusedPause = std::chrono::seconds(10);
  static constexpr std::size_t kEventsMax = 4'096;
  // Records of that many bytes are sent at once.
  static constexpr std::size_t kDatagramBytes = 32 * 1024;
  static constexpr std::size_t kHeldBytes = 128 * 1024;

  // Who writes a record, and when.
  struct Writer {
    Time now{0};
    std::uint32_t cpu = 0;
    std::int32_t pid = 0;
    std::string_view comm;
  };

  EventFeed(Link& link, Switches& switches, std::function<void(std::string)> report)
      : link_(link), switches_(switches), report_(std::move(report)) {}

  // kInvalid, kExists, kNoSpace.
  Result<FedEvent*> add(std::string_view system, std::string_view name, std::string_view fields);
  void remove(FedEvent& event);
  // Whether the daemon wants the name of whoever writes, too.
  static bool wants_comm(const FedEvent& event);
  // 0 or a negative errno. Whoever calls it sends what it gathers: when is_full(), or soon.
  int write(FedEvent& event, const void* fields, std::size_t bytes, const Writer& writer);

  // On a new connection, or with another daemon: nothing is known, and what was gathered is lost.
  void begin();
  // Takes the answer to request `id`; 0: records were for a number that names nothing.
  void take(std::uint32_t id, const wire::Answer& answer, std::uint64_t epoch, Time now);
  // Looks at the page for what has changed there.
  void look(Time now);
  // Asks for what is not known, as far as there is room.
  void ask(std::uint64_t epoch, Time now);
  // Sends what was gathered, as far as there is room. How many records went.
  std::uint64_t send();
  // In a forked child: what was gathered and counted is the parent's.
  void begin_anew();

  bool has_records() const { return !records_.empty(); }
  bool is_full() const { return records_.size() >= kDatagramBytes; }
  bool is_settled() const { return asked_.empty() && !changed_; }
  int refusal() const { return refusal_; }
  // Of records: those that are to be sent; and since it was made, those that were written, and of
  // these those that were dropped.
  std::uint64_t held() const { return count_; }
  std::uint64_t added() const { return added_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void drop_records();
  void forget_records();
  void append(FedEvent& event, const void* fields, const Writer& writer);
  void point_at_switch(FedEvent& event);
  void refused(FedEvent& event, const wire::Answer& answer, Time now);
  void look_for_void();

  Link& link_;
  Switches& switches_;
  const std::function<void(std::string)> report_;

  std::map<std::pair<std::string, std::string>, std::unique_ptr<FedEvent>> events_;
  std::map<std::uint32_t, FedEvent*> asked_;  // on their way

  std::uint64_t epoch_ = 0;
  std::string records_;         // a datagram that is growing, or nothing
  std::size_t message_at_ = 0;  // the last message in it, whose length grows
  FedEvent* message_of_ = nullptr;
  std::string scratch_;
  std::uint64_t count_ = 0;  // of records in it
  std::uint64_t added_ = 0;
  std::uint64_t dropped_ = 0;

  wire::DatagramWriter requests_{0};
  std::uint32_t next_id_ = 1;
  Time asked_at_{0};
  Time retry_refused_at_{0};
  Time looked_at_{0};
  bool some_refused_ = false;
  bool changed_ = false;
  int refusal_ = 0;
};

}  // namespace tallyfs
