#include "core/statistic/history_statistic.h"

namespace tallyfs {
namespace {

constexpr std::uint8_t kHistoryVersion = 1;

}  // namespace

HistoryStatistic::AnyPeriods HistoryStatistic::make_periods(const HistorySettings& settings,
                                                            std::chrono::nanoseconds origin) {
  switch (settings.mode) {
    case Mode::kIncrements:
      break;
    case Mode::kProducts:
      return Periods<Products>(settings, origin);
    case Mode::kRange:
      return Periods<Summary>(settings, origin);
  }
  return Periods<Increments>(settings, origin);
}

HistoryStatistic::HistoryStatistic(const HistorySettings& settings, std::chrono::nanoseconds origin)
    : periods_(std::make_unique<AnyPeriods>(make_periods(settings, origin))) {}

std::uint64_t HistoryStatistic::worst_case_bytes(const HistorySettings& settings) {
  switch (settings.mode) {
    case Mode::kIncrements:
      break;
    case Mode::kProducts:
      return sizeof(AnyPeriods) + Periods<Products>::worst_case_bytes(settings);
    case Mode::kRange:
      return sizeof(AnyPeriods) + Periods<Summary>::worst_case_bytes(settings);
  }
  return sizeof(AnyPeriods) + Periods<Increments>::worst_case_bytes(settings);
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

std::uint64_t HistoryStatistic::lines() const {
  return std::visit([](const auto& periods) { return periods.completed(); }, *periods_);
}

void HistoryStatistic::render(std::string_view name, std::string& out) const {
  std::visit([&](const auto& periods) { periods.render(name, out); }, *periods_);
}

std::uint64_t HistoryStatistic::text_length(std::string_view name) const {
  return std::visit([&](const auto& periods) { return periods.text_length(name); }, *periods_);
}

void HistoryStatistic::save(ByteWriter& out) const {
  out.put(kHistoryVersion);
  std::visit([&](const auto& periods) { periods.save(out); }, *periods_);
}

void HistoryStatistic::load(ByteReader& in) {
  expect_version(in, kHistoryVersion);
  std::visit([&](auto& periods) { periods.load(in); }, *periods_);
}

}  // namespace tallyfs
