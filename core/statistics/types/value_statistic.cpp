#include "core/statistics/types/value_statistic.h"

#include "core/base/saturating.h"
#include "core/sums/saved.h"

namespace tallyfs::statistics {
namespace {

// Version 1 did not say whether an X was below 0.
constexpr std::uint8_t kValueVersion = 2;

}  // namespace

ValueStatistic::ValueStatistic(const ValueSettings& settings) {
  if (settings.mode == Mode::kProducts) total_ = SignedSum{};
}

bool ValueStatistic::add(std::span<const Sample> samples) {
  return std::visit([&](auto& total) { return total.add(samples); }, total_);
}

bool ValueStatistic::merge(const CellSums& cells) {
  if (auto* const increments = std::get_if<Increments>(&total_)) {
    return add_saturating(increments->total, cells.number);
  }
  auto& sum = std::get<SignedSum>(total_);
  sum.has_negative |= cells.has_negative;
  return add_saturating(sum.total, cells.sum);
}

bool ValueStatistic::merge(const ValueStatistic& other) {
  if (auto* const increments = std::get_if<Increments>(&total_)) {
    return add_saturating(increments->total, std::get<Increments>(other.total_).total);
  }
  auto& sum = std::get<SignedSum>(total_);
  const auto& more = std::get<SignedSum>(other.total_);
  sum.has_negative |= more.has_negative;
  return add_saturating(sum.total, more.total);
}

bool ValueStatistic::add(std::span<const Sample>, const RunSums& sums) {
  return std::visit([&](auto& total) { return total.add(sums); }, total_);
}

std::uint64_t ValueStatistic::text_length(std::string_view name, unsigned decimals) const {
  std::string columns;
  std::visit([&](const auto& total) { total.append_to(columns, decimals); }, total_);
  return name.size() + columns.size() + 1;
}

void ValueStatistic::render(std::string_view name, std::string& out, unsigned decimals) const {
  out.append(name);
  std::visit([&](const auto& total) { total.append_to(out, decimals); }, total_);
  out.push_back('\n');
}

void ValueStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  json.begin_object().key("total");
  std::visit([&](const auto& total) { total.write_total(json, decimals); }, total_);
  json.end_object();
}

void ValueStatistic::save(ByteWriter& out) const {
  out.put(kValueVersion);
  std::visit([&](const auto& total) { total.save(out); }, total_);
}

void ValueStatistic::load(ByteReader& in) {
  const auto version = in.get<std::uint8_t>();
  if (version < 1 || version > kValueVersion) in.fail();
  auto* const sum = std::get_if<SignedSum>(&total_);
  if (!sum || version > 1) return std::visit([&](auto& total) { total.load(in); }, total_);
  sum->Products::load(in);
  sum->has_negative = sum->total < 0;
}

}  // namespace tallyfs::statistics
