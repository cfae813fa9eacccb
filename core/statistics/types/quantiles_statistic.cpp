#include "core/statistics/types/quantiles_statistic.h"

#include <vector>

#include "core/base/decimal.h"
#include "core/base/text.h"
#include "core/sums/saved.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint8_t kQuantilesVersion = 1;

void append_line(std::string& out, std::string_view name, std::string_view key, std::int64_t x,
                 unsigned decimals) {
  out.append(name).append(" ").append(key).push_back(' ');
  append_fixed(out, x, decimals);
  out.push_back('\n');
}

Span range_of(const Definition& definition) { return {definition.range_min, definition.range_max}; }

const ExponentialBuckets& buckets_of(const QuantilesSettings& settings,
                                     const Definition& definition) {
  return ExponentialBuckets::get(settings.precision, factor_of_x(definition));
}

}  // namespace

QuantilesStatistic::QuantilesStatistic(const QuantilesSettings& settings,
                                       const Definition& definition)
    : histogram_(std::make_unique<Kept>(
          Kept{ExponentialHistogram(buckets_of(settings, definition)), range_of(definition)})),
      quantiles_(settings.quantiles) {}

QuantilesStatistic& QuantilesStatistic::operator=(const QuantilesStatistic& other) {
  if (this == &other) return *this;
  if (!histogram_) return *this = QuantilesStatistic(other);  // it was moved from
  *histogram_ = *other.histogram_;
  quantiles_ = other.quantiles_;
  return *this;
}

std::uint64_t QuantilesStatistic::worst_case_bytes(const QuantilesSettings& settings,
                                                   const Definition& definition) {
  return worst_case_bytes(settings, definition, range_of(definition));
}

std::uint64_t QuantilesStatistic::worst_case_bytes_after(const Definition& definition) const {
  return worst_case_bytes(std::get<QuantilesSettings>(definition.settings), definition,
                          histogram_->span.joined(range_of(definition)));
}

// The list of percentiles is in the definition, too.
std::uint64_t QuantilesStatistic::worst_case_bytes(const QuantilesSettings& settings,
                                                   const Definition& definition, const Span& span) {
  return sizeof(Kept) + 2 * QuantileList::kBytesMax +
         ExponentialHistogram::worst_case_bytes(buckets_of(settings, definition), span);
}

void QuantilesStatistic::redefine(const Definition& definition) {
  quantiles_ = std::get<QuantilesSettings>(definition.settings).quantiles;
  histogram_->span = histogram_->span.joined(range_of(definition));
}

QuantilesStatistic::Snapshot QuantilesStatistic::snapshot() const {
  Snapshot copy;
  copy.quantiles_ = quantiles_;
  copy.summary_ = histogram_->histogram.summary();
  histogram_->histogram.each_quantile(quantiles_,
                                      [&](std::size_t i, std::int64_t x) { copy.x_[i] = x; });
  return copy;
}

std::uint64_t QuantilesStatistic::Snapshot::text_length(std::string_view name,
                                                        unsigned decimals) const {
  std::string text;
  render(name, text, decimals);
  return text.size();
}

void QuantilesStatistic::Snapshot::render(std::string_view name, std::string& out,
                                          unsigned decimals) const {
  out.append(name).append(" count ");
  append_number(out, summary_.number);
  out.push_back('\n');
  if (summary_.number == 0) return;
  append_line(out, name, "min", summary_.min, decimals);
  out.append(name).append(" avg ");
  append_average(out, summary_.sum, summary_.number, decimals);
  out.push_back('\n');
  std::string key;
  for (std::size_t i = 0; i < quantiles_.size(); ++i) {
    append_line(out, name, key.assign("p").append(quantiles_.label(i)), x_[i], decimals);
  }
  append_line(out, name, "max", summary_.max, decimals);
}

void QuantilesStatistic::write_values(JsonWriter& json, unsigned decimals) const {
  const ExponentialHistogram& histogram = histogram_->histogram;
  json.begin_object();
  (is_empty() ? Summary{} : histogram.summary()).write_members(json, "count", decimals);
  std::vector<std::int64_t> values;
  histogram.each_quantile(quantiles_, [&](std::size_t, std::int64_t x) { values.push_back(x); });
  json.key("quantiles").begin_array();
  for (std::size_t i = 0; i < quantiles_.size(); ++i) {
    json.begin_object().key("q").number_text(quantiles_.number(i)).key("value");
    i < values.size() ? json.fixed(values[i], decimals) : json.null();
    json.end_object();
  }
  json.end_array();
  histogram.write_buckets(json.key("buckets"));
  json.end_object();
}

void QuantilesStatistic::save(ByteWriter& out) const {
  out.put(kQuantilesVersion);
  out.put(histogram_->span.min);
  out.put(histogram_->span.max);
  histogram_->histogram.save(out);
}

void QuantilesStatistic::load(ByteReader& in) {
  expect_version(in, kQuantilesVersion);
  Span& span = histogram_->span;
  const Span allowed = span;
  span.min = in.get<std::int64_t>();
  span.max = in.get<std::int64_t>();
  if (!in.ok() || span.joined(allowed) != span) {
    span = allowed;
    return in.fail();
  }
  histogram_->histogram.load(in, span);
}

}  // namespace tallyfs::statistics
