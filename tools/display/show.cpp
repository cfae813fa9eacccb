#include "tools/display/show.h"

#include <algorithm>
#include <array>

#include "tools/display/distribution.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"

namespace tallyfs::view {
namespace {

class StatisticDrawer {
 public:
  StatisticDrawer(Grid& grid, const Interface& interface, const Statistic& statistic,
                  const Look& look)
      : grid_(grid),
        interface_(interface),
        statistic_(statistic),
        look_(look),
        of_x_(quantity_of_x(statistic)),
        of_counts_(quantity_of_counts(statistic.units)) {}

  void operator()(const Value&) const {
    const Quantity quantity = quantity_of_totals(statistic_);
    std::string text = "total ";
    text.append(values_text(statistic_, look_));
    const bool is_scaled = !look_.exact && quantity.kind != Quantity::Kind::kNumber;
    if (!is_scaled && !quantity.name.empty()) {
      text.append(" ").append(quantity.name);
    }
    grid_.put(grid_.height(), 2, text);
  }

  void operator()(const Range& range) const {
    Table table(look_);
    for (const char* each : {"number", "min", "avg", "max", "sum"}) table.add_column(each);
    const Quantity quantity = of_x_;
    const bool scales = quantity.kind != Quantity::Kind::kNumber;
    table.add_row(
        {grouped_text(range.number), x(range.min), average(range.avg), x(range.max),
         scales ? number(static_cast<double>(range.sum)) : grouped_text(range.sum, quantity)});
    table.draw(grid_, 2);
  }

  void operator()(const List& list) const {
    Int128 sum = 0;
    Int128 largest = 1;
    for (const Int128 total : list.totals) {
      sum += total;
      largest = std::max(largest, total);
    }
    Table table(look_);
    table.add_column(x_heading());
    table.add_column(counts_heading());
    table.add_column("%");
    const std::size_t size = std::min(list.x.size(), list.totals.size());
    for (std::size_t i = 0; i < size; ++i) {
      table.add_row({exact_text(list.x[i], of_x_), grouped_text(list.totals[i]),
                     share_text(list.totals[i], sum)},
                    part(list.totals[i], largest));
    }
    draw(table);
  }

  void operator()(const Array&) const { draw_bins(); }

  void operator()(const Quantiles& quantiles) const {
    if (quantiles.all.number == 0) return draw_bins();
    grid_.put(grid_.height(), 0,
              std::string("min ")
                  .append(x(quantiles.all.min))
                  .append("   avg ")
                  .append(average(quantiles.all.avg))
                  .append("   max ")
                  .append(x(quantiles.all.max)));
    draw_bins();
  }

  void operator()(const Raw& raw) const {
    Table table(look_);
    table.add_column("time", Align::kLeft);
    table.add_column("serial");
    table.add_column(x_heading());
    table.add_column(counts_heading());
    const std::size_t from = first_row(raw.x.size());
    for (std::size_t i = from; i < raw.x.size(); ++i) {
      table.add_row({clock(raw.time_us[i]), exact_text(raw.serial[i]), exact_text(raw.x[i], of_x_),
                     grouped_text(raw.y[i])});
    }
    draw(table);
    note_older(from);
  }

  void operator()(const Last& last) const {
    if (!last.time_us) return note("empty");
    grid_.put(grid_.height(), 2, clock(*last.time_us).append("  ").append(x(last.x)));
  }

  void operator()(const History& history) const {
    Table table(look_);
    table.add_column("end", Align::kLeft);
    const std::size_t from = first_row(history.end_us.size());
    if (!history.totals.empty()) {
      draw_totals(history, table, from);
    } else {
      draw_periods(history, table, from);
    }
    draw(table);
    note_older(from);
  }

 private:
  void draw_totals(const History& history, Table& table, std::size_t from) const {
    const Quantity quantity = quantity_of_totals(statistic_);
    table.add_column(quantity.name.empty() ? "total" : quantity.name);
    Int128 largest = 1;
    for (const Int128 total : history.totals) largest = std::max(largest, total);
    for (std::size_t i = from; i < history.end_us.size(); ++i) {
      table.add_row({clock(history.end_us[i]), grouped_text(history.totals[i], quantity)},
                    part(history.totals[i], largest));
    }
  }

  void draw_periods(const History& history, Table& table, std::size_t from) const {
    for (const char* each : {"number", "min", "avg", "max"}) table.add_column(each);
    for (const QuantileColumn& each : history.quantiles) {
      table.add_column(std::string("p").append(each.q));
    }
    for (std::size_t i = from; i < history.end_us.size(); ++i) {
      std::vector<std::string> cells = {clock(history.end_us[i]), grouped_text(history.number[i]),
                                        x(history.min[i]), average(history.avg[i]),
                                        x(history.max[i])};
      for (const QuantileColumn& each : history.quantiles) cells.push_back(x(each.values[i]));
      table.add_row(std::move(cells));
    }
  }

