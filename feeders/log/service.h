// The feeder at work: files, the journal and the standard input, the rules, libtally, and the loop
// that joins them. Confined to one thread.
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

#include "core/base/line_splitter.h"
#include "core/base/result.h"
#include "feeders/log/follow/follower.h"
#include "feeders/log/follow/journal_reader.h"
#include "feeders/log/follow/positions.h"
#include "feeders/log/library_outlet.h"
#include "feeders/log/own_statistics.h"
#include "feeders/log/rules/field_reader.h"
#include "feeders/log/rules/line_reader.h"
#include "feeders/log/position_committer.h"
#include "feeders/text/growth_log.h"
#include "feeders/text/refusal_log.h"
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
    std::size_t series_max = 16'000;
    std::size_t series_per_name_max = 1'000;
    // At the start, and at SIGHUP.
    std::function<Result<Rules>(NameDecimals decimals)> read_rules;
  };

  // Reads the rules, and opens what is to be kept open. Throws std::system_error, as libtally does.
  static Result<std::unique_ptr<Service>> create(Settings settings, StopSignal& signals);
  ~Service() override;

  enum class Outcome { kDone, kMissing, kUnreadable, kStopped, kNotTaken };
  // Until a signal, or with `ends` until all was read: then a file may be missing, a read may have
  // failed, a signal may have come before the end, or the daemon has not accepted all.
  Outcome run();
  // With `ends`, what was not read: files, and patterns that find none.
  const std::set<std::string>& missing() const { return follower_->missing(); }
  // Samples that there was no room for, or that the daemon has refused.
  static std::uint64_t dropped();
  const LineCounts& lines() const { return lines_; }
  const FollowCounts& files() const { return files_; }

 private:
  Service(Settings settings, StopSignal& signals);
  Result<void> begin();
  void use(Rules rules);

  void take(std::string_view line, const LineOrigin& origin) override;
  void move(PositionRecord& record, std::uint64_t offset) override;
  void begin_again(PositionRecord& record, const Checkpoint& before) override;
  void keep(PositionRecord& record, const Checkpoint& checkpoint) override;
  bool confirm_all() override;
  void take_line(std::string_view line, std::string_view source);
  void take_fields(std::string_view line, std::string_view source, std::span<const Field> fields);
  // Since the last call.
  bool has_sent();

  // False: a signal has ended it.
  bool read_once();
  bool read_some();
  void follow();
  void wait_for_input();
  bool read_input();
  bool read_journal(std::size_t entries);
  void note_journal_error(int error);
  void wait(std::chrono::milliseconds time);
  void reload();
  Result<void> open_positions();
  Result<void> open_journal(const Rules& rules);
  bool is_unpublished() const;
  void publish();
  void sync_positions();
  void log_growth();
  enum class Source { kKept, kPipe };
  void let_daemon_catch_up(Source source);
  void read_on();
  bool confirm();
  // Unless a signal ends it, or --once has waited for long enough.
  bool may_ask_again(std::chrono::nanoseconds begun);
  void log_refusal(std::string_view line, const Refusal& refusal);
  void tell_how_it_continues();

  const Settings settings_;
  StopSignal& signals_;
  LineCounts lines_;
  FollowCounts files_;
  LibraryOutlet outlet_;
  SeriesBook book_;
  OwnStatistics own_;
  RefusalLog refusal_log_;
  std::optional<Positions> positions_;
  std::unique_ptr<PositionCommitter> committer_;
  std::unique_ptr<Follower> follower_;
  std::optional<JournalReader> journal_;
  std::unique_ptr<LineReader> reader_;
  std::optional<FieldReader> fields_;
  LineSplitter input_{LogFile::kLineMax};
  std::vector<char> input_bytes_;
  bool has_input_ = false;
  int journal_error_ = 0;
  std::string source_;           // of the line under way
  std::uint64_t sent_seen_ = 0;  // of lines_, when positions were looked at last
  std::uint64_t samples_checked_ = 0;  // of lines_, when the daemon had caught up last
  std::chrono::nanoseconds published_{0};
  LineCounts published_lines_;
  FollowCounts published_files_;
  std::uint64_t published_dropped_ = 0;
  GrowthLog given_up_log_;
  GrowthLog undated_log_;
  std::chrono::nanoseconds synced_{0};
  std::uint64_t synced_bytes_ = 0;  // of files_, when positions were put onto the disk last
  bool is_confirmed_ = true;
  std::chrono::nanoseconds catch_up_at_{0};  // no wait of the pipe for the daemon before
  bool has_given_up_ = false;  // the daemon is missing, and what is left waits no more
};

}  // namespace tallyfs::logs
