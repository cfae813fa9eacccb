#include "tools/ctl/show_past.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "tools/ctl/by_label.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/read_interfaces.h"
#include "tools/display/show.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"
#include "tools/past/span_source.h"

namespace tallyfs {
namespace {

using past::Span;

// A span that was read.
struct ReadSpan {
  Span wanted;
  Span span;
  ReadInterfaces moment;
  std::vector<past::Fact> facts;
  std::string left_out;  // of sums
};

class ShowPast {
 public:
  ShowPast(Session& session, const PastOptions& options, std::string by)
      : session_(session), options_(options), by_(std::move(by)) {}

  int run() {
    std::optional<PastSpan> opened;
    if (const auto status = session_.open_store(options_, opened, session_.options.words)) {
      return *status;
    }
    extent_ = opened->extent();
    auto now = read(std::move(opened->store()), opened->wanted().value(), Which::kFirst);
    if (!now) return complain(kRefused, now.error().reason);
    return options_.versus.empty() ? show(now.value()) : run_beside(*opened, now.value());
  }

 private:
  // kOther: the statistics that were selected in the first span. The other span may have more.
  enum class Which { kFirst, kOther };
  Result<ReadSpan> read(past::StoreReader store, const Span& span, Which which) {
    const std::vector<std::string> all;
    auto source = past::SpanSource::open(std::move(store), span,
                                         by_.is_wanted() ? all : session_.options.words);
    if (!source) return source.error();
    for (const std::string& each : session_.options.words) {
      if (path_of(each, "").empty()) continue;
      return invalid("the store has what is in statistics/; " + each + " is not");
    }
    const auto found = by_.select(*source.value(), session_.options.words);
    const bool is_absent = !found && found.error().code == ErrorCode::kInvalid;
    if (!found && (which == Which::kFirst || !is_absent)) return found.error();
    if (found) add_selections(found.value());
    selections_ = parts_;
    name_single_match(selections_);
    auto moment = read_interfaces(*source.value(), selections_);
    if (!moment) return moment.error();
    if (which == Which::kFirst) {
      if (auto done = by_.check(moment.value(), selections_); !done) return done.error();
    }
    auto facts = source.value()->facts();
    if (!facts) return facts.error();
    std::erase_if(facts.value(), [&](const past::Fact& fact) { return !concerns(fact); });
    if (by_.is_wanted()) {
      by_.add_up(moment.value(), selections_, view::Begin::kOfOldest);
      selections_ = ByLabel::of_sums(selections_);
    }
    return ReadSpan{span, source.value()->span(), std::move(moment).value(),
                    std::move(facts).value(), by_.left_out_text()};
  }

  void add_selections(const std::vector<Selection>& more) {
    for (const Selection& each : more) {
      const auto known = std::ranges::find(parts_, each.interface, &Selection::interface);
      if (known == parts_.end()) {
        parts_.push_back(each);
        continue;
      }
      known->is_whole |= each.is_whole;
      for (const std::string& name : each.statistics) {
        if (std::ranges::count(known->statistics, name) == 0) known->statistics.push_back(name);
      }
    }
  }

  bool concerns(const past::Fact& fact) const {
    if (fact.interface.empty()) return true;
    return std::ranges::any_of(selections_, [&](const Selection& each) {
      return each.has(fact.interface, fact.statistic);
    });
  }

  int run_beside(const PastSpan& past, const ReadSpan& now) {
    const auto span = past.other(now.wanted);
    if (!span) return complain(kWrongUsage, span.error().reason);
    auto store = past::StoreReader::open(past.directory());
    if (!store) return complain(kRefused, store.error().reason);
    auto before = read(std::move(store).value(), span.value(), Which::kOther);
    if (!before) return complain(kRefused, before.error().reason);
    return show_beside(now, before.value());
  }

  int show(const ReadSpan& now) {
    if (session_.options.json && !session_.options.exports_rows()) return print_json(now, nullptr);
    view::Grid grid = session_.grid();
    put_span(grid, "", now);
    std::vector<view::StatisticRow> rows;
    bool is_empty = true;
    for (const Selection& selection : selections_) {
      const auto found = now.moment.find(selection.interface);
      if (found == now.moment.end()) continue;
      const view::Interface& interface = found->second.interface;
      for (const view::Statistic* each : selected(interface, selection)) {
        is_empty = false;
        if (selection.is_whole || selection.is_pattern || session_.options.chooses_rows())
          rows.push_back({&interface, each, view::change_in(interface, *each)});
        else
          view::draw_statistic(grid, interface, *each, session_.look);
      }
    }
    session_.put_rows(grid, std::move(rows));
    if (session_.options.exports_rows()) {
      complain_of_facts(now.facts, session_.look);
      return kDone;
    }
    if (is_empty) put_nothing(grid);
    put_left_out(grid, "", now);
    put_facts(grid, now.facts, session_);
    print(grid, session_.terminal);
    return kDone;
  }

  int show_beside(const ReadSpan& now, const ReadSpan& other) {
    if (session_.options.json && !session_.options.exports_rows()) return print_json(now, &other);
    std::vector<view::StatisticRow> rows = rows_beside(now, other);
    session_.choose_rows(rows);
    if (session_.options.exports_rows()) return export_beside(now, other, std::move(rows));
    const OtherSpan heading = other_span(now.wanted, other.wanted);
    view::Grid grid = session_.grid();
    put_span(grid, "", now);
    put_span(grid, heading.prefix, other);
    view::Table table(session_.look);
    table.add_column("STATISTIC", view::Align::kLeft);
    table.add_column("RATE");
    table.add_column(heading.column);
    table.add_column("CHANGE");
    table.add_column("VALUES", view::Align::kLeft);
    table.add_column(heading.column, view::Align::kLeft);
    for (const view::StatisticRow& each : rows) add_row(table, each, heading.is_later);
    table.empty() ? put_nothing(grid) : table.draw(grid);
    put_left_out(grid, "", now);
    put_left_out(grid, heading.prefix, other);
    put_facts(grid, now.facts, session_);
    put_facts(grid, other.facts, session_);
    print(grid, session_.terminal);
    return kDone;
  }

