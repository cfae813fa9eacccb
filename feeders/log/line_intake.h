// Lines of all sources, by the rules in use, to libtally. Confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "feeders/log/library_outlet.h"
#include "feeders/log/rules/field_reader.h"
#include "feeders/log/rules/line_reader.h"
#include "feeders/text/refusal_log.h"

namespace tallyfs::logs {

class LineIntake {
 public:
  explicit LineIntake(SeriesBounds bounds) : book_(bounds, outlet_) {}

  // The rules count from now on; statistics and events that are there stay. Whether there are new
  // events: before a line is taken the daemon must have said which are wanted.
  bool use(Rules rules);
  const Rules& rules() const { return reader_->rules(); }
  void set_now(const Timestamp& now) { reader_->set_now(now); }

  // source: what the log calls it.
  void take(std::string_view line, std::string_view source);
  // fields: those of the journal that the rules name.
  void take(std::string_view line, std::string_view source, std::span<const Field> fields);
  // Whether a line is JSON or logfmt.
  bool reads_fields() const { return fields_.has_value(); }
  // Whether samples or events came of the lines since the last call.
  bool has_sent();

  const LineCounts& counts() const { return counts_; }
  const SeriesBook& book() const { return book_; }

 private:
  void log_refusal(std::string_view line, const Refusal& refusal);

  LineCounts counts_;
  LibraryOutlet outlet_;
  SeriesBook book_;
  std::unique_ptr<LineReader> reader_;
  std::optional<FieldReader> fields_;
  RefusalLog refusal_log_;
  std::string source_;  // of the line under way
  std::uint64_t sent_seen_ = 0;
};

}  // namespace tallyfs::logs
