// The lane files of all feeders: made on request, found by their numbers, and closed when their
// process has ended, with what it had counted in them. What their rings hold is taken when it is
// asked for. note_heads() says up to where, so that samples that came over the socket before can be
// taken in between.
//
// Thread-safe. At most kLanesMax files, kLanesOfUidMax of a uid that is neither root's nor the
// daemon's, and the last tenth is for those two. Each is charged to its uid.
// The next server of the mount goes on with the same files, which feeders do not notice, also after
// a kill: a file, a page of tails and a binding are written through before the feeder is told. A
// file whose feeder has ended is kept until all statistics are saved that have taken its cells; one
// of them that is saved says which it has taken (FeederCells::save_place()), so that a successor
// which finds the file again reads only what is not yet counted. What was taken out of rings since
// the last save is lost.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/branch/command.h"
#include "core/branch/daemon_counters.h"
#include "core/branch/ownership.h"
#include "core/branch/process_watch.h"
#include "core/branch/transferred_part.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/error_log.h"
#include "core/wire/binary.h"
#include "feeders/intake/counter_times.h"
#include "feeders/intake/fair_share/drop_claims.h"
#include "feeders/intake/fair_share/interface_filter.h"
#include "feeders/intake/fair_share/ring_schedule.h"
#include "feeders/intake/lane_file.h"
#include "feeders/intake/lane_rings.h"

namespace tallyfs {

class Lanes final : public TransferredPart {
 public:
  static constexpr std::size_t kLanesMax = 1024;
  static constexpr std::size_t kLanesOfUidMax = 64;
  // Files whose feeders have ended may have so much, until what was counted in them is saved.
  static constexpr std::uint64_t kEndedBytesMax = std::uint64_t{64} << 20;

  // Rings are busy for so long after the last record: ten looks (Intake::kRingPause) found none.
  static constexpr std::chrono::milliseconds kBusyFor{100};
  // The log has faults, counters at their end and dropped datagrams once in so long, each: a day of
  // a flood is 86,400 lines, which is 10 MB at 120 bytes. The counters of each have all.
  static constexpr std::chrono::seconds kLogPause{1};

  // All outlive it.
  struct Dependencies {
    statistics::StatisticsBranch& statistics;
    Ledger& ledger;
    ProcessWatch& processes;
    ErrorLog& errors;
    const Clock& clock;
    CounterTimes* counter = nullptr;  // without it, records in rings have times in ns
  };

  // owner: the daemon's uid.
  Lanes(const Dependencies& dependencies, uid_t owner)
      : dependencies_(dependencies), reserve_(owner), ownership_(owner) {}

  // From now on the next server is told of all lanes, whenever this one ends.
  void keep_with(PartKeeper& keeper) { keeper_ = &keeper; }

  struct Made {
    std::uint64_t number = 0;
    std::shared_ptr<const LaneFile> file;  // whose descriptor is for the feeder
  };
  // kInvalid: another size; kNoSpace: a bound; kNotFound: the process cannot be seen.
  Result<Made> make(const Sender& sender, std::uint64_t bytes, Timestamp now) EXCLUDES(mutex_);
  // kNotFound: the process has no such lane; kInvalid: the id, or the lane is not sealed by its
  // feeder; kStale, kNoSpace.
  Result<void> bind(const Sender& sender, const wire::Binding& binding) EXCLUDES(mutex_);
  // Its lane has cells of as many statistics as it may, and this was asked of it before.
  bool was_told_full(const wire::Binding& binding) EXCLUDES(mutex_);
  // The page of tails of a lane of the sender's. kNotFound; kNoSpace; kInvalid: the lane is not
  // sealed by its feeder, or a kernel without seals.
  struct Tails {
    int fd = -1;  // for feeders
    std::uint64_t bytes = 0;
  };
  Result<Tails> tails(const Sender& sender, std::uint64_t lane) EXCLUDES(mutex_);

  // ---- rings

