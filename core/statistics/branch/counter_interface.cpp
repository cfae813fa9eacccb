#include "core/statistics/branch/counter_interface.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tallyfs {
namespace {

struct CounterStatistic {
  DaemonCounter what;
  std::string_view name;
  std::string_view definition;
};

// A macro only because string literals are joined by the preprocessor alone.
#define COUNTER "on=1 type=value mode=increments "

constexpr std::array kCounterStatistics = {
    // taken from the socket, garbage included
    CounterStatistic{DaemonCounter::kDatagrams, "datagrams", COUNTER "units=datagrams"},
    // taken in, whether their statistic was on or off
    CounterStatistic{DaemonCounter::kSamples, "samples", COUNTER "units=samples"},
    // blobs of stats/ that took the place of the one before
    CounterStatistic{DaemonCounter::kBlobs, "blobs", COUNTER "units=blobs"},
    // commands and templates that were carried out
    CounterStatistic{DaemonCounter::kCommands, "commands", COUNTER "units=commands"},
    // lines, messages and samples in messages refused, from the socket and in files; the last ones
    // stand in tracing/error_log
    CounterStatistic{DaemonCounter::kRejects, "rejects", COUNTER "units=lines+messages+samples"},
    // datagrams longer than the receive buffer, of which nothing was taken
    CounterStatistic{DaemonCounter::kTruncated, "truncated", COUNTER "units=datagrams"},
    // datagrams that carried file descriptors, which were not accepted
    CounterStatistic{DaemonCounter::kFdsRefused, "fds_refused", COUNTER "units=datagrams"},
    // answers that did not fit into their addressee's queue, or whose addressee was gone
    CounterStatistic{DaemonCounter::kAnswersDropped, "answers_dropped", COUNTER "units=answers"},
    // samples that feeders say they dropped for want of room, or must take for lost
    CounterStatistic{DaemonCounter::kDropped, "dropped", COUNTER "units=samples"},
    // the same, by the feeder's process id
    CounterStatistic{DaemonCounter::kDroppedBy, "dropped_by",
                     "on=1 type=list entries_max=1024 units=process/samples"},
    // drains for opens under a flood, which did not see every sample sent before them
    CounterStatistic{DaemonCounter::kDrainsCut, "drains_cut", COUNTER "units=opens"},
    // counters that stand at the end of their type
    CounterStatistic{DaemonCounter::kSaturations, "saturations", COUNTER "units=counters"},
    // what it took to decode and add what one system call brought
    CounterStatistic{DaemonCounter::kBatchNs, "batch_ns",
                     "on=1 type=array base_interval=256 scale=log2 range_min=0 range_max=67108864 "
                     "units=nanoseconds/batches"},
    // handles open at each open
    CounterStatistic{DaemonCounter::kOpenFiles, "open_files",
                     "on=1 type=range units=handles/opens"},
    // opens refused by a quota
    CounterStatistic{DaemonCounter::kOpensRefused, "opens_refused", COUNTER "units=opens"},
    // records of events that triggers or trace asked for
    CounterStatistic{DaemonCounter::kEvents, "events", COUNTER "units=records"},
    // records that their source could not keep, or send
    CounterStatistic{DaemonCounter::kEventsLost, "events_lost", COUNTER "units=records"},
    // records that could not wait any more for those of other sources that happened before
    CounterStatistic{DaemonCounter::kEventsHurried, "events_hurried", COUNTER "units=records"},
    // datagrams, whole or in part, that were taken behind others' because their sender was beyond
    // its share of the daemon's time
    CounterStatistic{DaemonCounter::kPutOff, "put_off", COUNTER "units=datagrams"},
    // answers that were not sent since feeders of their uid have not read as many as it may have
    // under way
    CounterStatistic{DaemonCounter::kAnswersOverShare, "answers_over_share",
                     COUNTER "units=answers"},
    // as `dropped`, by the feeder's uid
    CounterStatistic{DaemonCounter::kDroppedByUid, "dropped_by_uid",
                     "on=1 type=list entries_max=1024 units=uid/samples"},
    // size of the newest file of --state
    CounterStatistic{DaemonCounter::kStateBytes, "state_bytes", "on=1 type=last units=bytes"},
    // from the beginning of such a file until it lies on the disk
    CounterStatistic{DaemonCounter::kStateUs, "state_us",
                     "on=1 type=range units=microseconds/files"},
    // files that could not be written
    CounterStatistic{DaemonCounter::kStateFailures, "state_failures", COUNTER "units=files"},
    // with --keeper: servers that ended unasked, since the mount was made
    CounterStatistic{DaemonCounter::kTakeovers, "takeovers", COUNTER "units=servers"},
    // from the end of the last one until this server answered requests
    CounterStatistic{DaemonCounter::kTakeoverUs, "takeover_us",
                     "on=1 type=last units=microseconds"},
    // lane files of feeders that are there now
    CounterStatistic{DaemonCounter::kLanes, "lanes", "on=1 type=last units=lanes"},
    // cells of feeders that were read
    CounterStatistic{DaemonCounter::kCellsMerged, "cells_merged", COUNTER "units=cells"},
    // what in lane files no feeder writes
    CounterStatistic{DaemonCounter::kLaneBad, "lane_bad", COUNTER "units=faults"},
    // samples that libraries sent of statistics with cells or rings, by the feeder's process id
    CounterStatistic{DaemonCounter::kBesideLanes, "beside_lanes",
                     "on=1 type=list entries_max=1024 units=process/samples"},
    // reloads that the program on disk refused, so that this one goes on
    CounterStatistic{DaemonCounter::kReloadsRefused, "reloads_refused", COUNTER "units=reloads"},
    // rings of feeders' threads that are there now
    CounterStatistic{DaemonCounter::kRings, "rings", "on=1 type=last units=rings"},
    // samples that were taken from them, whether their statistic was on or off
    CounterStatistic{DaemonCounter::kRingSamples, "ring_samples", COUNTER "units=samples"},
    // samples that found no room in them; feeders say them again in `dropped`
    CounterStatistic{DaemonCounter::kLaneDropped, "lane_dropped", COUNTER "units=samples"},
    // when the newest file of --state was written, in seconds since 1970
    CounterStatistic{DaemonCounter::kStateSavedS, "state_saved_s", "on=1 type=last units=seconds"},
    // when one could last not be written
    CounterStatistic{DaemonCounter::kStateFailedS, "state_failed_s",
                     "on=1 type=last units=seconds"},
    // what a state that was loaded, at the start or in a reload, had and is not there
    CounterStatistic{DaemonCounter::kStateLeftOut, "state_left_out", COUNTER "units=objects"},
    // datagrams that were put off and dropped, as more came than may wait; `rejects` has them too
    CounterStatistic{DaemonCounter::kPutOffDropped, "put_off_dropped", COUNTER "units=datagrams"},
    // samples of text with more places than decimals= of their statistic
    CounterStatistic{DaemonCounter::kRounded, "rounded", COUNTER "units=samples"},
    // 1 while a kill of the server would lose a change of the state
    CounterStatistic{DaemonCounter::kUnsaved, "unsaved", "on=1 type=last units=yes_or_no"},
    // answer channels of feeders that are there now
    CounterStatistic{DaemonCounter::kChannels, "channels", "on=1 type=last units=channels"},
};

#undef COUNTER

static_assert(kCounterStatistics.size() == kDaemonCounters);

}  // namespace

