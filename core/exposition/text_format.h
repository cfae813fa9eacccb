// The text formats: 0.0.4 of Prometheus, and OpenMetrics 1.0. Immutable, see format.h.
#pragma once

#include "core/exposition/format.h"

namespace tallyfs {

// What is said of families of a kind. Scrapers refuse two texts for one family, so that it depends
// on nothing else.
std::string_view help_of(MetricKind kind);

class TextFormat final : public Format {
 public:
  TextFormat(MetricsFormat format, ShowCreated created)
      : is_open_metrics_(format == MetricsFormat::kOpenMetrics),
        created_(is_open_metrics_ ? created : ShowCreated::kNo) {}

  void add_label(std::string& labels, std::string_view name, std::string_view value) const override;
  void add_counter(std::string& body, std::string_view family, std::string_view labels,
                   const Quantity& value, std::chrono::nanoseconds created) const override;
  void add_gauge(std::string& body, std::string_view family, std::string_view labels,
                 const Quantity& value) const override;
  void add_histogram(std::string& body, std::string_view family, std::string_view labels,
                     const HistogramSeries& series,
                     std::chrono::nanoseconds created) const override;
  void add_family(std::string& out, const FamilyName& family,
                  std::span<const std::string> parts) const override;
  void finish(std::string& out) const override;

 private:
  void add_created(std::string& body, std::string_view family, std::string_view labels,
                   std::chrono::nanoseconds created) const;

  const bool is_open_metrics_;
  const ShowCreated created_;
};

}  // namespace tallyfs