  // Some feeder may have one. A look without a lock.
  bool has_rings() const { return has_rings_.load(std::memory_order_relaxed); }
  // A feeder's ring is half full. False: the process has no such lane.
  bool note_bell(const Sender& sender, std::uint64_t lane) EXCLUDES(mutex_);
  // kRung: the lanes of bells alone, so that one feeder's bells do not cost a look at all others.
  enum class Which { kAll, kRung };
  // How far feeders are now, and which bells are heard: those from now on are for the next call.
  // `of`: of the lanes that have bound a statistic of these alone. False: there are bells of
  // others, which are for the next call, too.
  bool note_heads(Which which = Which::kAll, const InterfaceFilter& of = InterfaceFilter::all())
      EXCLUDES(mutex_);
  // The rings with something that was there at note_heads(), in the order of their turns.
  std::vector<RingSchedule::Rings> filled_rings(Which which = Which::kAll,
                                                const InterfaceFilter& of = InterfaceFilter::all())
      EXCLUDES(mutex_);
  // These records were read, so many samples, whatever the feeder was told: they are in the
  // journal.
  void note_read(const statistics::RingSlice& slice, std::uint64_t samples) EXCLUDES(mutex_);
  // Reads those of one of these lanes, until the deadline or until `wanted` is not 0: then others
  // are to continue soon.
  LaneRings::Done read_rings(std::uint64_t lane, std::chrono::nanoseconds deadline,
                             const std::atomic<int>* wanted = nullptr) EXCLUDES(mutex_);
  // The rings were read, but for what was cut, which decides the order of the next turns. The bell
  // of a lane that was cut rings again.
  void finish_rings(const RingSchedule::Cuts& cuts, Which which = Which::kAll,
                    const InterfaceFilter& of = InterfaceFilter::all()) EXCLUDES(mutex_);
  // All three, in the order of turns.
  LaneRings::Done take(std::chrono::nanoseconds deadline, Which which = Which::kAll,
                       const InterfaceFilter& of = InterfaceFilter::all()) EXCLUDES(mutex_);
  // A bell has rung since heads were noted, or again.
  bool has_rung() const EXCLUDES(mutex_);
  // Does so for one process, as far as it is now.
  LaneRings::Done take_of(const Sender& sender, std::chrono::nanoseconds deadline) EXCLUDES(mutex_);
  // There were records lately.
  bool are_busy(std::chrono::nanoseconds now) const EXCLUDES(mutex_);
  // Interfaces in which a counter reached its end since the last call.
  std::vector<std::string> take_saturated() EXCLUDES(mutex_);

  // Returns the uid of its lanes; nullopt: it has none.
  std::optional<uid_t> uid_of(pid_t process) const EXCLUDES(mutex_);
  // Keeps what it had counted, and closes its lanes, once all is taken that its rings held when
  // this was called first, and its cells are read once for each statistic. False: that was cut at
  // the deadline, behind some records, the places of a file or some cells at least.
  [[nodiscard]] bool process_ended(pid_t process, Timestamp now, std::chrono::nanoseconds deadline)
      EXCLUDES(mutex_);
  // It was cut.
  bool is_ending(pid_t process) const EXCLUDES(mutex_);

  SavedKinds objects() const override {
    return saved_kinds(SavedKind::kLanes, SavedKind::kLaneRings, SavedKind::kLaneBindings);
  }
  void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) override EXCLUDES(mutex_);
  // Behind the processes: a lane whose process has ended is closed when that is heard.
  Result<void> load(const SavedObject& object, const Loading& loading,
                    TransferredFds& descriptors) override EXCLUDES(mutex_);
  bool has(const SavedObject& bindings) const override EXCLUDES(mutex_);
  void begin_save() override EXCLUDES(mutex_);
  void end_save(ObjectSink& sink, TransferredFds& descriptors) override EXCLUDES(mutex_);

  // Enters what was counted since the last time, and reports files with what no feeder writes.
  // claims: of the thread that has the intake's turn, as this is.
  void publish_counts(Timestamp now, DropClaims& claims) EXCLUDES(mutex_);

 private:
  // A statistic that there are cells of.
  struct Bound {
    std::uint64_t number = 0;
    std::uint32_t id = 0;  // the feeder's own
  };
  struct Lane {
    Lane(pid_t of_process, uid_t of_uid, std::shared_ptr<LaneFile> of_file)
        : process(of_process), uid(of_uid), file(std::move(of_file)), rings(file) {}

