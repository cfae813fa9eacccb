// tallyctl record --store: reads a mount at each whole step of the wall clock, and writes what was
// counted into a store. Goes on where the daemon gives no answer, or the store cannot be written:
// each is reported once, and once more when it has ended. Confined to one thread.
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

  // Until it is interrupted, or after --count moments. Returns an exit status: of a mount that was
  // never read, and of a store that could not be written at the end.
  int run();

 private:
  Result<void> read_moment();
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
