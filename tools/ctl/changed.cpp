#include "tools/ctl/changed.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/json.h"
#include "program/duration.h"
#include "tools/ctl/changed_part.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/past_reader.h"
#include "tools/ctl/store_percentiles.h"
#include "tools/ctl/top_map.h"
#include "tools/ctl/what.h"
#include "tools/display/changed_reason.h"
#include "tools/display/most_changed.h"
#include "tools/display/silence.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"
#include "tools/past/span_source.h"
#include "tools/past/store.h"
#include "tools/past/stored_pasts.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;
using Name = PastReader::Name;

constexpr microseconds kSpan = std::chrono::seconds(60);
constexpr microseconds kSpanMin = std::chrono::seconds(6);
// A mount keeps no past, so that the command reads so many spans: the span, and two of baseline.
constexpr std::uint64_t kSpansOfMount = 3;
constexpr std::size_t kSpanUnits = PastReader::kUnits;
constexpr std::size_t kRows = 20;
// Pale ones, if nothing is unusual.
constexpr std::size_t kRowsOfQuiet = 3;
constexpr std::size_t kSilentRows = 20;

// A span of a store.
struct StoreSpan {
  std::string directory;
  past::Span span;
  std::optional<past::Span> baseline{};  // what counts of --vs; else it is directly before
};

// A statistic of which a past was read.
struct Known {
  Name name;
  const view::Past* past;
  std::string units;
  unsigned decimals = 0;
  bool is_new = false;
  std::uint64_t end_us = 0;  // wall clock, of the newest block
};

class Changed {
 public:
  // known: by name. wanted: of a store.
  Changed(Session& session, microseconds span, std::vector<Known> known,
          std::optional<StoreSpan> wanted = {})
      : session_(session), span_(span), known_(std::move(known)) {
    if (!wanted) return;
    wanted_ = wanted->span;
    baseline_ = wanted->baseline;
    percentiles_.emplace(std::move(wanted->directory));
  }

