// One of the daemon's own numbers. A row for each has its name, its definition, its documentation
// and what doctor says of it; nothing else lists them. docs/own-numbers.md is written from these
// rows.
//
// The rows are here, and not in the branch that shows them, since tallyctl reads them, too.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace tallyfs {

class DaemonCounter {
 public:
  struct Row {
    std::string_view name;  // of its statistic in statistics/tallyfs
    std::string_view type;  // the keys of its definition that say how it counts
    std::string_view units;
    std::string_view meaning;  // of a problem a sentence: doctor begins it with the count
    std::string_view one;      // of a problem: the same sentence where the count is 1
    std::string_view advice;   // of a problem: what to do

    constexpr bool is_problem() const { return !advice.empty(); }
  };

  static constexpr std::string_view kCount = "type=value mode=increments";
  static constexpr std::string_view kLast = "type=last";
  static constexpr std::string_view kRange = "type=range";
  static constexpr std::string_view kList = "type=list entries_max=1024";
  static constexpr std::string_view kTimes =
      "type=array base_interval=256 scale=log2 range_min=0 range_max=67108864";

  // In the order in which statistics/tallyfs shows them.
  static constexpr Row kRows[] = {
      {"datagrams", kCount, "datagrams", "datagrams from the socket, garbage included"},
      {"samples", kCount, "samples",
       "samples that were taken in, whether their statistic was on or off"},
      {"blobs", kCount, "blobs", "blobs of stats/, each of which took the place of the one before"},
      {"commands", kCount, "commands", "commands and templates that were carried out"},
      {"rejects", kCount, "lines+messages+samples", "lines or messages were refused",
       "line or message was refused",
       "tallyctl errors has the last ones, with their senders and reasons"},
      {"truncated", kCount, "datagrams", "datagrams were too long, and nothing of them was taken",
       "datagram was too long, and nothing of it was taken",
       "keep datagrams below 256 KiB: split what is sent at once"},
      {"fds_refused", kCount, "datagrams",
       "datagrams carried file descriptors, which were closed unused",
       "datagram carried file descriptors, which were closed unused",
       "send no descriptors to the socket but a channel for answers; a user may have 64 of them"},
      {"answers_dropped", kCount, "answers",
       "answers did not reach their feeders, which do not read or have no address",
       "answer did not reach its feeder, which does not read or has no address",
       "read the answers, or send without asking for them; tally-send and libtally do"},
      {"dropped", kCount, "samples", "samples were dropped by feeders that could not send them",
       "sample was dropped by a feeder that could not send it",
       "tallyctl errors has refused statistics, threads beyond 1,024 drop theirs, or the daemon "
       "was away or behind for longer than held_max holds, see queue"},
      {"dropped_by", kList, "process/samples",
       "the samples of dropped, by the feeder's process id"},
      {"drains_cut", kCount, "opens",
       "opens showed what was there before all that had been sent was taken in",
       "open showed what was there before all that had been sent was taken in",
       "the daemon is behind, or many opens came beside full rings: fewer or larger datagrams, see "
       "batch_ns; read again for the rest"},
      {"saturations", kCount, "counters",
       "counters stand at the end of their type, and count no more",
       "counter stands at the end of its type, and counts no more",
       "the daemon's log names them: tallyctl reset INTERFACE/STATISTIC"},
      {"batch_ns", kTimes, "nanoseconds/batches",
       "time to decode and add what one system call brought"},
      {"open_files", kRange, "handles/opens", "handles open at each open"},
      {"opens_refused", kCount, "opens",
       "opens were refused by a quota of open files or of their bytes",
       "open was refused by a quota of open files or of their bytes",
       "close files, or start with larger --uid-open-files, --uid-open-bytes, --open-bytes-max"},
      {"events", kCount, "records", "records of events that triggers or trace asked for"},
      {"events_lost", kCount, "records", "records of events were lost before they could be counted",
       "record of an event was lost before it could be counted",
       "larger buffers (buffer_size_kb of the kernel's instance), fewer events, or a filter"},
      {"events_hurried", kCount, "records",
       "records were used before older ones of other sources could come",
       "record was used before older ones of other sources could come",
       "orders of events across processes may be wrong: let the sources send more often"},
      {"put_off", kCount, "datagrams",
       "datagrams waited behind others since their senders had used up their shares of time",
       "datagram waited behind others since its sender had used up its share of time",
       "send less in that feeder, and create and define less often; what it sends comes late, and "
       "none is lost unless put_off_dropped grows"},
      {"answers_over_share", kCount, "answers", "answers were not sent to a uid that reads none",
       "answer was not sent to a uid that reads none",
       "that uid's feeders must read their answers, or not ask for them"},
      {"dropped_by_uid", kList, "uid/samples", "the samples of dropped, by the feeder's uid"},
      {"state_bytes", kLast, "bytes", "size of the newest file of --state"},
      {"state_us", kRange, "microseconds/files",
       "time to write a file of --state, until it lies on the disk"},
      {"state_failures", kCount, "files", "files of --state could not be written",
       "file of --state could not be written",
       "the daemon's log says why: room and rights in its directory; the file before is still "
       "there"},
      {"takeovers", kCount, "servers",
       "servers ended unexpectedly, and the keeper started another each time",
       "server ended unexpectedly, and the keeper started another",
       "the daemon's log says why each ended; what came for tracing/ and stats/ since the last "
       "save, a second before as a rule, is lost"},
      {"takeover_us", kLast, "microseconds",
       "time from the end of the last server that ended so until this one answered requests"},
      {"lanes", kLast, "lanes", "lane files of feeders that are open now"},
      {"cells_merged", kCount, "cells", "cells of feeders that were read"},
      {"lane_bad", kCount, "faults",
       "times, memory that feeders count in held what no feeder writes",
       "time, memory that feeders count in held what no feeder writes",
       "tallyctl errors names the process and the fault: it is broken or hostile"},
      {"beside_lanes", kList, "process/samples",
       "samples that libraries sent of statistics with cells or rings, by the feeder's process id"},
      {"reloads_refused", kCount, "reloads",
       "reloads were refused by the program on disk, and this one goes on",
       "reload was refused by the program on disk, and this one goes on",
       "correct what the reason names (the daemon's log has it, too), then tallyfs --reload"},
      {"rings", kLast, "rings", "rings of feeders' threads that are open now"},
      {"ring_samples", kCount, "samples",
       "samples that were taken from rings, whether their statistic was on or off"},
      {"lane_dropped", kCount, "samples", "samples found no room in the rings of their threads",
       "sample found no room in the ring of its thread",
       "settings.wait_ms lets feeders wait for the daemon; what wants each sample wants fewer"},
      {"state_saved_s", kLast, "seconds",
       "when the newest file of --state was written, in seconds since 1970"},
      {"state_failed_s", kLast, "seconds",
       "when a file of --state could last not be written, in seconds since 1970"},
      {"state_left_out", kCount, "objects",
       "objects of a state were left out at the start, or in a reload",
       "object of a state was left out at the start, or in a reload",
       "tallyctl errors and the daemon's log name them; state.incomplete in the directory of "
       "--state has those of a start"},
      {"put_off_dropped", kCount, "datagrams",
       "datagrams were dropped: their senders had sent more than can wait",
       "datagram was dropped: its sender had sent more than can wait",
       "the daemon's log and tallyctl errors name such senders: let them send less"},
      {"rounded", kCount, "samples",
       "samples of text had more decimal places than their statistics keep",
       "sample of text had more decimal places than its statistic keeps",
       "they count rounded: define these statistics with more decimals="},
      {"unsaved", kLast, "yes_or_no",
       "1 while a change is not saved; samples of statistics/ are in the journal then"},
      {"keep_failures", kCount, "saves",
       "saves failed: the keeper's memory took no more, and a kill of the server loses more",
       "save failed: the keeper's memory took no more, and a kill of the server loses more",
       "the daemon's log says why: memory of the machine or of its cgroup, a limit of file sizes"},
      {"journal_missed", kCount, "records",
       "datagrams and pieces of rings found no room in the journal: a kill before the next save "
       "would have lost them",
       "datagram or piece of a ring found no room in the journal: a kill before the next save "
       "would "
       "have lost it",
       "a longer --journal-bytes, or less of it from one sender"},
      {"replay_us", kLast, "microseconds",
       "how long this server took to take in again what the one before it left in the journal"},
      {"channels", kLast, "channels", "answer channels of feeders that are open now"},
      {"poisoned", kCount, "requests",
       "requests were refused (EIO): two servers had crashed with them, or three in a row",
       "request was refused (EIO): two servers had crashed with it, or three in a row",
       "tallyctl errors and the daemon's log name those with which two have crashed: do not repeat "
       "them, and report them with the signals in the log"},
  };

  // Finds a row by its name: `counters.count("rejects", 1, now)`. A name without a row does not
  // compile.
  template <std::size_t Size>
  consteval DaemonCounter(const char (&name)[Size]) : index_(index_of({name, Size - 1})) {}
  constexpr explicit DaemonCounter(std::size_t index) : index_(index) {}

  constexpr std::size_t index() const { return index_; }

 private:
  static consteval std::size_t index_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
      if (kRows[i].name == name) return i;
    }
    throw "no row has this name";
  }

  std::size_t index_;
};

}  // namespace tallyfs