    pid_t process;
    uid_t uid;
    std::shared_ptr<LaneFile> file;  // shared with the statistics that it has cells of
    LaneRings rings;
    std::vector<Bound> bound{};
    std::size_t absorbed = 0;                       // of these, the last ones, once it has ended
    boost::unordered_flat_set<Subject> subjects{};  // of these, and of some that are gone
    unsigned bad_reported = 0;                      // faults
    bool is_told_full = false;
    bool has_rung = false;   // since heads were noted
    bool has_ended = false;  // bound is in the order of numbers

    // A feeder that got no response binds again.
    void note_bound(const Bound& one, Subject subject) {
      if (!rings.bind(one.id, one.number)) return;
      bound.push_back(one);
      if (subject) subjects.insert(subject);
    }
    bool is_of(const InterfaceFilter& of) const {
      const auto has = [this](Subject each) { return subjects.contains(each); };
      return of.is_all() || std::ranges::any_of(of.few(), has);
    }
  };
  static Error not_sealed() {
    return {ErrorCode::kInvalid,
            "the feeder must seal its lane (F_SEAL_FUTURE_WRITE) once it has mapped it"};
  }
  // Where cells are, and which statistics they are of, takes memory beside the file.
  static std::uint64_t charged(std::uint64_t bytes) { return bytes + bytes / 4; }

