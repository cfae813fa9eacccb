#include "core/statistic/value_statistic.h"

#include "core/statistic/saved.h"

namespace tallyfs {
namespace {

constexpr std::uint8_t kValueVersion = 1;

}  // namespace

ValueStatistic::ValueStatistic(const ValueSettings& settings) {
  if (settings.mode == Mode::kProducts) total_ = Products{};
}

bool ValueStatistic::add(std::span<const Sample> samples) {
  return std::visit([&](auto& total) { return total.add(samples); }, total_);
}

std::uint64_t ValueStatistic::text_length(std::string_view name) const {
  std::string columns;
  std::visit([&](const auto& total) { total.append_to(columns); }, total_);
  return name.size() + columns.size() + 1;
}

void ValueStatistic::render(std::string_view name, std::string& out) const {
  out.append(name);
  std::visit([&](const auto& total) { total.append_to(out); }, total_);
  out.push_back('\n');
}

void ValueStatistic::save(ByteWriter& out) const {
  out.put(kValueVersion);
  std::visit([&](const auto& total) { total.save(out); }, total_);
}

void ValueStatistic::load(ByteReader& in) {
  expect_version(in, kValueVersion);
  std::visit([&](auto& total) { total.load(in); }, total_);
}

}  // namespace tallyfs