CounterInterface::CounterInterface(std::shared_ptr<Interface> interface, Moment now)
    : interface_(std::move(interface)) {
  for (const CounterStatistic& each : kCounterStatistics) {
    const auto made = interface_->create_statistic(each.name, each.definition, now);
    if (!made || static_cast<std::size_t>(each.what) != statistics_.size()) {
      std::fprintf(stderr, "tallyfs: counter %s cannot be made: %s\n", each.name.data(),
                   made ? "out of order" : made.error().reason.c_str());
      std::abort();
    }
    statistics_.push_back(made.value());
  }
}

void CounterInterface::record(DaemonCounter what, std::int64_t x, std::uint64_t count, Moment now) {
  const Sample sample{.x = x, .y = count, .time = now.monotonic};
  const Run run{statistics_[static_cast<std::size_t>(what)], {&sample, 1}};
  interface_->add({&run, 1}, now);
}

Result<void> CounterInterface::go_on(Interface& before, Moment now) {
  std::string names;
  for (const std::string& each : interface_->take_data(before, now)) {
    names.append(names.empty() ? "" : ", ").append(each);
  }
  if (names.empty()) return {};
  return Error{ErrorCode::kNoSpace, "there is no room for " + names + ", all else goes on"};
}

}  // namespace tallyfs
