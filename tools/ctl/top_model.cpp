#include "tools/ctl/top_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tools/display/change.h"
#include "tools/display/distribution.h"

namespace tallyfs {
namespace {

// Rates are compared as they are shown: a smoothed one comes near to 0, and does not reach it.
double as_shown(double rate) {
  constexpr double kShown = 100;
  return std::round(rate * kShown) / kShown;
}

bool has_bins(const view::Statistic& statistic) {
  return view::distribution_of(statistic, view::Detail::kOctaves).has_value();
}

}  // namespace

void TopModel::take(view::Tree tree) {
  const bool is_known = moments_ > 0 && tree.epoch == tree_.epoch;
  // A selection has the reader read a moment of the past twice: no time has passed between.
  if (is_known && tree.time_us == tree_.time_us) return;
  shown_.reset();
  ++moments_;
  const bool is_same_daemon = is_known && tree.time_us > tree_.time_us;
  const double seconds =
      is_same_daemon ? static_cast<double>(tree.time_us - tree_.time_us) / 1e6 : 0;
  if (tree.epoch != tree_.epoch) rows_.clear();
  for (const view::InterfaceSummary& each : tree.interfaces) take(each, seconds);
  std::erase_if(rows_, [&](const auto& row) { return row.second.moment != moments_; });
  tree_ = std::move(tree);
  // The fastest feeder is selected, until a user selects another.
  const bool has_rates = std::ranges::any_of(rows_, [](const auto& row) {
    return row.first != kOwn && row.second.recent.smooth().value_or(0) > 0;
  });
  const bool is_first = has_rates && !std::exchange(has_rates_, true) && !has_chosen_;
  if (!rows_.contains(selected_) || is_first) select_first();
}

void TopModel::select_first() {
  const auto& shown = rows();
  const auto first = std::ranges::find_if(shown, [](auto* row) { return row->name != kOwn; });
  if (first != shown.end()) return select((*first)->name);
  select(shown.empty() ? std::string() : shown.front()->name);
}

void TopModel::take(const view::InterfaceSummary& summary, double seconds) {
  const auto [found, is_new] = rows_.try_emplace(summary.name);
  TopRow& row = found->second;
  if (is_new) row.place = places_++;
  row.recent.take(summary.samples, seconds);
  row.name = summary.name;
  row.statistics = summary.statistics;
  row.on = summary.on;
  row.moment = moments_;
}

void TopModel::take(const view::Interface& interface, std::uint64_t period_us) {
  if (interface.name != selected_) return;
  interface_ = interface;
  const view::Statistic* const now = statistic();
  const std::uint64_t begun_us = column_begin_ ? column_begin_->time_us : 0;
  const std::uint64_t micros = interface.time_us - std::min(interface.time_us, begun_us);
  // What is ordered is read at once; that is no interval of its own.
  if (column_begin_ && micros > 0 && micros < period_us / 2) return;
  const std::optional<view::Interface> before = std::exchange(column_begin_, interface);
  if (!before || !now || micros == 0 || !has_bins(*now)) return;
  if (columns_.size() == past_columns_) own_begin_us_ = before->realtime_us;
  // The newest period was read.
  append_missed(columns_,
                {.end_us = interface.realtime_us - std::min(interface.realtime_us, period_us),
                 .length_us = micros - std::min(micros, period_us),
                 .period_us = period_us},
                kColumnsMax);
  auto change = view::change_between(*before, interface, now->name);
  columns_.push_back({.realtime_us = interface.realtime_us, .counted = std::move(change.counted)});
  while (columns_.size() > kColumnsMax) {
    if (past_columns_ > 0)
      --past_columns_;
    else
      own_begin_us_ = columns_.front().realtime_us;
    columns_.pop_front();
  }
}

void TopModel::take_past(MapPast past, std::chrono::microseconds period) {
  const view::Statistic* const now = statistic();
  if (past.interface != selected_ || !now || past.statistic != now->name) return;
  if (past.period != period || past.columns.empty()) return;
  const auto period_us = static_cast<std::uint64_t>(period.count());
  const auto own = columns_.begin() + static_cast<std::ptrdiff_t>(past_columns_);
  std::deque<view::HeatColumn> later(std::make_move_iterator(own),
                                     std::make_move_iterator(columns_.end()));
  const std::uint64_t begin_us = later.empty() ? interface_->realtime_us : own_begin_us_;
  columns_ = std::move(past.columns);
  while (!columns_.empty() && columns_.back().realtime_us > begin_us + period_us / 2) {
    columns_.pop_back();
  }
  if (!columns_.empty()) {
    const std::uint64_t last_us = std::min(columns_.back().realtime_us, begin_us);
    append_missed(
        columns_, {.end_us = begin_us, .length_us = begin_us - last_us, .period_us = period_us},
        kColumnsMax);
  }
  past_columns_ = columns_.size();
  std::ranges::move(later, std::back_inserter(columns_));
}

void TopModel::clear_columns() {
  columns_.clear();
  past_columns_ = 0;
}

void TopModel::begin_again() {
  interface_.reset();
  column_begin_.reset();
  clear_columns();
}

double TopModel::rate() const {
  double sum = 0;
  for (const auto& [name, row] : rows_) sum += name == kOwn ? 0 : row.recent.smooth().value_or(0);
  return sum;
}

const std::vector<const TopRow*>& TopModel::rows() const {
  if (!shown_) shown_ = sorted();
  return *shown_;
}

void TopModel::set_order(TopOrder order) {
  order_ = order;
  shown_.reset();
}

std::vector<const TopRow*> TopModel::sorted() const {
  std::vector<const TopRow*> made;
  for (const auto& [name, row] : rows_) {
    if (name.find(filter_) != std::string::npos) made.push_back(&row);
  }
  if (order_ == TopOrder::kName) return made;
  std::ranges::sort(made, {}, [this](const TopRow* row) {
    return std::pair(-sort_key(*row), row->place);
  });
  return made;
}

std::optional<double> TopModel::rate_of(const TopRow& row) {
  const auto& rate = row.recent.smooth();
  return rate ? std::optional(as_shown(*rate)) : std::nullopt;
}

std::optional<double> TopModel::other_rate_of(const TopRow& row) const {
  const auto found = others_->find(row.name);
  return found == others_->end() ? std::nullopt : std::optional(as_shown(found->second));
}

// Rows without what they are sorted by come after those with it, and those that are off come last.
double TopModel::sort_key(const TopRow& row) const {
  if (row.on == 0) return -2;
  const std::optional<double> rate = rate_of(row);
  if (!rate) return -1;
  if (order_ != TopOrder::kChange) return *rate;
  const std::optional<double> other = other_rate_of(row);
  if (!other) return -1;
  return *rate == 0 && *other == 0 ? 0 : std::abs(std::log2(*rate / *other));
}

void TopModel::set_next_order() {
  if (order_ == TopOrder::kRate) return set_order(TopOrder::kName);
  const bool is_next = order_ == TopOrder::kName && is_compared();
  set_order(is_next ? TopOrder::kChange : TopOrder::kRate);
}

void TopModel::set_filter(const std::string& filter) {
  filter_ = filter;
  shown_.reset();
  const auto& shown = rows();
  if (std::ranges::count(shown, selected_, &TopRow::name) == 0) select_row(0);
}

void TopModel::move(int rows) {
  const auto size = static_cast<int>(this->rows().size());
  if (size == 0) return;
  const int wanted = static_cast<int>(selected_row()) + rows;
  select_row(static_cast<std::size_t>(std::clamp(wanted, 0, size - 1)));
}

void TopModel::select_row(std::size_t row) {
  has_chosen_ = true;
  const auto& shown = rows();
  if (row < shown.size()) select(shown[row]->name);
}

void TopModel::keep_selected_within(std::size_t rows) {
  if (!has_chosen_ && selected_row() >= rows) select_first();
}

std::size_t TopModel::selected_row() const {
  const auto& shown = rows();
  const auto found = std::ranges::find(shown, selected_, &TopRow::name);
  return found == shown.end() ? 0 : static_cast<std::size_t>(found - shown.begin());
}

void TopModel::select(const std::string& name) {
  if (name == selected_) return;
  selected_ = name;
  interface_.reset();
  column_begin_.reset();
  statistic_.clear();
  clear_columns();
}

void TopModel::move_statistic(int steps) {
  const view::Statistic* const now = statistic();
  if (!now) return;
  const auto size = static_cast<int>(interface_->statistics.size());
  const auto at = static_cast<int>(now - interface_->statistics.data());
  statistic_ = interface_->statistics[static_cast<std::size_t>((at + steps + size) % size)].name;
  clear_columns();
}

const view::Statistic* TopModel::statistic() const {
  if (!interface_ || interface_->statistics.empty()) return nullptr;
  if (const auto* found = interface_->find(statistic_)) return found;
  const auto& all = interface_->statistics;
  // One with samples says more than the first one.
  const auto fed = std::ranges::find_if(
      all, [](const auto& each) { return has_bins(each) && each.samples > 0; });
  if (fed != all.end()) return &*fed;
  const auto with_bins = std::ranges::find_if(all, has_bins);
  return with_bins == all.end() ? &all.front() : &*with_bins;
}

}  // namespace tallyfs
