#include "core/statistics/exposition/protobuf_format.h"

#include "core/base/protobuf.h"
#include "core/statistics/exposition/text_format.h"

namespace tallyfs::statistics {
namespace {

// Field numbers of io/prometheus/client/metrics.proto.
enum MetricFamilyField : unsigned { kName = 1, kHelp = 2, kType = 3, kMetric = 4, kUnit = 5 };
enum MetricField : unsigned { kLabel = 1, kGauge = 2, kCounter = 3, kHistogram = 7 };
enum LabelPairField : unsigned { kLabelName = 1, kLabelValue = 2 };
enum CounterField : unsigned { kCounterValue = 1, kCounterCreated = 3 };
enum GaugeField : unsigned { kGaugeValue = 1 };
enum HistogramField : unsigned {
  kSampleCount = 1,
  kSampleSum = 2,
  kBucket = 3,
  kSchema = 5,
  kZeroThreshold = 6,
  kZeroCount = 7,
  kNegativeSpan = 9,
  kNegativeDelta = 10,
  kPositiveSpan = 12,
  kPositiveDelta = 13,
  kHistogramCreated = 15,
};
enum BucketField : unsigned { kCumulativeCount = 1, kUpperBound = 2 };
enum BucketSpanField : unsigned { kOffset = 1, kLength = 2 };
enum TimestampField : unsigned { kSeconds = 1, kNanos = 2 };

// Empty buckets that stand between two spans at least; fewer are filled with 0.
constexpr std::int32_t kGapMin = 3;

std::uint64_t type_number(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return 0;
    case MetricKind::kGauge:
      return 1;
    case MetricKind::kHistogram:
      return 4;
  }
  return 0;
}

void add_time(ProtobufWriter& to, unsigned field, std::chrono::nanoseconds time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (time.count() == 0) return;
  std::string bytes;
  ProtobufWriter timestamp(bytes);
  timestamp.number(kSeconds, static_cast<std::uint64_t>(time.count() / kSecond));
  timestamp.number(kNanos, static_cast<std::uint64_t>(time.count() % kSecond));
  to.bytes(field, bytes);
}

// One side of a native histogram: spans of indexes, and the differences of successive counts.
class Side {
 public:
  explicit Side(const std::vector<NativeBuckets::Bucket>& buckets) {
    for (const auto& bucket : buckets) {
      if (length_ != 0 && bucket.index - next_ >= kGapMin) end_span();
      if (length_ == 0) offset_ = bucket.index - end_of_last_;
      while (length_ != 0 && next_ < bucket.index) add(0);
      next_ = bucket.index;
      add(bucket.count);
    }
    end_span();
  }

  void write(ProtobufWriter& to, unsigned span_field, unsigned delta_field) const {
    for (const std::string& span : spans_) to.bytes(span_field, span);
    if (!deltas_.empty()) to.bytes(delta_field, deltas_);
  }

 private:
  void add(std::uint64_t count) {
    ProtobufWriter(deltas_).signed_varint(static_cast<std::int64_t>(count - last_));
    last_ = count;
    ++length_;
    ++next_;
  }
  void end_span() {
    if (length_ == 0) return;
    ProtobufWriter span(spans_.emplace_back());
    span.signed_number(kOffset, offset_);
    span.number(kLength, length_);
    end_of_last_ = next_;
    length_ = 0;
  }

  std::vector<std::string> spans_;
  std::string deltas_;
  std::uint64_t last_ = 0;
  std::int32_t offset_ = 0;  // of the open span, from the end of the last
  std::uint32_t length_ = 0;
  std::int32_t next_ = 0;
  std::int32_t end_of_last_ = 0;
};

// The threshold, which is above 0, says that the histogram is a native one.
void add_native(ProtobufWriter& histogram, const NativeBuckets& native) {
  histogram.signed_number(kSchema, native.schema);
  histogram.real(kZeroThreshold, native.zero_threshold);
  histogram.number(kZeroCount, native.zero_count);
  Side(native.negative).write(histogram, kNegativeSpan, kNegativeDelta);
  Side(native.positive).write(histogram, kPositiveSpan, kPositiveDelta);
}

void add_metric(std::string& body, std::string_view labels, unsigned field,
                std::string_view value) {
  std::string metric(labels);
  ProtobufWriter(metric).bytes(field, value);
  ProtobufWriter(body).bytes(kMetric, metric);
}

}  // namespace

void ProtobufFormat::add_label(std::string& labels, std::string_view name,
                               std::string_view value) const {
  std::string pair;
  ProtobufWriter writer(pair);
  writer.bytes(kLabelName, name);
  writer.bytes(kLabelValue, value);
  ProtobufWriter(labels).bytes(kLabel, pair);
}

void ProtobufFormat::add_counter(std::string& body, std::string_view, std::string_view labels,
                                 const Quantity& value, std::chrono::nanoseconds created) const {
  std::string counter;
  ProtobufWriter writer(counter);
  writer.real(kCounterValue, to_double(value));
  add_time(writer, kCounterCreated, created);
  add_metric(body, labels, kCounter, counter);
}

void ProtobufFormat::add_gauge(std::string& body, std::string_view, std::string_view labels,
                               const Quantity& value) const {
  std::string gauge;
  ProtobufWriter(gauge).real(kGaugeValue, to_double(value));
  add_metric(body, labels, kGauge, gauge);
}

void ProtobufFormat::add_histogram(std::string& body, std::string_view, std::string_view labels,
                                   const HistogramSeries& series,
                                   std::chrono::nanoseconds created) const {
  std::string histogram;
  ProtobufWriter writer(histogram);
  writer.number(kSampleCount, series.count);
  writer.real(kSampleSum, to_double(series.sum));
  for (std::size_t i = 0; i < series.counts.size(); ++i) {
    std::string bucket;
    ProtobufWriter bucket_writer(bucket);
    bucket_writer.number(kCumulativeCount, series.counts[i]);
    bucket_writer.real(kUpperBound, series.bounds[i]->value);
    writer.bytes(kBucket, bucket);
  }
  if (series.is_native) add_native(writer, series.native);
  add_time(writer, kHistogramCreated, created);
  add_metric(body, labels, kHistogram, histogram);
}

// Counters are called by the name of their samples, as in the text.
void ProtobufFormat::add_family(std::string& out, const FamilyName& family, std::string_view help,
                                std::span<const std::string> parts) const {
  std::string head;
  ProtobufWriter writer(head);
  writer.bytes(kName, family.name + (family.kind == MetricKind::kCounter ? "_total" : ""));
  writer.bytes(kHelp, help.empty() ? help_of(family.kind) : help);
  writer.number(kType, type_number(family.kind));
  if (!family.unit.empty()) writer.bytes(kUnit, family.unit);
  std::size_t size = head.size();
  for (const std::string& part : parts) size += part.size();
  ProtobufWriter(out).varint(size);
  out.append(head);
  for (const std::string& part : parts) out.append(part);
}

}  // namespace tallyfs::statistics
