#include "core/statistics/interface/statistic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/statistics/interface/cell_form.h"
#include "core/sums/saved.h"

namespace tallyfs::statistics {
namespace {

// Version 1 did not count samples, version 2 knew no wall clock.
constexpr std::uint8_t kStatisticVersion = 3;

Error no_statistic() { return {ErrorCode::kInvalid, "not the saved state of a statistic"}; }

struct SavedDefinition {
  Definition definition;
  std::string help;
  std::optional<std::string> sample_units;
};

// The definition is saved as text, so that one parser says what a definition may be.
Result<SavedDefinition> load_definition(ByteReader& in) {
  const auto change = parse_new_statistic(in.get_text());
  if (!in.ok() || !change) return no_statistic();
  auto definition = apply(change.value(), Definition{});
  if (!definition) return definition.error();
  const auto& [help, sample_units] = std::tie(change.value().help, change.value().sample_units);
  SavedDefinition saved{.definition = std::move(definition.value())};
  if (help) saved.help = help->value;
  if (sample_units) saved.sample_units = sample_units->value;
  return saved;
}

}  // namespace

std::uint64_t Statistic::worst_case_bytes() const {
  return worst_case_bytes_after(Change{}, definition_);
}

std::uint64_t Statistic::worst_case_bytes_after(const Change& change,
                                                const Definition& after) const {
  if (change.data_reset || discards_data(definition_, after)) {
    return statistics::worst_case_bytes(after);
  }
  return std::visit(
      [&](const auto& gathered) {
        if constexpr (requires { gathered.worst_case_bytes_after(after); }) {
          return gathered.worst_case_bytes_after(after);
        } else {
          return statistics::worst_case_bytes(after);
        }
      },
      gathered_);
}

std::uint64_t Statistic::growth_by(const Change& change, const Definition& after) const {
  return worst_case_bytes_after(change, after) - worst_case_bytes() + after.units.size() -
         definition_.units.size() + text_bytes_after(change, after) - text_bytes();
}

Statistic::Statistic(std::string_view name, Definition definition, Timestamp now)
    : gathered_(make_type_data(definition, now.monotonic)),
      decimals_(definition.decimals),
      has_full_range_(definition.has_full_range()),
      definition_(std::move(definition)),
      name_(name),
      created_(now.realtime),
      data_since_(now.monotonic),
      started_(now.monotonic),
      stopped_(now.monotonic) {}

template <typename AddTo>
Statistic::Added Statistic::add_by(std::span<const Sample> samples, std::chrono::nanoseconds now,
                                   AddTo add_to) {
  if (!on_ || samples.empty()) return {};
  samples_ += samples.size();
  const bool saturated = std::visit(
      [&](auto& gathered) {
        if constexpr (requires { gathered.advance(now); }) gathered.advance(now);
        return add_to(gathered);
      },
      gathered_);
  const bool is_first = saturated && !saturated_;
  if (saturated) saturated_ = true;
  return {.changed = true, .saturated = is_first};
}

Statistic::Added Statistic::add(std::span<const Sample> samples, std::chrono::nanoseconds now) {
  return add_by(samples, now, [&](auto& gathered) { return add_to(gathered, samples); });
}

Statistic::Added Statistic::add(const SharedRun& run, std::chrono::nanoseconds now) {
  return add_by(run.samples(), now, [&](auto& gathered) { return add_shared(gathered, run); });
}

template <typename Type>
bool Statistic::add_shared(Type& gathered, const SharedRun& run) {
  if constexpr (requires(const RunSums& sums) { gathered.add(run.samples(), sums); }) {
    const auto& sums = run.sums();
    if (sums && is_in_range(sums->summary.min) && is_in_range(sums->summary.max)) {
      return gathered.add(run.samples(), *sums);
    }
  }
  return add_to(gathered, run.samples());
}

template <typename Type>
bool Statistic::add_to(Type& gathered, std::span<const Sample> samples) {
  if constexpr (requires(std::uint64_t hits) { gathered.add(samples, hits); }) {
    std::uint64_t hits = 0;
    bool saturated = gathered.add(samples, hits);
    if (hits != 0) saturated |= add_saturating(hits_out_of_range_, hits);
    return saturated;
  } else {
    return has_full_range_ ? gathered.add(samples) : add_in_range(gathered, samples);
  }
}

// Hands on what lies between samples that are out of range, without copying any.
template <typename Type>
bool Statistic::add_in_range(Type& gathered, std::span<const Sample> samples) {
  const auto inside = [this](const Sample& sample) { return is_in_range(sample.x); };
  bool saturated = false;
  while (!samples.empty()) {
    const auto hit = std::find_if_not(samples.begin(), samples.end(), inside);
    const auto before = static_cast<std::size_t>(hit - samples.begin());
    saturated |= gathered.add(samples.first(before));
    samples = samples.subspan(before);
    const auto back = std::find_if(samples.begin(), samples.end(), inside);
    const auto hits = static_cast<std::size_t>(back - samples.begin());
    saturated |= add_saturating(hits_out_of_range_, std::uint64_t{hits});
    samples = samples.subspan(hits);
  }
  return saturated;
}

bool Statistic::carry_out(const Change& change, Definition after, Timestamp now, CellBudget& budget,
                          Discarded* kept) {
  const auto gathering = discards_data(definition_, after) ? Gathering::kAnew : Gathering::kGoesOn;
  const bool anew = change.data_reset || gathering == Gathering::kAnew;
  const bool other_cells = cells() && (anew || cell_form(definition_) != cell_form(after));
  const bool ends_data = anew && !kept;
  if (other_cells) end_era(ends_data ? CellData::kDiscarded : CellData::kKept, budget);
  if (kept) keep(*kept, now);
  bool changed = after != definition_;
  redefine(std::move(after));
  if (changed && gathering == Gathering::kGoesOn) {
    std::visit(
        [&](auto& gathered) {
          if constexpr (requires { gathered.redefine(definition_); })
            gathered.redefine(definition_);
        },
        gathered_);
  }
  changed |= take_effect(change, gathering, now);
  if (other_cells) begin_era();
  if (source()) publish();  // what feeders say with a sample, for a view of another type
  return changed;
}

bool Statistic::carry_out(const Change& change, Timestamp now, CellBudget& budget,
                          Discarded* kept) {
  const bool other_cells = cells() && change.data_reset;
  if (other_cells) end_era(kept ? CellData::kKept : CellData::kDiscarded, budget);
  if (kept) keep(*kept, now);
  const bool changed = take_effect(change, Gathering::kGoesOn, now);
  if (other_cells) begin_era();
  return changed;
}

// Off before and on after the rest: a reset must not open a period of a history that is being
// stopped, and nothing but this decides on or off (in 2006 a redefinition switched it on).
bool Statistic::take_effect(const Change& change, Gathering gathering, Timestamp now) {
  const bool anew = change.data_reset || gathering == Gathering::kAnew;
  bool changed = anew;
  if (change.help) changed |= set_help(change.help->value);
  if (change.on && !change.on->value) changed |= stop(now.monotonic);
  if (anew) gather_anew(now);
  if (change.on && change.on->value) changed |= start(now.monotonic);
  return changed;
}

bool Statistic::start(std::chrono::nanoseconds now) {
  if (on_) return false;
  on_ = true;
  started_ = now;
  start_history(now);
  publish();
  return true;
}

bool Statistic::is_wanted() const {
  const auto all = views();
  return on_ || std::any_of(all.begin(), all.end(), [](const auto* view) { return view->on_; });
}

Change Statistic::left_of(Change change) const {
  if (asked_definition_) change = Change{.name = change.name, .on = change.on};
  if (asked_on_) change.on.reset();
  change.of.reset();
  change.data_reset = false;
  return change;
}

// Just as many as there are: the links of a statistic take no more memory than they need.
void Statistic::attach_view(Statistic& view) {
  auto more = std::make_unique<Statistic*[]>(links().views_size + 1);
  *std::ranges::copy(views(), more.get()).out = &view;
  links_->views = std::move(more);
  ++links_->views_size;
  has_views_ = true;
  view.links().source = this;
  publish();
}

void Statistic::detach_view(Statistic& view) {
  Statistic** const end = links_->views.get() + links_->views_size;
  links_->views_size = static_cast<std::uint32_t>(std::remove(links_->views.get(), end, &view) -
                                                  links_->views.get());
  has_views_ = links_->views_size != 0;
  view.links_->source = nullptr;
  publish();
}

void Statistic::start_history(std::chrono::nanoseconds now) {
  std::visit(
      [&](auto& gathered) {
        if constexpr (requires { gathered.start(now); }) gathered.start(now);
      },
      gathered_);
}

bool Statistic::stop(std::chrono::nanoseconds now) {
  if (!on_) return false;
  advance(now);
  on_ = false;
  stopped_ = now;
  publish();
  return true;
}

void Statistic::gather_anew(Timestamp now) {
  data_since_ = now.monotonic;
  created_ = now.realtime;
  hits_out_of_range_ = 0;
  saturated_ = false;
  // The data are freed first: the ledger has no room for both.
  gathered_.emplace<ValueStatistic>(ValueSettings{});
  gathered_ = make_type_data(definition_, now.monotonic);
  if (on_) start_history(now.monotonic);
}

bool Statistic::advance(std::chrono::nanoseconds now) {
  return on_ && std::visit(
                    [&](auto& gathered) {
                      if constexpr (requires { gathered.advance(now); }) {
                        return gathered.advance(now);
                      } else {
                        return false;
                      }
                    },
                    gathered_);
}

std::optional<std::uint64_t> Statistic::missed() const {
  return std::visit(
      [](const auto& gathered) -> std::optional<std::uint64_t> {
        if constexpr (requires { gathered.missed(); }) {
          return gathered.missed();
        } else {
          return std::nullopt;
        }
      },
      gathered_);
}

LineState Statistic::line_state() const {
  return {.of = source() ? std::string_view(source()->name_) : std::string_view(),
          .on = on_,
          .hits_out_of_range = hits_out_of_range(),
          .hits_missed = missed(),
          .data = data_since_,
          .started = started_,
          .stopped = stopped_,
          .help = help()};
}

void Statistic::render_definition(std::string& out) const {
  append_line(out, name_, definition_, line_state());
}

void Statistic::write_members(JsonWriter& json) const {
  statistics::write_members(json, name_, definition_, line_state());
  json.key("data_realtime_us");
  if (created_.count() != 0) {
    json.microseconds(created_);
  } else {
    json.null();
  }
  json.key("samples").number(samples_ + uncounted_in_cells());
}

std::uint64_t Statistic::definition_bytes_min() const {
  return kShortestDefinitionLine.size() + name_.size() + definition_.units.size();
}

std::uint64_t Statistic::data_bytes_min() const {
  return std::visit(
      [&](const auto& gathered) {
        return gathered.lines() * (name_.size() + gathered.kShortestLine.size());
      },
      gathered_);
}

// Each line is an element of a column, of a digit and a comma.
std::uint64_t Statistic::values_bytes_min() const {
  return 2 * std::visit([](const auto& gathered) { return gathered.lines(); }, gathered_);
}

void Statistic::copy(StatisticCopy& to) const {
  to.name = name_;
  to.definition = definition_;
  to.help = help();
  to.hits_out_of_range = hits_out_of_range();
  to.hits_missed = missed();
  to.created = created_;
  to.gathered = gathered_;
  add_cells(to.gathered);
}

Statistic::Snapshot Statistic::snapshot() const {
  const auto copy = [](const auto& gathered) -> Snapshot::Copied { return gathered.snapshot(); };
  if (!has_cells()) return {name_, definition_.decimals, std::visit(copy, gathered_)};
  return {name_, definition_.decimals, std::visit(copy, gathered())};
}

std::uint64_t Statistic::Snapshot::text_length() const {
  return std::visit([&](const auto& copied) { return copied.text_length(name_, decimals_); },
                    copied_);
}

void Statistic::Snapshot::render(std::string& out) && {
  std::visit([&](auto& copied) { copied.render(name_, out, decimals_); }, copied_);
  copied_.emplace<ValueStatistic>(ValueSettings{});
}

void Statistic::save(ByteWriter& out, Cells cells) const {
  const bool has_both = cells == Cells::kIncluded && has_cells();
  std::string definition;
  append_definition(definition, definition_);
  if (!help().empty()) definition.append(" help=").append(help());
  if (const auto units = sample_units()) {
    definition.append(" sample_units=").append(units->empty() ? kClearWord : *units);
  }
  out.put(kStatisticVersion);
  out.put_text(name_);
  out.put_text(definition);
  out.put(std::uint8_t{on_});
  out.put(std::uint8_t{saturated_});
  save_time(out, data_since_);
  save_time(out, started_);
  save_time(out, stopped_);
  out.put(has_both ? hits_out_of_range() : hits_apart(cells));
  out.put(samples_ + uncounted_in_cells());
  out.put(std::int64_t{created_.count()});
  const auto save_it = [&](const auto& gathered) { gathered.save(out); };
  const auto copy = has_both ? std::optional(gathered()) : gathered_apart(cells);
  std::visit(save_it, copy ? *copy : gathered_);
}

Result<Statistic> Statistic::load(ByteReader& in) {
  const auto version = in.get<std::uint8_t>();
  if (version < 1 || version > kStatisticVersion) in.fail();
  const std::string_view name = in.get_text();
  auto saved = load_definition(in);
  if (!is_name(name) || !saved) return no_statistic();
  Statistic statistic(name, std::move(saved.value().definition), {});
  statistic.set_help(saved.value().help);
  if (saved.value().sample_units) statistic.set_sample_units(*saved.value().sample_units);
  statistic.on_ = in.get_flag();
  statistic.saturated_ = in.get_flag();
  statistic.data_since_ = load_time(in);
  statistic.started_ = load_time(in);
  statistic.stopped_ = load_time(in);
  statistic.hits_out_of_range_ = in.get<std::uint64_t>();
  if (version > 1) statistic.samples_ = in.get<std::uint64_t>();
  if (version > 2) statistic.created_ = std::chrono::nanoseconds(in.get<std::int64_t>());
  std::visit([&](auto& gathered) { gathered.load(in); }, statistic.gathered_);
  const bool can_add = std::visit(
      [](const auto& gathered) {
        if constexpr (requires { gathered.can_add(); }) return gathered.can_add();
        return true;
      },
      statistic.gathered_);
  const bool cannot_go_on = statistic.on_ && !can_add;
  if (!in.ok() || cannot_go_on) return no_statistic();
  return statistic;
}

}  // namespace tallyfs::statistics
