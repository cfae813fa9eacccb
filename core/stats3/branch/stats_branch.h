// The stats/ branch: the subsystems that feeders publish blobs of, and the objects in each, by name
// and by the number that feeders use. Carries out what arrives of it on the socket.
//
// Thread-safe. StatsBranch::mutex_ covers names and numbers; a blob is handed to its object outside
// of it. Lock order: StatsBranch, then object or rates, then templates, Ledger or Tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/branch/branch.h"
#include "core/branch/branch_dependencies.h"
#include "core/branch/command.h"
#include "core/branch/ownership.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/stats3/branch/subsystems.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "core/wire/binary.h"
#include "core/wire/line.h"

namespace tallyfs::stats3 {

class StatsBranch final : public Branch {
 public:
  // Subsystems and objects that have switches; further ones are always published.
  static constexpr std::size_t kSwitches = 65'536;

  // Enters `stats/` into the tree. Tree and ledger outlive it. owner is the daemon's uid, which may
  // do what root may. Without dependencies.processes, the last publisher of an object owns it, and
  // a name in sample rates means the template that was registered last.
  StatsBranch(Tree& tree, Ledger& ledger, uid_t owner, Timestamp now,
              BranchDependencies dependencies = {});
  ~StatsBranch() override;

  Handled handles() const override {
    return {
        .lines = kLines<wire::StatsLine>,
        .metered_lines = kLines<wire::StatsLine>,
        .messages = kMessages<wire::PackedBlob, wire::Template>,
        .objects = saved_kinds(SavedKind::kTemplate, SavedKind::kSubsystem, SavedKind::kStatsObject,
                               SavedKind::kFedSubsystem, SavedKind::kFedStatsObject,
                               SavedKind::kTellers, SavedKind::kStatsNumbers)};
  }
  Result<Done> execute(const wire::Line& line, Call& call) override EXCLUDES(mutex_);
  Result<Done> take(const wire::Message& message, Call& call) override EXCLUDES(mutex_);
  // Carries out a command line. kInvalid, kNotFound, kNotPermitted, kNoTemplate, kNoSpace, kExists
  // for an object that another process publishes; token_at is an offset into the line.
  Result<Done> execute(const wire::StatsLine& line, const Sender& sender, Timestamp now,
                       const IsLate& is_late = never_late) EXCLUDES(mutex_);
  // See FeederTemplates::add().
  Result<Done> add_template(const wire::Template& given, const Sender& sender, Timestamp now)
      EXCLUDES(mutex_);
  // kStale: the number names nothing (any more); kNotPermitted; else see StatsObject::publish().
  Result<void> publish(const wire::PackedBlob& blob, const Sender& sender, Timestamp now)
      EXCLUDES(mutex_);

  // The process has ended: its objects with lifetime=feeder go, any process may publish the others,
  // and its templates are in use no more.
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late) override
      EXCLUDES(mutex_);

  // The templates; the subsystems with their sample rates; the objects with their last blob, but
  // for those with lifetime=feeder. Not saved: numbers, and which process publishes what.
  void save(ObjectSink& sink) const override EXCLUDES(mutex_);
  SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const override;
  // All of these, with numbers and processes; behind them the table of numbers.
  void save_for_successor(ObjectSink& sink, Timestamp now) override EXCLUDES(mutex_);
  std::uint64_t stamp(Timestamp now) const override EXCLUDES(mutex_);
  Result<void> load(const SavedObject& object, const Loading& loading) override EXCLUDES(mutex_);

  // rmdir of SUBSYSTEM, which releases the lock between its steps, and rm of SUBSYSTEM/FILE.
  // kNotFound, kNotPermitted.
  Result<void> remove_subsystem(std::string_view name, Timestamp now) EXCLUDES(mutex_);
  Result<void> remove_file(std::string_view subsystem, std::string_view file, Timestamp now)
      EXCLUDES(mutex_);

 private:
  class Root;
  class ObjectsDirectory;

  void put_for_successor(ObjectSink& sink) const EXCLUDES(mutex_);
  Result<Done> make_subsystem(const wire::StatsLine& line, const Sender& sender, Timestamp now)
      REQUIRES(mutex_);
  Result<Done> come_again(Subsystem& there, const wire::StatsLine& line, const Sender& sender,
                          Timestamp now) REQUIRES(mutex_);
  Result<Done> make_object(const wire::StatsLine& line, const Sender& sender, Timestamp now)
      REQUIRES(mutex_);
  Result<Done> tell_rates(const wire::StatsLine& line, const Sender& sender, Timestamp now)
      REQUIRES(mutex_);
  Result<Done> note_refusal(const wire::StatsLine& line, const Sender& sender, Timestamp now)
      REQUIRES(mutex_);
  // teller: the watched process; 0: none.
  Result<Done> add_template(const wire::Template& given, uid_t uid, pid_t teller, Timestamp now)
      EXCLUDES(mutex_);
  void report_idle(const Subsystem& subsystem, Timestamp now) REQUIRES(mutex_);
  // The sender's process is watched. kNoSpace.
  Result<void> add_feeder(Subsystem& subsystem, const Sender& sender) REQUIRES(mutex_);
  // False: it was none.
  bool drop_feeder(Subsystem& subsystem, pid_t process) REQUIRES(mutex_);
  Result<Done> withdraw(const wire::StatsLine& line, const Sender& sender, Timestamp now,
                        const IsLate& is_late) REQUIRES(mutex_);

  Result<Subsystem*> find_owned(const wire::StatsLine& line, const Sender& sender) const
      REQUIRES(mutex_);
  Result<void> may_change(uid_t creator, uid_t sender) const;
  Result<Done> carry_out(const wire::StatsLine& line, const Sender& sender, Timestamp now,
                         const IsLate& is_late) REQUIRES(mutex_);
  // Takes a system call, and is done without the lock. False: it cannot be watched. kBusy: an
  // earlier process with its number has not ended for all.
  Result<bool> watch(const Sender& sender) const;
  // Another process than this publishes it, and still runs.
  bool is_anothers(const Object& object, pid_t process) const REQUIRES(mutex_) {
    return object.feeder != process && processes_.watches(object.feeder);
  }
  bool withdraw_own(Subsystem& subsystem, pid_t process, Timestamp now, const IsLate& is_late)
      REQUIRES(mutex_);
  bool end_feeder(Subsystem& subsystem, pid_t process, Timestamp now, const IsLate& is_late)
      REQUIRES(mutex_);

  Tree& tree_;
  const Ownership ownership_;
  const FeederWatch processes_;
  ErrorLog* const errors_;
  // Shared with the objects, which may be open for longer than the branch lives.
  const std::shared_ptr<FeederTemplates> templates_;
  const NodeId directory_;

  mutable Mutex mutex_{LockRank::kSubsystems};
  Subsystems subsystems_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::stats3
