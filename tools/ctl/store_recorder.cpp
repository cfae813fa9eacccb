#include "tools/ctl/store_recorder.h"

#include <time.h>

#include "tools/ctl/commands.h"
#include "tools/ctl/time_span.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kMicros = 1'000'000;

}  // namespace

int StoreRecorder::run() {
  for (std::uint64_t n = 0;; ++n) {
    // Looked up before the reading: what came while a moment was read is in the one after it.
    const bool is_last =
        is_interrupted_() || (session_.options.count != 0 && n == session_.options.count);
    const auto done = read_timestamp();
    if (!done) increments_.lose("the daemon did not answer", realtime_now_us());
    if (const auto status = report_.take(done)) return *status;
    if (writer_.is_due()) report_writing(writer_.flush());
    if (is_last) break;
    if (!is_interrupted_()) sleep_until_next();
  }
  const auto done = writer_.end();
  return done ? report_.status() : complain(kRefused, "the last seconds are lost: " + done.error().reason);
}

Result<void> StoreRecorder::read_timestamp() {
  const auto tree = read_tree(*session_.source);
  if (!tree) return tree.error();
  for (const std::string& each : increments_.begin(tree.value())) {
    const auto json = session_.source->interface(each);
    if (!json && json.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
    if (!json) return json.error();
    if (auto done = increments_.take(json.value()); !done) return done;
  }
  return {};
}

void StoreRecorder::report_writing(const Result<void>& done) {
  if (!done && unwritten_.empty()) {
    unwritten_ = done.error().reason;
    complain(kDone, "the store is not written: " + unwritten_ +
                        "; it is tried again each 10 s, and newest points are kept");
  } else if (done && !unwritten_.empty()) {
    unwritten_.clear();
    complain(kDone, "the store is written again");
  }
}

// At whole steps what was read in between belongs to one piece of time.
void StoreRecorder::sleep_until_next() const {
  const std::uint64_t next_us = (realtime_now_us() / writer_.step_us() + 1) * writer_.step_us();
  const timespec until{.tv_sec = static_cast<time_t>(next_us / kMicros),
                       .tv_nsec = static_cast<long>(next_us % kMicros * 1000)};
  // A signal that the program handles ends it early.
  ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace tallyfs
