// The events of user programs, as a source of Tracing: the owner of each definition, the switches
// that show programs whether an event is wanted, and the records, as packed fields or as text.
//
// Thread-safe. UserEvents::mutex_ covers names and numbers, and is not held while Tracing is
// called. ProcessWatch is called without any lock. Lock order: defining_, ordering_, Tracing;
// mutex_ alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/branch/branch_dependencies.h"
#include "core/branch/command.h"
#include "core/branch/lifetime.h"
#include "core/branch/number_table.h"
#include "core/branch/ownership.h"
#include "core/tracing/branch/event_source.h"
#include "core/tracing/branch/tracing.h"
#include "core/tracing/format/synthetic.h"

namespace tallyfs::tracing {

class UserEvents final : public EventSource {
 public:
  // The most events at one time; each has a switch.
  static constexpr std::size_t kEventsMax = 4096;
  // The part of these for each uid other than root's and the daemon's, and for all such uids
  // together.
  static constexpr std::size_t kEventsPerUidMax = 1024;
  static constexpr std::size_t kEventsOfOthersMax = 3072;

  // A record as it arrives: fields laid out as in FieldsDefinition, from byte 8 on. The common
  // fields are filled in here.
  struct Record {
    std::uint64_t time_ns = 0;
    std::uint32_t cpu = 0;
    pid_t pid = 0;
    std::string_view comm = {};
    std::string_view fields;
  };

  // Tracing and ledger outlive it. owner: the daemon's uid.
  UserEvents(Tracing& tracing, Ledger& ledger, uid_t owner, BranchDependencies dependencies = {});
  ~UserEvents() override;

  // `text`: `u64 lat; pid_t pid`, with an optional `lifetime=feeder` before it. Otherwise as below.
  Result<Done> define(std::string_view system, std::string_view name, std::string_view text,
                      const Sender& sender, Timestamp now) EXCLUDES(defining_, mutex_);
  // `fields`: `u64 lat; pid_t pid`; token_at counts in it. Done::number is the number for records,
  // and, for a feeder, for the entry of the page of switches. The same definition again is
  // kWasThere. kInvalid; kExists: defined otherwise; kNotPermitted: another uid's; kNoSpace. With
  // Lifetime::kFeeder also as FeederWatch::watch().
  Result<Done> define(std::string_view system, std::string_view name, std::string_view fields,
                      Lifetime lifetime, const Sender& sender, Timestamp now)
      EXCLUDES(defining_, mutex_);
  // kNotFound, kNotPermitted, kBusy: something is set on it.
  Result<void> remove(std::string_view system, std::string_view name, const Sender& sender,
                      Timestamp now) EXCLUDES(mutex_);
  // Feeds records in the order of their times. kStale: the number is no event's, or no longer;
  // kNotPermitted; kInvalid: a record is shorter than its fields.
  Result<void> feed(std::uint64_t number, std::span<const Record> records, const Sender& sender,
                    Timestamp now) EXCLUDES(mutex_);
  // `lat=7 pid=3 comm=cat`: fields that are not named are 0 or empty. kNotFound, kNotPermitted,
  // kInvalid; token_at is an offset into `text`.
  Result<void> write(std::string_view system, std::string_view name, std::string_view text,
                     const Sender& sender, Timestamp now) EXCLUDES(mutex_);

  // Saves the events that outlive the daemon: events without a lifetime, and others on which
  // something is set. False: the sink takes no more.
  bool save(ObjectSink& sink) const EXCLUDES(mutex_);
  std::uint64_t stamp() const EXCLUDES(mutex_);
  Result<void> load(const SavedObject& object, Timestamp now) EXCLUDES(defining_, mutex_);

  // Saves for a successor: all events, with their numbers and feeders, and, after all that is set
  // on them, the table of numbers. No switch is changed until that is loaded. False: the sink takes
  // no more.
  bool save_for_successor(ObjectSink& sink) const EXCLUDES(mutex_);
  void hand_on_numbers(ObjectSink& sink) const EXCLUDES(mutex_);
  Result<void> load_fed(const SavedObject& object, const Loading& loading)
      EXCLUDES(defining_, mutex_);
  Result<void> load_numbers(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);

  // The process has ended. False: some of its events are left, as it was late.
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late)
      EXCLUDES(mutex_);

  Result<void> want(const Wanted& wanted, const CancellationToken& cancel) override
      EXCLUDES(mutex_);
  void drain(const CancellationToken&) override {}
  void taken_over(std::string_view system, std::string_view name, Timestamp now) override
      EXCLUDES(mutex_);
  void let_go(Timestamp now) override EXCLUDES(mutex_);

 private:
  struct Event {
    std::string system;
    std::uint64_t number = 0;
    uid_t uid = 0;
    FieldsDefinition fields;
    Reservation share;
    Switch* its_switch = nullptr;
    bool for_good = false;
    bool is_wanted = false;
    std::uint32_t on = 0;  // what its switch says
    // An event without feeders that is not permanent is kept for the triggers that are set on it.
    LifetimeFeeders feeders;
  };
  using Path = std::pair<std::string, std::string>;  // system, event
  struct SavedEvent;
  std::vector<SavedEvent> list() const EXCLUDES(mutex_);
  Result<void> load(const SavedEvent& saved, std::optional<std::uint64_t> number, Timestamp now)
      EXCLUDES(defining_, mutex_);

  bool was_taken_back(std::uint64_t number) const EXCLUDES(mutex_);
  Event* find(const Path& path) const REQUIRES(mutex_);
  Result<Event*> find_owned(const Path& path, const Sender& sender) const REQUIRES(mutex_);
  Result<void> check_share(uid_t uid) const REQUIRES(mutex_);
  // Called when a sender or a demand was added or removed.
  void note_senders() REQUIRES(mutex_);
  Result<void> may_change(const Event& event, const Sender& sender) const;
  Result<void> add_feeder(const Path& path, Lifetime lifetime, const Sender& sender)
      REQUIRES(defining_) EXCLUDES(mutex_);
  Result<Done> define(const Path& path, FieldsDefinition fields, Lifetime lifetime,
                      const Sender& sender, Timestamp now) REQUIRES(defining_) EXCLUDES(mutex_);
  // An event whose name is free, without feeders. Returns its number.
  Result<std::uint64_t> enter(const Path& path, FieldsDefinition fields, uid_t uid, Timestamp now,
                              std::optional<std::uint64_t> number = {}) REQUIRES(defining_)
      EXCLUDES(mutex_);
  // Under its number, if it has one; else under the next, with a switch.
  Result<std::uint64_t> add(Event event, std::optional<std::uint64_t> number) REQUIRES(mutex_);
  Result<Done> define_again(const Path& path, const FieldsDefinition& fields, Lifetime lifetime,
                            const Sender& sender, Timestamp now) REQUIRES(defining_)
      EXCLUDES(mutex_);
  Result<void> take_out(const Path& path, Timestamp now) REQUIRES(defining_) EXCLUDES(mutex_);

  Tracing& tracing_;
  Ledger& ledger_;
  const Ownership ownership_;
  const FeederWatch processes_;

  // One event is defined or removed at a time; Tracing may be called while the lock is held.
  Mutex defining_{LockRank::kUserEventsDefining};
  std::atomic<bool> has_unkept_{false};  // events that are kept only by the triggers set on them
  Mutex ordering_{LockRank::kUserEventsOrdering};  // one want() at a time
  mutable Mutex mutex_{LockRank::kUserEvents};
  NumberTable<std::unique_ptr<Event>> events_ GUARDED_BY(mutex_);
  std::map<Path, std::uint64_t> by_path_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::tracing
