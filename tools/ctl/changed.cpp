#include "tools/ctl/changed.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "program/duration.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/past_reader.h"
#include "tools/ctl/what.h"
#include "tools/display/changed_reason.h"
#include "tools/display/most_changed.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"
#include "tools/past/moment_source.h"
#include "tools/past/span_source.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

constexpr microseconds kSpan = std::chrono::seconds(60);
constexpr microseconds kSpanMin = std::chrono::seconds(6);
// Of a mount, whose past nothing keeps: the span, and two of baseline.
constexpr std::uint64_t kSpansOfMount = 3;
constexpr std::size_t kRows = 20;
// Pale ones, if nothing is unusual.
constexpr std::size_t kRowsOfQuiet = 3;

// A span of a store.
struct StoreSpan {
  std::string directory;
  past::Span span;
};

// Percentiles of spans of a store, as show --at has them. A span is opened once.
class StorePercentiles {
 public:
  explicit StorePercentiles(std::string directory) : directory_(std::move(directory)) {}

  // Nothing: the statistic has none, or the store cannot be read.
  std::optional<std::string> p99(const PastReader::Name& name, const past::Span& span,
                                 const view::Look& look) {
    past::SpanSource* const source = open(span);
    if (!source) return std::nullopt;
    const auto interface = read_interface(*source, name.first);
    const view::Statistic* const found =
        interface ? interface.value().find(name.second) : nullptr;
    return found ? view::p99_text(*found, look) : std::nullopt;
  }

 private:
  past::SpanSource* open(const past::Span& span) {
    auto& source = sources_[{span.begin_us, span.end_us}];
    if (source) return source.get();
    auto store = past::StoreReader::open(directory_);
    if (!store) return nullptr;
    auto opened = past::SpanSource::open(std::move(store).value(), span);
    if (opened) source = std::move(opened).value();
    return source.get();
  }

  const std::string directory_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<past::SpanSource>> sources_;
};

class Changed {
 public:
  // wanted: of a store.
  Changed(Session& session, microseconds span, std::optional<StoreSpan> wanted = {})
      : session_(session), span_(span), reader_(*session.source, span) {
    if (!wanted) return;
    wanted_ = wanted->span;
    percentiles_.emplace(std::move(wanted->directory));
  }