  // The rows of the one span, then those of the other: `time` says which a row is of.
  int export_beside(const ReadSpan& now, const ReadSpan& other,
                    std::vector<view::StatisticRow> rows) {
    session_.print_rows(view::exported(rows));
    std::erase_if(rows, [&](view::StatisticRow& row) {
      const auto found = other.moment.find(row.interface->name);
      if (found == other.moment.end() || !row.other->counted) return true;
      row.interface = &found->second.interface;
      row.change = std::exchange(row.other, std::nullopt);
      return false;
    });
    session_.print_rows(view::exported(rows));
    complain_of_facts(now.facts, session_.look);
    complain_of_facts(other.facts, session_.look);
    return kDone;
  }

  // The rows of both spans, in the order of the first one.
  std::vector<view::StatisticRow> rows_beside(const ReadSpan& now, const ReadSpan& other) const {
    std::vector<view::StatisticRow> rows;
    for (const Selection& selection : selections_) {
      std::set<std::string_view> known;
      for (const ReadSpan* read : {&now, &other}) {
        const auto found = read->moment.find(selection.interface);
        if (found == read->moment.end()) continue;
        const view::Interface& interface = found->second.interface;
        for (const view::Statistic* each : selected(interface, selection)) {
          if (!known.insert(each->name).second) continue;
          rows.push_back({&interface, each, find(now, interface.name, each->name),
                          find(other, interface.name, each->name)});
        }
      }
    }
    return rows;
  }

  // Without a number where nothing was observed.
  static view::Change find(const ReadSpan& read, const std::string& interface,
                           const std::string& name) {
    const auto found = read.moment.find(interface);
    if (found == read.moment.end()) return {};
    return view::change_in(found->second.interface, name).value_or(view::Change{});
  }

  void add_row(view::Table& table, const view::StatisticRow& row, bool is_other_later) const {
    const auto rate = [](const view::Change& change) {
      const auto found = change.rate();
      return found ? view::rate_text(*found) : std::string("-");
    };
    const auto values = [&](const view::Change& change) {
      return change.counted ? view::row_text(*change.counted, session_.look) : std::string("-");
    };
    const view::Change& now = *row.change;
    const view::Change& other = *row.other;
    table.add_row({view::shown_name(row.interface->name, row.statistic->name), rate(now),
                   rate(other),
                   is_other_later ? factor_text(other.rate(), now.rate())
                                  : factor_text(now.rate(), other.rate()),
                   values(now), values(other)});
  }

  void put_span(view::Grid& grid, const std::string& prefix, const ReadSpan& read) const {
    std::string text = prefix + span_text(read.span, session_.options.utc);
    if (distance(read.wanted, read.span) >= 1'000'000) {
      text.append("  (of the store's points; finer ones are not kept so long)");
    }
    grid.put_line(text, {view::Tone::kDim});
  }
  static std::uint64_t distance(const Span& a, const Span& b) {
    const auto between = [](std::uint64_t x, std::uint64_t y) { return x < y ? y - x : x - y; };
    return std::max(between(a.begin_us, b.begin_us), between(a.end_us, b.end_us));
  }

  void put_nothing(view::Grid& grid) const {
    grid.put_line("nothing was observed in it; the store has " +
                      span_text(extent_, session_.options.utc),
                  {view::Tone::kWarning});
  }

  static void put_left_out(view::Grid& grid, const std::string& prefix, const ReadSpan& read) {
    if (!read.left_out.empty()) grid.put_line(prefix + read.left_out, {view::Tone::kWarning});
  }

  int print_json(const ReadSpan& now, const ReadSpan* before) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
    write(writer, now);
    if (before) {
      writer.key("before").begin_object();
      write(writer, *before);
      writer.end_object();
    }
    writer.end_object();
    print(text.append("\n"));
    return kDone;
  }

  void write(JsonWriter& writer, const ReadSpan& read) const {
    writer.key("begin_us").number(read.span.begin_us).key("end_us").number(read.span.end_us);
    writer.key("facts").begin_array();
    for (const past::Fact& each : read.facts) {
      writer.begin_object().key("begin_us").number(each.span.begin_us);
      writer.key("end_us").number(each.span.end_us).key("interface").string(each.interface);
      writer.key("name").string(each.statistic).key("reason").string(each.reason).end_object();
    }
    writer.end_array().key("interfaces").begin_array();
    const auto find = [](const view::Interface& interface, const std::string& name) {
      return view::change_in(interface, name);
    };
    write_interfaces(writer, read.moment, selections_, find);
    writer.end_array();
  }

  Session& session_;
  const PastOptions& options_;
  ByLabel by_;
  Span extent_;
  std::vector<Selection> parts_;       // of all spans that were read
  std::vector<Selection> selections_;  // the same, or their sums
};

}  // namespace

int show_past(Session& session, const PastOptions& options, std::string by) {
  return ShowPast(session, options, std::move(by)).run();
}

}  // namespace tallyfs
