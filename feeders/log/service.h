// The feeder at work: the loop that joins files, the journal and the standard input with the rules,
// and stores how far each was read. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "feeders/log/daemon_pace.h"
#include "feeders/log/follow/follower.h"
#include "feeders/log/follow/journal_reader.h"
#include "feeders/log/follow/positions.h"
#include "feeders/log/line_intake.h"
#include "feeders/log/position_committer.h"
#include "feeders/log/progress.h"
#include "feeders/log/standard_input.h"
#include "feeders/text/series_bounds.h"
#include "program/feeder/stop_signal.h"

namespace tallyfs::logs {

class Service final : public LineSink {
 public:
  struct Settings {
    std::vector<std::string> paths{};
    From from = From::kEnd;
    bool reads_standard_input = false;
    bool ends = false;  // --once
    std::string positions{};
    std::optional<JournalReader::Settings> journal{};
    SeriesLimits limits{};
    // The service calls it at SIGHUP.
    std::function<Result<Rules>(NameScales scales)> read_rules;
  };

  // Opens what is to be kept open. Throws std::system_error, as libtally does.
  static Result<std::unique_ptr<Service>> create(Settings settings, Rules rules,
                                                 StopSignal& signals);
  ~Service() override;

  enum class Outcome { kDone, kMissing, kUnreadable, kStopped, kNotTaken };
  // Runs until a signal, or with `ends` until all was read: then a file may be missing, a read may
  // have failed, a signal may have come before the end, or the daemon has not accepted all.
  Outcome run();
  // The files that were not read with `ends`, and patterns that find none.
  const std::set<std::string>& missing() const { return follower_->missing(); }
  const LineCounts& lines() const { return intake_.counts(); }
  const FollowCounts& files() const { return files_; }

 private:
  Service(Settings settings, StopSignal& signals);
  Result<void> begin(Rules rules);
  void use(Rules rules);
  void reload();
  Result<void> open_positions();
  Result<void> open_journal(const Rules& rules);
  void log_continuation();

  void take(std::string_view line, const LineOrigin& origin) override;
  void move(PositionRecord& record, std::uint64_t offset) override;
  void begin_again(PositionRecord& record, const CountedPart& before) override;
  void keep(PositionRecord& record, const Checkpoint& checkpoint,
            std::string_view head) override;
  bool confirm_all() override;
  void take_piped(std::string_view line);

  // False: a signal has ended it.
  bool read_once();
  void follow();
  bool read_some();
  bool read_journal();
  void note_journal_error(int error);
  // False: the daemon has not said yet which events are wanted.
  bool confirm_events();
  void read_on();
  void read_pipe();
  void keep_up();
  void wait_for_input();
  void wait(std::chrono::milliseconds time);
  void sync_positions();
  Outcome outcome(bool is_all_read, bool is_committed);

  const Settings settings_;
  StopSignal& signals_;
  FollowCounts files_;
  LineIntake intake_;
  Progress progress_;
  DaemonPace pace_;
  StandardInput input_;
  std::optional<Positions> positions_;
  std::unique_ptr<PositionCommitter> committer_;
  std::unique_ptr<Follower> follower_;
  std::optional<JournalReader> journal_;
  bool must_confirm_events_ = false;  // rules have new ones
  int journal_error_ = 0;
  std::chrono::nanoseconds synced_{0};
  std::uint64_t synced_bytes_ = 0;  // of files_, when positions were put onto the disk last
};

}  // namespace tallyfs::logs
