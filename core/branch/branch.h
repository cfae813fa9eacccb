// A branch of the mount as the dispatcher and the daemon know it: statistics/, stats/,
// tracing/latency_hist/ and tracing/. Dispatcher and daemon each hold a list of branches, so that a
// further branch changes neither constructor. Each alternative of wire::Line and wire::Message
// belongs to one branch at most, which names it in handles(). Samples of statistics do not come
// this way: they go to StatisticsBranch::add() in runs, without a virtual call.
//
// Thread-safe: all below may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <type_traits>
#include <variant>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/command.h"
#include "core/branch/saved_object.h"
#include "core/wire/binary.h"
#include "core/wire/line.h"

namespace tallyfs {

// A set of alternatives of a variant: bit n stands for the alternative of index n.
using Alternatives = std::uint32_t;

template <typename Variant, typename... Some>
class AlternativesOf;
template <typename... All, typename... Some>
class AlternativesOf<std::variant<All...>, Some...> {
  static_assert(sizeof...(All) <= 8 * sizeof(Alternatives));

  template <typename One>
  static consteval Alternatives bit() {
    Alternatives bit = 1, found = 0;
    ((found |= std::is_same_v<One, All> ? bit : 0, bit <<= 1), ...);
    return found;
  }
  static_assert(((bit<Some>() != 0) && ...), "a type that is no alternative of the variant");

 public:
  static constexpr Alternatives value = (bit<Some>() | ... | 0);
};
template <typename... Some>
inline constexpr Alternatives kLines = AlternativesOf<wire::Line, Some...>::value;
template <typename... Some>
inline constexpr Alternatives kMessages = AlternativesOf<wire::Message, Some...>::value;

class Branch {
 public:
  struct Handled {
    Alternatives lines = 0;
    // Lines whose run time is charged to the sender. A sender beyond its share is put off
    // (feeders/intake/backlog.h).
    Alternatives metered_lines = 0;
    Alternatives messages = 0;
    // Objects that save() puts and load() takes.
    SavedKinds objects = 0;
  };

  virtual ~Branch() = default;

  // Returns the same at each call. The dispatcher asks once, when it is made, and aborts if another
  // branch handles one of the alternatives.
  virtual Handled handles() const = 0;
  // Carries out a line that handles() names. token_at of an error is an offset into the line. Work
  // on much may be cut (Done::is_cut): the same line continues it.
  virtual Result<Done> execute(const wire::Line& line, Call& call) = 0;
  // Takes a message that handles() names. The dispatcher has checked that the numbers in it are of
  // this daemon's epoch. kStale: the number names nothing, or nothing any more. The default returns
  // kInvalid; it is for branches that handle no message.
  virtual Result<Done> take(const wire::Message& message, Call& call);

  // A process that ProcessWatch watches has ended. Every branch is called, whichever asked for the
  // watch. False: some is left, as it was late, and the call is to be repeated. The default does
  // nothing.
  virtual bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late);

  // The functions below save what outlives the daemon, object by object. The defaults are for
  // branches that save nothing; a branch without an override says in its header why.
  //
  // Puts all objects, each as it is at some moment of the call, or of many parts at some moments,
  // until the sink takes no more.
  virtual void save(ObjectSink& sink) const;
  // For a sink that keeps them for the next server: puts the objects that a change at this path
  // (`statistics/web/definition`) may have changed, or tells the sink that they are gone. kAll:
  // save() is to be called for it, as the default says;
  // kElsewhere: the path is none of this branch.
  enum class SavedAt { kDone, kAll, kElsewhere };
  virtual SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const;
  // Whether save() asks the sink whether it keeps() an object.
  virtual bool has_long_contents() const { return false; }
  // Puts what the next server goes on with, in which feeders find the same epoch and numbers. No
  // other thread uses the branch then. The default is save().
  virtual void save_for_successor(ObjectSink& sink, Timestamp now);
  // Another number whenever what save() puts may have changed (but for one coincidence in 2^64).
  // First completes periods of histories that have ended by `now`, so it may change them.
  virtual std::uint64_t stamp(Timestamp now) const;
  // Called at start, before feeders can send: restores one object of a kind that handles() names.
  // kInvalid, kExists, kNoSpace: nothing of it was taken.
  virtual Result<void> load(const SavedObject& object, const Loading& loading);
  // Behind all objects of the server before, if it has left any. The default does nothing.
  virtual Result<void> end_loading(const Loading& loading);
};

}  // namespace tallyfs
