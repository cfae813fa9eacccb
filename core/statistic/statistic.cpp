#include "core/statistic/statistic.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/base/text.h"
#include "core/statistic/saturating.h"
#include "core/statistic/saved.h"

namespace tallyfs {
namespace {

constexpr std::uint8_t kStatisticVersion = 1;

Error no_statistic() { return {ErrorCode::kInvalid, "not the saved state of a statistic"}; }

// The definition is saved as text, so that one parser says what a definition may be.
Result<Definition> load_definition(ByteReader& in) {
  const auto change = parse_new_statistic(in.get_text());
  if (!in.ok() || !change) return no_statistic();
  return apply(change.value(), Definition{});
}

bool load_flag(ByteReader& in) {
  const auto flag = in.get<std::uint8_t>();
  if (flag > 1) in.fail();
  return flag == 1;
}

}  // namespace

Statistic::Gathered Statistic::make_gathered(const Definition& definition,
                                             std::chrono::nanoseconds now) {
  struct Make {
    const Definition& definition;
    std::chrono::nanoseconds now;

    Gathered operator()(const ValueSettings& s) const { return ValueStatistic(s); }
    Gathered operator()(const RangeSettings& s) const { return RangeStatistic(s); }
    Gathered operator()(const ListSettings& s) const { return ListStatistic(s); }
    Gathered operator()(const ArraySettings& s) const { return ArrayStatistic(s, definition); }
    Gathered operator()(const HistorySettings& s) const { return HistoryStatistic(s, now); }
    Gathered operator()(const RawSettings& s) const { return RawStatistic(s); }
  };
  return std::visit(Make{definition, now}, definition.settings);
}

std::uint64_t Statistic::worst_case_bytes(const Definition& definition) {
  struct Count {
    const Definition& definition;

    std::uint64_t operator()(const ValueSettings& s) const {
      return ValueStatistic::worst_case_bytes(s);
    }
    std::uint64_t operator()(const RangeSettings& s) const {
      return RangeStatistic::worst_case_bytes(s);
    }
    std::uint64_t operator()(const ListSettings& s) const {
      return ListStatistic::worst_case_bytes(s);
    }
    std::uint64_t operator()(const ArraySettings& s) const {
      return ArrayStatistic::worst_case_bytes(s, definition);
    }
    std::uint64_t operator()(const HistorySettings& s) const {
      return HistoryStatistic::worst_case_bytes(s);
    }
    std::uint64_t operator()(const RawSettings& s) const {
      return RawStatistic::worst_case_bytes(s);
    }
  };
  return std::visit(Count{definition}, definition.settings);
}

Statistic::Statistic(std::string_view name, Definition definition, std::chrono::nanoseconds now)
    : name_(name),
      definition_(std::move(definition)),
      gathered_(make_gathered(definition_, now)),
      data_since_(now),
      started_(now),
      stopped_(now) {}

Statistic::Added Statistic::add(std::span<const Sample> samples, std::chrono::nanoseconds now) {
  if (!on_ || samples.empty()) return {};
  const bool saturated = std::visit(
      [&](auto& gathered) {
        if constexpr (requires { gathered.advance(now); }) gathered.advance(now);
        return add_to(gathered, samples);
      },
      gathered_);
  const bool is_first = saturated && !saturated_;
  saturated_ |= saturated;
  return {.changed = true, .saturated = is_first};
}

template <typename Type>
bool Statistic::add_to(Type& gathered, std::span<const Sample> samples) {
  if (definition_.has_full_range()) return gathered.add(samples);
  if constexpr (!std::is_same_v<Type, ArrayStatistic>) return add_in_range(gathered, samples);
  // An array drops nothing: it has intervals for what is below and above.
  const auto outside = std::count_if(samples.begin(), samples.end(),
                                     [this](const Sample& sample) { return !is_in_range(sample); });
  bool saturated = add_saturating(hits_out_of_range_, static_cast<std::uint64_t>(outside));
  saturated |= gathered.add(samples);
  return saturated;
}

// Hands on what lies between samples that are out of range, without copying any.
template <typename Type>
bool Statistic::add_in_range(Type& gathered, std::span<const Sample> samples) {
  const auto inside = [this](const Sample& sample) { return is_in_range(sample); };
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

bool Statistic::carry_out(const Change& change, Definition after, std::chrono::nanoseconds now) {
  const auto gathering = discards_data(definition_, after) ? Gathering::kAnew : Gathering::kGoesOn;
  bool changed = after != definition_;
  definition_ = std::move(after);
  changed |= take_effect(change, gathering, now);
  return changed;
}

bool Statistic::carry_out(const Change& change, std::chrono::nanoseconds now) {
  return take_effect(change, Gathering::kGoesOn, now);
}

// Off before and on after the rest: a reset must not open a period of a history that is being
// stopped, and nothing but this decides on or off (in 2006 a redefinition switched it on).
bool Statistic::take_effect(const Change& change, Gathering gathering,
                            std::chrono::nanoseconds now) {
  const bool anew = change.data_reset || gathering == Gathering::kAnew;
  bool changed = anew;
  if (change.on && !change.on->value) changed |= stop(now);
  if (anew) gather_anew(now);
  if (change.on && change.on->value) changed |= start(now);
  return changed;
}

bool Statistic::start(std::chrono::nanoseconds now) {
  if (on_) return false;
  on_ = true;
  started_ = now;
  start_history(now);
  flip_switch();
  return true;
}

void Statistic::flip_switch() {
  if (switch_) switch_->on.store(on_ ? 1 : 0, std::memory_order_release);
}

void Statistic::attach_switch(Switch* at) {
  switch_ = at;
  flip_switch();
}

void Statistic::start_history(std::chrono::nanoseconds now) {
  if (auto* const history = std::get_if<HistoryStatistic>(&gathered_)) history->start(now);
}

bool Statistic::stop(std::chrono::nanoseconds now) {
  if (!on_) return false;
  advance(now);
  on_ = false;
  stopped_ = now;
  flip_switch();
  return true;
}

void Statistic::gather_anew(std::chrono::nanoseconds now) {
  data_since_ = now;
  hits_out_of_range_ = 0;
  saturated_ = false;
  // What was gathered goes first: the ledger has no room for both.
  gathered_.emplace<ValueStatistic>(ValueSettings{});
  gathered_ = make_gathered(definition_, now);
  if (on_) start_history(now);
}

bool Statistic::advance(std::chrono::nanoseconds now) {
  auto* const history = std::get_if<HistoryStatistic>(&gathered_);
  return on_ && history && history->advance(now);
}

void Statistic::render_definition(std::string& out) const {
  const auto* const list = std::get_if<ListStatistic>(&gathered_);
  append_line(out, name_, definition_,
              {.on = on_,
               .hits_out_of_range = hits_out_of_range_,
               .hits_missed = list ? list->missed() : 0,
               .data = data_since_,
               .started = started_,
               .stopped = stopped_});
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

Statistic::Snapshot Statistic::snapshot() const {
  return {name_,
          std::visit([](const auto& gathered) -> Snapshot::Copied { return gathered.snapshot(); },
                     gathered_)};
}

std::uint64_t Statistic::Snapshot::text_length() const {
  return std::visit([&](const auto& copied) { return copied.text_length(name_); }, copied_);
}

void Statistic::Snapshot::render(std::string& out) && {
  std::visit([&](auto& copied) { copied.render(name_, out); }, copied_);
  copied_.emplace<ValueStatistic>(ValueSettings{});
}

void Statistic::save(ByteWriter& out) const {
  std::string definition;
  append_definition(definition, definition_);
  out.put(kStatisticVersion);
  out.put_text(name_);
  out.put_text(definition);
  out.put(std::uint8_t{on_});
  out.put(std::uint8_t{saturated_});
  save_time(out, data_since_);
  save_time(out, started_);
  save_time(out, stopped_);
  out.put(hits_out_of_range_);
  std::visit([&](const auto& gathered) { gathered.save(out); }, gathered_);
}

Result<Statistic> Statistic::load(ByteReader& in) {
  expect_version(in, kStatisticVersion);
  const std::string_view name = in.get_text();
  auto definition = load_definition(in);
  if (!is_name(name) || !definition) return no_statistic();
  Statistic statistic(name, std::move(definition.value()), {});
  statistic.on_ = load_flag(in);
  statistic.saturated_ = load_flag(in);
  statistic.data_since_ = load_time(in);
  statistic.started_ = load_time(in);
  statistic.stopped_ = load_time(in);
  statistic.hits_out_of_range_ = in.get<std::uint64_t>();
  std::visit([&](auto& gathered) { gathered.load(in); }, statistic.gathered_);
  const auto* const history = std::get_if<HistoryStatistic>(&statistic.gathered_);
  const bool cannot_go_on = statistic.on_ && history && !history->can_add();
  if (!in.ok() || cannot_go_on) return no_statistic();
  return statistic;
}

}  // namespace tallyfs
