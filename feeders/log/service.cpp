// Longer than most: one loop joins all of these, and reads on while it waits for the daemon.
#include "feeders/log/service.h"

#include <poll.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
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
constexpr std::chrono::milliseconds kIdleTime = 1'000ms;
constexpr std::chrono::milliseconds kPublishPeriod = 100ms;
constexpr std::chrono::milliseconds kSyncPeriod = 1'000ms;
// For one question whether the daemon has taken all in; and how long --once, and a feeder that
// ends, ask in vain.
constexpr std::chrono::milliseconds kConfirmTime = 250ms;
constexpr std::chrono::milliseconds kEndTime = 10'000ms;
// Samples that are under way: a ring has room for four times as many, and libtally holds more.
constexpr std::uint64_t kUnderWayMax = 8'192;
constexpr std::uint64_t kSamplesBetweenLooks = 256;
constexpr std::size_t kJournalEntries = 1'024;
// Of the standard input, between two questions whether the daemon has taken in what files have.
constexpr int kChunksMeanwhile = 16;
// After a wait in vain: there is no daemon.
constexpr std::chrono::milliseconds kCatchUpPause = 1'000ms;

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

bool has_input_now() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0;
}

bool has_much_under_way() {
  const auto counts = tally::counts();
  return counts.held + (counts.sent - counts.confirmed - counts.lost) > kUnderWayMax;
}

// The daemon has not answered a sync.
bool is_missing(std::error_code failure) {
  return failure.value() == ETIMEDOUT || failure.value() == ENOTCONN;
}

}  // namespace

Service::Service(Settings settings, StopSignal& signals)
    : settings_(std::move(settings)),
      signals_(signals),
      book_(SeriesBounds(settings_.series_max, settings_.series_per_name_max), outlet_),
      input_bytes_(LogFile::kChunkBytes),
      has_input_(settings_.reads_standard_input) {}

Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::create(Settings settings, StopSignal& signals) {
  std::unique_ptr<Service> made(new Service(std::move(settings), signals));
  if (auto done = made->begin(); !done) return done.error();
  return made;
}

Result<void> Service::begin() {
  auto rules = settings_.read_rules({});
  if (!rules) return rules.error();
  if (auto done = open_positions(); !done) return done;
  committer_ = std::make_unique<PositionCommitter>(
      *positions_, [this] { return confirm(); }, [] { return tally::counts().held != 0; });
  if (auto done = open_journal(rules.value()); !done) return done;
  use(std::move(rules.value()));
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
  tell_how_it_continues();
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

// What the last feeder could not store before it was killed.
void Service::tell_how_it_continues() {
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
  reader_ = std::make_unique<LineReader>(
      std::move(rules), book_, outlet_, lines_,
      [this](std::string_view line, const Refusal& refusal) { log_refusal(line, refusal); });
  outlet_.register_events(reader_->rules().events);
  fields_.reset();
  if (reader_->rules().form != LineForm::kText) {
    fields_.emplace(reader_->rules().form, reader_->rules().fields);
  }
  if (journal_) journal_->set_fields(reader_->rules().fields);
}

void Service::reload() {
  auto rules = settings_.read_rules(book_.decimals());
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
  reader_->set_now(SystemClock().now());
  follower_->start(now);
  bool has_read_all = true;
  if (settings_.ends) {
    has_read_all = read_once();
  } else {
    say_ready();
    ::sd_notify(0, "READY=1");
    follow();
    follower_->finish(SystemClock::monotonic());
    ::sd_notify(0, "STOPPING=1");
  }
  const bool is_committed = committer_->commit();
  publish();
  positions_->sync(now);
  const bool is_late = settings_.ends ? !confirm() : is_missing(tally::sync(2 * kConfirmTime));
  if (dropped() != 0) log_warning(std::to_string(dropped()) + " samples were dropped");
  if (settings_.ends && !follower_->missing().empty()) return Outcome::kMissing;
  if (settings_.ends && files_.read_errors != 0) return Outcome::kUnreadable;
  if (!has_read_all) return Outcome::kStopped;
  const bool is_all = is_committed && is_confirmed_ && !is_late && dropped() == 0;
  return is_all ? Outcome::kDone : Outcome::kNotTaken;
}

std::uint64_t Service::dropped() { return tally::counts().dropped; }

bool Service::read_once() {
  while (has_input_ && !signals_.is_stopped()) {
    wait_for_input();
    signals_.read();
  }
  while (!signals_.is_stopped() && read_journal(kJournalEntries)) signals_.read();
  const auto now = SystemClock::monotonic();
  while (!signals_.is_stopped() && follower_->read(now)) signals_.read();
  if (signals_.is_stopped()) return false;
  // What waits for its end goes to the next run, if there is a place that says so.
  follower_->read_rest(positions_->is_kept() ? Follower::Rest::kWaits : Follower::Rest::kIsALine);
  return true;
}

void Service::follow() {
  const bool has_more_than_input = !settings_.paths.empty() || journal_;
  while (!signals_.is_stopped()) {
    const bool has_more = read_some();
    // In vain only at the end, which says so.
    if (committer_->is_due()) (void)committer_->commit();
    if (SystemClock::monotonic() - published_ >= kPublishPeriod) publish();
    sync_positions();
    if (settings_.reads_standard_input && !has_input_ && !has_more_than_input) return;
    signals_.read();
    if (signals_.take_reload()) reload();
    if (has_more) continue;
    wait(committer_->is_waiting() ? PositionCommitter::kTimeMax : kIdleTime);
  }
}

bool Service::read_some() {
  const Moment now = SystemClock().now();
  reader_->set_now(now);
  follower_->look(now.monotonic);
  const bool files = follower_->read(now.monotonic);
  const bool journal = journal_ && read_journal(kJournalEntries);
  const bool has_input = has_input_ && has_input_now() && read_input();
  return files || journal || has_input;
}

// Until something comes, and then a little longer for more of it.
void Service::wait(std::chrono::milliseconds time) {
  std::array<pollfd, 4> waited{};
  nfds_t count = 0;
  const auto add = [&](int fd) { waited[count++] = {.fd = fd, .events = POLLIN, .revents = 0}; };
  add(signals_.fd());
  if (follower_->fd() >= 0) add(follower_->fd());
  if (journal_) add(journal_->fd());
  if (has_input_) add(STDIN_FILENO);
  if (is_unpublished()) {
    const auto left = published_ + kPublishPeriod - SystemClock::monotonic();
    time = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms, time);
  }
  if (::poll(waited.data(), count, static_cast<int>(time.count())) > 0 && waited[0].revents == 0) {
    ::poll(waited.data(), 1, static_cast<int>(kGatherTime.count()));
  }
  if (journal_) journal_->acknowledge();
}

