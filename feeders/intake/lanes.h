// The lane files of all feeders: made on request, found by their numbers, and closed when their
// process has ended, with what it had counted in them.
//
// Thread-safe. At most kLanesMax files, kLanesOfUidMax of a uid that is neither root's nor the
// daemon's, and the last tenth is for those two. Each is charged to its uid.
// The next server of the mount goes on with the same files, which feeders do not notice.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/branch/command.h"
#include "core/branch/handed_part.h"
#include "core/branch/own_numbers.h"
#include "core/branch/process_watch.h"
#include "core/branch/statistics/statistics_branch.h"
#include "core/tree/error_log.h"
#include "core/wire/binary.h"
#include "feeders/intake/lane_file.h"

namespace tallyfs {

class Lanes final : public HandedPart {
 public:
  static constexpr std::size_t kLanesMax = 1024;
  static constexpr std::size_t kLanesOfUidMax = 64;

  // All outlive it.
  struct Ports {
    StatisticsBranch& statistics;
    Ledger& ledger;
    ProcessWatch& processes;
    ErrorLog& errors;
  };

  // owner: the daemon's uid.
  Lanes(const Ports& ports, uid_t owner) : ports_(ports), reserve_(owner), owner_(owner) {}

  struct Made {
    std::uint64_t number = 0;
    std::shared_ptr<const LaneFile> file;  // whose descriptor is for the feeder
  };
  // kInvalid: another size; kNoSpace: a bound; kNotFound: the process cannot be seen.
  Result<Made> make(const Sender& sender, std::uint64_t bytes, Moment now) EXCLUDES(mutex_);
  // kNotFound: the process has no such lane; kInvalid: the id; kStale, kNoSpace.
  Result<void> bind(const Sender& sender, const wire::Binding& binding) EXCLUDES(mutex_);
  // What it had counted is kept, and its lanes are closed.
  void process_ended(pid_t process, Moment now) EXCLUDES(mutex_);

  SavedKinds objects() const override { return saved_kinds(SavedKind::kLanes); }
  void hand_on(ObjectSink& sink, HandedDescriptors& descriptors) override EXCLUDES(mutex_);
  // Behind the processes: a lane whose process has ended is closed when that is heard.
  Result<void> load(const SavedObject& object, const Loading& loading,
                    HandedDescriptors& descriptors) override EXCLUDES(mutex_);

  // Enters what was counted since the last time, and reports files with what no feeder writes.
  void publish_counts(Moment now) EXCLUDES(mutex_);

 private:
  // A statistic that there are cells of.
  struct Bound {
    std::uint64_t number = 0;
    std::uint32_t id = 0;  // the feeder's own
  };
  struct Lane {
    pid_t process = 0;
    uid_t uid = 0;
    std::shared_ptr<LaneFile> file{};      // shared with the statistics that it has cells of
    std::vector<Bound> bound{};
    unsigned bad_reported = 0;
  };
  Result<void> load_lane(ByteReader& in, const Loading& loading, HandedDescriptors& descriptors)
      EXCLUDES(mutex_);

  Result<void> check_room(uid_t uid) const REQUIRES(mutex_);
  void note_size(Moment now) REQUIRES(mutex_);
  Result<std::uint64_t> enter(const Sender& sender, std::shared_ptr<LaneFile> file,
                              Moment now) EXCLUDES(mutex_);
  void report_bad(Moment now) EXCLUDES(mutex_);

  const Ports ports_;
  const QuotaReserve reserve_;
  const uid_t owner_;
  const std::shared_ptr<LaneCounts> counts_ = std::make_shared<LaneCounts>();  // with the files
  mutable Mutex mutex_{LockRank::kLanes};
  boost::unordered_flat_map<std::uint64_t, Lane> lanes_ GUARDED_BY(mutex_);
  std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs
