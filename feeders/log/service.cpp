#include "feeders/log/service.h"

#include <poll.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "program/feeder/program.h"
#include "program/log.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {
namespace {

using namespace std::chrono_literals;

// Changes gather so long before files are read again.
constexpr std::chrono::milliseconds kGatherTime = 10ms;
// The time in which changes of names are gathered: a small log's copy exists for 3 to 6 ms before
// it is compressed. A look lists the folder, so that a folder in which files come and go often must
// not cause one look for each.
constexpr std::chrono::milliseconds kGatherNamesTime = 1ms;
constexpr std::chrono::milliseconds kIdleTime = 1'000ms;
constexpr std::chrono::milliseconds kSyncPeriod = 1'000ms;
// So many entries of the journal are read at a time, and so many chunks of the standard input while
// files wait for the daemon.
constexpr std::size_t kJournalEntries = 1'024;
constexpr int kChunksMeanwhile = 16;

// Names of files are what strangers chose.
void log_report(Told told, const std::string& text) {
  constexpr std::size_t kReportMax = 4'096;
  std::string shown;
  append_escaped(shown, text, kReportMax, 0);
  if (told == Told::kLoss) {
    log_warning(shown);
  } else {
    log_info(shown);
  }
}

}  // namespace

Service::Service(Settings settings, StopSignal& signals)
    : settings_(std::move(settings)),
      signals_(signals),
      intake_(SeriesBounds(settings_.limits)),
      progress_(intake_, files_),
      pace_(settings_.ends ? DaemonPace::Patience::kBounded : DaemonPace::Patience::kEndless,
            signals, {[this] { progress_.publish(); }, [this] { read_on(); }}),
      input_(settings_.reads_standard_input, files_,
             [this](std::string_view line) { take_piped(line); }) {}

Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::create(Settings settings, Rules rules,
                                                  StopSignal& signals) {
  std::unique_ptr<Service> made(new Service(std::move(settings), signals));
  if (auto done = made->begin(std::move(rules)); !done) return done.error();
  return made;
}

Result<void> Service::begin(Rules rules) {
  if (auto done = open_positions(); !done) return done;
  committer_ = std::make_unique<PositionCommitter>(
      *positions_, [this] { return pace_.confirm(); }, [] { return tally::counts().held != 0; });
  if (auto done = open_journal(rules); !done) return done;
  use(std::move(rules));
  return {};
}

Result<void> Service::open_positions() {
  if (settings_.positions.empty()) {
    positions_.emplace(Positions::in_memory());
    return {};
  }
  auto positions = Positions::open(settings_.positions);
  if (!positions) return positions.error();
  positions_.emplace(std::move(positions.value()));
  log_continuation();
  return {};
}

Result<void> Service::open_journal(const Rules& rules) {
  if (!settings_.journal) return {};
  JournalReader::Settings journal = *settings_.journal;
  journal.fields = rules.fields;
  journal.is_from_start = settings_.from == From::kStart;
  journal.cursor = positions_->cursor();
  auto opened = JournalReader::open(std::move(journal));
  if (!opened) return opened.error();
  journal_.emplace(std::move(opened.value()));
  const auto& [cursor, is_lost] = journal_->place();
  if (is_lost) log_warning("the journal does not know the position any more; continues near it");
  if (!cursor.empty()) positions_->store_cursor(cursor);
  return {};
}

// The feeder before may have been killed before it stored the position of what it had counted.
void Service::log_continuation() {
  if (positions_->was_blank()) {
    log_warning("--positions " + settings_.positions +
                ": has zero bytes alone, as after a crash of the machine, and begins again: files "
                "are read as --from says");
  }
  if (positions_->was_made()) return;
  const std::uint64_t lines = positions_->lines_ahead();
  if (lines == 0) {
    log_info("continues exactly: at most the line under way at a kill counts twice");
  } else {
    log_warning("continues with up to " + std::to_string(lines) +
                " lines that count twice: the daemon had not confirmed their samples");
  }
  positions_->set_lines_ahead(0);
}

void Service::use(Rules rules) {
  must_confirm_events_ = intake_.use(std::move(rules)) || must_confirm_events_;
  if (journal_) journal_->set_fields(intake_.rules().fields);
}

