#include "core/statistics/types/history_statistic.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kHistoryVersion = 1;

}  // namespace

HistoryStatistic::AnyPeriods HistoryStatistic::make_periods(const HistorySettings& settings,
                                                            const Definition& definition,
                                                            std::chrono::nanoseconds origin) {
  switch (settings.mode) {
    case Mode::kIncrements:
      break;
    case Mode::kProducts:
      return Periods<Products>(periods_of(settings), origin);
    case Mode::kRange:
      return Periods<Summary>(periods_of(settings), origin);
    case Mode::kQuantiles:
      if (settings.quantiles.size() <= 4) return QuantilePeriods<4>(settings, definition, origin);
      return QuantilePeriods<QuantileList::kBound>(settings, definition, origin);
  }
  return Periods<Increments>(periods_of(settings), origin);
}

HistoryStatistic::HistoryStatistic(const HistorySettings& settings, const Definition& definition,
                                   std::chrono::nanoseconds origin)
    : periods_(std::make_unique<AnyPeriods>(make_periods(settings, definition, origin))) {}

std::uint64_t HistoryStatistic::worst_case_bytes(const HistorySettings& settings,
                                                 const Definition& definition) {
  switch (settings.mode) {
    case Mode::kIncrements:
      break;
    case Mode::kProducts:
      return sizeof(AnyPeriods) + Periods<Products>::worst_case_bytes(periods_of(settings));
    case Mode::kRange:
      return sizeof(AnyPeriods) + Periods<Summary>::worst_case_bytes(periods_of(settings));
    case Mode::kQuantiles: {
      const Span span{definition.range_min, definition.range_max};
      if (settings.quantiles.size() <= 4) {
        return sizeof(AnyPeriods) +
               QuantilePeriods<4>::worst_case_bytes(settings, definition, span);
      }
      return sizeof(AnyPeriods) +
             QuantilePeriods<QuantileList::kBound>::worst_case_bytes(settings, definition, span);
    }
  }
  return sizeof(AnyPeriods) + Periods<Increments>::worst_case_bytes(periods_of(settings));
}

std::uint64_t HistoryStatistic::worst_case_bytes_after(const Definition& definition) const {
  const auto& settings = std::get<HistorySettings>(definition.settings);
  return std::visit(
      [&]<typename AnyOne>(const AnyOne& periods) {
        if constexpr (requires { periods.span(); }) {
          const Span span = periods.span().joined({definition.range_min, definition.range_max});
          return sizeof(AnyPeriods) + AnyOne::worst_case_bytes(settings, definition, span);
        } else {
          return worst_case_bytes(settings, definition);
        }
      },
      *periods_);
}

void HistoryStatistic::redefine(const Definition& definition) {
  std::visit(
      [&](auto& periods) {
        if constexpr (requires { periods.span(); }) {
          periods.widen({definition.range_min, definition.range_max});
        }
      },
      *periods_);
}

void HistoryStatistic::start(std::chrono::nanoseconds now) {
  std::visit([&](auto& periods) { periods.start(now); }, *periods_);
}

bool HistoryStatistic::can_add() const {
  return std::visit([](const auto& periods) { return periods.has_open(); }, *periods_);
}

bool HistoryStatistic::advance(std::chrono::nanoseconds now) {
  return std::visit([&](auto& periods) { return periods.advance(now); }, *periods_);
}

bool HistoryStatistic::add(std::span<const Sample> samples) {
  return std::visit([&](auto& periods) { return periods.add(samples); }, *periods_);
}

bool HistoryStatistic::add(std::span<const Sample> samples, const RunSums& sums) {
  return std::visit([&](auto& periods) { return periods.add(samples, sums); }, *periods_);
}

std::uint64_t HistoryStatistic::lines() const {
  return std::visit([](const auto& periods) { return periods.completed(); }, *periods_);
}

HistoryStatistic::Snapshot HistoryStatistic::snapshot() const {
  Snapshot copy;
  copy.periods_ = std::make_unique<SnapshotOfAny>(std::visit(
      [](const auto& periods) -> SnapshotOfAny { return periods.snapshot(); }, *periods_));
  return copy;
}

void HistoryStatistic::Snapshot::render(std::string_view name, std::string& out,
                                        unsigned decimals) const {
  std::visit([&](const auto& periods) { periods.render(name, out, decimals); }, *periods_);
}

std::uint64_t HistoryStatistic::Snapshot::text_length(std::string_view name,
                                                      unsigned decimals) const {
  return std::visit([&](const auto& periods) { return periods.text_length(name, decimals); },
                    *periods_);
}

void HistoryStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  json.begin_object();
  std::visit([&](const auto& periods) { periods.write_columns(json, decimals); }, *periods_);
  json.end_object();
}

void HistoryStatistic::save(ByteWriter& out) const {
  out.put(kHistoryVersion);
  std::visit([&](const auto& periods) { periods.save(out); }, *periods_);
}

void HistoryStatistic::load(ByteReader& in) {
  expect_version(in, kHistoryVersion);
  std::visit([&](auto& periods) { periods.load(in); }, *periods_);
}

}  // namespace tallyfs::statistics
