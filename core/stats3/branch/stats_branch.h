// The stats/ branch: the subsystems that feeders publish blobs of, and the objects in each, by name
// and by the number that feeders use. Carries out what arrives of it on the socket.
//
// Thread-safe. StatsBranch::mutex_ covers names and numbers; a blob is handed to its object outside
// of it. Lock order: StatsBranch, then object or rates, then templates, Ledger or Tree.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/keyed_hash.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/branch/branch.h"
#include "core/branch/command.h"
#include "core/branch/lifetime.h"
#include "core/branch/number_table.h"
#include "core/branch/ownership.h"
#include "core/branch/ports.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/stats3/branch/stats_object.h"
#include "core/stats3/branch/subsystem_rates.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "core/wire/binary.h"
#include "core/wire/line.h"

namespace tallyfs {

class StatsBranch final : public Branch {
 public:
  // Subsystems and objects that have switches; further ones are always published.
  static constexpr std::size_t kSwitches = 65'536;
  // Room for OBJECT.json.
  static constexpr std::size_t kObjectNameBytesMax = 250;

  // Enters `stats/` into the tree. Tree and ledger outlive it. owner is the daemon's uid, which may
  // do what root may. Without ports.processes, the last publisher of an object owns it, and a name
  // in sample rates means the template that was registered last.
  StatsBranch(Tree& tree, Ledger& ledger, uid_t owner, Moment now, Ports ports = {});
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
  Result<Done> execute(const wire::StatsLine& line, const Sender& sender, Moment now,
                       const IsLate& is_late = never_late) EXCLUDES(mutex_);
  // See FeederTemplates::add().
  Result<Done> add_template(const wire::Template& given, const Sender& sender, Moment now)
      EXCLUDES(mutex_);
  // kStale: the number names nothing (any more); kNotPermitted; else see StatsObject::publish().
  Result<void> publish(const wire::PackedBlob& blob, const Sender& sender, Moment now)
      EXCLUDES(mutex_);

  // The process has ended: its objects with lifetime=feeder go, any process may publish the others,
  // and its templates are in use no more.
  bool process_ended(pid_t process, Moment now, const IsLate& is_late = never_late) override
      EXCLUDES(mutex_);

  // The templates; the subsystems with their sample rates; the objects with their last blob, but
  // for those with lifetime=feeder. Not saved: numbers, and which process publishes what.
  void save(ObjectSink& sink) const override EXCLUDES(mutex_);
  SavedAt save_at(std::string_view path, ObjectSink& sink, Moment now) const override;
  // All of these, with numbers and processes; behind them the table of numbers.
  void hand_on(ObjectSink& sink, Moment now) override EXCLUDES(mutex_);
  std::uint64_t stamp(Moment now) const override EXCLUDES(mutex_);
  Result<void> load(const SavedObject& object, const Loading& loading) override EXCLUDES(mutex_);

  // What rmdir of SUBSYSTEM does, which lets others have the lock between its steps, and rm of
  // SUBSYSTEM/FILE. kNotFound, kNotPermitted.
  Result<void> remove_subsystem(std::string_view name, Moment now) EXCLUDES(mutex_);
  Result<void> remove_file(std::string_view subsystem, std::string_view file, Moment now)
      EXCLUDES(mutex_);

 private:
  class Root;
  class ObjectsDirectory;
  template <typename Named>
  using Names = boost::unordered_flat_map<std::string, Named*, KeyedHash, std::equal_to<>>;
  struct Subsystem;
  struct Object {
    std::string name;
    Subsystem* owner = nullptr;
    std::uint64_t number = 0;
    NodeId freeform = 0, json = 0;
    pid_t feeder = 0;  // the watched publisher; 0: none, or it is not known
    Lifetime lifetime = Lifetime::kForGood;
    // Shared with its files in the tree.
    std::shared_ptr<StatsObject> content;
  };
  struct Subsystem {
    std::string name;
    uid_t uid = 0;
    std::uint64_t number = 0;
    NodeId node = 0;
    Reservation share;
    // Shared with their file in the tree.
    std::shared_ptr<SubsystemRates> rates;
    Names<Object> objects;
    // The processes that publish in it, and are watched.
    LifetimeFeeders feeders;
    // Its withdrawal of what it publishes was cut, and goes on, also if it has ended since.
    std::optional<pid_t> withdrawing;
  };
  // One of those two on its way into a file. Without an object, it is the subsystem.
  struct Saved {
    NodeId node = 0;
    std::string label;
    uid_t uid = 0;
    // Shared with their files, and with the subsystem or object, which may be removed meanwhile.
    std::shared_ptr<SubsystemRates> rates;
    std::shared_ptr<StatsObject> object;
  };
  std::vector<Saved> listed() const EXCLUDES(mutex_);
  Result<void> load_template(const SavedObject& object, const Loading& loading);
  Result<void> load_subsystem(const SavedObject& object, const Loading& loading) REQUIRES(mutex_);
  Result<void> load_object(const SavedObject& object, const Loading& loading) REQUIRES(mutex_);
  static bool put_template(const FeederTemplates::Saved& saved, ObjectSink& sink);
  bool hand_on_templates(ObjectSink& sink) const;
  struct Handed;
  std::vector<Handed> list_handed() const EXCLUDES(mutex_);
  static Handed handed(const Subsystem& subsystem);
  static Handed handed(const Object& object);
  Result<void> load_tellers(const SavedObject& object, const Loading& loading);
  Result<void> load_fed_subsystem(const SavedObject& object, const Loading& loading)
      REQUIRES(mutex_);
  Result<void> load_fed_object(const SavedObject& object, const Loading& loading) REQUIRES(mutex_);
  Result<void> load_numbers(const SavedObject& object, const Loading& loading) REQUIRES(mutex_);