void Service::reload() {
  auto rules = settings_.read_rules(intake_.book().scales());
  if (!rules) {
    log_error("the rules stay as they were: " + to_text(rules.error()));
    return;
  }
  use(std::move(rules.value()));
  log_info("the rules were read again");
}

// ---- the loop

Service::Outcome Service::run() {
  const auto now = SystemClock::monotonic();
  follower_ = std::make_unique<Follower>(Follower::Settings{settings_.paths, settings_.from},
                                         *positions_, *this, files_, log_report);
  intake_.set_now(SystemClock().now());
  follower_->start(now);
  bool is_all_read = true;
  if (settings_.ends) {
    is_all_read = read_once();
  } else {
    say_ready();
    ::sd_notify(0, "READY=1");
    follow();
    follower_->finish(SystemClock::monotonic());
    ::sd_notify(0, "STOPPING=1");
  }
  const bool is_committed = committer_->commit();
  progress_.publish();
  positions_->sync(now);
  return outcome(is_all_read, is_committed);
}

Service::Outcome Service::outcome(bool is_all_read, bool is_committed) {
  bool is_confirmed = is_committed;
  if (settings_.ends) {
    is_confirmed = pace_.confirm() && is_committed && !pace_.has_waited_in_vain();
  } else {
    pace_.finish();
  }
  // The daemon has said by now what it refuses.
  if (progress_.is_unpublished()) {
    progress_.publish();
    pace_.finish();
  }
  const std::uint64_t dropped = Progress::uncounted().dropped;
  if (dropped != 0) log_warning(std::to_string(dropped) + " samples were dropped");
  if (settings_.ends && !follower_->missing().empty()) return Outcome::kMissing;
  if (settings_.ends && files_.read_errors != 0) return Outcome::kUnreadable;
  if (!is_all_read) return Outcome::kStopped;
  return is_confirmed && dropped == 0 ? Outcome::kDone : Outcome::kNotTaken;
}

bool Service::read_once() {
  if (must_confirm_events_) (void)pace_.confirm();
  must_confirm_events_ = false;
  while (input_.is_open() && !signals_.is_stopped()) wait_for_input();
  while (!signals_.is_stopped() && read_journal()) keep_up();
  const auto now = SystemClock::monotonic();
  while (!signals_.is_stopped() && follower_->read(now)) keep_up();
  if (signals_.is_stopped()) return false;
  // A line without its end is left to the next run, if positions are stored.
  follower_->read_rest(positions_->is_kept() ? Follower::Rest::kWaits : Follower::Rest::kIsALine);
  return true;
}

void Service::follow() {
  const bool has_more_than_input = !settings_.paths.empty() || journal_;
  while (!signals_.is_stopped()) {
    const bool has_more = read_some();
    // In vain only at the end, which says so.
    if (committer_->is_due()) (void)committer_->commit();
    if (progress_.is_due()) progress_.publish();
    sync_positions();
    if (settings_.reads_standard_input && !input_.is_open() && !has_more_than_input) return;
    signals_.read();
    if (signals_.take_reload()) reload();
    if (has_more || signals_.is_stopped()) continue;
    wait(committer_->is_waiting() ? PositionCommitter::kTimeMax : kIdleTime);
  }
}

bool Service::read_some() {
  const Timestamp now = SystemClock().now();
  intake_.set_now(now);
  if (!confirm_events()) return false;
  follower_->look(now.monotonic);
  const bool files = follower_->read(now.monotonic);
  const bool journal = read_journal();
  const bool input = input_.is_ready() && input_.read();
  return files || journal || input;
}

// Events of lines that are read before the daemon has said that they are wanted are lost. Without a
// daemon none are wanted, and the pipe does not wait for it.
bool Service::confirm_events() {
  if (!must_confirm_events_) return true;
  const auto answer = DaemonPace::ask();
  must_confirm_events_ = answer != DaemonPace::Answer::kTaken;
  if (must_confirm_events_) read_on();
  if (answer == DaemonPace::Answer::kAbsent) read_pipe();
  return !must_confirm_events_;
}