  int run() {
    const bool is_mount = !session_.source->mount().empty();
    if (is_mount) {
      // A slip of the hand is told at once.
      const auto found = select(*session_.source, session_.options.words);
      if (!found) return complain(found.error());
      complain(kDone,
               "reads the mount for " +
                   view::duration_text(kSpansOfMount * static_cast<std::uint64_t>(span_.count())) +
                   "; show --changed --from RECORDING ranks at once");
    }
    if (const auto done = reader_.read(kSpansOfMount); !done) return complain(done.error());
    const auto selections = select(*session_.source, session_.options.words);
    if (!selections) return complain(selections.error());
    watch(selections.value());
    rows_ = view::most_changed(watched_, {.rows_max = kRows});
    const bool is_quiet = rows_.empty() || !rows_.front().is_unusual;
    if (is_quiet) rows_.resize(std::min(rows_.size(), kRowsOfQuiet));
    session_.options.json ? print_json() : draw(is_quiet);
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return std::ranges::count(names_, PastReader::Name(interface, name), &Named::name) > 0;
    });
    return kDone;
  }

 private:
  void watch(const std::vector<Selection>& selections) {
    std::set<std::string> whole;
    std::set<PastReader::Name> single;
    for (const Selection& each : selections) {
      if (each.is_whole) whole.insert(each.interface);
      for (const std::string& name : each.statistics) single.insert({each.interface, name});
    }
    for (const auto& [name, series] : reader_.series()) {
      if (!whole.contains(name.first) && !single.contains(name)) continue;
      if (series.is_new) new_.push_back(view::shown_name(name.first, name.second));
      spans_ = std::max(spans_, view::baseline_spans(series.past));
      if (view::baseline_spans(series.past) < kSpansOfMount - 1) {
        ++too_young_;
        continue;
      }
      watched_.push_back({name.first, &series.past});
      names_.push_back({name, &series});
      ++in_interface_[name.first];
    }
  }

  std::string duration(std::uint64_t spans) const {
    return view::duration_text(spans * static_cast<std::uint64_t>(span_.count()));
  }

  void draw(bool is_quiet) const {
    view::Grid grid = session_.grid();
    const view::Style dim{view::Tone::kDim};
    if (watched_.empty()) {
      grid.put_line("too little past: " + std::to_string(spans_) +
                        " spans of baseline; nothing is ranked below two",
                    {view::Tone::kWarning});
    } else {
      const std::string span = wanted_ ? span_text(*wanted_, session_.options.utc)
                                       : "the last " + duration(1);
      const std::string compared = span + " beside the " + duration(spans_) + " before, of " +
                                   std::to_string(watched_.size()) + " statistics";
      grid.put_line((is_quiet ? "nothing unusual: " : "unusual: ") + compared, dim);
    }
    draw_table(grid);
    if (!watched_.empty() && too_young_ > 0) {
      grid.put_line(std::to_string(too_young_) + " have too little past, and are not ranked", dim);
    }
    for (const std::string& each : new_) grid.put_line(each + ": new", dim);
    print(grid, session_.terminal);
  }

  void draw_table(view::Grid& grid) const {
    if (rows_.empty()) return;
    view::Table table(session_.look);
    table.add_column("STATISTIC", view::Align::kLeft);
    table.add_column("SINCE", view::Align::kLeft);
    table.add_column("WHAT CHANGED", view::Align::kLeft);
    table.add_column("SCORE");
    for (const view::ChangedRow& each : rows_) {
      const std::string score =
          view::number_text(each.behaviour.score, {}, view::Digits::kTwo, session_.look.charset);
      table.add_row({name_of_row(each), session_.look.moment(since_us(each)), reason(each), score},
                    std::nullopt, each.is_unusual ? view::Tone::kPlain : view::Tone::kDim);
    }
    table.draw(grid);
  }

  void print_json() const {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
    writer.key("span_us").number(span_.count());
    writer.key("baseline_spans").number(static_cast<std::uint64_t>(spans_));
    writer.key("ranked").number(static_cast<std::uint64_t>(watched_.size()));
    writer.key("too_little_past").number(static_cast<std::uint64_t>(too_young_));
    writer.key("rows").begin_array();
    for (const view::ChangedRow& each : rows_) write_row(writer, each);
    writer.end_array().key("new").begin_array();
    for (const std::string& each : new_) writer.string(each);
    writer.end_array().end_object();
    print(text.append("\n"));
  }

  void write_row(JsonWriter& writer, const view::ChangedRow& row) const {
    writer.begin_object().key("interface").string(first(row).name.first);
    writer.key("statistics").begin_array();
    for (const std::size_t each : row.members) writer.string(names_[each].name.second);
    writer.end_array().key("channel").string(view::name_of(row.behaviour.channel));
    writer.key("direction");
    writer.string(row.behaviour.direction == view::Direction::kUp ? "up" : "down");
    writer.key("score_thousandths");
    writer.number(static_cast<std::uint64_t>(row.behaviour.score * 1000));
    writer.key("unusual").boolean(row.is_unusual);
    writer.key("since_us").number(since_us(row)).key("why").string(reason(row));
    writer.end_object();
  }

  struct Named {
    PastReader::Name name;
    const PastReader::Series* series;
  };
  const Named& first(const view::ChangedRow& row) const { return names_[row.members.front()]; }

  std::string name_of_row(const view::ChangedRow& row) const {
    const PastReader::Name& name = first(row).name;
    return row.members.size() == 1 ? view::shown_name(name.first, name.second) : name.first;
  }
  std::uint64_t since_us(const view::ChangedRow& row) const {
    return realtime_us(row, row.onset.begin);
  }
  std::uint64_t realtime_us(const view::ChangedRow& row, std::size_t units_before) const {
    return reader_.realtime_us(*first(row).series, units_before);
  }

  // Of the baseline, and since the onset; nothing where there is no store, or another reason.
  std::optional<view::TwoPercentiles> p99(const view::ChangedRow& row) const {
    if (!percentiles_ || row.behaviour.channel != view::Channel::kLevel) return std::nullopt;
    const Named& named = first(row);
    const std::size_t spans = view::baseline_spans(named.series->past);
    const std::uint64_t begin_us = realtime_us(row, PastReader::kUnits);
    const past::Span baseline{realtime_us(row, (spans + 1) * PastReader::kUnits), begin_us};
    const past::Span since{realtime_us(row, row.onset.begin), realtime_us(row, row.onset.end)};
    auto before = percentiles_->p99(named.name, baseline, session_.look);
    auto now = percentiles_->p99(named.name, since, session_.look);
    if (!before || !now) return std::nullopt;
    return view::TwoPercentiles{*std::move(before), *std::move(now)};
  }

  std::string reason(const view::ChangedRow& row) const {
    const Named& named = first(row);
    return view::reason_of({.row = &row,
                            .past = &named.series->past,
                            .in_interface = in_interface_.at(named.name.first),
                            .units = named.series->units,
                            .decimals = named.series->decimals,
                            .unit_seconds = static_cast<double>(span_.count()) / 1e6 /
                                            static_cast<double>(PastReader::kUnits),
                            .p99 = p99(row)},
                           session_.look);
  }

  Session& session_;
  const microseconds span_;
  std::optional<past::Span> wanted_;
  mutable std::optional<StorePercentiles> percentiles_;  // of a store; it opens spans when asked
  PastReader reader_;
  std::vector<view::Watched> watched_;
  std::vector<Named> names_;  // of those that are watched
  std::map<std::string, std::size_t> in_interface_;
  std::vector<view::ChangedRow> rows_;
  std::vector<std::string> new_;
  std::size_t spans_ = 0;  // of the longest baseline
  std::size_t too_young_ = 0;
};