  // Whatever has a number.
  using Numbered = std::variant<Subsystem, Object>;

  // Under a number that it had in the server before; without one, under the next.
  using Number = std::optional<std::uint64_t>;
  // The switch of such a number, as it was, or of the next one, which is off. kInvalid: the number
  // is not free.
  struct Numbering {
    std::uint64_t number = 0;
    Switch* its_switch = nullptr;
  };
  Result<Numbering> give_number(Number before) REQUIRES(mutex_);
  void add_numbered(std::uint64_t number, std::unique_ptr<Numbered> entry) REQUIRES(mutex_);
  // Its number is not given yet, and its rates and feeders are none. The second enters it.
  Result<Subsystem> prepare_subsystem(std::string_view name, uid_t uid, Moment now,
                                      Number before = {}) REQUIRES(mutex_);
  std::uint64_t enter(Subsystem subsystem, Moment now) REQUIRES(mutex_);
  Result<Done> make_subsystem(const wire::StatsLine& line, const Sender& sender, Moment now)
      REQUIRES(mutex_);
  Result<Done> come_again(Subsystem& there, const wire::StatsLine& line, const Sender& sender,
                          Moment now) REQUIRES(mutex_);
  Result<Done> make_object(const wire::StatsLine& line, const Sender& sender, Moment now)
      REQUIRES(mutex_);
  Result<Object*> add_object(Subsystem& subsystem, std::string_view name, Moment now,
                             Number before = {}) REQUIRES(mutex_);
  Result<Done> tell_rates(const wire::StatsLine& line, const Sender& sender, Moment now)
      REQUIRES(mutex_);
  Result<Done> note_refusal(const wire::StatsLine& line, const Sender& sender, Moment now)
      REQUIRES(mutex_);
  // teller: the watched process; 0: none.
  Result<Done> add_template(const wire::Template& given, uid_t uid, pid_t teller, Moment now)
      EXCLUDES(mutex_);
  void report_idle(const Subsystem& subsystem, Moment now) REQUIRES(mutex_);
  // The sender's process is watched. kNoSpace.
  Result<void> add_feeder(Subsystem& subsystem, const Sender& sender) REQUIRES(mutex_);
  // False: it was none.
  bool drop_feeder(Subsystem& subsystem, pid_t process) REQUIRES(mutex_);
  Result<Done> withdraw(const wire::StatsLine& line, const Sender& sender, Moment now,
                        const IsLate& is_late) REQUIRES(mutex_);

  Subsystem* find(std::string_view name) const REQUIRES(mutex_);
  Object* find(const Subsystem& subsystem, std::string_view name) const REQUIRES(mutex_);
  Result<Subsystem*> find_owned(const wire::StatsLine& line, const Sender& sender) const
      REQUIRES(mutex_);
  Result<void> may_change(uid_t creator, uid_t sender) const;
  Result<Done> carry_out(const wire::StatsLine& line, const Sender& sender, Moment now,
                         const IsLate& is_late) REQUIRES(mutex_);
  // Takes a system call, and is done without the lock. False: it cannot be watched. kBusy: an
  // earlier process with its number has not ended for all.
  Result<bool> watch(const Sender& sender) const;
  // Another process than this publishes it, and still runs.
  bool is_anothers(const Object& object, pid_t process) const REQUIRES(mutex_) {
    return object.feeder != process && processes_.watches(object.feeder);
  }
  bool withdraw_own(Subsystem& subsystem, pid_t process, Moment now, const IsLate& is_late)
      REQUIRES(mutex_);
  bool end_feeder(Subsystem& subsystem, pid_t process, Moment now, const IsLate& is_late)
      REQUIRES(mutex_);
  // Removes the objects that it is true of, some at least. False: some are left, as it was late.
  bool forget_if(Subsystem& subsystem, const std::function<bool(Object&)>& is_gone, Moment now,
                 const IsLate& is_late) REQUIRES(mutex_);
  void forget(Object& object, Moment now) REQUIRES(mutex_) {
    Object* const one = &object;
    forget({&one, 1}, now);
  }
  void forget(std::span<Object* const> objects, Moment now) REQUIRES(mutex_);
  // It has no objects.
  void forget(Subsystem& subsystem, Moment now) REQUIRES(mutex_);
  bool forget_all(Subsystem& subsystem, Moment now, const IsLate& is_late) REQUIRES(mutex_);

  Tree& tree_;
  Ledger& ledger_;
  const Ownership ownership_;
  const FeederWatch processes_;
  ErrorLog* const errors_;
  // Shared with the objects, which may be open for longer than the branch lives.
  const std::shared_ptr<FeederTemplates> templates_;
  NodeId directory_ = 0;

  mutable Mutex mutex_{LockRank::kSubsystems};
  NumberTable<std::unique_ptr<Numbered>> numbered_ GUARDED_BY(mutex_);
  Names<Subsystem> subsystems_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