  int run() {
    const auto selections = select(*session_.source, session_.options.words);
    if (!selections) return complain(selections.error());
    watch(selections.value());
    const Options& options = session_.options;
    const auto rows_max = options.top != 0 ? static_cast<std::size_t>(options.top) : kRows;
    rows_ = view::most_changed(watched_, {.rows_max = rows_max});
    silent_ = view::take_silent(watched_, rows_);
    const bool is_quiet = rows_.empty() || !rows_.front().is_unusual;
    if (is_quiet) rows_.resize(std::min(rows_.size(), kRowsOfQuiet));
    if (options.sort == "name") {
      std::ranges::sort(rows_, {}, [this](const auto& each) { return name_of_row(each); });
    }
    session_.options.json ? print_json() : draw(is_quiet);
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return std::ranges::any_of(
          ranked_, [&](const Known* each) { return each->name == Name(interface, name); });
    });
    return kDone;
  }

 private:
  void watch(const std::vector<Selection>& selections) {
    std::set<std::string> whole;
    std::set<Name> single;
    for (const Selection& each : selections) {
      if (each.is_whole) whole.insert(each.interface);
      for (const std::string& name : each.statistics) single.insert({each.interface, name});
    }
    for (const Known& each : known_) {
      const auto& [interface, name] = each.name;
      if (!whole.contains(interface) && !single.contains(each.name)) continue;
      if (each.is_new) new_.push_back(view::shown_name(interface, name));
      const std::size_t spans = view::baseline_spans(*each.past);
      spans_ = std::max(spans_, spans);
      if (spans < kSpansOfMount - 1) {
        ++too_young_;
        continue;
      }
      watched_.push_back({interface, each.past});
      ranked_.push_back(&each);
      ++in_interface_[interface];
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
      const std::string baseline = baseline_ ? span_text(*baseline_, session_.options.utc)
                                             : "the " + duration(spans_) + " before";
      const std::string compared = span + " compared with " + baseline + ", of " +
                                   std::to_string(watched_.size()) + " statistics";
      grid.put_line((is_quiet ? "nothing unusual: " : "unusual: ") + compared, dim);
      grid.put_line(limit_text(), dim);
    }
    draw_table(grid);
    if (is_quiet && wanted_ && !baseline_) {
      grid.put_line("a change of before " + session_.look.moment(wanted_->begin_us) +
                        " is part of what that is compared with: a longer --last, or --at, asks "
                        "for it",
                    dim);
    }
    if (!watched_.empty() && too_young_ > 0) {
      grid.put_line(std::to_string(too_young_) + " have too little past, and are not ranked", dim);
    }
    for (const std::string& each : new_) grid.put_line(each + ": new", dim);
    draw_silent(grid);
    print(grid, session_.terminal);
  }

  std::string limit_text() const {
    const bool is_short = spans_ < view::Past::kBaselineSpans;
    const std::string known = std::to_string(spans_) + " of " +
                              std::to_string(view::Past::kBaselineSpans) +
                              " spans before are known: ";
    return (is_short ? known : "") + "a score of " +
           view::number_text(view::unusual_from(spans_), {}, view::Digits::kTwo,
                             session_.look.charset) +
           " is unusual";
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

  void draw_silent(view::Grid& grid) const {
    const view::Style dim{view::Tone::kDim};
    const std::size_t shown = std::min(silent_.size(), kSilentRows);
    for (const view::SilentRow& each : std::span(silent_).first(shown)) {
      grid.put_line(name_of_row(each) + ": " + reason(each) + ", since " +
                        session_.look.moment(since_us(each)),
                    dim);
    }
    const std::size_t more = view::count_members(std::span(silent_).subspan(shown));
    if (more > 0) grid.put_line(std::to_string(more) + " more are silent", dim);
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
    writer.end_array().key("silent").begin_array();
    for (const view::SilentRow& each : silent_) write_row(writer, each);
    writer.end_array().end_object();
    print(text.append("\n"));
  }

  // Row: ChangedRow or SilentRow.
  template <typename Row>
  void write_names(JsonWriter& writer, const Row& row) const {
    writer.key("interface").string(first(row).name.first).key("statistics").begin_array();
    for (const std::size_t each : row.members) writer.string(ranked_[each]->name.second);
    writer.end_array();
  }

  void write_row(JsonWriter& writer, const view::SilentRow& row) const {
    write_names(writer.begin_object(), row);
    writer.key("since_us").number(since_us(row)).key("why").string(reason(row)).end_object();
  }

  void write_row(JsonWriter& writer, const view::ChangedRow& row) const {
    write_names(writer.begin_object(), row);
    writer.key("channel").string(view::name_of(row.behaviour.channel));
    writer.key("direction");
    writer.string(row.behaviour.direction == view::Direction::kUp ? "up" : "down");
    writer.key("score_thousandths");
    writer.number(static_cast<std::uint64_t>(row.behaviour.score * 1000));
    writer.key("unusual").boolean(row.is_unusual);
    writer.key("since_us").number(since_us(row)).key("why").string(reason(row));
    writer.end_object();
  }

  template <typename Row>
  const Known& first(const Row& row) const {
    return *ranked_[row.members.front()];
  }

  template <typename Row>
  std::string name_of_row(const Row& row) const {
    const Name& name = first(row).name;
    return row.members.size() == 1 ? view::shown_name(name.first, name.second) : name.first;
  }
  std::uint64_t since_us(const view::ChangedRow& row) const {
    const std::uint64_t since_us = realtime_us(row, row.onset.begin);
    // With --vs, the units before the span are those of the baseline, which is another time.
    return baseline_ ? std::max(since_us, wanted_->begin_us) : since_us;
  }
  std::uint64_t since_us(const view::SilentRow& row) const {
    return realtime_us(row, row.silence.units);
  }
  template <typename Row>
  std::uint64_t realtime_us(const Row& row, std::size_t units_before) const {
    const std::uint64_t end_us = first(row).end_us;
    const auto units = static_cast<std::uint64_t>(span_.count()) * units_before / kSpanUnits;
    return end_us - std::min(end_us, units);
  }

  // The p99 of the baseline, and that since the onset; nullopt without a store, or for another
  // reason.
  std::optional<view::TwoPercentiles> p99(const view::ChangedRow& row) const {
    if (!percentiles_ || row.behaviour.channel != view::Channel::kLevel) return std::nullopt;
    const Known& named = first(row);
    const std::size_t spans = view::baseline_spans(*named.past);
    const past::Span directly_before{realtime_us(row, (spans + 1) * kSpanUnits),
                                     realtime_us(row, kSpanUnits)};
    const past::Span baseline = baseline_.value_or(directly_before);
    const past::Span since{realtime_us(row, row.onset.begin), realtime_us(row, row.onset.end)};
    auto before = percentiles_->p99(named.name, baseline, session_.look);
    auto now = percentiles_->p99(named.name, since, session_.look);
    if (!before || !now) return std::nullopt;
    return view::TwoPercentiles{*std::move(before), *std::move(now)};
  }

  double unit_seconds() const {
    return static_cast<double>(span_.count()) / 1e6 / static_cast<double>(kSpanUnits);
  }
  std::string reason(const view::SilentRow& row) const {
    return view::reason_of(row, in_interface_.at(first(row).name.first), unit_seconds());
  }
  std::string reason(const view::ChangedRow& row) const {
    const Known& named = first(row);
    return view::reason_of({.row = &row,
                            .past = named.past,
                            .in_interface = in_interface_.at(named.name.first),
                            .units = named.units,
                            .decimals = named.decimals,
                            .unit_seconds = unit_seconds(),
                            .p99 = p99(row)},
                           session_.look);
  }

  Session& session_;
  const microseconds span_;
  std::optional<past::Span> wanted_;
  std::optional<past::Span> baseline_;
  mutable std::optional<StorePercentiles> percentiles_;  // of a store; it opens spans when asked
  const std::vector<Known> known_;
  std::vector<view::Watched> watched_;
  std::vector<const Known*> ranked_;  // those that are watched
  std::map<std::string, std::size_t> in_interface_;
  std::vector<view::ChangedRow> rows_;
  std::vector<view::SilentRow> silent_;
  std::vector<std::string> new_;
  std::size_t spans_ = 0;  // of the longest baseline
  std::size_t too_young_ = 0;
};

