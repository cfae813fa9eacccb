#include "tools/ctl/top_time.h"

#include <utility>

#include "tools/ctl/commands.h"
#include "tools/ctl/top_past.h"

namespace tallyfs {
namespace {

// Of the span of --vs. Returns a status to exit with, as Session::open().
std::optional<int> compare(PastSpan& opened, const past::Span& shown, bool utc, TopTime& time) {
  const auto other = opened.other(shown);
  if (!other) return complain(kWrongUsage, other.error().reason);
  auto rates = rates_in(opened.store(), other.value());
  if (!rates) return complain(kRefused, rates.error().reason);
  if (rates.value().empty()) {
    return complain(kRefused, "the store has nothing of the span of --vs");
  }
  time.others = std::move(rates).value();
  time.note = other_span(shown, other.value()).prefix + span_text(other.value(), utc);
  return std::nullopt;
}

// A mount or a recording, beside a span of the store.
std::optional<int> open_now(Session& session, const PastOptions& past, TopTime& time) {
  if (past.versus.empty()) return session.open(past, Session::PastForm::kMoments);
  if (const auto status = session.open()) return status;
  if (past.versus == "before") {
    return complain(kWrongUsage, "--vs before needs a span: --last 5m, or --at 12:03");
  }
  auto opened = PastSpan::open(past, session.options.utc);
  if (!opened) return complain(kRefused, opened.error().reason);
  const std::uint64_t end_us = opened.value().extent().end_us;
  return compare(opened.value(), {end_us, end_us}, session.options.utc, time);
}

}  // namespace

// From the begin of the span that is meant to the end of the store.
std::optional<int> open_time(Session& session, const PastOptions& past, TopTime& time) {
  if (past.at.empty() && past.last.empty()) return open_now(session, past, time);
  std::optional<PastSpan> opened;
  if (const auto status = session.open_store(past, opened, {})) return status;
  time.store = opened->directory();
  time.extent = opened->extent();
  const past::Span& span = opened->wanted().value();
  if (!past.versus.empty()) {
    if (const auto status = compare(*opened, span, session.options.utc, time)) return status;
  }
  auto source = open_past(time.store, {span.begin_us, time.extent.end_us});
  if (!source) return complain(kRefused, source.error().reason);
  session.source = std::move(source.value().source);
  time.damaged = std::move(source.value().damaged);
  return std::nullopt;
}

}  // namespace tallyfs
