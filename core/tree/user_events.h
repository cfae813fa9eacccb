// The events of user programs, as a source of Tracing: who has defined which, the switches that say
// whether anybody listens, and their records, which come as packed fields or as text.
//
// Thread-safe, one lock (UserEvents::mutex_) over names and numbers; it is not held while Tracing is called.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/tree/command.h"
#include "core/tree/event_source.h"
#include "core/tree/process_watch.h"
#include "core/tree/subsystems.h"
#include "core/tree/tracing.h"

namespace tally {

class UserEvents final : public EventSource {
 public:
  // All that there can be at one time; each has a switch.
  static constexpr std::size_t kEventsMax = 4096;

  // Lifetimes of an event: kForGood until it is removed, kFeeder until the last process that
  // defined it so has ended.
  enum class Lifetime { kForGood, kFeeder };

  // A record as it came: fields laid out as FieldsDefinition has them, from byte 8 on (the common
  // fields are filled in here).
  struct Record {
    std::uint64_t time_ns = 0;
    std::uint32_t cpu = 0;
    pid_t pid = 0;
    std::string_view comm = {};
    std::string_view fields;
  };

  // Tracing, ledger, processes and the memory of the switches outlive it. owner: the daemon's uid.
  UserEvents(Tracing& tracing, Ledger& ledger, uid_t owner, ProcessWatch* processes,
             SwitchRange switches = {});
  ~UserEvents() override;

  // `fields`: `u64 lat; pid_t pid`. Done::number is what records name it by, and, for a feeder, the entry
  // of the page of switches. The same once more is kWasThere. kInvalid, kExists: defined otherwise;
  // kNotPermitted: another uid's; kNoSpace.
  Result<Done> define(std::string_view system, std::string_view name, std::string_view fields,
                      Lifetime lifetime, const Sender& sender, Moment now) EXCLUDES(mutex_);
  // kNotFound, kNotPermitted, kBusy: something is set on it.
  Result<void> remove(std::string_view system, std::string_view name, const Sender& sender,
                      Moment now) EXCLUDES(mutex_);
  // Records in the order of their times. kStale: the number names nothing (any more);
  // kNotPermitted; kInvalid: shorter than its fields.
  Result<void> feed(std::uint64_t number, std::span<const Record> records, const Sender& sender,
                    Moment now) EXCLUDES(mutex_);
  // `lat=7 pid=3 comm=cat`: fields that are not named are 0 or empty. kNotFound, kNotPermitted, kInvalid; token_at
  // is an offset into `text`.
  Result<void> write(std::string_view system, std::string_view name, std::string_view text,
                     const Sender& sender, Moment now) EXCLUDES(mutex_);

  // The process has ended.
  void process_ended(pid_t process, Moment now) EXCLUDES(mutex_);

  Result<void> want(const Wanted& wanted) override;
  void drain() override {}
};

}  // namespace tally