// The wait ends when something comes, and goes on a little longer for more of it, less if a name
// has changed: it may be a copy, which is compressed at once.
void Service::wait(std::chrono::milliseconds time) {
  std::array<pollfd, 5> waited{};
  nfds_t count = 0;
  const auto add = [&](int fd) { waited[count++] = {.fd = fd, .events = POLLIN, .revents = 0}; };
  add(signals_.fd());
  add(follower_->names_fd());
  add(follower_->files_fd());
  if (journal_) add(journal_->fd());
  if (input_.is_open()) add(STDIN_FILENO);
  if (progress_.is_unpublished()) {
    const auto left = progress_.due_at() - SystemClock::monotonic();
    time = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms, time);
  }
  if (::poll(waited.data(), count, static_cast<int>(time.count())) > 0 && waited[0].revents == 0) {
    const bool has_names = waited[1].revents != 0 ||
                           ::poll(waited.data(), 2, static_cast<int>(kGatherTime.count())) > 0;
    if (has_names) ::poll(waited.data(), 1, static_cast<int>(kGatherNamesTime.count()));
  }
  if (journal_) journal_->acknowledge();
}

// A read alone would not be interrupted by a signal, which waits in its descriptor.
void Service::wait_for_input() {
  std::array<pollfd, 2> waited{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                {.fd = signals_.fd(), .events = POLLIN, .revents = 0}}};
  const bool is_ready = ::poll(waited.data(), waited.size(), -1) > 0 && waited[0].revents != 0;
  keep_up();
  if (is_ready) (void)input_.read();
}

// Lines are compared to the time at which they are read, and reading may take hours.
void Service::keep_up() {
  signals_.read();
  intake_.set_now(SystemClock().now());
}

// While files wait for the daemon, their names do not, nor do programs that write into a pipe.
void Service::read_on() {
  keep_up();
  follower_->look_at_names(SystemClock::monotonic());
  if (!must_confirm_events_) read_pipe();
}

void Service::read_pipe() {
  for (int i = 0; i < kChunksMeanwhile && input_.is_ready(); ++i) (void)input_.read();
}

// False: there are no more entries for now.
bool Service::read_journal() {
  if (!journal_) return false;
  for (std::size_t i = 0; i < kJournalEntries; ++i) {
    pace_.let_catch_up(DaemonPace::Source::kKept, lines().samples);
    const auto entry = journal_->next();
    note_journal_error(journal_->error());
    if (!entry) return false;
    files_.bytes += entry->message.size();
    files_.cut += entry->is_cut ? 1 : 0;
    if (intake_.reads_fields()) {
      intake_.take(entry->message, "journal");
    } else {
      intake_.take(entry->message, "journal", entry->fields);
    }
    committer_->store_cursor(entry->cursor, intake_.has_sent());
  }
  return true;
}

void Service::note_journal_error(int error) {
  const int before = std::exchange(journal_error_, error);
  if (error == 0) return;
  files_.read_errors += 1;
  if (before == error) return;
  log_error(std::string("the journal cannot be read: ").append(std::strerror(error)));
}

void Service::sync_positions() {
  const auto now = SystemClock::monotonic();
  if (now - synced_ < kSyncPeriod || synced_bytes_ == files_.bytes) return;
  synced_ = now;
  synced_bytes_ = files_.bytes;
  if (positions_->is_kept()) positions_->sync(now);
}

// ---- lines

void Service::take_piped(std::string_view line) {
  pace_.let_catch_up(DaemonPace::Source::kPipe, lines().samples);
  intake_.take(line, "standard input");
}

void Service::take(std::string_view line, const LineOrigin& origin) {
  pace_.let_catch_up(DaemonPace::Source::kKept, lines().samples);
  intake_.take(line, origin.path);
  committer_->store(origin.record, origin.end, intake_.has_sent());
}

void Service::move(PositionRecord& record, std::uint64_t offset) {
  committer_->store(&record, offset, true);
}

void Service::begin_again(PositionRecord& record, const CountedPart& before) {
  committer_->begin_again(record, before);
}

void Service::keep(PositionRecord& record, const Checkpoint& checkpoint, std::string_view head) {
  committer_->keep(record, checkpoint, head);
}

bool Service::confirm_all() { return committer_->commit(); }

}  // namespace tallyfs::logs