  static constexpr std::uint16_t kBindingsFormat = transfer_format(SavedKind::kLaneBindings);
  // Bindings are saved by so many.
  static constexpr std::size_t kBindingsAtOnce = 64;
  using Numbered = std::pair<std::uint64_t, Lane>;
  static std::string label_of_bindings(std::uint64_t lane, std::size_t part);
  static std::vector<std::string> labels_of_bindings(const Numbered& lane);
  static std::string bytes_of_bindings(std::uint64_t number, const Lane& lane, std::size_t part);
  void put_lane(ByteWriter& out, std::uint64_t number, const Lane& lane,
                TransferredFds& descriptors) const;
  void hand_on_rings(ObjectSink& sink, TransferredFds& descriptors) EXCLUDES(mutex_);
  void hand_on_bindings(ObjectSink& sink) EXCLUDES(mutex_);
  bool has(std::uint64_t number) const EXCLUDES(mutex_);
  Result<void> load_bindings(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> bind_here(const Sender& sender, const wire::Binding& binding, std::string& label,
                         std::string& bytes) EXCLUDES(mutex_);
  // Leaves those for which there is no room.
  void keep_ended(std::vector<Numbered>& ended) REQUIRES(mutex_);
  void let_go(const std::vector<Numbered>& ended) EXCLUDES(mutex_);
  // False: the sink takes no more.
  enum class Ended { kAll, kNotSaved };
  bool put_lanes(ObjectSink& sink, TransferredFds& descriptors, Ended which) EXCLUDES(mutex_);
  static void remove_descriptors(const Lane& lane, TransferredFds& descriptors);
  Result<void> load_rings(const SavedObject& object, const Loading& loading,
                          TransferredFds& descriptors) EXCLUDES(mutex_);
  Result<void> load_lane(ByteReader& in, const Loading& loading, TransferredFds& descriptors)
      EXCLUDES(mutex_);

  Result<Tails> make_tails(const Sender& sender, std::uint64_t lane) EXCLUDES(mutex_);
  Result<void> check_room(uid_t uid) const REQUIRES(mutex_);
  void note_size(Timestamp now) REQUIRES(mutex_);
  Result<std::uint64_t> enter(const Sender& sender, std::shared_ptr<LaneFile> file, Timestamp now)
      EXCLUDES(mutex_);
  void report_bad(Timestamp now) EXCLUDES(mutex_);
  // Reports what was not reported yet of one lane. Its lines are for the log.
  void report_bad(Lane& lane, Timestamp now, std::vector<std::string>& lines);
  void log_bad(const std::vector<std::string>& lines, Timestamp now) EXCLUDES(mutex_);
  void note_with_rings() REQUIRES(mutex_);
  LaneRings::Into into(const std::atomic<int>* wanted = nullptr) REQUIRES(mutex_);
  Lane& lane_of(std::uint64_t number) REQUIRES(mutex_) { return lanes_.find(number)->second; }
  // Returns those of these lanes that feed the interfaces, in their order. put_back() puts them
  // back to their places in another list.
  std::vector<std::uint64_t> lanes_of(const std::vector<std::uint64_t>& lanes,
                                      const InterfaceFilter& of) REQUIRES(mutex_);
  void put_back(const std::vector<std::uint64_t>& some, const InterfaceFilter& of,
                std::vector<std::uint64_t>& lanes) REQUIRES(mutex_);
  void ring(std::uint64_t number, Lane& lane) REQUIRES(mutex_);
  void hear(const InterfaceFilter& of) REQUIRES(mutex_);
  void ring_again() REQUIRES(mutex_);
  void note_taken(std::uint64_t records) REQUIRES(mutex_);
  bool take_the_rest(pid_t process, std::chrono::nanoseconds deadline) REQUIRES(mutex_);
  bool absorb(pid_t process, Timestamp now, std::chrono::nanoseconds deadline) REQUIRES(mutex_);
  LaneFile::Whose whose(uid_t uid) const {
    return reserve_.is_for(uid) ? LaneFile::Whose::kTrusted : LaneFile::Whose::kOther;
  }
  std::shared_ptr<CellCredit> credit_of(uid_t uid) const EXCLUDES(mutex_);
  void forget(std::uint64_t lane, Timestamp now) EXCLUDES(mutex_);
  void publish_ring_counts(Timestamp now) EXCLUDES(mutex_);
  // Feeders say that they have dropped so many, by uid.
  using Dropped = boost::unordered_flat_map<uid_t, std::uint64_t>;
  void note_dropped(Lane& lane) REQUIRES(mutex_);
  Dropped take_dropped() EXCLUDES(mutex_);
  void publish_dropped(Timestamp now, DropClaims& claims) EXCLUDES(mutex_);

  const Dependencies dependencies_;
  const QuotaReserve reserve_;
  const Ownership ownership_;
  PartKeeper* keeper_ = nullptr;                                               // nothing is kept
  const std::shared_ptr<LaneCounts> counts_ = std::make_shared<LaneCounts>();  // with the files
  // All uids that need one have one here, which their files share.
  const std::shared_ptr<CellCredit::OfAll> credit_ = std::make_shared<CellCredit::OfAll>();
  mutable Mutex mutex_{LockRank::kLanes};
  boost::unordered_flat_map<std::uint64_t, Lane> lanes_ GUARDED_BY(mutex_);
  std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
  // Whose feeders have ended, and what they had counted is not saved yet; of them, those before the
  // save that goes on.
  std::deque<Numbered> ended_ GUARDED_BY(mutex_);
  std::uint64_t ended_bytes_ GUARDED_BY(mutex_) = 0;  // of their files
  std::size_t saved_ends_ GUARDED_BY(mutex_) = 0;
  // Feeders of these lanes have asked for the page of tails. The next one comes first.
  std::vector<std::uint64_t> with_rings_ GUARDED_BY(mutex_);
  std::unordered_multimap<pid_t, std::uint64_t> by_process_ GUARDED_BY(mutex_);
  // Bells of rung_ came since heads were noted. Those of heard_ came before, and are not yet
  // answered by taking.
  std::vector<std::uint64_t> rung_ GUARDED_BY(mutex_);
  std::vector<std::uint64_t> heard_ GUARDED_BY(mutex_);
  std::vector<std::string> saturated_ GUARDED_BY(mutex_);
  Dropped dropped_ GUARDED_BY(mutex_);  // of lanes that are closed, until the next look
  std::chrono::nanoseconds taken_at_ GUARDED_BY(mutex_){-kBusyFor};
  std::chrono::nanoseconds bad_logged_ GUARDED_BY(mutex_){-kLogPause};
  std::atomic<bool> has_rings_{false};
  std::atomic<bool> has_dropped_{false};  // some that are closed
  std::atomic<std::size_t> rings_shown_{0};
};

}  // namespace tallyfs
