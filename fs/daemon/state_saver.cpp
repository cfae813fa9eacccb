#include "fs/daemon/state_saver.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "program/log.h"

namespace tallyfs {
namespace {

std::int64_t seconds_of(std::chrono::nanoseconds realtime) {
  return std::chrono::duration_cast<std::chrono::seconds>(realtime).count();
}

std::string utc(std::chrono::nanoseconds realtime) {
  const std::time_t seconds = seconds_of(realtime);
  std::tm parts{};
  char text[32];
  if (!::gmtime_r(&seconds, &parts)) return "an unknown time";
  return {text, std::strftime(text, sizeof text, "%F %T UTC", &parts)};
}

}  // namespace

// A file that may be loaded.
struct StateSaver::Candidate {
  std::uint64_t number = 0;
  std::string bytes;  // which the objects point into
  StateFile file;
};

StateSaver::StateSaver(StateDirectory directory, const Dependencies& dependencies,
                       std::chrono::seconds period)
    : directory_(std::move(directory)), dependencies_(dependencies), period_(period) {}

std::optional<StateSaver::Candidate> StateSaver::read(std::uint64_t number) const {
  auto bytes = directory_.read(number);
  if (!bytes) {
    log_error("state: " + bytes.error().reason);
    return std::nullopt;
  }
  Candidate candidate{.number = number, .bytes = std::move(bytes.value()), .file = {}};
  auto file = read_state(candidate.bytes);
  if (!file) {
    log_error("state: " + directory_.path_of(number) + ": " + file.error().reason);
    return std::nullopt;
  }
  candidate.file = std::move(file.value());
  return candidate;
}

// The newest whole one, or else the newest.
std::optional<StateSaver::Candidate> StateSaver::find_file() const {
  std::optional<Candidate> newest;
  for (const std::uint64_t number : directory_.numbers()) {
    auto candidate = read(number);
    if (!candidate) continue;
    if (candidate->file.is_whole()) return candidate;
    log_warning("state: " + directory_.path_of(number) +
                " is not whole: " + candidate->file.faults.front());
    if (!newest) newest = std::move(candidate);
  }
  return newest;
}

void StateSaver::load(const BootId& boot) {
  boot_ = boot;
  // The descriptor is as old as the keeper.
  (void)directory_.find_again();
  const auto known = directory_.numbers();
  if (known.empty()) return log_info("state: " + directory_.path() + " has none yet");
  const auto from = find_file();
  if (!from || from->number != known.front()) directory_.set_aside(known.front());
  if (!from) return log_error("state: nothing could be loaded from " + directory_.path());
  const Timestamp now = dependencies_.clock.now();
  const LoadedState loaded = load_state(from->file, dependencies_.branches, boot, now);
  report(*from, loaded, boot, now);
  note_saved(from->bytes.size(), from->file.header.saved.realtime, now);
  if (!loaded.faults.empty()) {
    report_left_out(loaded, directory_.path_of(from->number), "; state.incomplete has them",
                    dependencies_.counters, dependencies_.errors, now);
    return directory_.set_aside(from->number);
  }
  const bool is_as_saved = boot_of(from->file.header, boot, now) == Boot::kThis;
  if (is_as_saved) saved_stamp_ = state_stamp(dependencies_.branches, now);
}

void StateSaver::resume(const BootId& boot) {
  boot_ = boot;
  const auto written = directory_.last_written();
  const auto bytes = directory_.newest_bytes();
  if (written && bytes) note_saved(*bytes, *written, dependencies_.clock.now());
}

void StateSaver::report(const Candidate& from, const LoadedState& loaded, const BootId& boot,
                        Timestamp now) const {
  const std::string path = directory_.path_of(from.number);
  for (const std::string& fault : loaded.faults) log_warning("state: " + path + ": " + fault);
  std::string text("state: loaded ");
  text.append(objects_text(loaded)).append(" from ").append(path);
  text.append(", ").append(std::to_string(from.bytes.size())).append(" bytes, saved at ");
  text.append(utc(from.file.header.saved.realtime));
  const StateHeader& header = from.file.header;
  if (boot_of(header.boot, boot) == Boot::kOther) {
    text.append(" by another boot: histories begin empty");
  } else if (boot_of(header, boot, now) == Boot::kOther) {
    text.append(" when this machine's clock was ahead of now: histories begin empty");
  }
  log_info(text);
}

void StateSaver::start() {
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { keep_saving(); });
}

void StateSaver::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

// What could not be saved at the end is lost: that is told anew.
bool StateSaver::finish() {
  stop();
  is_failing_ = false;
  (void)save_if_changed();
  if (is_failing_) log_error("state: that was the last try: what the newest file lacks is lost");
  return !is_failing_;
}

void StateSaver::keep_saving() {
  ::prctl(PR_SET_NAME, "tallyfs-state");
  const std::chrono::milliseconds period = period_;
  auto look = kFirstLook;
  auto next = until_period_ends();
  while (wait_for(next)) {
    if (save_if_changed()) look = period;
    next = std::exchange(look, std::min(2 * look, period));
  }
}

// The wall clock may have been set meanwhile.
std::chrono::milliseconds StateSaver::until_period_ends() const {
  const std::chrono::milliseconds period = period_;
  const auto written = directory_.last_written();
  if (!written) return period;
  const auto left = *written + period_ - dependencies_.clock.now().realtime;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left),
                    std::chrono::milliseconds(0), period);
}

// False when the thread shall end.
bool StateSaver::wait_for(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd waited{.fd = stop_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(left.count()));
    if (ready > 0) return false;
    if (ready == 0) return true;
  }
}

// The stamp is older than what is saved: a change meanwhile is saved again. So is all, if the
// files have gone.
bool StateSaver::save_if_changed() {
  const Timestamp began = dependencies_.clock.now();
  const std::uint64_t stamp = state_stamp(dependencies_.branches, began);
  if (stamp == saved_stamp_ && directory_.has_state()) return false;
  const bool is_ahead = !dependencies_.saves_first();
  const StateHeader header{.boot = boot_, .saved = began};
  const auto saved = directory_.write([&](const StateOutput& output) {
    return save_state(header, dependencies_.branches, output);
  });
  note(saved, began);
  if (saved) saved_stamp_ = stamp;
  if (saved && is_ahead) dependencies_.is_ahead();
  return true;
}

// A failure is told once, until it is over.
void StateSaver::note(const Result<SavedState>& saved, Timestamp began) {
  const Timestamp now = dependencies_.clock.now();
  if (!saved) {
    if (!std::exchange(is_failing_, true)) {
      log_error("state: not saved: " + saved.error().reason + "; the last one stays");
    }
    // A reader of the counters finds the reason in the log.
    dependencies_.counters.count("state_failures", 1, now);
    dependencies_.counters.record("state_failed_s", seconds_of(now.realtime), 1, now);
    return;
  }
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - began.monotonic);
  note_saved(saved.value().bytes, began.realtime, now);
  dependencies_.counters.record("state_us", took.count(), 1, now);
  if (std::exchange(is_failing_, false)) log_info("state: saved again");
}

void StateSaver::note_saved(std::uint64_t bytes, std::chrono::nanoseconds saved, Timestamp now) {
  dependencies_.counters.record("state_bytes", static_cast<std::int64_t>(bytes), 1, now);
  dependencies_.counters.record("state_saved_s", seconds_of(saved), 1, now);
}

}  // namespace tallyfs
