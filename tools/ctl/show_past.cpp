#include "tools/ctl/show_past.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/base/json.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/moment.h"
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
  Moment moment;
  std::vector<past::Fact> facts;
};

// How the span of --vs is headed, by where it lies.
struct OtherSpan {
  const char* prefix;
  const char* column;
  bool is_later = false;
};

OtherSpan other_span(const Span& now, const Span& other) {
  if (other.end_us <= now.begin_us) return {"before: ", "BEFORE"};
  if (other.begin_us >= now.end_us) return {"after: ", "AFTER", true};
  return {"compared with: ", "COMPARED"};
}

class ShowPast {
 public:
  ShowPast(Session& session, const PastOptions& options) : session_(session), options_(options) {}

  int run() {
    std::optional<PastSpan> opened;
    if (const auto status = session_.open_store(options_, opened)) return *status;
    extent_ = opened->extent();
    auto now = read(std::move(opened->store()), opened->wanted().value());
    if (!now) return complain(kRefused, now.error().reason);
    return options_.versus.empty() ? show(now.value()) : run_beside(*opened, now.value());
  }

 private:
  Result<ReadSpan> read(past::StoreReader store, const Span& span) {
    auto source = past::SpanSource::open(std::move(store), span);
    if (!source) return source.error();
    for (const std::string& each : session_.options.words) {
      if (path_of(each, "").empty()) continue;
      return invalid("the store has what is in statistics/; " + each + " is not");
    }
    auto selections = select(*source.value(), session_.options.words);
    if (!selections) return selections.error();
    selections_ = std::move(selections).value();
    name_single_match(selections_);
    auto moment = read_moment(*source.value(), selections_);
    if (!moment) return moment.error();
    auto facts = source.value()->facts();
    if (!facts) return facts.error();
    std::erase_if(facts.value(), [&](const past::Fact& fact) { return !concerns(fact); });
    return ReadSpan{span, source.value()->span(), std::move(moment).value(),
                    std::move(facts).value()};
  }

  bool concerns(const past::Fact& fact) const {
    if (fact.interface.empty()) return true;
    return std::ranges::any_of(selections_, [&](const Selection& each) {
      return each.interface == fact.interface &&
             (each.is_whole || std::ranges::count(each.statistics, fact.statistic) > 0);
    });
  }

  int run_beside(const PastSpan& past, const ReadSpan& now) {
    const auto span = past.other(now.wanted);
    if (!span) return complain(kWrongUsage, span.error().reason);
    auto store = past::StoreReader::open(past.directory());
    if (!store) return complain(kRefused, store.error().reason);
    auto before = read(std::move(store).value(), span.value());
    if (!before) return complain(kRefused, before.error().reason);
    return show_beside(now, before.value());
  }

  int show(const ReadSpan& now) {
    if (session_.options.json) return print_json(now, nullptr);
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
    put_facts(grid, now.facts, session_);
    print(grid, session_.terminal);
    return kDone;
  }

  int show_beside(const ReadSpan& now, const ReadSpan& other) {
    if (session_.options.json) return print_json(now, &other);
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
    for (const Selection& selection : selections_) {
      const std::string& interface = selection.interface;
      for (const std::string& name : names(selection, now, other)) {
        add_row(table, view::shown_name(interface, name), find(now, interface, name),
                find(other, interface, name), heading.is_later);
      }
    }
    table.empty() ? put_nothing(grid) : table.draw(grid);
    put_facts(grid, now.facts, session_);
    put_facts(grid, other.facts, session_);
    print(grid, session_.terminal);
    return kDone;
  }

  // Of both spans, in the order of the first one.
  static std::vector<std::string> names(const Selection& selection, const ReadSpan& now,
                                        const ReadSpan& other) {
    std::vector<std::string> made;
    for (const ReadSpan* read : {&now, &other}) {
      const auto found = read->moment.find(selection.interface);
      if (found == read->moment.end()) continue;
      for (const view::Statistic* each : selected(found->second.interface, selection)) {
        if (std::ranges::count(made, each->name) == 0) made.push_back(each->name);
      }
    }
    return made;
  }

  static std::optional<view::Change> find(const ReadSpan& read, const std::string& interface,
                                          const std::string& name) {
    const auto found = read.moment.find(interface);
    if (found == read.moment.end()) return std::nullopt;
    return view::change_in(found->second.interface, name);
  }

  void add_row(view::Table& table, const std::string& name,
               const std::optional<view::Change>& now, const std::optional<view::Change>& other,
               bool is_other_later) const {
    const auto rate = [](const std::optional<view::Change>& change) {
      const auto found = change ? change->rate() : std::nullopt;
      return found ? view::rate_text(*found) : std::string("-");
    };
    const auto values = [&](const std::optional<view::Change>& change) {
      return change ? view::values_text(*change->counted, session_.look) : std::string("-");
    };
    const std::string factor =
        is_other_later ? factor_text(other, now) : factor_text(now, other);
    table.add_row({name, rate(now), rate(other), factor, values(now), values(other)});
  }

  // "x2.1": how many times the earlier rate; "new" and "silent" where one of them is 0.
  static std::string factor_text(const std::optional<view::Change>& now,
                                 const std::optional<view::Change>& before) {
    constexpr double kUnknown = -1;
    const double rate = now ? now->rate().value_or(kUnknown) : kUnknown;
    const double was = before ? before->rate().value_or(kUnknown) : kUnknown;
    if (rate == kUnknown || was == kUnknown || (rate == 0 && was == 0)) return "-";
    if (was == 0) return "new";
    if (rate == 0) return "silent";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), rate < 10 * was ? "x%.2f" : "x%.0f", rate / was);
    return text.data();
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
    write_moment(writer, read.moment, selections_, find);
    writer.end_array();
  }

  Session& session_;
  const PastOptions& options_;
  Span extent_;
  std::vector<Selection> selections_;
};

}  // namespace

int show_past(Session& session, const PastOptions& options) {
  return ShowPast(session, options).run();
}

}  // namespace tallyfs
