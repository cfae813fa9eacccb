#include "feeders/log/line_intake.h"

#include <utility>

#include "program/log.h"

namespace tallyfs::logs {

bool LineIntake::use(Rules rules) {
  reader_ = std::make_unique<LineReader>(
      std::move(rules), book_, outlet_, counts_,
      [this](std::string_view line, const Refusal& refusal) { log_refusal(line, refusal); });
  const bool has_new_events = outlet_.register_events(reader_->rules().events);
  fields_.reset();
  if (reader_->rules().form != LineForm::kText) {
    fields_.emplace(reader_->rules().form, reader_->rules().fields);
  }
  return has_new_events;
}

void LineIntake::take(std::string_view line, std::string_view source) {
  if (!fields_) return take(line, source, {});
  const auto fields = fields_->read(line);
  if (fields) return take(line, source, *fields);
  source_ = source;
  reader_->refuse_form(line);
}

void LineIntake::take(std::string_view line, std::string_view source,
                      std::span<const Field> fields) {
  if (source_ != source) source_ = source;
  reader_->take(line, fields);
}

bool LineIntake::has_sent() {
  const std::uint64_t sent = counts_.samples + counts_.events;
  return std::exchange(sent_seen_, sent) != sent;
}

void LineIntake::log_refusal(std::string_view line, const Refusal& refusal) {
  if (!refusal_log_.may_log(SystemClock::monotonic())) return;
  const char* const at = refusal.value.data();
  const bool is_within = at && at >= line.data() && at <= line.data() + line.size();
  const RefusedPlace place{source_, name_of(refusal.reason), refusal.text,
                           is_within ? static_cast<std::size_t>(at - line.data()) : 0};
  log_warning(to_text(place, line) + refusal_log_.take_left_out());
}

}  // namespace tallyfs::logs
