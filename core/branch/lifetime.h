// lifetime=feeder: a thing that is removed when the last process that asked for it has ended. Here
// are the word itself, the processes of one thing, and how a process is watched without a race.
#pragma once

#include <sys/types.h>

#include <list>
#include <string_view>

#include "core/base/ledger.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/branch/command.h"
#include "core/branch/process_watch.h"

namespace tallyfs {

enum class Lifetime { kForGood, kFeeder };

// Takes the word lifetime=feeder off a text that may begin with it. kInvalid for another lifetime,
// with token_at at the value: no word is taken.
Result<Lifetime> take_lifetime(Tokens& words);
// Parses attributes that are empty or `lifetime=feeder`. kInvalid, with token_at in the text;
// thing: "an interface".
Result<Lifetime> parse_lifetime(std::string_view attributes, std::string_view thing);

// The watched processes of one thing. Each takes kFeederBytes of the owner's share of the ledger.
// Confined to the lock of the branch.
class LifetimeFeeders {
 public:
  static constexpr std::uint64_t kFeederBytes = 64;

  // A process that is there already changes nothing. kNoSpace.
  Result<void> add(Ledger& ledger, uid_t owner, pid_t process);
  // False if the process is not one of them.
  bool remove(pid_t process);
  bool contains(pid_t process) const;
  bool has_only(pid_t process) const {
    return feeders_.size() == 1 && feeders_.front().process == process;
  }
  bool empty() const { return feeders_.empty(); }

  template <typename Visit>
  void each(Visit visit) const {
    for (const Feeder& feeder : feeders_) visit(feeder.process);
  }

 private:
  struct Feeder {
    pid_t process = 0;
    Reservation share;
  };

  std::list<Feeder> feeders_;
};

// The watched processes as a branch uses them. Thread-safe, as ProcessWatch is.
class FeederWatch {
 public:
  // Nullptr: no process can be watched.
  explicit FeederWatch(ProcessWatch* processes) : processes_(processes) {}

  // Takes a system call, so that no lock is held here. kInvalid: no process can be watched here, or
  // the sender's is not known; else as ProcessWatch::watch().
  Result<void> watch(const Sender& sender) const;
  // The process is watched and still runs.
  bool watches(pid_t process) const {
    return processes_ && process > 0 && processes_->watches(process);
  }

  // Calls change(), and then ended() if the process, which was watched before, has ended meanwhile:
  // at the time of its end the change may not have been there yet.
  template <typename Change, typename Ended>
  auto change_while_watched(pid_t process, Change change, Ended ended) const {
    auto done = change();
    if (!watches(process)) ended();
    return done;
  }

 private:
  ProcessWatch* const processes_;
};

}  // namespace tallyfs
