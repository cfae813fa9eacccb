#include "tools/past/ranked_pasts.h"

#include <algorithm>

#include "tools/display/changed_reason.h"

namespace tallyfs::past {

RankedPasts::RankedPasts(const StoredPasts& pasts, std::size_t rows_max) : pasts_(pasts) {
  for (const Series* const each : pasts.series()) {
    if (pasts.is_new(*each)) fresh_.push_back(each);
    const std::size_t spans = view::baseline_spans(each->past());
    spans_ = std::max(spans_, spans);
    if (spans < kBaselineMin) continue;
    series_.push_back(each);
    watched_.push_back({each->interface, &each->past()});
    ++in_interface_[each->interface];
  }
  rows_ = view::most_changed(watched_, {.rows_max = rows_max});
  silent_ = view::take_silent(watched_, rows_);
  if (!is_unusual()) rows_.resize(std::min(rows_.size(), kRowsOfQuiet));
}

std::string RankedPasts::reason(const view::ChangedRow& row, const view::Look& look) const {
  const Series& series = first(row);
  const view::Statistic& statistic = series.portions.statistic();
  return view::reason_of({.row = &row,
                          .past = &series.past(),
                          .in_interface = in_interface_.at(series.interface),
                          .units = statistic.units,
                          .decimals = statistic.decimals()},
                         look);
}

}  // namespace tallyfs::past