std::vector<Known> known_of(const PastReader& reader) {
  std::vector<Known> made;
  for (const auto& [name, each] : reader.series()) {
    made.push_back({name, &each.paced.past(), each.units, each.decimals, each.is_new,
                    reader.end_us(each)});
  }
  return made;
}

// A store that ends before the span has nothing of it.
std::vector<Known> known_of(const past::StoredPasts& pasts, const past::Span& span) {
  std::vector<Known> made;
  if (pasts.span().end_us <= span.begin_us) return made;
  for (const auto* each : pasts.series()) {
    const view::Statistic& statistic = each->portions.statistic();
    made.push_back({{each->interface, each->name},
                    &each->past(),
                    statistic.units,
                    statistic.decimals(),
                    pasts.is_new(*each),
                    pasts.realtime_us(*each)});
  }
  std::ranges::sort(made, {}, &Known::name);
  return made;
}

// For those who need not wait: the store of the mount, if there is one, else a recording.
std::string way_to_rank_at_once(const std::string& mount) {
  const std::string store = store_of_mount(mount);
  std::error_code failed;
  const bool has_store = !store.empty() && std::filesystem::exists(past::file_of(store), failed);
  return has_store ? "; show --changed --last 1m asks the store, and ranks at once"
                   : "; show --changed --from RECORDING ranks at once";
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
  if (!session.source->mount().empty()) {
    // A slip of the hand is told at once.
    const auto found = select(*session.source, words);
    if (!found) return complain(found.error());
    complain(kDone,
             "reads the mount for " +
                 view::duration_text(kSpansOfMount * static_cast<std::uint64_t>(span.count())) +
                 way_to_rank_at_once(session.source->mount()));
  }
  PastReader reader(*session.source, span);
  if (const auto done = reader.read(kSpansOfMount); !done) return complain(done.error());
  return Changed(session, span, known_of(reader)).run();
}

int show_changed(Session& session, const PastOptions& options) {
  std::optional<PastSpan> opened;
  if (const auto status = session.open_store(options, opened, session.options.words)) {
    return *status;
  }
  const past::Span& span = opened->wanted().value();
  const microseconds length(static_cast<std::int64_t>(span.end_us - span.begin_us));
  if (length < kSpanMin) return complain(kWrongUsage, "a span of --changed is 6s at least");
  std::optional<past::Span> baseline;
  // "before" is what it is compared with anyhow.
  if (!options.versus.empty() && options.versus != "before") {
    const auto other = opened->other(span);
    if (!other) return complain(kWrongUsage, other.error().reason);
    baseline = other.value();
  }
  const auto part = baseline ? with_baseline_of(opened->store(), span, *baseline)
                             : with_baseline(opened->store(), span);
  if (!part) return complain(kRefused, part.error().reason);
  // Only the newest spans of a longer baseline count.
  if (baseline) baseline = part.value().baseline();
  const past::Span whole = part.value().span;
  const auto times = baseline ? std::vector{*baseline, span} : std::vector{whole};
  for (const past::Span& each : times) {
    const auto facts = session.add_facts(opened->store(), each);
    if (!facts) return complain(kRefused, facts.error().reason);
  }
  past::StoredPasts pasts(opened->directory(), part.value());
  const auto read = pasts.read(past::StoredPasts::Clock::time_point::max());
  if (!read) return complain(kRefused, read.error().reason);
  session.add_facts(pasts.damaged());
  auto source = past::SpanSource::names(std::move(opened->store()));
  if (!source) return complain(kRefused, source.error().reason);
  session.source = std::move(source).value();
  return Changed(session, length, known_of(pasts, span),
                 StoreSpan{opened->directory(), span, baseline})
      .run();
}

}  // namespace tallyfs
