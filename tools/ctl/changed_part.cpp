#include "tools/ctl/changed_part.h"

#include <algorithm>
#include <string>

#include "tools/display/quantity.h"
#include "tools/past/ranked_pasts.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kBaselineMin = past::RankedPasts::kBaselineMin;
constexpr std::uint64_t kUnitsOfSpan = view::Past::kSpanBlocks * view::Past::kBlockUnits;

// So many blocks as a span has are wanted of the store.
Error too_coarse(std::uint64_t step_us) {
  return invalid("the store has points of " + view::duration_text(step_us) +
                 " for that time; a span of --changed needs twelve of them, as --at 12:00+" +
                 std::to_string(step_us * view::Past::kSpanBlocks / 1'000'000) + "s");
}

// The part of the time that is not in the span: the part before it, if there is one, else the part
// after it.
past::Span without(const past::Span& time, const past::Span& span) {
  if (time.end_us <= span.begin_us || time.begin_us >= span.end_us) return time;
  if (time.begin_us < span.begin_us) return {time.begin_us, span.begin_us};
  return {std::min(span.end_us, time.end_us), time.end_us};
}

}  // namespace

Result<past::StoredPasts::Part> with_baseline_of(past::StoreReader& store, const past::Span& span,
                                                 const past::Span& wanted) {
  const past::Span time = without(wanted, span);
  const std::uint64_t length_us = span.end_us - span.begin_us;
  const std::uint64_t spans = std::min<std::uint64_t>(view::Past::kBaselineSpans,
                                                      (time.end_us - time.begin_us) / length_us);
  if (spans < kBaselineMin) {
    return invalid("--vs of --changed is a time at least twice as long as the span, not counting "
                   "what it shares with the span");
  }
  const std::uint64_t begin_us = time.end_us - spans * length_us;
  const auto tier = store.finest_tier(std::min(begin_us, span.begin_us));
  if (!tier) return tier.error();
  const std::uint64_t step_us = store.tiers()[tier.value()].step_us;
  if (step_us * view::Past::kSpanBlocks > length_us) return too_coarse(step_us);
  const std::uint64_t seam_us = span.begin_us - span.begin_us % step_us;
  const std::uint64_t end_us = time.end_us - time.end_us % step_us;
  return past::StoredPasts::Part{{seam_us - spans * length_us, span.end_us},
                                 length_us / kUnitsOfSpan,
                                 tier.value(),
                                 seam_us,
                                 seam_us - end_us};
}

Result<past::StoredPasts::Part> with_baseline(past::StoreReader& store, const past::Span& span) {
  const std::uint64_t length_us = span.end_us - span.begin_us;
  std::uint64_t step_us = 0;
  for (std::uint64_t spans = view::Past::kBaselineSpans; spans >= kBaselineMin; --spans) {
    const past::Span all{span.begin_us - std::min(span.begin_us, spans * length_us), span.end_us};
    const auto tier = store.finest_tier(all.begin_us);
    if (!tier) return tier.error();
    step_us = store.tiers()[tier.value()].step_us;
    if (step_us * view::Past::kSpanBlocks > length_us) continue;
    return past::StoredPasts::Part{.span = all, .unit_us = length_us / kUnitsOfSpan,
                                   .tier = tier.value()};
  }
  return too_coarse(step_us);
}

}  // namespace tallyfs
