// The subsystems of stats/ and the objects in each, by name and by the number that feeders use,
// with their directories and files in the tree and their shares of the ledger.
// Confined to the branch's lock.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/clock.h"
#include "core/base/keyed_hash.h"
#include "core/base/ledger.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/branch/command.h"
#include "core/branch/lifetime.h"
#include "core/branch/number_table.h"
#include "core/branch/switch_region.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/stats3/branch/stats_object.h"
#include "core/stats3/branch/subsystem_rates.h"
#include "core/tree/tree.h"

namespace tallyfs::stats3 {

// stats/templates, and the file of rates in each subsystem: no subsystem or object has these names.
inline constexpr std::string_view kTemplates = "templates";
inline constexpr std::string_view kSampleRates = "sample_rates";
inline constexpr std::string_view kJson = ".json";
inline constexpr Audience kForReaders{.permissions = 0400, .readers = true};

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

// Nullptr: the subsystem has no such object.
Object* find_object(const Subsystem& subsystem, std::string_view name);

class Subsystems {
 public:
  // A number that it had in the server before; without one, the next is given.
  using Number = std::optional<std::uint64_t>;
  // Makes the object that decides which entries of a subsystem's directory may be removed.
  using Rules = std::function<std::shared_ptr<Directory>(std::string_view subsystem)>;
  struct Dependencies {
    Tree& tree;  // which outlives this, as the ledger does
    Ledger& ledger;
    std::shared_ptr<const FeederTemplates> templates;
    SwitchRegion switches;
    NodeId directory = 0;  // stats/
    Rules rules;
  };

  explicit Subsystems(Dependencies dependencies)
      : dependencies_(std::move(dependencies)), numbered_(dependencies_.switches) {}

  // Nullptr: there is none of that name.
  Subsystem* find(std::string_view name) const;
  // Nullptr: the number names no object, or nothing any more.
  const Object* find_object(std::uint64_t number) const;
  const Names<Subsystem>& all() const { return by_name_; }

  // A subsystem that is not there yet: enter() makes it, take_back() gives its number back.
  // kInvalid for its name or its number; kNoSpace.
  Result<Subsystem> prepare(std::string_view name, uid_t uid, Timestamp now, Number before = {});
  std::uint64_t enter(Subsystem subsystem, Timestamp now);
  void take_back(const Subsystem& prepared) { numbered_.take_back_switch(prepared.number); }
  // kInvalid for its name or its number; kNoSpace.
  Result<Object*> add_object(Subsystem& subsystem, std::string_view name, Timestamp now,
                             Number before = {});

  // The process publishes in it, and is watched. kNoSpace.
  Result<void> add_feeder(Subsystem& subsystem, pid_t process) {
    return subsystem.feeders.add(dependencies_.ledger, subsystem.uid, process);
  }

  // Removes the objects for which is_gone() is true, some at least. False: some are left, as it was
  // late.
  bool forget_if(Subsystem& subsystem, const std::function<bool(Object&)>& is_gone, Timestamp now,
                 const IsLate& is_late);
  void forget(Object& object, Timestamp now) {
    Object* const one = &object;
    forget({&one, 1}, now);
  }
  // The subsystem has no objects.
  void forget(Subsystem& subsystem, Timestamp now);
  // The subsystem with its objects; false as of forget_if().
  bool forget_all(Subsystem& subsystem, Timestamp now, const IsLate& is_late);

  // For another server, see NumberTable.
  void save_numbers(ByteWriter& out) const { numbered_.save(out); }
  bool finish_restore_of_numbers(ByteReader& in) { return numbered_.finish_restore(in); }
  void finish_late_restore_of_numbers(ByteReader& in) { numbered_.finish_late_restore(in); }
  bool was_taken_back(std::uint64_t number) const { return numbered_.was_taken_back(number); }

 private:
  // An entry that has a number.
  using Numbered = std::variant<Subsystem, Object>;
  // The switch of a number as it was, or that of the next one, which is off.
  struct Numbering {
    std::uint64_t number = 0;
    Switch* its_switch = nullptr;
  };

  // kInvalid: the number is not free.
  Result<Numbering> give_number(Number before);
  void add_numbered(std::uint64_t number, std::unique_ptr<Numbered> entry);
  void forget(std::span<Object* const> objects, Timestamp now);

  const Dependencies dependencies_;
  NumberTable<std::unique_ptr<Numbered>> numbered_;
  Names<Subsystem> by_name_;
};

}  // namespace tallyfs::stats3
