// The model of `top`: the interfaces with their rates and their last minute, the order of the shown
// ones, the selection, and the past of the selected statistic. It only computes; confined to the
// thread that draws.
//
// Rates are smoothed. Equal ones keep their order. The selection follows the name, not the
// row.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/ctl/top_map.h"
#include "tools/display/heat_panel.h"
#include "tools/display/recent_rate.h"
#include "tools/display/statistic.h"

namespace tallyfs {

struct TopRow {
  std::string name;
  std::uint64_t statistics = 0;
  std::uint64_t on = 0;
  view::RecentRate recent;   // of each moment
  std::size_t place = 0;     // when it came, for equal rates
  std::uint64_t moment = 0;  // the last one that had it
};

// By change: those whose rate is most times more or less than in the span beside them come first.
enum class TopOrder { kRate, kName, kChange };

class TopModel {
 public:
  static constexpr std::size_t kColumnsMax = 600;
  static constexpr std::string_view kOwn = view::kOwnInterface;

  TopModel() = default;
  TopModel(TopModel&&) = default;  // not copied: it points into itself
  TopModel& operator=(TopModel&&) = default;

  // Snapshots in their order; one that is the same as the newest changes nothing. A new epoch
  // forgets all rates.
  void take(view::Tree tree);
  // Takes the data of the selected interface; those of others are ignored.
  void take(const view::Interface& interface, std::uint64_t period_us);

  // Puts the past of the selected statistic before its columns, in place of a former past, and
  // marks as missed what lies between. Ignores a past of another statistic, one that was read for
  // another period than that of the columns, which came late, and an empty one: the former past is
  // better than none.
  void take_past(MapPast past, std::chrono::microseconds period);

  const view::Tree& tree() const { return tree_; }
  // Call before a snapshot of another time: the picture begins again.
  void begin_again();
  double rate() const;  // of all but the daemon's own
  // The filtered rows, in order; valid until the next take().
  const std::vector<const TopRow*>& rows() const;

  // Moves the selection by rows, at most to the first or the last one.
  void move(int rows);
  void select_row(std::size_t row);
  // Until the user selects a row, one of the first `rows` is selected, the first one again if
  // another was and is no longer among them: so the list stays at its beginning.
  void keep_selected_within(std::size_t rows);
  const std::string& selected() const { return selected_; }
  std::size_t selected_row() const;
  // The next or previous statistic of the selected interface.
  void move_statistic(int steps);
  // Null until the interface was read, or if it has no statistics.
  const view::Statistic* statistic() const;
  const std::optional<view::Interface>& interface() const { return interface_; }
  const std::deque<view::HeatColumn>& columns() const { return columns_; }

  const std::string& filter() const { return filter_; }
  // A part of names. If it hides what is selected, the first row is.
  void set_filter(const std::string& filter);

  TopOrder order() const { return order_; }
  void set_order(TopOrder order);
  // By change only where there is a span beside them.
  void set_next_order();

  // The rates of interfaces in another span, beside which the rows are shown.
  void compare_with(std::map<std::string, double> rates) { others_ = std::move(rates); }
  bool is_compared() const { return others_.has_value(); }
  // Samples of the row in a second, in hundredths; nullopt: the rate is not known.
  static std::optional<double> rate_of(const TopRow& row);
  // The same in the other span.
  std::optional<double> other_rate_of(const TopRow& row) const;

 private:
  void take(const view::InterfaceSummary& summary, double seconds);
  void select(const std::string& name);
  void clear_columns();
  void select_first();
  std::vector<const TopRow*> sorted() const;
  double sort_key(const TopRow& row) const;

  view::Tree tree_;
  std::map<std::string, TopRow> rows_;
  std::size_t places_ = 0;
  std::uint64_t moments_ = 0;
  TopOrder order_ = TopOrder::kRate;
  std::optional<std::map<std::string, double>> others_;  // by interface
  // The sorted rows, since sorting 10,000 is slow; nullopt: rows() has to sort them.
  mutable std::optional<std::vector<const TopRow*>> shown_;
  std::string filter_;
  std::string selected_;
  bool has_rates_ = false;                    // they were known once
  bool has_chosen_ = false;                   // the user
  std::optional<view::Interface> interface_;  // the newest of the selected one
  std::string statistic_;                     // its name; empty: the first with bins
  std::deque<view::HeatColumn> columns_;
  std::size_t past_columns_ = 0;                   // the first ones, which are out of a store
  std::uint64_t own_begin_us_ = 0;                 // when the first of the others began
  std::optional<view::Interface> column_begin_{};  // where the next column begins
};

}  // namespace tallyfs