// A read alone would not be interrupted by a signal, which waits in its descriptor.
void Service::wait_for_input() {
  std::array<pollfd, 2> waited{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                {.fd = signals_.fd(), .events = POLLIN, .revents = 0}}};
  if (::poll(waited.data(), waited.size(), -1) > 0 && waited[0].revents != 0) (void)read_input();
}

// False: it has ended.
bool Service::read_input() {
  const ssize_t bytes = ::read(STDIN_FILENO, input_bytes_.data(), input_bytes_.size());
  if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (bytes < 0) {
    log_error(std::string("standard input: ").append(std::strerror(errno)));
    files_.read_errors += 1;
  }
  const auto take_each = [this](const NumberedLine& line) {
    files_.cut += line.too_long ? 1 : 0;
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    let_daemon_catch_up(Source::kPipe);
    take_line(text, "standard input");
  };
  if (bytes <= 0) {
    if (const auto last = input_.last()) take_each(*last);
    has_input_ = false;
    return false;
  }
  files_.bytes += static_cast<std::uint64_t>(bytes);
  input_.feed({input_bytes_.data(), static_cast<std::size_t>(bytes)});
  while (const auto line = input_.next()) take_each(*line);
  return true;
}

// False: there are no more for now.
bool Service::read_journal(std::size_t entries) {
  if (!journal_) return false;
  for (std::size_t i = 0; i < entries; ++i) {
    let_daemon_catch_up(Source::kKept);
    const auto entry = journal_->next();
    note_journal_error(journal_->error());
    if (!entry) return false;
    files_.bytes += entry->message.size();
    files_.cut += entry->is_cut ? 1 : 0;
    if (fields_) {
      take_line(entry->message, "journal");
    } else {
      take_fields(entry->message, "journal", entry->fields);
    }
    committer_->store_cursor(entry->cursor, has_sent());
  }
  return true;
}

void Service::note_journal_error(int error) {
  if (error == 0) {
    journal_error_ = 0;
    return;
  }
  files_.read_errors += 1;
  if (std::exchange(journal_error_, error) == error) return;
  log_error(std::string("the journal cannot be read: ").append(std::strerror(error)));
}

// ---- lines

void Service::take(std::string_view line, const LineOrigin& origin) {
  let_daemon_catch_up(Source::kKept);
  take_line(line, origin.path);
  committer_->store(origin.record, origin.end, has_sent());
}

void Service::move(PositionRecord& record, std::uint64_t offset) {
  committer_->store(&record, offset, true);
}

