// Objects of a branch that outlive the daemon: which kinds there are, where save() puts them, and
// what load() is told. core/state has the file that they stand in. Values, but for the sink.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/boot.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/state/state_file.h"

namespace tallyfs {

// One list for all branches. The numbers stand in files: none changes, none is used again.
enum class SavedKind : std::uint16_t {
  kInterface = 1,    // of statistics/; the label is its name
  kRule = 2,         // one line that was written into `rules`; the label is its number
  kTemplate = 3,     // of stats(3), as a feeder registered it; the label is its name and hash
  kSubsystem = 4,    // of stats/, with its sample rates; the label is its name
  kStatsObject = 5,  // the last blob of it; the label is SUBSYSTEM/OBJECT
  // Kinds of tracing/, where the label is a path for people.
  kProgramEvent = 6,  // an event that a program has defined
  kKernelEvent = 7,   // an event of the kernel on which something is set
  kSyntheticEvent = 8,
  kTracingInstance = 9,  // the options of tracing/ or of an instance
  kTrigger = 10,
  kHistogram = 11,      // the contents of the histogram of a trigger
  kEventSettings = 12,  // enable and filter of an event
  // Kinds of tracing/latency_hist, where the label is the directory.
  kLatencies = 13,        // fed by programs
  kKernelLatencies = 14,  // of the kernel's events
  kLatencySwitches = 15,  // enable/ and the selected processes
  kErrorLog = 16,
  // Kinds of a server that hands over to the next one; no file of --state has them. Up to 31 they
  // are of what feeders share with the daemon.
  kFedInterface = 17,         // kInterface with what feeders know of it, instead of that
  kStatisticNumbers = 18,     // which numbers of statistics there are, behind all interfaces
  kStatsNumbers = 19,         // the same of stats/
  kProgramEventNumbers = 20,  // the same of events of programs
  kFedSubsystem = 21,         // the same of a subsystem
  kFedStatsObject = 22,       // of an object
  kTellers = 23,              // the processes that have registered a template; behind it
  kFedEvent = 24,             // kProgramEvent with its number and its feeders
  kPages = 25,                // the epoch, and the pages that feeders read
  kProcesses = 26,            // those whose end is waited for
  kLanes = 27,                // the lane files
  kSenders = 28,              // what is known of senders
  kLateDatagram = 29,         // a datagram that is put off; the label is its place
  kLaneRings = 30,            // how far the rings in lane files were read; behind those
  kUnseenProcesses = 31,      // the numbers of processes outside of the PID namespace
  // Kinds of the mount, which a server leaves to its successor in a reload. No file on a disk has
  // them.
  kNodes = 32,              // the numbers of names
  kCachedDirectories = 33,  // whose attributes the kernel has
  kHandles = 34,            // the numbers of open files
  kOpenFile = 35,           // one of them; the label is its number
  kTrace = 36,              // the records of a directory of tracing/
  // Kinds in the memory of the keeper alone.
  kKept = 37,  // since when it has all objects
  // A kind of tracing/, before kKernelEvent.
  kProbe = 38,  // its name, serial and places
  // Kinds of what feeders share with the daemon, as those up to 31.
  kLaneBindings = 39,  // what ids in a lane file mean; the label is LANE/PART
  // A kind in the memory of the keeper alone: statistics of a kFedInterface that were changed since
  // it was saved; the label is INTERFACE/NUMBER. Loaded before it.
  kFedChanges = 40,
  // Of what feeders share with the daemon, as those up to 31.
  kJournal = 41,  // the memory with the input that was taken in (feeders/intake/input_journal.h)
};

// The format in which a server leaves objects of these kinds to its successor, and in which this
// version reads them; 0: the kind is none of feeders or of the mount.
constexpr std::uint16_t transfer_format(SavedKind kind) {
  if (kind == SavedKind::kFedInterface) return 3;
  const bool is_second = kind == SavedKind::kPages || kind == SavedKind::kLanes ||
                         kind == SavedKind::kLaneRings || kind == SavedKind::kOpenFile;
  if (is_second) return 2;
  const bool is_of_feeders =
      (kind >= SavedKind::kFedInterface && kind <= SavedKind::kUnseenProcesses) ||
      kind == SavedKind::kLaneBindings || kind == SavedKind::kJournal;
  const bool is_of_mount = kind >= SavedKind::kNodes && kind <= SavedKind::kTrace;
  return is_of_feeders || is_of_mount ? 1 : 0;
}

// The word for people: "interface".
const char* name_of(SavedKind kind);

constexpr SavedObject saved_object(SavedKind kind, std::uint16_t format, std::string_view label,
                                   std::string_view bytes) {
  return {static_cast<std::uint16_t>(kind), format, label, bytes};
}
constexpr bool is_of(const SavedObject& object, SavedKind kind) {
  return object.kind == static_cast<std::uint16_t>(kind);
}
// The error for an object that another version of the daemon has saved.
Error other_format(const SavedObject& object);

// A set of kinds: bit n stands for the kind of number n.
using SavedKinds = KindBits;
constexpr SavedKinds kind_bit(std::uint16_t kind) {
  return kind < 64 ? SavedKinds{1} << kind : SavedKinds{0};
}
template <typename... Kinds>
constexpr SavedKinds saved_kinds(Kinds... kinds) {
  return (kind_bit(static_cast<std::uint16_t>(kinds)) | ...);
}

// Spreads a number over all bits (the last step of splitmix64), so that a sum of such numbers is
// another one if any of them is. Branch::stamp() is such a sum.
constexpr std::uint64_t spread(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// Where a branch puts its objects, one after the other, in the order in which they are to be
// loaded. No lock of the branch is held while put() is called, as it may write to a disk.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;

  // The program that loads the objects. kRestart: a daemon whose feeders register anew. kSuccessor:
  // the next server of the mount, after a kill, in which feeders find the same epoch and numbers.
  enum class Reader { kRestart, kSuccessor };
  virtual Reader reader() const { return Reader::kRestart; }
  // The object's texts live until it returns. False: nothing more can be taken.
  virtual bool put(const SavedObject& object) = 0;
  // Asked before an object that has versions is put. False: the sink has this version.
  virtual bool wants(SavedKind, std::string_view /*label*/, const ObjectVersion&) { return true; }
  // Asked before an object is put whose contents take long. True: the sink keeps those that it has
  // of this object, whatever changes they had, and put() is not called for it.
  virtual bool keeps(SavedKind, std::string_view /*label*/, const ObjectVersion&) { return false; }
  // For a sink that keeps objects. Asked before changes of an interface are put. False: the
  // interface is to be put, as the sink has none of that number, or one that is not long.
  virtual bool wants_changes(std::string_view /*interface*/, std::uint64_t /*object*/) {
    return false;
  }
  // Puts what a change has made of some statistics of an interface, which has this version with the
  // change. False: the interface is to be put.
  virtual bool put_changes(const SavedObject&, const ObjectVersion&) { return false; }
  // The object is not there any more. For a sink that keeps what other calls have put.
  virtual void gone(SavedKind, std::string_view /*label*/) {}
};

// The circumstances in which an object is loaded.
struct Loading {
  // Whether it was saved since the machine has booted: if not, its times say nothing.
  Boot boot = Boot::kThis;
  Timestamp now;
  // The pages that feeders read are those of the server that has saved it: numbers stay.
  bool has_pages = false;
  // The objects are older than the end of the server that has saved them, and each is of another
  // moment.
  bool is_after_kill = false;
};

}  // namespace tallyfs
