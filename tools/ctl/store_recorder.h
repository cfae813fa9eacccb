// tallyctl record --store: reads a mount at each whole step of the wall clock, and writes the
// counts into a store. It continues if the daemon does not answer, or the store cannot be written;
// each failure is reported once, and its end once. Confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/ctl/reading_report.h"
#include "tools/ctl/session.h"
#include "tools/past/increments.h"
#include "tools/past/store_writer.h"

namespace tallyfs {

class StoreRecorder {
 public:
  StoreRecorder(Session& session, past::StoreWriter& writer, std::function<bool()> is_interrupted)
      : session_(session),
        writer_(writer),
        increments_(writer),
        is_interrupted_(std::move(is_interrupted)) {}

  // Runs until it is interrupted, or for --count steps. Returns the exit status, which is a failure
  // if the mount was never read, or if the store could not be written at the end.
  int run();

 private:
  Result<void> read_timestamp();
  void report_writing(const Result<void>& done);
  void sleep_until_next() const;

  Session& session_;
  past::StoreWriter& writer_;
  past::Increments increments_;
  const std::function<bool()> is_interrupted_;
  ReadingReport report_;
  std::string unwritten_;  // the reason why the store cannot be written, while that is so
};

}  // namespace tallyfs