void Service::begin_again(PositionRecord& record, const Checkpoint& before) {
  committer_->begin_again(record, before);
}

void Service::keep(PositionRecord& record, const Checkpoint& checkpoint) {
  committer_->keep(record, checkpoint);
}

bool Service::confirm_all() { return committer_->commit(); }

bool Service::has_sent() {
  const std::uint64_t sent = lines_.samples + lines_.events;
  return std::exchange(sent_seen_, sent) != sent;
}

void Service::take_line(std::string_view line, std::string_view source) {
  if (!fields_) return take_fields(line, source, {});
  const auto fields = fields_->read(line);
  if (fields) return take_fields(line, source, *fields);
  source_ = source;
  reader_->refuse_form(line);
}

void Service::take_fields(std::string_view line, std::string_view source,
                          std::span<const Field> fields) {
  if (source_ != source) source_ = source;
  reader_->take(line, fields);
}

// Files and the journal wait where they are. Programs that write into a pipe must not wait for a
// daemon that is not there: libtally holds 65,536 of their samples, and then drops and counts them.
void Service::let_daemon_catch_up(Source source) {
  if (lines_.samples - samples_checked_ < kSamplesBetweenLooks || has_given_up_) return;
  const auto begun = SystemClock::monotonic();
  if (source == Source::kPipe && begun < catch_up_at_) return;
  while (has_much_under_way()) {
    const std::error_code failure = tally::sync(kConfirmTime);
    if (source == Source::kPipe && failure.value() == ENOTCONN) {
      catch_up_at_ = SystemClock::monotonic() + kCatchUpPause;
      return;
    }
    publish();
    if (!may_ask_again(begun)) {
      has_given_up_ = is_missing(failure);
      return;
    }
    if (source == Source::kKept) read_on();
  }
  samples_checked_ = lines_.samples;
}

// What does not wait while files do: their names, and the programs that write into a pipe.
void Service::read_on() {
  follower_->look_at_names(SystemClock::monotonic());
  for (int i = 0; i < kChunksMeanwhile && has_input_ && has_input_now(); ++i) (void)read_input();
}

// The refusal of a statistic is no reason to wait: samples of all others have been taken in.
bool Service::confirm() {
  if (has_given_up_) return false;
  const auto begun = SystemClock::monotonic();
  while (is_missing(tally::sync(kConfirmTime))) {
    if (!may_ask_again(begun)) {
      has_given_up_ = true;
      return false;
    }
    read_on();
  }
  return true;
}

bool Service::may_ask_again(std::chrono::nanoseconds begun) {
  signals_.read();
  const bool is_over = settings_.ends && SystemClock::monotonic() - begun >= kEndTime;
  if (is_over) is_confirmed_ = false;
  return !is_over && !signals_.is_stopped();
}

// ---- what is said

bool Service::is_unpublished() const {
  return lines_ != published_lines_ || files_ != published_files_ ||
         dropped() != published_dropped_;
}

void Service::publish() {
  if (!is_unpublished()) return;
  published_ = SystemClock::monotonic();
  published_lines_ = lines_;
  published_files_ = files_;
  published_dropped_ = dropped();
  own_.publish(lines_, files_, published_dropped_);
  log_growth();
}

void Service::sync_positions() {
  const auto now = SystemClock::monotonic();
  if (now - synced_ < kSyncPeriod || synced_bytes_ == files_.bytes) return;
  synced_ = now;
  synced_bytes_ = files_.bytes;
  if (positions_->is_kept()) positions_->sync(now);
}

void Service::log_growth() {
  constexpr std::size_t kNameShownMax = 120;
  if (const auto names = given_up_log_.take(lines_.names_given_up, published_); names != 0) {
    std::string text = std::to_string(names);
    text.append(" statistics that were unused for an hour gave way to new ones; the last: ");
    append_escaped(text, book_.last_given_up(), kNameShownMax, 0);
    log_warning(text);
  }
  if (const auto lines = undated_log_.take(lines_.undated, published_); lines != 0) {
    log_warning(std::to_string(lines) + " lines count as of now: their time is older than 23 h " +
                "or than the boot, is still to come, or is not of the format");
  }
}

void Service::log_refusal(std::string_view line, const Refusal& refusal) {
  if (!refusal_log_.may_log(SystemClock::monotonic())) return;
  const char* const at = refusal.value.data();
  const bool is_within = at && at >= line.data() && at <= line.data() + line.size();
  const RefusedPlace place{source_, name_of(refusal.reason), refusal.text,
                           is_within ? static_cast<std::size_t>(at - line.data()) : 0};
  log_warning(to_text(place, line) + refusal_log_.take_left_out());
}

}  // namespace tallyfs::logs
