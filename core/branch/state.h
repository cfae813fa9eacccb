// The state of all branches as the bytes of a state file (core/state), and back.
//
// Thread-safe as the branches are: any thread may save while others go on. Saving takes one object
// and kPieceBytes of memory, and the definitions of tracing/, which are listed at one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/branch/branch.h"
#include "core/branch/daemon_counters.h"
#include "core/branch/transferred_part.h"
#include "core/state/state_file.h"
#include "core/tree/error_log.h"

namespace tallyfs {

// Pieces of a file are passed on when they have this size.
inline constexpr std::size_t kPieceBytes = 1 << 20;

// Takes the next bytes of the file, which the branches' locks do not cover.
using StateOutput = std::function<Result<void>(std::string_view bytes)>;

struct SavedState {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

// The output's error, after which it is not called again; kTooBig: an object of 4 GiB.
Result<SavedState> save_state(const StateHeader& header, std::span<Branch* const> branches,
                              const StateOutput& output);

// As save_state(), with any objects, which `put` puts.
Result<SavedState> save_objects(const StateHeader& header,
                                const std::function<void(ObjectSink& sink)>& put,
                                const StateOutput& output);

// A number that changes with what save_state() would write, see Branch::stamp().
std::uint64_t state_stamp(std::span<Branch* const> branches, Timestamp now);

struct LoadedState {
  std::size_t objects = 0;
  // A line for each object that the branches did not take, and the file's own faults before them.
  std::vector<std::string> faults;
  // How many of each kind the branches did not take; people's names.
  std::map<std::string, std::size_t> left_out;
};

// The first fault, and how many more there are: "interface 'web' is left out: REASON, and 3 more;
// left out by kind: interface 2, trigger 1". Empty without one.
std::string summary_of_faults(const LoadedState& loaded);
// Counts what was left out of a state, and enters it in error_log: the log may be out of sight.
// from: the path or the event. remark: behind the reasons.
void report_left_out(const LoadedState& loaded, const std::string& from, std::string_view remark,
                     DaemonCounters& counters, ErrorLog& errors, Timestamp now);
// "1 object", "2 objects"
std::string objects_text(const LoadedState& loaded);

// Whether times in the file count from the same moment as ours. The clock of a machine that went
// back to a snapshot, or of another time namespace, is behind that of its file: no time of it is
// one of ours, as after a reboot.
Boot boot_of(const StateHeader& header, const BootId& boot, Timestamp now);

// Loads a file that read_state() has read. boot: the present one.
LoadedState load_state(const StateFile& file, std::span<Branch* const> branches, const BootId& boot,
                       Timestamp now);

// The parts that take over the state of the server before.
struct TransferTargets {
  std::span<Branch* const> branches;
  std::span<TransferredPart* const> parts;
  TransferredFds& descriptors;
};
// loading: of this boot.
LoadedState take_state(const StateFile& file, const TransferTargets& to, const Loading& loading);

}  // namespace tallyfs