  void draw_bins() const {
    auto distribution = *distribution_of(statistic_, Detail::kOctaves);
    const Int128 total = distribution.total();
    if (total == 0) return note("empty");
    if (!look_.all) hide_empty_ends(distribution.bins);
    const std::size_t bins = distribution.bins.size();
    if (!look_.all) distribution = merged(distribution, look_.rows_max);
    Int128 largest = 1;
    for (const Bin& bin : distribution.bins) largest = std::max(largest, bin.count);
    Table table(look_);
    table.add_column(x_heading());
    table.add_column(counts_heading());
    table.add_column("%");
    table.add_column("sum %");
    Int128 sum = 0;
    for (const Bin& bin : distribution.bins) {
      sum += bin.count;
      table.add_row({bin_text(bin, of_x_, look_.exact, look_.charset), grouped_text(bin.count),
                     share_text(bin.count, total), share_text(sum, total)},
                    part(bin.count, largest));
    }
    draw(table);
    if (distribution.bins.size() < bins) {
      note(std::string("(neighbours of ")
               .append(std::to_string(bins))
               .append(" rows are merged; --all shows each)"));
    }
  }

  static void hide_empty_ends(std::vector<Bin>& bins) {
    const auto has_count = [](const Bin& bin) { return bin.count != 0; };
    bins.erase(bins.begin(), std::ranges::find_if(bins, has_count));
    bins.erase(std::find_if(bins.rbegin(), bins.rend(), has_count).base(), bins.end());
  }

  // The first row to be shown: of the newest rows_max rows, unless all are wanted.
  std::size_t first_row(std::size_t rows) const {
    return look_.all || rows <= look_.rows_max ? 0 : rows - look_.rows_max;
  }

  void draw(const Table& table) const {
    if (table.empty()) return note("empty");
    table.draw(grid_, 2);
  }
  void note(const std::string& text) const { grid_.put(grid_.height(), 2, text, {Tone::kDim}); }
  void note_older(std::size_t rows) const {
    if (rows == 0) return;
    note(std::string("(").append(std::to_string(rows)).append(" older rows: --all)"));
  }

  std::string number(double value) const {
    return number_text(value, of_x_, look_.exact ? Digits::kAll : Digits::kThree, look_.charset);
  }
  std::string x(std::int64_t value) const {
    return of_x_.kind == Quantity::Kind::kNumber ? exact_text(value, of_x_)
                                                 : number(static_cast<double>(value));
  }
  std::string x(const std::optional<std::int64_t>& value) const {
    return value ? x(*value) : std::string("-");
  }
  std::string average(const std::optional<double>& value) const {
    return value ? number(*value) : std::string("-");
  }
  std::string clock(std::uint64_t time_us) const {
    return look_.moment(interface_.realtime_at(time_us));
  }
  std::string x_heading() const { return of_x_.name.empty() ? "X" : of_x_.name; }
  std::string counts_heading() const { return of_counts_.name.empty() ? "count" : of_counts_.name; }
  static double part(Int128 of, Int128 largest) {
    return static_cast<double>(of) / static_cast<double>(largest);
  }

  Grid& grid_;
  const Interface& interface_;
  const Statistic& statistic_;
  const Look& look_;
  const Quantity of_x_;
  const Quantity of_counts_;
};

std::string samples_cell(const StatisticRow& row) {
  if (!row.change) return grouped_text(row.statistic->samples);
  return row.change->samples ? grouped_text(*row.change->samples) : "-";
}

std::string rate_cell(const StatisticRow& row) {
  if (!row.statistic->on) return "off";
  const auto rate = row.change ? row.change->rate() : std::nullopt;
  return rate ? rate_text(*rate) : "-";
}

}  // namespace

void draw_statistic(Grid& grid, const Interface& interface, const Statistic& statistic,
                    const Look& look) {
  grid.put_line(heading_of(interface.name, statistic, interface.time_us), {Tone::kBold});
  if (const std::string help = help_text(statistic); !help.empty()) grid.put_line(help);
  if (const auto text = percentiles_text(statistic, look); !text.empty()) grid.put_line(text);
  if (const auto text = left_out_text(statistic, look); !text.empty()) {
    grid.put_line(text, {Tone::kWarning});
  }
  std::visit(StatisticDrawer(grid, interface, statistic, look), statistic.values);
}

void draw_rows(Grid& grid, const std::vector<StatisticRow>& rows, const Look& look) {
  const bool has_rates =
      std::ranges::any_of(rows, [](const auto& row) { return row.change.has_value(); });
  Table table(look);
  table.add_column("STATISTIC", Align::kLeft);
  table.add_column("TYPE", Align::kLeft);
  table.add_column("ON");
  table.add_column("SAMPLES");
  if (has_rates) table.add_column("RATE");
  table.add_column("VALUES", Align::kLeft);
  for (const StatisticRow& row : rows) {
    const Statistic& shown =
        row.change && row.change->counted ? *row.change->counted : *row.statistic;
    const bool is_unknown = row.change && !row.change->counted;
    std::vector<std::string> cells = {shown_name(row.interface->name, row.statistic->name),
                                      row.statistic->type, row.statistic->on ? "on" : "off",
                                      samples_cell(row)};
    if (has_rates) cells.push_back(rate_cell(row));
    cells.push_back(is_unknown ? "-" : row_text(shown, look));
    table.add_row(std::move(cells), std::nullopt, row.statistic->on ? Tone::kPlain : Tone::kDim);
  }
  table.draw(grid);
}

}  // namespace tallyfs::view