// The span with as many spans of baseline before it as the store has finely enough.
Result<std::unique_ptr<past::MomentSource>> open_with_baseline(Session& session,
                                                               past::StoreReader& store,
                                                               const past::Span& span) {
  const std::uint64_t length_us = span.end_us - span.begin_us;
  std::uint64_t step_us = 0;
  for (std::uint64_t spans = view::Past::kBaselineSpans; spans >= kSpansOfMount - 1; --spans) {
    const past::Span all{span.begin_us - std::min(span.begin_us, spans * length_us), span.end_us};
    const auto tier = store.finest_tier(all.begin_us);
    if (!tier) return tier.error();
    step_us = store.tiers()[tier.value()].step_us;
    if (step_us * view::Past::kSpanBlocks > length_us) continue;
    if (auto done = session.read_facts(store, all); !done) return done.error();
    return past::MomentSource::open(std::move(store), all, {});
  }
  return invalid("the store has points of " + view::duration_text(step_us) +
                 " for that time; a span of --changed needs twelve of them, as --at 12:00+" +
                 std::to_string(step_us * view::Past::kSpanBlocks / 1'000'000) + "s");
}

}  // namespace

int show_changed(Session& session) {
  std::vector<std::string>& words = session.options.words;
  microseconds span = kSpan;
  // A number alone may be a name.
  const auto micros = words.empty() ? std::nullopt : parse_duration(words.front());
  if (micros) {
    span = microseconds(static_cast<std::int64_t>(*micros));
    words.erase(words.begin());
  }
  if (span < kSpanMin) return complain(kWrongUsage, "a span of --changed is 6s at least");
  return Changed(session, span).run();
}

int show_changed(Session& session, const PastOptions& options) {
  std::optional<PastSpan> opened;
  if (const auto status = session.open_store(options, opened)) return *status;
  const past::Span& span = opened->wanted().value();
  const microseconds length(static_cast<std::int64_t>(span.end_us - span.begin_us));
  if (length < kSpanMin) return complain(kWrongUsage, "a span of --changed is 6s at least");
  auto source = open_with_baseline(session, opened->store(), span);
  if (!source) return complain(kRefused, source.error().reason);
  session.source = std::move(source).value();
  return Changed(session, length, StoreSpan{opened->directory(), span}).run();
}

}  // namespace tallyfs
